// SPDX-License-Identifier: Apache-2.0
// reduce_scatter：自己那一段直接写入输出作为初值，其余 PE 的段用原子加累到对端。
#include "reduce_scatter_kernel.h"

#include "kernel_operator.h"
#include "shmem.h"

using namespace AscendC;

constexpr uint32_t UB_TILE_BYTES = 64 * 1024;
constexpr uint64_t UB_PING = 1024;
constexpr uint64_t UB_PONG = UB_PING + UB_TILE_BYTES;

template <typename T>
class ReduceScatter {
public:
    __aicore__ inline void init(GM_ADDR input, GM_ADDR output, int64_t elements)
    {
        my_pe_ = aclshmem_my_pe();
        n_pes_ = aclshmem_n_pes();
        elements_ = elements;
        // 均匀切分：前 extra 个 AIV 各多一个元素，没有哪个 AIV 独自承担余数。
        const int64_t aiv_num = GetBlockNum();
        const int64_t aiv_idx = GetBlockIdx();
        const int64_t base = elements / aiv_num;
        const int64_t extra = elements % aiv_num;
        length_ = base + (aiv_idx < extra ? 1 : 0);
        offset_ = aiv_idx * base + (aiv_idx < extra ? aiv_idx : extra);
        input_ = reinterpret_cast<__gm__ T *>(input);
        output_ = reinterpret_cast<__gm__ T *>(output);
    }

    __aicore__ inline void process()
    {
        // 第一步：自己的贡献就是初值，不必先清零。
        send(my_pe_);
        aclshmemx_mte_quiet();
        // 初值写完之前，别人不能往上加。
        aclshmem_barrier_all();

        // 第二步：从下一个 PE 开始，把各段加到属主那里。
        SetAtomicAdd<T>();
        for (int step = 1; step < n_pes_; ++step) {
            send((my_pe_ + step) % n_pes_);
        }
        aclshmemx_mte_quiet();
        SetAtomicNone();
        // 所有加法都到齐，输出才可读。
        aclshmem_barrier_all();
    }

private:
    // 把属于 peer 的那一段（本 AIV 的部分）经 UB 送到 peer 的输出。
    __aicore__ inline void send(int peer)
    {
        __ubuf__ T *ping = reinterpret_cast<__ubuf__ T *>(UB_PING);
        __ubuf__ T *pong = reinterpret_cast<__ubuf__ T *>(UB_PONG);
        constexpr int64_t tile = UB_TILE_BYTES / sizeof(T);
        __gm__ T *src = input_ + peer * elements_ + offset_;
        __gm__ T *dst = output_ + offset_;

        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
        for (int64_t done = 0, turn = 0; done < length_; done += tile, ++turn) {
            const int64_t left = length_ - done;
            const uint32_t now = static_cast<uint32_t>(left < tile ? left : tile);
            const TEventID event = turn % 2 == 0 ? EVENT_ID0 : EVENT_ID1;
            __ubuf__ T *buffer = turn % 2 == 0 ? ping : pong;
            WaitFlag<HardEvent::MTE3_MTE2>(event);
            aclshmemx_mte_put_nbi(dst + done, src + done, buffer, UB_TILE_BYTES, now, peer, event);
            SetFlag<HardEvent::MTE3_MTE2>(event);
        }
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    }

    int my_pe_;
    int n_pes_;
    int64_t elements_;
    int64_t length_;
    int64_t offset_;
    __gm__ T *input_;
    __gm__ T *output_;
};

#define REDUCE_SCATTER_KERNEL(suffix, type)                                                     \
    extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void reduce_scatter_##suffix( \
        uint64_t ffts, GM_ADDR input, GM_ADDR output, int64_t elements)                         \
    {                                                                                           \
        util_set_ffts_config(ffts);                                                             \
        ReduceScatter<type> op;                                                                 \
        op.init(input, output, elements);                                                       \
        op.process();                                                                           \
    }

REDUCE_SCATTER_KERNEL(fp16, half)
REDUCE_SCATTER_KERNEL(fp32, float)
REDUCE_SCATTER_KERNEL(int32, int32_t)

void launch_reduce_scatter(uint32_t block_dim, void *stream, uint64_t ffts, uint8_t *input, uint8_t *output,
                           int64_t elements, ReduceType type)
{
    switch (type) {
        case ReduceType::FLOAT16:
            reduce_scatter_fp16<<<block_dim, nullptr, stream>>>(ffts, input, output, elements);
            break;
        case ReduceType::FLOAT32:
            reduce_scatter_fp32<<<block_dim, nullptr, stream>>>(ffts, input, output, elements);
            break;
        case ReduceType::INT32:
            reduce_scatter_int32<<<block_dim, nullptr, stream>>>(ffts, input, output, elements);
            break;
    }
}
