// SPDX-License-Identifier: Apache-2.0
#ifndef @{ OP }@_KERNEL_H
#define @{ OP }@_KERNEL_H

#include <cstddef>
#include <cstdint>

// 每个信号独占一条 64 字节的缓存行，单位是 int32。
constexpr int64_t @{ OP }@_FLAG_INTERVAL = 16;

@% if kind == 'alltoallv' %@
// 发往一个 PE 的计划，单位都是元素；四个 int64 正好 32 字节。
struct @{ Op }@Plan {
    int64_t count;        // 要发多少，可以是 0
    int64_t send_offset;  // 在本 PE 的 input 里从哪里取
    int64_t recv_offset;  // 在对端的 output 里放到哪里
    int64_t reserved;
};

@% endif %@
// 对称内存里信号区的字节数：每个 PE 的每个 AIV 一个信号。
inline size_t @{ op }@_flag_bytes(int n_pes, uint32_t block_dim)
{
    return sizeof(int32_t) * @{ OP }@_FLAG_INTERVAL * n_pes * block_dim;
}

// @{ header_note }@
@{ ('void launch_' ~ op ~ '(') | parameters(launch_parameters, ');') }@

#endif
