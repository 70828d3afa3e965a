// SPDX-License-Identifier: Apache-2.0
#ifndef ALLTOALLV_KERNEL_H
#define ALLTOALLV_KERNEL_H

#include <cstddef>
#include <cstdint>

constexpr int64_t ALLTOALLV_FLAG_INTERVAL = 16;  // 一个标志一条缓存行，单位 int32

// 发往一个 PE 的计划，单位都是元素；四个 int64 正好 32 字节。
struct AlltoallvPlan {
    int64_t count;        // 要发多少，可以是 0
    int64_t send_offset;  // 在本 PE 的 send 里从哪里取
    int64_t recv_offset;  // 在对端的 recv 里放到哪里
    int64_t reserved;
};

inline size_t alltoallv_flag_bytes(int n_pes, uint32_t block_dim)
{
    return sizeof(int32_t) * ALLTOALLV_FLAG_INTERVAL * n_pes * block_dim;
}

// recv、flags 在对称内存里；plan 是本 PE 的 n_pes 项。block_dim 不小于 n_pes 时每个对端有自己的一组 AIV。
void launch_alltoallv(uint32_t block_dim, void *stream, uint64_t ffts, uint8_t *send, uint8_t *recv,
                      uint8_t *plan, uint8_t *flags, int32_t elem_bytes, int32_t magic);

#endif
