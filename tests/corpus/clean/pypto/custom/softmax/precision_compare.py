# SPDX-License-Identifier: Apache-2.0
"""自测时比较精度，不随算子交付。"""

import torch


def check_precision(actual: torch.Tensor, golden: torch.Tensor, rtol: float = 2**-8) -> tuple[bool, str]:
    """误差不超过 rtol·max(|g|,1) 的元素占比必须是 100%。"""
    wide, reference = actual.double(), golden.double()
    if not torch.isfinite(wide).all():
        return False, "nan/inf detected"
    error = (wide - reference).abs()
    relative = error / reference.abs().clamp(min=torch.finfo(torch.float64).tiny)
    within = error <= rtol * reference.abs().clamp(min=1)
    text = f"MaxAE={error.max():.6e} MaxRE={relative.max():.6e} MeanRE={relative.mean():.6e}"
    return bool(within.all()), f"{text} precision_percent={100 * within.double().mean():.4f}"
