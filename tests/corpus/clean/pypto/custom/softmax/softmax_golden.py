# SPDX-License-Identifier: Apache-2.0
"""softmax 的参考实现，随算子交付。"""

import torch


def softmax_golden(x: torch.Tensor) -> torch.Tensor:
    """在 float32 里算最后一维的 softmax，再转回 x 的 dtype。"""
    wide = x.float()
    shifted = torch.exp(wide - wide.max(dim=-1, keepdim=True).values)
    return (shifted / shifted.sum(dim=-1, keepdim=True)).to(x.dtype)
