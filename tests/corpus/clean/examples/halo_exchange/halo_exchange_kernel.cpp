// SPDX-License-Identifier: Apache-2.0
// halo_exchange：相邻 PE 互换边界行，一维环；每个 AIV 管一段列。
#include "halo_exchange_kernel.h"

#include "kernel_operator.h"
#include "shmem.h"

using namespace AscendC;

constexpr uint64_t UB_ROW = 1024;
constexpr uint32_t UB_ROW_BYTES = 96 * 1024;

// 一段列的一行送到 peer，一次放不下就分块。
ACLSHMEM_DEVICE void put_row(__gm__ float *dst, __gm__ float *src, int64_t count, int peer)
{
    __ubuf__ float *buffer = reinterpret_cast<__ubuf__ float *>(UB_ROW);
    constexpr int64_t tile = UB_ROW_BYTES / sizeof(float);
    for (int64_t done = 0; done < count; done += tile) {
        const int64_t left = count - done;
        const uint32_t now = static_cast<uint32_t>(left < tile ? left : tile);
        aclshmemx_mte_put_nbi(dst + done, src + done, buffer, UB_ROW_BYTES, now, peer, EVENT_ID0);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    }
}

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void halo_exchange_fp32(
    uint64_t ffts, GM_ADDR grid, int32_t rows, int32_t width)
{
    util_set_ffts_config(ffts);
    const int64_t aiv_num = GetBlockNum();
    const int64_t aiv_idx = GetBlockIdx();
    const int64_t share = width / aiv_num;
    const int64_t begin = aiv_idx * share;
    const int64_t count = aiv_idx == aiv_num - 1 ? width - begin : share;
    const int my_pe = aclshmem_my_pe();
    const int n_pes = aclshmem_n_pes();
    const int above = (my_pe + n_pes - 1) % n_pes;
    const int below = (my_pe + 1) % n_pes;

    __gm__ float *cells = reinterpret_cast<__gm__ float *>(grid) + begin;
    const int64_t last = static_cast<int64_t>(rows) * width;
    // 第一行内部 → 上邻居的下边界；最后一行内部 → 下邻居的上边界。
    put_row(cells + last + width, cells + width, count, above);
    put_row(cells, cells + last, count, below);
    aclshmemx_mte_quiet();
    aclshmem_barrier_all();
}

void launch_halo_exchange(uint32_t block_dim, void *stream, uint64_t ffts, uint8_t *grid, int32_t rows,
                          int32_t width)
{
    halo_exchange_fp32<<<block_dim, nullptr, stream>>>(ffts, grid, rows, width);
}
