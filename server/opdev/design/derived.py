"""What follows from a design's numbers: scale, bytes, bus factor, peak, tolerance.

Pure functions over the standards' tables, for rules, hover and inlay hints alike.  Units are in
the names: bytes, PEs, GB/s (10^9).
"""

from __future__ import annotations

import re
from math import prod
from typing import Literal

from opdev.design.arithmetic import evaluate
from opdev.design.dtypes import SIZES, fold_dtype, is_integer

Tier = Literal["XS", "S", "M", "L"]
Collective = Literal[
    "all-to-all", "reduce-scatter", "all-gather", "all-reduce", "broadcast", "p2p", "dispatch", "scatter", "gather", "reduce"
]  # fmt: skip
OpType = Literal["MOVE", "COMPUTE_INTEGER", "COMPUTE_QUANT", "COMPUTE_FLOAT", "COMPUTE_FLOAT_HIGH_PRECISION"]

KB, MB = 1024, 1024 * 1024
TOTAL_FLOOR = 256 * MB
"""An L case, and a collective's smallest measured scale, reaches this over all PEs."""
TIERS: tuple[tuple[Tier, int, int | None], ...] = (
    ("XS", 0, 64 * KB), ("S", 64 * KB, MB), ("M", MB, 64 * MB), ("L", 64 * MB, None),
)  # fmt: skip
"""(tier, from, below) in bytes on each PE."""
LINK_GBPS = 28
COMPUTE_TIMES = 2048
"""Accumulations from which on the wider tolerance holds."""

AIVS = {
    "ascend910b1": 50, "ascend910b2": 48, "ascend910b3": 40, "ascend910b4": 40, "ascend910b": 50, "ascend910c": 96,
}  # fmt: skip
"""AIVs of one NPU; for a family the most any member has."""
LIBRARY_AIVS = 48
"""ACLSHMEM_MAX_AIV_PER_NPU: profiling and core sync count no further."""
SDMA_CHANNELS = 40

_SHAPE = re.compile(r"\s*[\[(](.*)[\])]\s*\Z", re.DOTALL)
_WORDS: tuple[tuple[str, Collective], ...] = (
    (r"all_?to_?all|all2all|shuffle", "all-to-all"),
    (r"reduce_?scatter", "reduce-scatter"),
    (r"all_?gather", "all-gather"),
    (r"all_?reduce", "all-reduce"),
    (r"broadcast|bcast", "broadcast"),
    (r"dispatch|combine", "dispatch"),
    (r"p2p|send|recv|(?:^|_)put(?:_|$)|(?:^|_)get(?:_|$)", "p2p"),
    (r"scatter", "scatter"),
    (r"gather", "gather"),
    (r"reduce", "reduce"),
)
HCCL_OF: dict[Collective, str] = {
    "all-to-all": "HcclAlltoAll", "reduce-scatter": "HcclReduceScatter", "all-gather": "HcclAllGather",
    "all-reduce": "HcclAllReduce", "broadcast": "HcclBroadcast", "scatter": "HcclScatter", "gather": "HcclAllGather",
    "reduce": "HcclReduce",
}  # fmt: skip
"""The HCCL call that does the same."""

# rtol (= atol) by class: dtype → (below COMPUTE_TIMES, from there on).
_FLOAT = {"float16": (2**-8, 2**-7), "bfloat16": (2**-7, 2**-6), "float32": (2**-11, 2**-10)}
_HIGH = {"float16": 2**-11, "bfloat16": 2**-11, "float32": 2**-14}
EB_LIMITS = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-14}
"""Limit of the error balance for each dtype."""


def tier(bytes_per_pe: float) -> Tier:
    """The scale of a case by the bytes on each PE; 64 KB is S, 1 MB is M, 64 MB is L."""
    return next(name for name, low, below in TIERS if bytes_per_pe >= low and (below is None or bytes_per_pe < below))


def elements(shape: str, names: dict[str, float] | None = None) -> int | None:
    """The elements of ``[1024, 2048]`` or ``[8, 32M]``; None where a name in it has no value."""
    match = _SHAPE.match(shape)
    text = match.group(1) if match else shape
    values = [evaluate(part, names) for part in text.split(",") if part.strip()]
    known = [v for v in values if v is not None]
    if not values or len(known) != len(values):
        return None
    total = prod(known)
    return int(total) if 0 <= total < 1 << 62 else None


def bytes_per_pe(shape: str, dtype: str, names: dict[str, float] | None = None) -> int | None:
    """Bytes of a shape on one PE; None where shape or dtype is not known."""
    count, size = elements(shape, names), SIZES.get(fold_dtype(dtype) or "")
    return None if count is None or size is None else count * size


def total_bytes(per_pe: int, n_pes: int) -> int:
    """Bytes over all PEs, to be held against TOTAL_FLOOR."""
    return per_pe * n_pes


def collective_of(op_name: str) -> Collective | None:
    """Which collective an operator's name says; None for none."""
    lowered = op_name.lower().replace("-", "_")
    return next((kind for pattern, kind in _WORDS if re.search(pattern, lowered)), None)


def telling_name(op_name: str, baseline: str) -> str:
    """The name that says which collective it is: an HCCL baseline does the same, whatever the operator is called."""
    baseline = baseline.strip()
    return baseline if baseline.lower().startswith("hccl") and collective_of(baseline) is not None else op_name


def bus_factor(kind: Collective, n_pes: int) -> float:
    """Bus bandwidth over algorithm bandwidth; ValueError below one PE."""
    if n_pes < 1:
        raise ValueError("n_pes is at least 1")
    if kind in ("broadcast", "p2p", "scatter", "gather", "reduce"):
        return 1.0
    share = (n_pes - 1) / n_pes
    return 2 * share if kind == "all-reduce" else share


def peak_gbps(kind: Collective, n_pes: int, link: float = LINK_GBPS) -> float:
    """Peak bandwidth in GB/s of one PE on a full mesh: one link for point to point, all for a collective."""
    return link if kind in ("p2p", "dispatch") else link * max(n_pes - 1, 1)


_MOVES = re.compile(r"broadcast|scatter|(?:all_?)?gather")
"""Operators that move data whatever kind they are said to be."""


def op_type(op_kind: str, dtype: str, op_name: str = "") -> OpType:
    """The precision class; the operator's name wins over its kind, integers are exact."""
    folded = fold_dtype(dtype) or dtype
    lowered = op_name.lower()
    if is_integer(folded):
        return "MOVE" if op_kind == "transport" else "COMPUTE_INTEGER"
    if re.search(r"matmul|gemm|mm_|reduce|combine", lowered):
        return "COMPUTE_FLOAT"
    if (
        op_kind == "transport"
        or _MOVES.fullmatch(lowered)
        or (op_kind in ("collective", "") and collective_of(op_name) is not None)
    ):
        return "MOVE"
    return "COMPUTE_FLOAT"


def needs_reference(op_kind: str) -> bool:
    """Whether the second pass of the precision standard is required."""
    return op_kind == "fused_compute_comm"


def tolerance(kind: OpType, dtype: str, compute_times: int | None = None) -> float | None:
    """rtol, which atol equals; None where the standard has no value.

    ``compute_times`` is PEs × elements accumulated on each; not known means the wider value.
    """
    folded = fold_dtype(dtype) or ""
    if kind in ("MOVE", "COMPUTE_INTEGER") or is_integer(folded):
        return 0.0
    if kind == "COMPUTE_QUANT":
        return 2**-8 if folded == "float16" else None
    if kind == "COMPUTE_FLOAT_HIGH_PRECISION":
        return _HIGH.get(folded)
    pair = _FLOAT.get(folded)
    if pair is None:
        return None
    return pair[0] if compute_times is not None and compute_times < COMPUTE_TIMES else pair[1]


def expected_tolerance(op_kind: str, dtype: str, op_name: str = "", compute_times: int | None = None) -> float | None:
    """The standard's rtol for an operator and a dtype."""
    return tolerance(op_type(op_kind, dtype, op_name), dtype, compute_times)


def aivs_of(socs: list[str]) -> int | None:
    """The AIVs every one of ``socs`` has; None if one of them is not known."""
    counts = [AIVS.get(soc.lower().replace("-", "").replace("_", "")) for soc in socs]
    known = [c for c in counts if c is not None]
    return min(known) if known and len(known) == len(counts) else None
