// SPDX-License-Identifier: Apache-2.0
// put_signal：生产者把一块写进下一个 PE 的收件槽并发“到达”，消费者取走后回“空闲”。
#include "put_signal_kernel.h"

#include "kernel_operator.h"
#include "shmem.h"

using namespace AscendC;

constexpr uint64_t UB_OUT = 1024;
constexpr uint64_t UB_IN = UB_OUT + PUT_SIGNAL_SLOT_BYTES;
// 信号值 = magic × 每轮最多的块数 + 已到的块数，跨轮单调递增。
constexpr int32_t CHUNKS_PER_ROUND = 4096;

struct Share {
    int64_t offset;
    int64_t length;
};

ACLSHMEM_DEVICE Share share_of(int64_t elements)
{
    const int64_t aiv_num = GetBlockNum();
    const int64_t aiv_idx = GetBlockIdx();
    const int64_t base = elements / aiv_num;
    const int64_t extra = elements % aiv_num;
    return Share{aiv_idx * base + (aiv_idx < extra ? aiv_idx : extra), base + (aiv_idx < extra ? 1 : 0)};
}

// 一个 AIV 的收发两端；两个 PE 上同号的 AIV 配成一对。
class Channel {
public:
    __aicore__ inline void init(GM_ADDR heap, int32_t magic)
    {
        const int64_t aiv_num = GetBlockNum();
        const int64_t aiv_idx = GetBlockIdx();
        __gm__ int32_t *signals = reinterpret_cast<__gm__ int32_t *>(heap);
        arrived_ = signals + aiv_idx * PUT_SIGNAL_INTERVAL;
        freed_ = signals + (aiv_num + aiv_idx) * PUT_SIGNAL_INTERVAL;
        slots_ = reinterpret_cast<__gm__ float *>(heap + 2 * sizeof(int32_t) * PUT_SIGNAL_INTERVAL * aiv_num +
                                                  aiv_idx * PUT_SIGNAL_SLOTS * PUT_SIGNAL_SLOT_BYTES);
        base_ = magic * CHUNKS_PER_ROUND;
        next_ = (aclshmem_my_pe() + 1) % aclshmem_n_pes();
        previous_ = (aclshmem_my_pe() + aclshmem_n_pes() - 1) % aclshmem_n_pes();
    }

    // 第 chunk 块写给下一个 PE；槽还没空就等。
    __aicore__ inline void produce(__gm__ float *src, uint32_t count, int32_t chunk)
    {
        if (chunk >= PUT_SIGNAL_SLOTS) {
            aclshmem_signal_wait_until(freed_, ACLSHMEM_CMP_GE, base_ + chunk - PUT_SIGNAL_SLOTS + 1);
        }
        __ubuf__ float *buffer = reinterpret_cast<__ubuf__ float *>(UB_OUT);
        aclshmemx_mte_put_nbi(slot(chunk), src, buffer, PUT_SIGNAL_SLOT_BYTES, count, next_, EVENT_ID0);
        // 数据先到，信号后到。
        aclshmemx_mte_quiet();
        aclshmemx_signal_op(arrived_, base_ + chunk + 1, ACLSHMEM_SIGNAL_SET, next_);
    }

    // 等上一个 PE 的第 chunk 块，搬进输出，再告诉它槽空了。
    __aicore__ inline void consume(__gm__ float *dst, uint32_t count, int32_t chunk)
    {
        aclshmem_signal_wait_until(arrived_, ACLSHMEM_CMP_GE, base_ + chunk + 1);
        __ubuf__ float *buffer = reinterpret_cast<__ubuf__ float *>(UB_IN);
        aclshmemx_mte_get_nbi(dst, slot(chunk), buffer, PUT_SIGNAL_SLOT_BYTES, count, aclshmem_my_pe(), EVENT_ID1);
        aclshmemx_mte_quiet();
        aclshmemx_signal_op(freed_, base_ + chunk + 1, ACLSHMEM_SIGNAL_SET, previous_);
    }

    // 对端的槽全部取走之后才能结束，否则下一轮会盖掉还没读的块。
    __aicore__ inline void drain(int32_t chunks)
    {
        aclshmem_signal_wait_until(freed_, ACLSHMEM_CMP_GE, base_ + chunks);
    }

private:
    __aicore__ inline __gm__ float *slot(int32_t chunk)
    {
        return slots_ + chunk % PUT_SIGNAL_SLOTS * (PUT_SIGNAL_SLOT_BYTES / sizeof(float));
    }

    __gm__ int32_t *arrived_;
    __gm__ int32_t *freed_;
    __gm__ float *slots_;
    int32_t base_;
    int next_;
    int previous_;
};

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void put_signal_fp32(
    GM_ADDR input, GM_ADDR output, GM_ADDR heap, int64_t elements, int32_t magic)
{
    const Share share = share_of(elements);
    __gm__ float *src = reinterpret_cast<__gm__ float *>(input) + share.offset;
    __gm__ float *dst = reinterpret_cast<__gm__ float *>(output) + share.offset;
    constexpr int64_t tile = PUT_SIGNAL_SLOT_BYTES / sizeof(float);
    const int32_t chunks = static_cast<int32_t>((share.length + tile - 1) / tile);

    Channel channel;
    channel.init(heap, magic);
    for (int32_t chunk = 0; chunk < chunks; ++chunk) {
        const int64_t left = share.length - chunk * tile;
        const uint32_t count = static_cast<uint32_t>(left < tile ? left : tile);
        channel.produce(src + chunk * tile, count, chunk);
        channel.consume(dst + chunk * tile, count, chunk);
    }
    if (chunks > 0) {
        channel.drain(chunks);
    }
}

void launch_put_signal(uint32_t block_dim, void *stream, uint8_t *input, uint8_t *output, uint8_t *heap,
                       int64_t elements, int32_t magic)
{
    put_signal_fp32<<<block_dim, nullptr, stream>>>(input, output, heap, elements, magic);
}
