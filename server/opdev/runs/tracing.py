"""A failure traced to where it began: a wrong result of an unfinished design, or without all its scripts, is no fault of the code.

What the output says is what happened; whether the code can be at fault at all hangs on what it was written from.
"""

from __future__ import annotations

from collections.abc import Sequence

from opdev.phases import design, tests
from opdev.phases.evidence import DESIGN
from opdev.phases.model import both
from opdev.runs.diagnose import Diagnosis
from opdev.runs.target import look

_OF_RESULTS = frozenset({"correctness", "kernel", "unknown", "timeout"})


def traced(told: Sequence[Diagnosis], root: str) -> list[Diagnosis]:
    """The diagnoses of a failed step, with the one before them that explains them."""
    found = list(told)
    if not found or found[0].cls not in _OF_RESULTS:
        return found
    evidence = look(root)
    unfit = design.unfit(evidence) if evidence.exists(DESIGN) else None
    if unfit is not None:
        why = unfit[0]
        cause = both(
            f"结果不对，而设计还没有写完（{why['zh']}）：没有可比的契约",
            f"the result is wrong and the design is not finished ({why['en']}): there is no contract to hold it to",
        )
        next_ = both("先写完 docs/design.md，过 opdev gate 1", "finish docs/design.md first, and pass `opdev gate 1`")
        return [Diagnosis("design-unfinished", "design", cause, next_, found[0].evidence, 0, 0), *found]
    lacking = tests.missing(evidence) if evidence.exists(DESIGN) else []
    if lacking:
        names = ", ".join(lacking)
        cause = both(
            f"结果不对，而测试脚本不全，缺 {names}", f"the result is wrong, and test scripts are missing: {names}"
        )
        next_ = both("先补齐脚本，过 opdev gate 2", "write the scripts first, and pass `opdev gate 2`")
        return [Diagnosis("tests-unfinished", "test", cause, next_, found[0].evidence, 0, 0), *found]
    return found
