# SPDX-License-Identifier: Apache-2.0
"""softmax 的 PyPTO 实现与测试，随算子交付。"""

import logging

import torch

import pypto
from softmax_golden import softmax_golden

ROWS = 64


@pypto.jit
def softmax_kernel(
    x: pypto.Tensor([pypto.DYNAMIC, 64], pypto.DT_FP16), y: pypto.Tensor([pypto.DYNAMIC, 64], pypto.DT_FP16)
) -> None:
    """按行：减最大值、取指数、除以和。"""
    pypto.set_vec_tile_shapes(ROWS, 64)
    shifted = pypto.exp(pypto.sub(x, pypto.amax(x, -1, True)))
    y[:] = pypto.div(shifted, pypto.sum(shifted, -1, True))


def _assert_precision(actual: torch.Tensor, golden: torch.Tensor, label: str) -> None:
    """与参考比较，不达标时抛 AssertionError。"""
    from precision_compare import check_precision

    passed, summary = check_precision(actual.cpu(), golden)
    if not passed:
        raise AssertionError(f"[{label}] 精度不达标：{summary}")
    logging.info("[%s] PASS (%s)", label, summary)


def test_softmax_square() -> None:
    x = torch.randn(ROWS, 64, generator=torch.Generator().manual_seed(42)).half()
    y = torch.empty_like(x)
    softmax_kernel(x, y)
    _assert_precision(y, softmax_golden(x), "square")


def test_softmax_tail() -> None:
    # 行数不是块的倍数
    x = torch.randn(7, 64, generator=torch.Generator().manual_seed(43)).half()
    y = torch.empty_like(x)
    softmax_kernel(x, y)
    _assert_precision(y, softmax_golden(x), "tail")
