// SPDX-License-Identifier: Apache-2.0
// matmul_allreduce：AIC 逐块算 C 的部分和，AIV 把上一块原子加到所有 PE 的 C，两边隔一级流水。
#include "matmul_allreduce_kernel.h"

#include "kernel_operator.h"
#include "shmem.h"
#include "tile_matmul.h"

using namespace AscendC;

constexpr uint64_t UB_TILE = 2048;
constexpr uint32_t UB_TILE_BYTES = 64 * 1024;
constexpr uint64_t UB_ZERO = UB_TILE + UB_TILE_BYTES;
constexpr uint32_t UB_ZERO_BYTES = 32 * 1024;
// 核间标志的编号：每级流水一个。
constexpr uint16_t FLAG_STORED = 0;
constexpr uint16_t FLAG_SENT = MM_STAGES;

// AIC 一侧：算完一块就通知 AIV，等 AIV 发完两块之前的那块才复用工作区。
ACLSHMEM_DEVICE void compute_tiles(__gm__ half *a, __gm__ half *b, __gm__ float *workspace, const MatmulShape &shape)
{
    const uint32_t cores = GetBlockNum();
    const uint32_t core = GetBlockIdx();
    uint32_t turn = 0;
    for (uint32_t index = core; index < tile_count(shape); index += cores, ++turn) {
        const uint16_t stage = turn % MM_STAGES;
        if (turn >= MM_STAGES) {
            CrossCoreWaitFlag(FLAG_SENT + stage);
        }
        __gm__ float *out = workspace + (core * MM_STAGES + stage) * MM_TILE_M * MM_TILE_N;
        multiply_tile(a, b, out, tile_at(index, shape), shape);
        CrossCoreSetFlag<0x2, PIPE_FIX>(FLAG_STORED + stage);
    }
    // 收回 AIV 最后几次通知，计数器回到零。
    const uint32_t pending = turn < MM_STAGES ? turn : MM_STAGES;
    for (uint32_t left = turn - pending; left < turn; ++left) {
        CrossCoreWaitFlag(FLAG_SENT + left % MM_STAGES);
    }
}

// 一行一行加到 peer 的 C：C 的行距是 n，块内是 columns。
ACLSHMEM_DEVICE void add_rows(__gm__ float *c, __gm__ float *block, const TileCoord &tile, uint32_t n, int peer)
{
    __ubuf__ float *buffer = reinterpret_cast<__ubuf__ float *>(UB_TILE);
    const uint32_t halves = GetSubBlockNum();
    for (uint32_t row = GetSubBlockIdx(); row < tile.rows; row += halves) {
        __gm__ float *dst = c + static_cast<uint64_t>(tile.row + row) * n + tile.column;
        aclshmemx_mte_put_nbi(dst, block + row * tile.columns, buffer, UB_TILE_BYTES, tile.columns, peer, EVENT_ID0);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    }
}

// AIV 一侧：每块依次加到所有 PE（含自己，C 的初值是零）。
ACLSHMEM_DEVICE void send_tiles(__gm__ float *c, __gm__ float *workspace, const MatmulShape &shape)
{
    const uint32_t cores = GetBlockNum();
    const uint32_t core = GetBlockIdx() / GetSubBlockNum();
    const int my_pe = aclshmem_my_pe();
    const int n_pes = aclshmem_n_pes();
    uint32_t turn = 0;
    for (uint32_t index = core; index < tile_count(shape); index += cores, ++turn) {
        const uint16_t stage = turn % MM_STAGES;
        __gm__ float *block = workspace + (core * MM_STAGES + stage) * MM_TILE_M * MM_TILE_N;
        CrossCoreWaitFlag(FLAG_STORED + stage);
        SetAtomicAdd<float>();
        for (int step = 1; step <= n_pes; ++step) {
            add_rows(c, block, tile_at(index, shape), shape.n, (my_pe + step) % n_pes);
        }
        aclshmemx_mte_quiet();
        SetAtomicNone();
        CrossCoreSetFlag<0x2, PIPE_MTE3>(FLAG_SENT + stage);
    }
}

// 把 C 清零，每个 AIV 一段；累加开始之前必须所有 PE 都清完。
ACLSHMEM_DEVICE void clear_result(__gm__ float *c, uint64_t count)
{
    const uint64_t aiv_num = GetBlockNum() * GetSubBlockNum();
    const uint64_t aiv_idx = GetBlockIdx();
    const uint64_t share = (count + aiv_num - 1) / aiv_num;
    const uint64_t begin = aiv_idx * share < count ? aiv_idx * share : count;
    const uint64_t end = begin + share < count ? begin + share : count;
    constexpr uint32_t tile = UB_ZERO_BYTES / sizeof(float);

    LocalTensor<float> zero(TPosition::VECCALC, UB_ZERO, tile);
    GlobalTensor<float> result;
    result.SetGlobalBuffer(c, count);
    Duplicate(zero, 0.0f, tile);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    for (uint64_t at = begin; at < end; at += tile) {
        const uint32_t now = static_cast<uint32_t>(end - at < tile ? end - at : tile);
        DataCopyPad(result[at], zero, DataCopyExtParams(1, now * sizeof(float), 0, 0, 0));
    }
    PipeBarrier<PIPE_ALL>();
}

extern "C" __global__ __aicore__ void matmul_allreduce_fp16(uint64_t ffts, GM_ADDR a, GM_ADDR b, GM_ADDR c,
                                                            GM_ADDR workspace, MatmulShape shape)
{
    util_set_ffts_config(ffts);
    __gm__ float *result = reinterpret_cast<__gm__ float *>(c);
    __gm__ float *blocks = reinterpret_cast<__gm__ float *>(workspace);
    if ASCEND_IS_AIV {
        clear_result(result, static_cast<uint64_t>(shape.m) * shape.n);
    }
    aclshmem_barrier_all();
    if ASCEND_IS_AIC {
        compute_tiles(reinterpret_cast<__gm__ half *>(a), reinterpret_cast<__gm__ half *>(b), blocks, shape);
    }
    if ASCEND_IS_AIV {
        send_tiles(result, blocks, shape);
    }
    aclshmem_barrier_all();
}

void launch_matmul_allreduce(uint32_t block_dim, void *stream, uint64_t ffts, uint8_t *a, uint8_t *b, uint8_t *c,
                             uint8_t *workspace, MatmulShape shape)
{
    matmul_allreduce_fp16<<<block_dim, nullptr, stream>>>(ffts, a, b, c, workspace, shape);
}
