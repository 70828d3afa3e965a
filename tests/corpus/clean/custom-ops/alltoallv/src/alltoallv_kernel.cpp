// SPDX-License-Identifier: Apache-2.0
// alltoallv：AIV 按对端分组，组内平分一次传输；长度可变，为 0 时只发信号。
#include "alltoallv_kernel.h"

#include "kernel_operator.h"
#include "shmem.h"

using namespace AscendC;

constexpr uint32_t UB_TILE_BYTES = 128 * 1024;  // 单次搬运，不超过 UB 的 190 KB
constexpr uint64_t UB_TILE = 2048;

// 一组 AIV 里的一个：第几组、组内第几个。
struct Worker {
    int64_t group;
    int64_t groups;
    int64_t idx;
    int64_t size;
};

// AIV 比 PE 少时一组一个 AIV，轮流服务多个对端。
ACLSHMEM_DEVICE Worker worker_of(int n_pes)
{
    const int64_t aiv_num = GetBlockNum();
    const int64_t aiv_idx = GetBlockIdx();
    const int64_t size = aiv_num > n_pes ? aiv_num / n_pes : 1;
    const int64_t groups = aiv_num / size < n_pes ? aiv_num / size : n_pes;
    return Worker{aiv_idx / size, groups, aiv_idx % size, size};
}

template <typename T>
ACLSHMEM_DEVICE void send_range(__gm__ T *dst, __gm__ T *src, int64_t count, int peer)
{
    __ubuf__ T *buffer = reinterpret_cast<__ubuf__ T *>(UB_TILE);
    constexpr int64_t tile = UB_TILE_BYTES / sizeof(T);
    for (int64_t done = 0; done < count; done += tile) {
        const int64_t left = count - done;
        const uint32_t now = static_cast<uint32_t>(left < tile ? left : tile);
        aclshmemx_mte_put_nbi(dst + done, src + done, buffer, UB_TILE_BYTES, now, peer, EVENT_ID0);
        // 同一块 UB 马上要再用：等搬出完成。
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    }
}

template <typename T>
ACLSHMEM_DEVICE void alltoallv_impl(GM_ADDR send, GM_ADDR recv, GM_ADDR plan, GM_ADDR flags, int32_t magic)
{
    const int my_pe = aclshmem_my_pe();
    const int n_pes = aclshmem_n_pes();
    const Worker me = worker_of(n_pes);
    __gm__ AlltoallvPlan *plans = reinterpret_cast<__gm__ AlltoallvPlan *>(plan);
    __gm__ int32_t *slots = reinterpret_cast<__gm__ int32_t *>(flags);

    if (me.group < me.groups) {
        for (int64_t peer = me.group; peer < n_pes; peer += me.groups) {
            const int64_t count = plans[peer].count;
            const int64_t share = count / me.size;
            const int64_t offset = me.idx * share;
            // 组内最后一个 AIV 带上余数。
            const int64_t length = me.idx == me.size - 1 ? count - offset : share;
            send_range(reinterpret_cast<__gm__ T *>(recv) + plans[peer].recv_offset + offset,
                       reinterpret_cast<__gm__ T *>(send) + plans[peer].send_offset + offset, length, peer);
            aclshmemx_mte_quiet();
            aclshmemx_signal_op(slots + (my_pe * me.size + me.idx) * ALLTOALLV_FLAG_INTERVAL, magic,
                                ACLSHMEM_SIGNAL_SET, peer);
        }
        for (int64_t peer = me.group; peer < n_pes; peer += me.groups) {
            aclshmem_signal_wait_until(slots + (peer * me.size + me.idx) * ALLTOALLV_FLAG_INTERVAL,
                                       ACLSHMEM_CMP_GE, magic);
        }
    }
    // 多出来的 AIV 没有数据要发，也必须参加。
    aclshmem_barrier_all();
}

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void alltoallv_b16(
    uint64_t ffts, GM_ADDR send, GM_ADDR recv, GM_ADDR plan, GM_ADDR flags, int32_t magic)
{
    util_set_ffts_config(ffts);
    alltoallv_impl<half>(send, recv, plan, flags, magic);
}

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void alltoallv_b32(
    uint64_t ffts, GM_ADDR send, GM_ADDR recv, GM_ADDR plan, GM_ADDR flags, int32_t magic)
{
    util_set_ffts_config(ffts);
    alltoallv_impl<int32_t>(send, recv, plan, flags, magic);
}

void launch_alltoallv(uint32_t block_dim, void *stream, uint64_t ffts, uint8_t *send, uint8_t *recv,
                      uint8_t *plan, uint8_t *flags, int32_t elem_bytes, int32_t magic)
{
    if (elem_bytes == sizeof(half)) {
        alltoallv_b16<<<block_dim, nullptr, stream>>>(ffts, send, recv, plan, flags, magic);
    } else {
        alltoallv_b32<<<block_dim, nullptr, stream>>>(ffts, send, recv, plan, flags, magic);
    }
}
