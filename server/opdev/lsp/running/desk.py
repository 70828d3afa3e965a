"""Runs as the server's loop has them: what clients ask and command, what they are told, what is published.

Reading goes on in the watching thread and in a small pool of this desk's own, so that neither a keystroke nor a
feature ever waits for a run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from opdev.lsp import fields, wire
from opdev.lsp.capabilities import CLANGD, INTAKE, NEW_OPERATOR, RESUME_RUN, RUN_PHASE, STOP_RUN
from opdev.lsp.progress import Progress
from opdev.lsp.refresh import Refresh
from opdev.lsp.running.acting import Acting
from opdev.lsp.running.board import Board
from opdev.lsp.running.cases import Cases
from opdev.lsp.running.figures import Figures
from opdev.lsp.running.intake import Asking
from opdev.lsp.running.making import Making
from opdev.lsp.running.records import Records
from opdev.lsp.running.texts import say
from opdev.lsp.running.tracks import Brief
from opdev.lsp.running.watch import Watch
from opdev.runs.texts import state

if TYPE_CHECKING:
    from opdev.lsp.running.messages import RunBrief
    from opdev.lsp.session import Session

log = logging.getLogger("opdev.lsp.runs")
R = TypeVar("R")

_SEVERITY = {"passed": 3, "blocked": 2, "stopped": 3}
_LONGEST = 400


class Desk:
    """One session's runs."""

    def __init__(self, session: Session) -> None:
        self.session = session
        said = session.client.get("experimental.opdev.runEvents")
        self.wants_events = bool(said)
        after = said.get("after") if isinstance(said, Mapping) else None
        self.after: dict[str, int] = (
            {str(k): v for k, v in after.items() if isinstance(v, int)} if isinstance(after, Mapping) else {}
        )
        self.board = Board(session)
        self._roots: set[str] = set()
        self._briefs: dict[str, Brief] = {}
        self._progress: dict[str, Progress] = {}
        self._said: dict[str, tuple[str, int | None]] = {}
        self._mine: set[str] = set()
        self._lenses = Refresh(session.client, session.ask, "workspace/codeLens/refresh")
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="opdev-lsp-runs")
        self._records = Records(self)
        self._acting = Acting(self)
        self._intake = Asking(self)
        self._figures = Figures(self)
        self._cases = Cases(self)
        self._making = Making(self)
        self._watch = Watch(self)

    def begin(self) -> None:
        """Follow runs, once the session knows this desk."""
        self._watch.start()

    # Asked by the watching thread.

    def roots(self) -> list[str]:
        """The operators whose runs are followed."""
        listed = [entry.root for entry in self.session.listing.index.entries()]
        return [*listed, *(self._roots - set(listed))]

    def backlog(self) -> int:
        """Messages the client has not taken yet."""
        return self.session.backlog()

    # On the loop.

    def follow(self, root: str) -> None:
        """An operator's runs are followed, wherever it is."""
        self._roots.add(root)
        self.wake()

    def wake(self) -> None:
        """Something is about to be there."""
        self._watch.wake()

    def started(self, root: str, run: str) -> None:
        """A run was started from here."""
        self._mine.add(run)
        self.follow(root)

    def told(self, brief: Brief, over: bool) -> None:
        """How far a run is now."""
        before = self._briefs.get(brief.run)
        if over:
            self._briefs.pop(brief.run, None)
            self._over(brief)
        else:
            self._briefs[brief.run] = brief
            self._show(brief)
        if over or before is None:
            self._lenses.ask()

    def _show(self, brief: Brief) -> None:
        session = self.session
        if not session.client.can("window.workDoneProgress"):
            return
        progress = self._progress.get(brief.run)
        lang = session.lang_of("auto")
        if progress is None:
            title = say("title", lang, operator=brief.operator, what=brief.what[lang])
            progress = self._progress[brief.run] = Progress(title, session.notify, session.ask, soon=0.0)
        said = (brief.text[lang], brief.percent)
        if self._said.get(brief.run) != said and progress.at(*said):
            self._said[brief.run] = said

    def _over(self, brief: Brief) -> None:
        session = self.session
        lang = session.lang_of("auto")
        key = "ended-why" if brief.text[lang] else "ended"
        text = say(key, lang, what=f"{brief.operator} {brief.what[lang]}", state=state(brief.state, lang), why=brief.text[lang][:_LONGEST], seconds=0)  # fmt: skip
        self._said.pop(brief.run, None)
        progress = self._progress.pop(brief.run, None)
        if progress is not None:
            progress.end(text)
        if brief.run in self._mine and not self.wants_events:
            session.notify("window/showMessage", {"type": _SEVERITY.get(brief.state, 1), "message": text})
        self._mine.discard(brief.run)
        # Gates are computed from what runs leave behind, lenses and hints from gates.
        session.operator_changed(f"{brief.root}/.opdev/runs")

    def running(self, root: str) -> list[RunBrief]:
        """The operator's runs that go on (any thread)."""
        lang = self.session.lang_of("auto")
        made: list[Any] = [
            {
                "run": b.run, "state": b.state, "request": b.request, "phase": b.phase, "executor": b.executor, "backend": b.backend,
                "pes": b.pes, "text": b.text[lang], "percent": b.percent,
            }
            for b in list(self._briefs.values()) if b.root == root
        ]  # fmt: skip
        return made

    def briefs(self, root: str) -> list[Brief]:
        """The same, for lenses."""
        return [b for b in list(self._briefs.values()) if b.root == root]

    def cancel(self, token: object) -> bool:
        """The user stopped a run by its progress; whether the token was one of ours."""
        run = next((run for run, progress in self._progress.items() if progress.token == token), None)
        if run is None:
            return False
        brief = self._briefs.get(run)
        if brief is not None:
            task = self.session.loop.create_task(self._acting.stop({"root": brief.root, "run": run}))
            task.add_done_callback(_logged)
        return True

    async def execute(self, command: str, arguments: list[Any]) -> object:
        """A command with its one argument."""
        given = arguments[0] if arguments else {}
        if not isinstance(given, Mapping):
            raise fields.FieldError(f"{command} takes one object")
        handlers: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
            RUN_PHASE: self._acting.run, STOP_RUN: self._acting.stop, RESUME_RUN: self._acting.resume,
            CLANGD: self._acting.clangd, INTAKE: self._intake.intake, NEW_OPERATOR: self._making.new,
        }  # fmt: skip
        return await handlers[command](given)

    async def request(self, method: str, params: Mapping[str, Any]) -> object:
        """A request that is served here."""
        asking: Mapping[str, Callable[[Mapping[str, Any]], Awaitable[object]]] = {
            "opdev/intake": self._intake.intake, "opdev/precision": self._figures.precision,
            "opdev/performance": self._figures.performance,
        }  # fmt: skip
        if method in asking:
            return await asking[method](params)
        handlers: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
            "opdev/phaseStatus": self._records.phases, "opdev/runHistory": self._records.history,
            "opdev/runEvents": self._records.events, "opdev/runLog": self._records.log,
            "opdev/cases": self._cases.cases, "opdev/newOperator": self._making.offered,
        }  # fmt: skip
        return await self.off_loop(lambda: handlers[method](params))

    async def off_loop(self, work: Callable[[], R]) -> R:
        """Do ``work`` in the desk's pool."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def refresh(self) -> None:
        """What lenses offer has changed."""
        self._lenses.ask()

    def stop(self) -> None:
        """The session is over; runs go on."""
        self._watch.stop()


def _logged(task: asyncio.Task[Any]) -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None:
        log.warning("a run was not stopped: %s", error.message if isinstance(error, wire.Refusal) else error)
