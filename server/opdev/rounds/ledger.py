"""``.opdev/rounds/rounds.json``: the rounds of an operator, what each retest found, and what was decided.

Round 0 is the state that phase 6 measured first.  Of the others at most the last is open.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from opdev.rounds.errors import Refused
from opdev.rounds.measured import Measured
from opdev.rounds.verdict import Verdict, from_data

State = Literal["base", "open", "kept", "reverted"]
STATES: tuple[State, ...] = ("base", "open", "kept", "reverted")
NAME, JOURNAL = "rounds.json", "restoring.json"


@dataclass(frozen=True, slots=True)
class Retest:
    """One retest of a round, its step N.``number``.  ``code`` names the state that was tested (``Tree.code``).

    ``correctness``: pass, fail, or none where it was not tested.  ``why`` is the failure's message.
    """

    number: int
    time: float
    run: str
    backend: str
    code: str
    correctness: str
    changed: tuple[str, ...] = ()
    cases: Mapping[str, int] = field(default_factory=dict)
    why: str = ""
    measured: Measured | None = None
    verdict: Verdict = field(default_factory=lambda: Verdict("none", "untested"))


@dataclass(frozen=True, slots=True)
class Round:
    """One round.  ``hypothesis``: the bottleneck that the change is meant to remove.  ``changed`` are ``[path, change]`` from its start to its end; ``against`` a decision other than proposed."""

    number: int
    state: State
    idea: str
    started: float
    code: str
    ended: float | None = None
    retests: tuple[Retest, ...] = ()
    changed: Mapping[str, str] = field(default_factory=dict)
    against: bool = False
    reason: str = ""
    saved: str = ""
    end: str = ""
    """``Tree.code`` of its last state; empty while it is open."""
    hypothesis: str = ""

    def retest(self, code: str) -> Retest | None:
        """The last retest of a state."""
        return next((r for r in reversed(self.retests) if r.code == code), None)


@dataclass(frozen=True, slots=True)
class Ledger:
    """All rounds by number, and what the baseline was measured at.  ``asked`` is a limit the user raised to, 0 for none."""

    rounds: tuple[Round, ...] = ()
    baselines: tuple[Measured, ...] = ()
    asked: int = 0

    @property
    def base(self) -> Round | None:
        """Round 0."""
        return self.rounds[0] if self.rounds and self.rounds[0].number == 0 else None

    @property
    def open(self) -> Round | None:
        return self.rounds[-1] if self.rounds and self.rounds[-1].state == "open" else None

    @property
    def done(self) -> int:
        """How many rounds there were, Round 0 and an open one apart."""
        return sum(r.state in ("kept", "reverted") for r in self.rounds)

    def find(self, number: int) -> Round | None:
        return next((r for r in self.rounds if r.number == number), None)

    def with_round(self, one: Round) -> Ledger:
        """With a round put in by its number."""
        others = [r for r in self.rounds if r.number != one.number]
        return replace(self, rounds=tuple(sorted([*others, one], key=lambda r: r.number)))

    def kept_before(self, number: int) -> list[Round]:
        """Round 0 and the rounds kept before one, the last first."""
        return [r for r in reversed(self.rounds) if r.number < number and r.state in ("base", "kept")]

    def reference(self, number: int, like: Measured | None) -> Measured | None:
        """What a round is compared with: the last kept before it that was measured on the same kind of machine."""
        return self.locked(number, like.backend if like is not None else "npu")

    def locked(self, number: int, backend: str) -> Measured | None:
        """The case that a round has to be measured with on a kind of machine: that of what was kept last before it."""
        return next((m for r in self.kept_before(number) if (m := measured_of(r, backend)) is not None), None)

    def data(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "version": 1,
            "asked": self.asked,
            "baselines": [m.data() for m in self.baselines],
            "rounds": [_round(r) for r in self.rounds],
        }

    @classmethod
    def from_data(cls, value: Mapping[str, Any]) -> Ledger:
        """From JSON; KeyError, TypeError, ValueError for what is no ledger."""
        rounds = tuple(_read_round(r) for r in value["rounds"])
        if [r.number for r in rounds] != sorted({r.number for r in rounds}) or any(
            r.state == "open" for r in rounds[:-1]
        ):
            raise ValueError("rounds out of order")
        return cls(rounds, tuple(Measured.read(m) for m in value["baselines"]), int(value["asked"]))


def measured_of(one: Round, backend: str) -> Measured | None:
    """What a round's final state was measured at, on a kind of machine (``npu`` or ``sim``)."""
    code = one.end or one.code
    found = [r.measured for r in one.retests if r.code == code and r.measured is not None]
    return next((m for m in reversed(found) if m.backend == backend), None)


def read(root: str) -> Ledger:
    """The ledger of an operator; empty where there is none, Refused where it cannot be read."""
    path = f"{root}/.opdev/rounds/{NAME}"
    try:
        with open(path, "rb") as stream:
            return Ledger.from_data(json.load(stream))
    except FileNotFoundError:
        return Ledger()
    except NotADirectoryError:
        return Ledger()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Refused("damaged", path=path, why=f"{type(error).__name__}: {error}") from error


def interrupted(root: str) -> bool:
    """Whether putting a state back was cut off and is to be finished."""
    return os.path.exists(f"{root}/.opdev/rounds/{JOURNAL}")


def write(root: str, ledger: Ledger) -> None:
    """Replace the ledger whole."""
    from opdev.rounds.store import write_json

    folder = f"{root}/.opdev/rounds"
    os.makedirs(folder, exist_ok=True)
    write_json(f"{folder}/{NAME}", ledger.data())


def _round(one: Round) -> dict[str, Any]:
    value: dict[str, Any] = {name: getattr(one, name) for name in Round.__slots__}
    value["changed"] = dict(one.changed)
    value["retests"] = [
        {
            **{name: getattr(r, name) for name in Retest.__slots__},
            "changed": list(r.changed),
            "cases": dict(r.cases),
            "measured": r.measured.data() if r.measured is not None else None,
            "verdict": asdict(r.verdict),
        }
        for r in one.retests
    ]
    return value


def _read_round(value: Mapping[str, Any]) -> Round:
    # Older ledgers have no hypothesis.
    known = {name: value[name] for name in Round.__slots__ if name != "hypothesis" or name in value}
    if known["state"] not in STATES or not isinstance(known["number"], int):
        raise ValueError("no round")
    known["retests"] = tuple(_read_retest(r) for r in known["retests"])
    return Round(**known)


def _read_retest(value: Mapping[str, Any]) -> Retest:
    known = {name: value[name] for name in Retest.__slots__}
    known["changed"] = tuple(known["changed"])
    known["measured"] = Measured.read(known["measured"]) if known["measured"] is not None else None
    known["verdict"] = from_data(known["verdict"])
    return Retest(**known)
