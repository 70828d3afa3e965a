# SPDX-License-Identifier: Apache-2.0
"""out = x * scale + y，按行分块，在 float32 里计算。"""

import pypto
import torch

N = pypto.DYNAMIC
WIDTH = 128
ROWS = 32


def _scaled(x: pypto.Tensor, y: pypto.Tensor, scale: float) -> pypto.Tensor:
    wide = pypto.mul(pypto.cast(x, pypto.DT_FP32), scale)
    return pypto.cast(pypto.add(wide, pypto.cast(y, pypto.DT_FP32)), pypto.DT_BF16)


@pypto.frontend.jit
def scale_add_kernel(
    x: pypto.Tensor([N, WIDTH], pypto.DT_BF16),
    y: pypto.Tensor([N, WIDTH], pypto.DT_BF16),
    out: pypto.Tensor([N, WIDTH], pypto.DT_BF16),
    scale: float,
):
    pypto.set_vec_tile_shapes(ROWS, WIDTH)
    rows = x.shape[0]
    for block in pypto.loop((rows + ROWS - 1) // ROWS, name="rows", idx_name="block", unroll_list=[1]):
        start = block * ROWS
        valid = [min(rows - start, ROWS), WIDTH]
        left = pypto.view(x, [ROWS, WIDTH], [start, 0], valid_shape=valid)
        right = pypto.view(y, [ROWS, WIDTH], [start, 0], valid_shape=valid)
        pypto.assemble(_scaled(left, right, scale), [start, 0], out)


def scale_add_wrapper(x: torch.Tensor, y: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
    """检查输入，分配输出，下发一次。"""
    assert x.shape == y.shape and x.dtype == torch.bfloat16, f"{x.shape} {y.shape} {x.dtype}"
    out = torch.empty_like(x)
    scale_add_kernel(x.contiguous(), y.contiguous(), out, scale)
    return out
