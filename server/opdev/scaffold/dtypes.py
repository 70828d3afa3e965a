"""What templates must know of a dtype: its size, its names in C++, numpy and HCCL, and its tolerance when summed."""

from __future__ import annotations

from typing import NamedTuple

from opdev.design.dtypes import SIZES


class Dtype(NamedTuple):
    """``short`` goes into case ids, ``device`` is AscendC's type, ``stored`` numpy's in files,
    ``torch`` ATen's (empty where PyTorch has none).

    ``rtol`` is the precision standard's for sums of fewer than 2048 terms; atol is the same.
    """

    name: str
    short: str
    bytes: int
    device: str
    stored: str
    hccl: str
    rtol: str
    torch: str


_TORCH = {
    "float16": "at::kHalf",
    "bfloat16": "at::kBFloat16",
    "float32": "at::kFloat",
    "int8": "at::kChar",
    "uint8": "at::kByte",
    "int16": "at::kShort",
    "int32": "at::kInt",
    "int64": "at::kLong",
}
"""The dtypes PyTorch computes with, under ATen's names."""


def _made(name: str, short: str, device: str, hccl: str, rtol: str = "0", stored: str = "") -> Dtype:
    return Dtype(name, short, SIZES[name], device, stored or name, hccl, rtol, _TORCH.get(name, ""))


DTYPES = {
    dtype.name: dtype
    for dtype in (
        _made("float16", "fp16", "half", "HCCL_DATA_TYPE_FP16", "0.00390625"),
        _made("bfloat16", "bf16", "bfloat16_t", "HCCL_DATA_TYPE_BFP16", "0.0078125", "uint16"),
        _made("float32", "fp32", "float", "HCCL_DATA_TYPE_FP32", "0.00048828125"),
        _made("int8", "int8", "int8_t", "HCCL_DATA_TYPE_INT8"),
        _made("uint8", "uint8", "uint8_t", "HCCL_DATA_TYPE_UINT8"),
        _made("int16", "int16", "int16_t", "HCCL_DATA_TYPE_INT16"),
        _made("uint16", "uint16", "uint16_t", "HCCL_DATA_TYPE_UINT16"),
        _made("int32", "int32", "int32_t", "HCCL_DATA_TYPE_INT32"),
        _made("uint32", "uint32", "uint32_t", "HCCL_DATA_TYPE_UINT32"),
        _made("int64", "int64", "int64_t", "HCCL_DATA_TYPE_INT64"),
    )
}
