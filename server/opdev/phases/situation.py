"""What is said of an operator's progress: where work goes on, all its gates, one line of it.  Any workflow's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from opdev.phases.graph import PHASES
from opdev.phases.model import Gate, Phase, Spot
from opdev.rules.model import Text


@dataclass(frozen=True, slots=True)
class Situation:
    """Where work goes on.  ``row`` is the recovery matrix's (1 to 14); None where no row fits: delivery, or done."""

    phase: Phase
    row: int | None
    why: Text
    next: Text
    worker: str
    place: Spot | None = None
    complete: bool = False
    """Whether everything up to the delivery is done."""
    back: str | None = None
    """The phase that the last failure leads back to, where it is about the present code."""


@dataclass(frozen=True, slots=True)
class Status:
    """A situation with every gate and every phase that is passed over, with its reason."""

    operator: str
    root: str
    at: Situation
    gates: tuple[Gate, ...] = ()
    skipped: Mapping[str, Text] = field(default_factory=dict)
    round: Text | None = None
    """What is unfinished about optimisation rounds, and what to do."""

    phases: tuple[Phase, ...] = PHASES
    """All phases of the operator's workflow, in order."""
    workflow: str = "shmem"
    """``shmem``, ``pypto-classic``, ``pypto-pro`` (five stages) or ``pypto-pro-4``."""

    @property
    def behind(self) -> list[Gate]:
        """Gates before the open phase that are closed: they have to open before it may."""
        order = [phase.id for phase in self.phases]
        index = order.index(self.at.phase.id)
        return [g for g in self.gates if order.index(g.phase.id) < index and g.state == "closed"]


@dataclass(frozen=True, slots=True)
class Glance:
    """One line on an operator.  ``failed`` counts the checks that keep the phase's gate closed.

    ``complete``: no row of the recovery matrix fits and the final review passed; the gates of earlier phases,
    which would cost more than a line may, are ``status``'s to ask.
    """

    phase: str
    row: int | None
    open: bool
    failed: int
    text: Text
    complete: bool = False
