// SPDX-License-Identifier: Apache-2.0
#ifndef ALLGATHER_KERNEL_H
#define ALLGATHER_KERNEL_H

#include <cstddef>
#include <cstdint>

// 每个标志独占一条 64 字节的缓存行，单位是 int32。
constexpr int64_t ALLGATHER_FLAG_INTERVAL = 16;

// 对称内存里标志区的字节数：每个 PE 的每个 AIV 一个标志。
inline size_t allgather_flag_bytes(int n_pes, uint32_t block_dim)
{
    return sizeof(int32_t) * ALLGATHER_FLAG_INTERVAL * n_pes * block_dim;
}

// output、flags 须在对称内存里；elements 是每个 PE 的元素数；magic 每次启动都要增大。
void launch_allgather(uint32_t block_dim, void *stream, uint64_t ffts, uint8_t *input, uint8_t *output,
                      uint8_t *flags, int64_t elements, int32_t elem_bytes, int32_t magic);

#endif
