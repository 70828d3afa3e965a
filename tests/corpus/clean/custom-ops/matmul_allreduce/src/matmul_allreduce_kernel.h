// SPDX-License-Identifier: Apache-2.0
#ifndef MATMUL_ALLREDUCE_KERNEL_H
#define MATMUL_ALLREDUCE_KERNEL_H

#include <cstddef>
#include <cstdint>

// Cube 分块，都是 16 的倍数。
constexpr uint32_t MM_TILE_M = 128;
constexpr uint32_t MM_TILE_N = 256;
constexpr uint32_t MM_TILE_K = 64;
constexpr uint32_t MM_STAGES = 2;  // AIC 算一块的同时 AIV 发上一块

struct MatmulShape {
    uint32_t m;
    uint32_t n;
    uint32_t k;
};

// 本 PE 的部分和先落在工作区：每个 AIC 两块 float，AIC 写、AIV 读。
inline size_t matmul_workspace_bytes(uint32_t block_dim)
{
    return sizeof(float) * MM_STAGES * MM_TILE_M * MM_TILE_N * block_dim;
}

// a、b 是普通 GM（half），c 是对称内存里的 m × n 个 float，结束时每个 PE 都是全部 PE 的和。
void launch_matmul_allreduce(uint32_t block_dim, void *stream, uint64_t ffts, uint8_t *a, uint8_t *b, uint8_t *c,
                             uint8_t *workspace, MatmulShape shape);

#endif
