// SPDX-License-Identifier: Apache-2.0
// allgather：每个 AIV 把自己那一段直接写进所有 PE 的输出，再逐个 PE 发信号、等信号。
#include "allgather_kernel.h"

#include "kernel_operator.h"
#include "shmem.h"

using namespace AscendC;

// 两块 UB 轮换，各 64 KB，避开库自留的 188 KB 以上。
constexpr uint32_t UB_TILE_BYTES = 64 * 1024;
constexpr uint64_t UB_PING = 1024;
constexpr uint64_t UB_PONG = UB_PING + UB_TILE_BYTES;

// 经 UB 分块搬运 count 个元素到 peer，尾块按实际长度；返回时数据已离开 UB。
template <typename T>
ACLSHMEM_DEVICE void put_tiles(__gm__ T *dst, __gm__ T *src, int64_t count, int peer)
{
    __ubuf__ T *ping = reinterpret_cast<__ubuf__ T *>(UB_PING);
    __ubuf__ T *pong = reinterpret_cast<__ubuf__ T *>(UB_PONG);
    constexpr int64_t tile = UB_TILE_BYTES / sizeof(T);

    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    bool use_ping = true;
    for (int64_t done = 0; done < count; done += tile) {
        int64_t left = count - done;
        uint32_t now = static_cast<uint32_t>(left < tile ? left : tile);
        TEventID event = use_ping ? EVENT_ID0 : EVENT_ID1;
        __ubuf__ T *buffer = use_ping ? ping : pong;
        WaitFlag<HardEvent::MTE3_MTE2>(event);
        aclshmemx_mte_put_nbi(dst + done, src + done, buffer, UB_TILE_BYTES, now, peer, event);
        SetFlag<HardEvent::MTE3_MTE2>(event);
        use_ping = !use_ping;
    }
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
}

template <typename T>
ACLSHMEM_DEVICE void allgather_impl(GM_ADDR input, GM_ADDR output, GM_ADDR flags, int64_t elements, int32_t magic)
{
    const int my_pe = aclshmem_my_pe();
    const int n_pes = aclshmem_n_pes();
    const int64_t aiv_num = GetBlockNum();
    const int64_t aiv_idx = GetBlockIdx();

    // 模式 A：所有 AIV 平分一个 PE 的数据，最后一个 AIV 带上余数。
    const int64_t share = elements / aiv_num;
    const int64_t offset = aiv_idx * share;
    const int64_t length = aiv_idx == aiv_num - 1 ? elements - offset : share;

    __gm__ T *source = reinterpret_cast<__gm__ T *>(input) + offset;
    __gm__ T *target = reinterpret_cast<__gm__ T *>(output) + my_pe * elements + offset;
    __gm__ int32_t *slots = reinterpret_cast<__gm__ int32_t *>(flags);
    __gm__ int32_t *mine = slots + (my_pe * aiv_num + aiv_idx) * ALLGATHER_FLAG_INTERVAL;

    // 从自己的下一个 PE 开始，避免所有 PE 同时写 PE 0。
    for (int step = 1; step <= n_pes; ++step) {
        const int peer = (my_pe + step) % n_pes;
        put_tiles(target, source, length, peer);
        aclshmemx_mte_quiet();
        aclshmemx_signal_op(mine, magic, ACLSHMEM_SIGNAL_SET, peer);
    }
    for (int peer = 0; peer < n_pes; ++peer) {
        // 快的 PE 可能已进入下一轮，所以等“不小于”。
        __gm__ int32_t *theirs = slots + (peer * aiv_num + aiv_idx) * ALLGATHER_FLAG_INTERVAL;
        aclshmem_signal_wait_until(theirs, ACLSHMEM_CMP_GE, magic);
    }
    // 所有 PE 都收齐之后，才允许下一轮覆盖输出。
    aclshmem_barrier_all();
}

#define ALLGATHER_KERNEL(suffix, type)                                                                        \
    extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void allgather_##suffix(                   \
        uint64_t ffts, GM_ADDR input, GM_ADDR output, GM_ADDR flags, int64_t elements, int32_t magic)         \
    {                                                                                                         \
        util_set_ffts_config(ffts);                                                                           \
        allgather_impl<type>(input, output, flags, elements, magic);                                          \
    }

ALLGATHER_KERNEL(b16, half)
ALLGATHER_KERNEL(b32, int32_t)

// 只搬不算：同样宽度的类型共用一个 kernel。
void launch_allgather(uint32_t block_dim, void *stream, uint64_t ffts, uint8_t *input, uint8_t *output,
                      uint8_t *flags, int64_t elements, int32_t elem_bytes, int32_t magic)
{
    if (elem_bytes == sizeof(half)) {
        allgather_b16<<<block_dim, nullptr, stream>>>(ffts, input, output, flags, elements, magic);
    } else {
        allgather_b32<<<block_dim, nullptr, stream>>>(ffts, input, output, flags, elements, magic);
    }
}
