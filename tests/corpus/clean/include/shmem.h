// SPDX-License-Identifier: Apache-2.0
// 占位：只为让这棵树看起来是一份 SHMEM 仓库，真正的声明在 SHMEM 里。
#ifndef SHMEM_H
#define SHMEM_H
#endif
