"""A batch from end to end: its cases prepared, generated, verified and recorded, several at once, each on its own.

What happens to one case is that case's record; only what concerns all of them ends the batch.  The main thread waits for
signals and hands them on; the cases run in threads, which do nothing but wait for programs.
"""

from __future__ import annotations

import select
import threading
import time
import traceback
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from opdev.bench import finishing, resuming, selecting, slots, state, summary
from opdev.bench.casework import Casework
from opdev.bench.memory import Guard
from opdev.bench.model import BenchError, Case, Outcome, Settings, Slot
from opdev.bench.slots import Looked, Pool
from opdev.bench.texts import both
from opdev.runs import process
from opdev.runs.execute import Stop
from opdev.runs.lock import Lock

INTERRUPTED = 130
_TICK, _AGAIN = 0.2, 2.0
_FRESH = 120.0
Watch = Callable[[dict[str, Any]], None]


def run(settings: Settings, watch: Watch, stop: Stop) -> int:
    """Run a batch; the exit status is 0 when every case is a proven success, 130 when it was stopped, else 1.

    ``watch`` gets what happens as dictionaries with an ``event``, one at a time.  BenchError for what cannot be begun,
    OSError where the batch's folder cannot be written.
    """
    cases = selecting.select(settings.bench_dir, settings.cases, settings.limit)
    found = slots.slots_of(settings)
    if settings.dry_run:
        finishing.planned(settings, cases, found, watch)
        return 0
    return _Batch(settings, cases, found, watch, stop).run()


class _Batch:
    def __init__(
        self, settings: Settings, cases: Sequence[Case], found: Sequence[Slot], watch: Watch, stop: Stop
    ) -> None:
        self.settings, self.cases, self.slots, self.stop = settings, cases, found, stop
        self.id = uuid.uuid4().hex[:12]
        self._watch, self._watching = watch, threading.Lock()
        self.board = state.Board(settings, cases, self.id, self.tell)
        self.stops: list[Stop] = []
        self.forwarded = 0
        self._stops = threading.Lock()
        self.waiting: deque[Case] = deque()
        self.outcomes: dict[str, Outcome] = {}
        self.unsaved: dict[str, tuple[Outcome, Mapping[str, Any]]] = {}
        self._saving = threading.Lock()
        self.guard = Guard(f"bench-{self.id}-", settings.verifier.memory)

    def tell(self, event: dict[str, Any]) -> None:
        # Whoever watches may go; the batch does not.
        with self._watching, suppress(OSError, ValueError):
            self._watch({**event, "time": time.time()})

    def run(self) -> int:
        finishing.folders(self.settings.root)
        lock = Lock(self.settings.root, f"bench-{self.id}")
        try:
            if not lock.taken():
                raise BenchError("b-locked", root=self.settings.root, owner=lock.holder() or "?")
            self._take_over()
            self.board.start()
            try:
                status = self._go()
            except BaseException:
                self.board.main(main_status=state.UNFINISHED, main_exit_code=1)
                raise
            finally:
                self.board.close()
            return status
        finally:
            lock.close()
            for one in self.stops:
                one.close()

    def _take_over(self) -> None:
        """End what a killed batch and its killed keepers may have left; BenchError where that batch still runs."""
        old = state.read(self.settings.root)
        if old is None or old.get("main_status") not in (state.RUNNING, state.PREFLIGHT):
            return
        owner = state.owner(old)
        lives = process.alive(owner) if owner else False
        if lives or (lives is None and finishing.age(old) < _FRESH):
            where = f"{owner.host}:{owner.pid}" if owner else "?"
            raise BenchError("b-locked", root=self.settings.root, owner=where)
        swept = sum(process.sweep(token) for token in state.tokens(old))
        self.tell({"event": "taken-over", "batch": old.get("batch_id"), "ended": swept})

    def _go(self) -> int:
        self.tell({"event": "batch-started", "root": self.settings.root, "cases": len(self.cases), "batch": self.id})
        good = self._preflight()
        if self.stop.asked:
            return self._end()
        backends = {one.slot: one.backend for one in good if one.backend}
        names = sorted(set(backends.values()))
        chosen = replace(self.settings, verifier=replace(self.settings.verifier, backend=names[0]))
        summary.write_meta(chosen, f"{self.settings.root}/report")
        self.board.main(
            main_status=state.RUNNING,
            backend=None if chosen.verifier.skip else names[0],
            slots=[slot.label for slot in backends],
            versions={one.slot.label: dict(one.versions) for one in good},
        )
        python = slots.python_of(self.settings, next(iter(backends)))
        work = Casework(chosen, self.cases, python, self.board, f"bench-{self.id}", Pool(list(backends)), self.guard)
        self._keep_finished(work)
        count = min(self.settings.concurrency or len(backends), len(self.waiting))
        self._in_threads([lambda: self._work(work)] * count)
        return self._end()

    def _preflight(self) -> list[Looked]:
        looked: list[Looked] = []

        def look() -> None:
            tokens = [f"bench-{self.id}-preflight-{index}" for index in range(len(self.slots))]
            self.board.live(*tokens, on=True)
            looked.extend(slots.preflight(self.settings, self.slots, tokens, self._stop))
            self.board.live(*tokens, on=False)

        self._in_threads([look])
        if self.stop.asked:
            return []
        bad = [one for one in looked if one.backend is None]
        for one in bad:
            self.tell({"event": "slot-out", "slot": one.slot.label, "message": dict(one.why)})
        good = [one for one in looked if one.backend is not None]
        said = [f"{one.slot.label}: {one.why[lang]}" for lang in ("zh", "en") for one in bad]
        half = len(bad)
        messages = {"zh": "；".join(said[:half]), "en": "; ".join(said[half:])} if bad else {}
        self.board.main(preflight_message=messages.get("zh", ""), preflight_messages=messages)
        if not good:
            raise BenchError("b-no-slot", **messages)
        for one in good:
            self.tell(
                {
                    "event": "slot",
                    "slot": one.slot.label,
                    "backend": "none" if self.settings.verifier.skip else one.backend,
                    "versions": dict(one.versions),
                }
            )
        return good

    def _keep_finished(self, work: Casework) -> None:
        for case in self.cases:
            record = None if self.settings.generator.force else work.kept(case)
            if record is None:
                self.waiting.append(case)
                continue
            self.board.kept(case, record)
            self.tell({"event": "kept", "case": case.key, "overall": record["overall_status"]})

    def _work(self, work: Casework) -> None:
        while not self.stop.asked:
            try:
                case = self.waiting.popleft()
            except IndexError:
                return
            stop = self._stop()
            done = work.go(case, stop)
            self._forget(stop)
            if done is None:
                self.board.phase(case, self.board.phase_of(case), "interrupted", both("b-interrupted"))
                return
            self._record(*done)

    def _record(self, outcome: Outcome, inputs: Mapping[str, Any]) -> None:
        self.outcomes[outcome.case.key] = outcome
        with self._saving:
            saved = self._saved(outcome, inputs)
            if not saved:
                self.unsaved[outcome.case.key] = (outcome, inputs)
        message = finishing.message_of(outcome)
        self.board.result(outcome, message)
        self.tell({"event": "case", "case": outcome.case.key, "overall": outcome.overall, "message": dict(message), "slot": outcome.slot, "saved": saved})  # fmt: skip

    def _saved(self, outcome: Outcome, inputs: Mapping[str, Any]) -> bool:
        try:
            # The record comes last: what has one has all of it.
            resuming.write(inputs, outcome.report)
            finishing.record(outcome)
        except OSError as error:
            self.tell({"event": "trouble", "why": f"{error.filename2 or outcome.report}: {error.strerror}"})
            return False
        return True

    def _save_again(self) -> None:
        """A record that could not be written is kept in memory until there is room for it."""
        with self._saving:
            for key, (outcome, inputs) in list(self.unsaved.items()):
                if not self._saved(outcome, inputs):
                    return
                del self.unsaved[key]

    def _end(self) -> int:
        self._save_again()
        for key in self.unsaved:
            self.tell({"event": "trouble", "why": f"{self.settings.root}/report/{key}/result.json"})
        made: dict[str, Any] | None = None
        try:
            made = finishing.summed_up(self.settings.root)
        except OSError as error:
            self.tell({"event": "trouble", "why": f"{self.settings.root}/report: {error.strerror}"})
        except BenchError:
            # Stopped before any case had begun: there is nothing to sum up.
            pass
        except Exception:  # noqa: BLE001 - the records are there, and are summed up again at any time
            self.tell({"event": "fault", "why": traceback.format_exc(limit=-3)})
        known = {one["key"]: one["overall_status"] for one in (made or {}).get("cases", ())}
        success = sum(known.get(case.key) == "success" for case in self.cases)
        status = 0 if success == len(self.cases) and not self.unsaved else 1
        status = INTERRUPTED if self.stop.asked else status
        word = state.UNFINISHED if self.stop.asked else state.FINISHED
        self.board.main(main_status=word, main_exit_code=status)
        self.board.flush()
        self.tell({"event": "batch-ended", "exit": status, "success": success, "total": len(self.cases), "root": self.settings.root, "stopped": bool(self.stop.asked)})  # fmt: skip
        return status

    def _stop(self) -> Stop:
        """A thread's own: what is asked of the batch is handed on to every one, also to one that comes late."""
        made = Stop()
        with self._stops:
            self.stops.append(made)
            for _ in range(self.forwarded):
                made.ask(self.stop.reason)
        return made

    def _forget(self, stop: Stop) -> None:
        with self._stops:
            self.stops.remove(stop)
        stop.close()

    def _in_threads(self, works: Sequence[Callable[[], None]]) -> None:
        """Do all of them at once and wait; the first exception is raised when all are done."""
        failed: list[BaseException] = []

        def guarded(work: Callable[[], None]) -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - raised below, by whoever waits
                failed.append(error)

        threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        again = time.monotonic() + _AGAIN
        while any(thread.is_alive() for thread in threads):
            select.select([self.stop.fd], [], [], _TICK)
            asked = min(self.stop.drained(), 2)
            with self._stops:
                for _ in range(asked - self.forwarded):
                    for one in self.stops:
                        one.ask(self.stop.reason)
                self.forwarded = max(asked, self.forwarded)
            if time.monotonic() > again:
                self.guard.look()
                self._save_again()
                again = time.monotonic() + _AGAIN
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]
