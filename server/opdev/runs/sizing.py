"""What a measuring step is run for: every PE count that was asked, and of each a small and a large payload.

One program a measurement: PEs of one size never share a start-up with those of another.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from opdev.design.dtypes import fold_dtype
from opdev.perf.document import document
from opdev.perf.tiers import WANTED, count_for, light_count_for
from opdev.runs.commands import Step
from opdev.runs.measured import aim_of, kind_of, logs_of, measurable
from opdev.runs.plan import Plan
from opdev.runs.stepping import Stepper
from opdev.runs.store import Run
from opdev.runs.target import look


def sized(step: Step, plan: Plan, stepper: Stepper) -> Iterator[tuple[int, Step]]:
    """(PE count, step) for every time a measuring step is run; its count and devices are filled in."""
    for pes in plan.counts or (stepper.n_pes,):
        for count in counts(plan, stepper, pes):
            words = {"{count}": str(count), "{devices}": plan.devices or ",".join(str(pe) for pe in range(pes))}
            known = {"n_pes": pes, "count": count, "dtype": stepper.values["dtype"]}
            argv = tuple([_filled(word, words) for word in step.argv])
            yield pes, replace(step, argv=argv, keep=_filled(step.keep, words), measures=known)


def counts(plan: Plan, stepper: Stepper, pes: int) -> list[int]:
    """The elements to measure: those that were asked for, else those of a case of scale S and one of scale L.

    The case matrix knows them; where it has none of a scale for these PEs, the scale's own bytes are taken.
    """
    if plan.count:
        return [plan.count]
    dtype = stepper.values["dtype"]
    sim = stepper.executor.backend == "sim"
    evidence = look(stepper.target.root)
    kind = kind_of(evidence)
    if "alltoallv" in evidence.name.replace("_", ""):
        kind = None  # its elements are those of all peers together
    cases = measurable(evidence)
    found = []
    for scale in WANTED:
        looked = "M" if sim and scale == "L" else scale
        there = [
            c for c in cases if c.tier == looked and c.n_pes == pes and fold_dtype(c.dtype or "") == fold_dtype(dtype)
        ]
        first = min(there, key=lambda c: (c.category != "performance", c.elements or 0), default=None)
        computed = light_count_for(scale, dtype, pes, kind) if sim else count_for(scale, dtype, pes)
        found.append(first.elements if first is not None and first.elements else computed)
    return found


def _filled(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def summary(stepper: Stepper) -> dict[str, Any] | None:
    """What this run measured up to now; None where it measured nothing."""
    evidence = look(stepper.target.root)
    logs = logs_of(Run(os.path.basename(stepper.folder), stepper.folder), kind_of(evidence))
    return document(logs, evidence.name, aim_of(evidence)) if logs else None
