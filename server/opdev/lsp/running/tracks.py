"""One run that is followed: its events a few at a time, and how far it is in a line of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from opdev.lsp.running.texts import both
from opdev.rules.model import Text
from opdev.runs.events import Event
from opdev.runs.reader import Reader
from opdev.runs.status import ACTIVE, Status
from opdev.runs.store import Run

_NOTHING: Text = {"zh": "", "en": ""}


@dataclass(frozen=True, slots=True)
class Brief:
    """What is shown of a run while it goes on."""

    run: str
    root: str
    operator: str
    request: str
    phase: str | None
    executor: str
    backend: str
    pes: int
    state: str
    text: Text
    percent: int | None = None
    staged: bool = False
    """Whether it runs a stage of a PyPTO operator, which is simulated always."""

    @property
    def what(self) -> Text:
        """What it runs: ``phase 3``, or all phases."""
        if self.staged:
            return both("stage", phase=self.request)
        name = self.request if self.request != "all" else self.phase
        found = both("phase", phase=name) if name else both("all")
        return {k: v + both("sim")[k] for k, v in found.items()} if self.backend == "sim" else found


class Track:
    """Reads one run.  ``after`` is the last event somebody has already; those up to it are taken in, not told."""

    def __init__(self, root: str, run: Run, found: Status, after: int = -1) -> None:
        self.root, self.run, self.after = root, run, after
        self.over = False
        self.lag = False
        """Whether more is there than was read."""
        self._reader = Reader(run)
        self._coming: Iterator[Event] = iter(())
        self._title: Text = _NOTHING
        self._passed = self._failed = 0
        self._case_total: int | None = None
        self.brief = Brief(
            run.id, root, found.operator, found.request, found.phase, found.executor, found.backend, found.n_pes or 0,
            found.now, both("starting"), staged=bool(run.plan.get("workflow")),
        )  # fmt: skip

    def more(self, most: int) -> list[Event]:
        """The next events, ``most`` of them at most, those somebody has already too; after the last ``over`` is set."""
        # Asked before reading: what was written until then is read after it.
        found = self.run.status
        events = list(islice(self._coming, most))
        if len(events) < most:
            self._coming = self._reader.more()
            events += islice(self._coming, most - len(events))
        self.lag = len(events) == most
        ended = False
        for event in events:
            self._take(event)
            ended = ended or event["type"] == "run-ended"
        gone = found is None or found.now not in ACTIVE
        if ended or (gone and not self.lag):
            self.over = True
            if not ended:
                self.brief = replace(self.brief, state=found.now if found is not None else "lost")
        elif found is not None and found.now in ACTIVE:
            self.brief = replace(self.brief, state=found.now, phase=found.phase)
        return events

    def _take(self, e: Event) -> None:
        kind = e["type"]
        try:
            if kind == "step-started":
                self._title, self._passed, self._failed = e["title"], 0, 0
                self._say(self._title)
            elif kind == "progress" and e["total"]:
                text = f" {e['done']}/{e['total']} {e['text']}".rstrip()
                percent = max(0, min(100, 100 * int(e["done"]) // int(e["total"])))
                self._say({k: v + text for k, v in self._title.items()}, percent)
            elif kind == "case":
                self._passed, self._failed = (
                    self._passed + (e["verdict"] == "PASS"),
                    self._failed + (e["verdict"] != "PASS"),
                )
                self._say(
                    {
                        k: both("cases", step=v, passed=self._passed, failed=self._failed)[k]
                        for k, v in self._title.items()
                    }
                )
            elif kind == "pause":
                self._say({k: both("pause", step=v, seconds=e["seconds"])[k] for k, v in self._title.items()})
            elif kind == "waiting":
                self._say(both("waiting", run=e["for"] or "?"))
            elif kind == "phase-started":
                self.brief = replace(self.brief, phase=e["phase"])
            elif kind == "run-ended":
                why = e.get("why") or {"zh": e.get("message", ""), "en": e.get("message", "")}
                self.brief = replace(self.brief, state=e["outcome"], text=why, percent=None)
        except (KeyError, TypeError, ValueError):
            # An event of another version: what is shown stays.
            return

    def _say(self, text: Text, percent: int | None = None) -> None:
        self.brief = replace(self.brief, text=dict(text), percent=percent)
