# SPDX-License-Identifier: Apache-2.0
"""scale_add 的测试：level0 最小形状，level1 覆盖 P0 形状。"""

import os

import pytest
import torch
from numpy.testing import assert_allclose

from scale_add_golden import scale_add_golden
from scale_add_impl import scale_add_wrapper

DEVICE = int(os.environ.get("TILE_FWK_DEVICE_ID", "0"))


def _run_and_check(name: str, rows: int, width: int) -> None:
    torch.npu.set_device(DEVICE)
    torch.manual_seed(42)
    x = torch.randn(rows, width, dtype=torch.bfloat16)
    y = torch.randn(rows, width, dtype=torch.bfloat16)
    actual = scale_add_wrapper(x.npu(), y.npu()).cpu().float().numpy()
    assert_allclose(actual, scale_add_golden(x, y).float().numpy(), rtol=0.008, atol=0.0001, err_msg=name)


def test_level0_basic() -> None:
    _run_and_check("basic", 32, 128)


@pytest.mark.parametrize("rows", [1024, 1000])
def test_level1_p0(rows: int) -> None:
    _run_and_check("p0", rows, 128)
    _run_and_check("whole", 1024, 128)
    _run_and_check("tail", 1000, 128)
