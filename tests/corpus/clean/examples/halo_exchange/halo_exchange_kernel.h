// SPDX-License-Identifier: Apache-2.0
#ifndef HALO_EXCHANGE_KERNEL_H
#define HALO_EXCHANGE_KERNEL_H

#include <cstdint>

// grid 在对称内存里：上边界一行、rows 行内部、下边界一行，每行 width 个 float。
void launch_halo_exchange(uint32_t block_dim, void *stream, uint64_t ffts, uint8_t *grid, int32_t rows,
                          int32_t width);

#endif
