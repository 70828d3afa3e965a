// SPDX-License-Identifier: Apache-2.0
#ifndef TILE_MATMUL_H
#define TILE_MATMUL_H

#include "kernel_operator.h"
#include "matmul_allreduce_kernel.h"

namespace Catlass {
struct GemmCoord;
template <class Shape, class ElementA, class ElementB, class ElementC>
class BlockMmad;
}  // namespace Catlass

// 一块 C 的左上角与实际大小；边上的块不满。
struct TileCoord {
    uint32_t row;
    uint32_t column;
    uint32_t rows;
    uint32_t columns;
};

__aicore__ inline TileCoord tile_at(uint32_t index, const MatmulShape &shape)
{
    const uint32_t across = (shape.n + MM_TILE_N - 1) / MM_TILE_N;
    TileCoord tile;
    tile.row = index / across * MM_TILE_M;
    tile.column = index % across * MM_TILE_N;
    tile.rows = shape.m - tile.row < MM_TILE_M ? shape.m - tile.row : MM_TILE_M;
    tile.columns = shape.n - tile.column < MM_TILE_N ? shape.n - tile.column : MM_TILE_N;
    return tile;
}

__aicore__ inline uint32_t tile_count(const MatmulShape &shape)
{
    return (shape.m + MM_TILE_M - 1) / MM_TILE_M * ((shape.n + MM_TILE_N - 1) / MM_TILE_N);
}

// 算一块 C，紧密排列写到 out；实现由 Catlass 的 BlockMmad 给出。
__aicore__ void multiply_tile(__gm__ half *a, __gm__ half *b, __gm__ float *out, const TileCoord &tile,
                              const MatmulShape &shape);

#endif
