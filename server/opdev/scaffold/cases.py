"""The case matrix of a new operator: every scale, 2, 4 and 8 PEs, the eight boundaries, repeats.

The first dtype is the main one and has all shapes; every other dtype has one case a scale.  Sizes are
chosen by bytes, so that a case has the same scale whatever its dtype.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from opdev.scaffold.dtypes import Dtype

KB, MB = 1024, 1024 * 1024
# Name, scale, PEs, bytes on one PE, category, what it is for.
_MAIN = (
    ("smoke_2pe", "XS", 2, 32 * KB, "functional", "启动与最小通路"),
    ("smoke_4pe", "XS", 4, 16 * KB, "functional", "4 PE 的启动"),
    ("smoke_8pe", "XS", 8, 16 * KB, "functional", "8 PE 的启动"),
    ("small_2pe", "S", 2, 256 * KB, "functional", "每个 AIV 不足一个 tile"),
    ("small_4pe", "S", 4, 256 * KB, "functional", "4 PE 的对端次序"),
    ("small_8pe", "S", 8, 256 * KB, "functional", "8 PE 的对端次序"),
    ("medium_2pe", "M", 2, 4 * MB, "functional", "多个 tile 的流水"),
    ("medium_8pe", "M", 8, 2 * MB, "functional", "多个 tile 的流水，8 PE"),
    ("large_8pe", "L", 8, 64 * MB, "performance", "带宽，全部 PE 共 512 MB"),
)
_OTHER = (
    ("smoke_2pe", "XS", 2, 32 * KB, "functional", "启动与最小通路"),
    ("small_8pe", "S", 8, 256 * KB, "functional", "8 PE 的对端次序"),
    ("medium_2pe", "M", 2, 4 * MB, "functional", "多个 tile 的流水"),
    ("large_8pe", "L", 8, 64 * MB, "performance", "带宽，全部 PE 共 512 MB"),
)
# Name, PEs, shape (or bytes), category, special, purpose, launches.
_EDGES: tuple[tuple[str, int, tuple[int, ...] | int, str, str, str, int], ...] = (
    ("tail_chunk_2pe", 2, (100003,), "boundary", "B1 chunk 尾块", "最后一个 tile 不满", 1),
    ("tail_chunk_8pe", 8, (100003,), "boundary", "B1 chunk 尾块", "8 PE，最后一个 tile 不满", 1),
    ("tail_pe_8pe", 8, (7919,), "boundary", "B2 PE 数不整除", "元素数是质数，8 个 PE 除不尽", 1),
    ("odd_2pe", 2, (7, 13), "boundary", "B3 非 2 的幂、不对齐", "91 个元素", 1),
    ("odd_8pe", 8, (127, 63), "boundary", "B3 非 2 的幂、不对齐", "8001 个元素", 1),
    ("tiny_2pe", 2, (1,), "boundary", "B4 退化", "元素比 AIV 少", 1),
    ("ub_edge_2pe", 2, 190 * KB, "boundary", "B5 UB 边界", "正好 190 KB", 1),
    ("repeat_2pe", 2, 512 * KB, "stress", "B6 重复启动", "连续启动 5 次，轮次不混淆", 5),
    ("repeat_8pe", 8, 1 * MB, "stress", "B6 重复启动", "8 PE 连续启动 3 次", 3),
    ("large_2pe", 2, 128 * MB, "boundary", "B7 2 PE 大数据", "每 PE 128 MB，共 256 MB", 1),
    ("tiny_8pe", 8, 8 * KB, "boundary", "B8 8 PE 小数据", "时延由同步决定", 1),
)
# Lengths of alltoallv by name; the rest are random.
_PATTERNS = {"smoke_2pe": "even", "large_8pe": "even", "tiny_8pe": "sparse", "small_4pe": "sparse"}


def scale_of(size: int) -> str:
    """The scale of so many bytes on one PE."""
    if size < 64 * KB:
        return "XS"
    return "S" if size < MB else "M" if size < 64 * MB else "L"


def cases(kind: str, dtypes: Sequence[Dtype]) -> list[dict[str, Any]]:
    """The cases of cases.json, in the order in which they are run; at least twenty for any dtypes."""
    return [_finished(kind, case) for case in _cases(dtypes)]


def _cases(dtypes: Sequence[Dtype]) -> Iterator[dict[str, Any]]:
    main = dtypes[0]
    for dtype in dtypes:
        for name, scale, pes, size, category, purpose in _MAIN if dtype is main else _OTHER:
            yield _case(name, dtype, pes, (size // dtype.bytes,), category, scale, "", purpose, 1)
    for name, pes, shape, category, special, purpose, repeat in _EDGES:
        dims = (shape // main.bytes,) if isinstance(shape, int) else shape
        elements = 1
        for dim in dims:
            elements *= dim
        yield _case(name, main, pes, dims, category, scale_of(elements * main.bytes), special, purpose, repeat)


def _case(
    name: str,
    dtype: Dtype,
    pes: int,
    shape: tuple[int, ...],
    category: str,
    scale: str,
    special: str,
    purpose: str,
    repeat: int,
) -> dict[str, Any]:
    return {
        "case_id": f"{name}_{dtype.short}",
        "category": category,
        "scale": scale,
        "n_pes": pes,
        "dtype": dtype.name,
        "shape": list(shape),
        "special": special,
        "purpose": purpose,
        "repeat": repeat,
        "rtol": float(dtype.rtol) or 0,
        "atol": float(dtype.rtol) or 0,
    }


def _finished(kind: str, case: dict[str, Any]) -> dict[str, Any]:
    """What only one kind of operator has: lengths for alltoallv, the root for broadcast; moved data is exact."""
    name = case["case_id"].rpartition("_")[0]
    if kind != "reduce-scatter":
        case |= {"rtol": 0, "atol": 0}
    if kind == "alltoallv":
        case["pattern"] = _PATTERNS.get(name, "random")
    elif kind == "broadcast":
        case["root"] = case["n_pes"] - 1 if case["special"] else 0
    return case
