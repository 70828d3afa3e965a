"""The words of the operator workflow: phase, check, gate, place.  Plain data, both languages, nothing computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from opdev.rules.model import Lang, Text

State = Literal["ok", "failed", "unknown", "not-applicable"]
"""``unknown``: nothing on disk says so; ``Check.opens`` says what would.  It keeps a gate closed."""

GateState = Literal["open", "closed", "skipped"]
STATES: tuple[State, ...] = ("ok", "failed", "unknown", "not-applicable")
NOTHING: Text = {"zh": "", "en": ""}


def both(zh: str, en: str) -> Text:
    """A text in both languages."""
    return {"zh": zh, "en": en}


def listed(words: Iterable[str], lang: Lang) -> str:
    """``a, b, c`` with the comma of the language."""
    return ("、" if lang == "zh" else ", ").join(words)


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of the workflow: what it needs before it, what it leaves on disk, who does it."""

    id: str
    title: Text
    worker: str
    needs: tuple[str, ...]
    """The phases before it whose gates must be open (or that were skipped)."""
    artefacts: tuple[str, ...]
    """Paths below the operator; ``<op>`` stands for its name."""
    retry: Text
    """What happens when its gate stays closed."""
    word: str = "Phase"
    """What its workflow calls such a step: ``Phase`` or ``Stage``."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place: absolute path, 1-based line and column (code points).  Line 1 of a file that is not there."""

    path: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Check:
    """One condition of a gate.

    ``detail`` says what was found (``ok``: the evidence); ``opens`` says what to do about it, empty
    where nothing has to be done.
    """

    id: str
    title: Text
    state: State
    detail: Text
    opens: Text = field(default_factory=lambda: NOTHING)
    place: Spot | None = None
    simulated: bool = False
    """Whether it holds by what the CPU stand-in showed, and no hardware did."""

    @property
    def holds(self) -> bool:
        return self.state in ("ok", "not-applicable")


@dataclass(frozen=True, slots=True)
class Gate:
    """What must hold before a phase counts as done.  ``why`` is given for a phase that is skipped."""

    phase: Phase
    state: GateState
    checks: tuple[Check, ...] = ()
    why: Text = field(default_factory=lambda: NOTHING)

    @property
    def simulated(self) -> bool:
        """Whether it is open only by what the CPU stand-in showed."""
        return self.state == "open" and any(check.simulated for check in self.checks)

    @property
    def closed_by(self) -> list[Check]:
        """The checks that keep it closed, in the order of the gate."""
        return [check for check in self.checks if not check.holds]


@dataclass(frozen=True, slots=True)
class Title:
    """What a check is called; makes the checks of that name."""

    id: str
    zh: str
    en: str

    @property
    def text(self) -> Text:
        return {"zh": self.zh, "en": self.en}

    def ok(self, detail: Text, place: Spot | None = None, *, simulated: bool = False) -> Check:
        return Check(self.id, self.text, "ok", detail, NOTHING, place, simulated)

    def failed(self, detail: Text, opens: Text, place: Spot | None = None) -> Check:
        return Check(self.id, self.text, "failed", detail, opens, place)

    def unknown(self, detail: Text, opens: Text, place: Spot | None = None) -> Check:
        return Check(self.id, self.text, "unknown", detail, opens, place)

    def skipped(self, detail: Text) -> Check:
        return Check(self.id, self.text, "not-applicable", detail)


def gate_of(phase: Phase, checks: Iterable[Check]) -> Gate:
    """A gate is open when every check holds; ``unknown`` is not enough."""
    found = tuple(checks)
    return Gate(phase, "open" if all(check.holds for check in found) else "closed", found)


def said(text: Mapping[str, str], lang: Lang) -> str:
    """A text in one language."""
    return text.get(lang) or text.get("en", "")
