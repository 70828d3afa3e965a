"""What each standard asks of what was measured, and why an output does not keep to it.

Nothing is read here but the reference of the second pass.
"""

from __future__ import annotations

from opdev.precision.files import Stored
from opdev.precision.grid import Grid
from opdev.precision.measure import measure
from opdev.precision.measured import Measured
from opdev.precision.model import Limits, Reason, Reference
from opdev.precision.numbers import ratio_of
from opdev.precision.standards import RATIOS, REQUIRED_HUNDREDTHS
from opdev.precision.texts import PrecisionError, both


def usable(found: Measured, limits: Limits, golden: Stored) -> None:
    """PrecisionError where the golden cannot tell right from wrong."""
    strange = found.nan_golden + (0 if limits.equal_inf else found.inf_golden)
    if limits.standard == "shmem" and strange:
        raise PrecisionError(
            "golden-not-finite", path=golden.name, index=found.first_golden, nan=found.nan_golden, inf=found.inf_golden
        )
    if found.elements and found.nan_golden + found.inf_golden == found.elements:
        raise PrecisionError("golden-nothing", path=golden.name)


def shmem(found: Measured, limits: Limits) -> list[Reason]:
    """Why the first pass of the SHMEM standard fails."""
    reasons = []
    strange = found.elements - found.compared
    equal = min(found.inf_output, found.inf_golden) if limits.equal_inf else 0
    if found.nan_output or (strange and found.inf_output > equal) or found.inf_apart:
        reasons.append(Reason("not-finite", both("r-not-finite", nan=found.nan_output, inf=found.inf_output)))
    wrong = found.elements - found.within
    if wrong:
        percent = 100 * found.within / found.elements
        text = both(
            "r-precision", wrong=wrong, percent=f"{percent:.4f}" if percent < 99.9999 else f"100 − {100 - percent:.3g}"
        )
        reasons.append(Reason("precision-percent", text))
    if limits.eb is not None and found.eb > limits.eb:
        reasons.append(Reason("eb", both("r-eb", eb=found.eb, limit=limits.eb)))
    return reasons


def pypto(found: Measured, limits: Limits) -> list[Reason]:
    """Why scheme A fails."""
    reasons = []
    wrong = found.elements - found.within
    if limits.exact:
        if wrong:
            reasons.append(Reason("not-equal", both("r-equal", wrong=wrong)))
        return reasons
    if found.within * 100 < REQUIRED_HUNDREDTHS * found.elements:
        ratio = found.within / found.elements
        reasons.append(Reason("matched-ratio", both("r-ratio", ratio=ratio, limit=limits.matched_ratio)))
    if limits.max_abs is not None and found.max_abs > limits.max_abs:
        reasons.append(Reason("max-abs", both("r-max-abs", value=found.max_abs, limit=limits.max_abs)))
    if found.nan_apart:
        reasons.append(Reason("nan-positions", both("r-nan", count=found.nan_apart)))
    if found.inf_apart:
        reasons.append(Reason("inf-sign", both("r-inf", count=found.inf_apart)))
    return reasons


def against(found: Measured, reference: Stored | None, golden: Stored, limits: Limits, path: str) -> Reference:
    """The second pass of the SHMEM standard."""
    if reference is None or reference.count != golden.count:
        count = reference.count if reference is not None else 0
        return Reference(path, False, (), both("ref-size", count=count, wanted=golden.count))
    other = measure(reference, golden, limits, Grid(1, max(golden.count, 1), 1, max(golden.count, 1)), keep=0)
    if found.compared < found.within or found.elements > found.compared or other.elements > other.compared:
        return Reference(path, False, (), both("ref-not-finite"))
    if other.max_golden > 0 and not other.nonzero:
        # Ten times as wrong as nothing at all would be anything.
        return Reference(path, False, (), both("ref-zero"))
    pairs = {
        "MARE": (found.max_rel, other.max_rel), "MERE": (found.mean_rel, other.mean_rel), "RMSE": (found.rmse, other.rmse),
    }  # fmt: skip
    ratios = tuple(ratio_of(name, *pairs[name], RATIOS[name]) for name in RATIOS)
    return Reference(path, all(r.passed for r in ratios), ratios, None)
