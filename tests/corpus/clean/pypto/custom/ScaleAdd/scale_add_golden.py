# SPDX-License-Identifier: Apache-2.0
"""scale_add 的参考实现。"""

import torch


def scale_add_golden(x: torch.Tensor, y: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
    """在 float32 里算 x * scale + y，再转回 x 的 dtype。"""
    return (x.float() * scale + y.float()).to(x.dtype)
