// SPDX-License-Identifier: Apache-2.0
#ifndef SHMEM_TORCH_KERNEL_H
#define SHMEM_TORCH_KERNEL_H

// 各算子的启动函数在自己的 <算子>_kernel.h 里声明，绑定直接包含它；这里放几个绑定共用的声明。

#endif
