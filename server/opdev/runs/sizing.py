"""What a measuring step is run for: every PE count that was asked, and of each a small and a large payload.

One program a measurement: PEs of one size never share a start-up with those of another.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from opdev.perf.document import document
from opdev.perf.tiers import WANTED, count_for, light_count_for
from opdev.runs.commands import Step
from opdev.runs.measured import aim_of, kind_of, logs_of
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
    """The elements to measure: those that were asked for, else a case of scale S and one of scale L."""
    if plan.count:
        return [plan.count]
    dtype = stepper.values["dtype"]
    if stepper.executor.backend != "sim":
        return [count_for(scale, dtype, pes) for scale in WANTED]
    evidence = look(stepper.target.root)
    kind = kind_of(evidence)
    if "alltoallv" in evidence.name.replace("_", ""):
        kind = None  # its elements are those of all peers together
    return [light_count_for(scale, dtype, pes, kind) for scale in WANTED]


def _filled(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def summary(stepper: Stepper) -> dict[str, Any] | None:
    """What this run measured up to now; None where it measured nothing."""
    evidence = look(stepper.target.root)
    logs = logs_of(Run(os.path.basename(stepper.folder), stepper.folder), kind_of(evidence))
    return document(logs, evidence.name, aim_of(evidence)) if logs else None
