// SPDX-License-Identifier: Apache-2.0
#ifndef PUT_SIGNAL_KERNEL_H
#define PUT_SIGNAL_KERNEL_H

#include <cstddef>
#include <cstdint>

constexpr int64_t PUT_SIGNAL_INTERVAL = 16;           // 一个信号一条缓存行，单位 int32
constexpr int64_t PUT_SIGNAL_SLOTS = 2;               // 每个 AIV 两个收件槽，一写一读
constexpr int64_t PUT_SIGNAL_SLOT_BYTES = 32 * 1024;  // 一个槽，也是一次搬运的大小

// 对称内存布局：[到达信号 block_dim][空闲信号 block_dim][收件槽 block_dim × 2]。
inline size_t put_signal_state_bytes(uint32_t block_dim)
{
    return 2 * sizeof(int32_t) * PUT_SIGNAL_INTERVAL * block_dim;
}

inline size_t put_signal_heap_bytes(uint32_t block_dim)
{
    return put_signal_state_bytes(block_dim) + PUT_SIGNAL_SLOTS * PUT_SIGNAL_SLOT_BYTES * block_dim;
}

// 环上移一位：本 PE 的 input 出现在下一个 PE 的 output。input、output 是普通 GM。
void launch_put_signal(uint32_t block_dim, void *stream, uint8_t *input, uint8_t *output, uint8_t *heap,
                       int64_t elements, int32_t magic);

#endif
