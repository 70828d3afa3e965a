// SPDX-License-Identifier: Apache-2.0
#ifndef REDUCE_SCATTER_KERNEL_H
#define REDUCE_SCATTER_KERNEL_H

#include <cstdint>

enum class ReduceType : int32_t { FLOAT16 = 0, FLOAT32 = 1, INT32 = 2 };

// input 是 n_pes × elements（普通 GM），output 是 elements（对称内存）：output = 各 PE 第 my_pe 段之和。
void launch_reduce_scatter(uint32_t block_dim, void *stream, uint64_t ffts, uint8_t *input, uint8_t *output,
                           int64_t elements, ReduceType type);

#endif
