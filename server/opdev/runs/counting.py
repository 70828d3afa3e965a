"""How often a step is run when several PE counts are asked for.

A step that says ``{pes}`` runs once for each.  The case matrix has counts of its own: it is narrowed to those that were
named, where the script can be (``by-pes`` in ``commands/``); one that cannot runs whole, and that is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from opdev.phases.model import both
from opdev.runs.commands import Step, fill
from opdev.runs.events import Events
from opdev.runs.stepping import Stepper

_MOST = 1_000_000


def counted(step: Step, counts: Sequence[int], stepper: Stepper, events: Events) -> Iterator[tuple[int, Step]]:
    """(PE count, step) for every time it is run; ``counts`` are those that were named, none for the default."""
    if any("{pes}" in word for word in step.argv):
        yield from ((pes, step) for pes in counts or (stepper.n_pes,))
    elif step.by_pes and counts and _knows(step, stepper):
        yield from ((pes, replace(step, argv=(*step.argv, *step.by_pes))) for pes in counts)
    else:
        if step.by_pes and counts:
            script = step.argv[1].rpartition("/")[2]
            events.add("note", text=both(f"{script} 不支持 {step.by_pes[0]}，用例矩阵全部运行", f"{script} knows no {step.by_pes[0]}: the whole matrix is run"))  # fmt: skip
        yield stepper.n_pes, step


def _knows(step: Step, stepper: Stepper) -> bool:
    """Whether the script takes the option: it says the word."""
    try:
        with open(stepper.executor.outward(fill(step.argv[1], stepper.values)), "rb") as stream:
            return step.by_pes[0].encode() in stream.read(_MOST)
    except OSError:
        return False
