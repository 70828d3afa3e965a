"""The limits of both precision standards.

SHMEM's table lives in ``design.derived``; PyPTO's scheme A lives here.  Nothing a user can pass makes a limit wider:
SHMEM's tolerance may be tightened (a design may ask for more than the standard), PyPTO's has no parameter at all.
"""

from __future__ import annotations

from opdev.design.derived import COMPUTE_TIMES, EB_LIMITS, OpType, tolerance
from opdev.design.dtypes import fold_dtype, is_integer
from opdev.design.scale import power
from opdev.precision.model import Both, Limits
from opdev.precision.texts import PrecisionError, both

OP_TYPES: tuple[OpType, ...] = (
    "MOVE", "COMPUTE_INTEGER", "COMPUTE_QUANT", "COMPUTE_FLOAT", "COMPUTE_FLOAT_HIGH_PRECISION",
)  # fmt: skip
RATIOS: dict[str, float] = {"MARE": 10, "MERE": 2, "RMSE": 2}
"""How many times the reference's error an output may have, in the second pass of the SHMEM standard."""
REQUIRED_HUNDREDTHS = 99
"""Share of PyPTO's elements that have to match, in hundredths: compared in whole numbers."""
_ULPS = 32
# Scheme A: dtype → (rtol, atol, fixed limit of the absolute error, ULP at 1.0).
_SCHEME_A: dict[str, tuple[float, float, float, float]] = {
    "float16": (2**-9, 2**-9, 0.1, 2**-10),
    "bfloat16": (2**-6, 2**-6, 1.0, 2**-7),
    "float32": (2**-10, 2**-16, 0.01, 2**-23),
    "float64": (2**-10, 2**-16, 0.01, 2**-52),
}


def shmem(
    op_type: OpType,
    dtype: str,
    compute_times: int | None = None,
    *,
    rtol: float | None = None,
    equal_inf: bool = False,
) -> Limits:
    """The SHMEM standard's limits.

    ``rtol`` is a tighter one (that of a design); PrecisionError where it is wider than the standard's, where the standard
    has no value for the dtype, or where ``equal_inf`` is asked for anything but float16.
    """
    folded = fold_dtype(dtype) or dtype
    standard = tolerance(op_type, folded, compute_times)
    if standard is None:
        raise PrecisionError("no-limit", dtype=folded, op_type=op_type)
    if rtol is not None and rtol > standard:
        raise PrecisionError("looser", rtol=power(rtol), standard=power(standard), dtype=folded, op_type=op_type)
    if equal_inf and folded != "float16":
        raise PrecisionError("equal-inf", dtype=folded)
    used = standard if rtol is None else rtol
    source = both("source-standard", op_type=op_type, dtype=folded, value=power(standard))
    if op_type == "COMPUTE_FLOAT" and standard:
        key = "times-unknown" if compute_times is None else "times-known"
        more = both(key, times=compute_times, turn=COMPUTE_TIMES)
        source = Both(source.zh + more.zh, source.en + more.en)
    if used < standard:
        more = both("tightened", value=power(used))
        source = Both(source.zh + more.zh, source.en + more.en)
    return Limits(
        "shmem", folded, op_type, compute_times, used == 0, used, used, EB_LIMITS.get(folded, 0.0), None, 1.0, equal_inf, source
    )  # fmt: skip


def pypto(dtype: str) -> Limits:
    """Scheme A's limits for the dtype of the actual output; whatever is no float has to be equal."""
    folded = fold_dtype(dtype) or dtype
    if is_integer(folded):
        return Limits(
            "pypto", folded, None, None, True, 0.0, 0.0, None, None, 1.0, True, both("source-exact", dtype=folded)
        )
    found = _SCHEME_A.get(folded)
    if found is None:
        raise PrecisionError("no-scheme", dtype=folded)
    rtol, atol, fixed, ulp = found
    ratio = REQUIRED_HUNDREDTHS / 100
    source = both("source-scheme", dtype=folded)
    return Limits("pypto", folded, None, None, False, rtol, atol, None, max(fixed, _ULPS * ulp), ratio, True, source)
