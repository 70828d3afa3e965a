"""Every case of a matrix judged by the precision engine as it ends, while the next one runs.

A script that keeps the outputs of a case apart puts them into ``$OPDEV_CASES/<case>/data`` and ``/output`` before it prints
the case's line; ``taking`` takes those of other scripts from where they lie.  What passes is removed once it is judged, what
does not is kept with the run.  Both what waits and what is kept are bounded; a case that is left out, or that left nothing,
is told with the reason.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from opdev.phases.model import both
from opdev.rules.model import Text
from opdev.runs.engine import Engine
from opdev.runs.events import Events
from opdev.runs.execute import Stop
from opdev.runs.taking import Taken, take

FOLDER = "cases"
VARIABLE = "OPDEV_CASES"
"""Names the folder to a script, in the words of the place where it runs."""
_PATIENCE = 120.0
"""Seconds for one case: gigabytes of outputs take a quarter of that."""
_MB = 1_000_000


def agrees(said: str | None, verdict: str | None) -> bool | None:
    """Whether checker and engine say the same; None where one of them said nothing."""
    if said not in ("PASS", "FAIL") or verdict not in ("pass", "fail"):
        return None
    return (said == "PASS") == (verdict == "pass")


@dataclass(slots=True)
class _Case:
    name: str
    said: str | None
    taken: Taken | None
    why: Text | None = None
    """Why there is nothing to judge."""
    begun: float = 0.0

    @property
    def size(self) -> int:
        return self.taken.size if self.taken is not None else 0

    def remove(self) -> None:
        if self.taken is not None:
            self.taken.remove()


class PerCase:
    """The cases of one step.

    ``folder`` (absolute) takes what they leave.  ``limit``: bytes that may wait to be judged, and bytes that are kept of what
    is wrong; with 0 no case is judged.
    """

    def __init__(
        self, events: Events, phase: str, task: str, *, root: str, folder: str, backend: str, limit: int, run: str, stop: Stop
    ) -> None:  # fmt: skip
        self.events, self.phase, self.task = events, phase, task
        self.root, self.folder, self.backend, self.limit, self.run, self.stop = root, folder, backend, limit, run, stop
        self._queue: deque[_Case] = deque()
        self._kept = 0
        self._begun = self._since = time.time()
        self._engine: Engine | None = None

    def ended(self, fields: Mapping[str, Any]) -> None:
        """A case was told to have ended: its outputs are there now, and not much longer."""
        name, said = fields.get("case"), fields.get("verdict")
        if not isinstance(name, str) or self.limit <= 0:
            return
        said = said if isinstance(said, str) else None
        found = take(self.root, self.folder, name, self._begun, self._since)
        self._since = time.time()
        # What is not judged waits as well: they are told in the order in which they ran.
        if not isinstance(found, Taken):
            self._put(_Case(name, said, None, found))
            return
        waiting = found.size + sum(case.size for case in self._queue)
        if waiting > self.limit:
            found.remove()
            size, most = waiting // _MB, self.limit // _MB
            self._put(_Case(name, said, None, both(
                f"没有判断：等待判断的输出有 {size} MB，至多 {most} MB（opdev.toml 里 [run] 的 case-megabytes）",
                f"not judged: {size} MB of outputs would wait for it, at most {most} MB may (case-megabytes in [run] of opdev.toml)",
            )))  # fmt: skip
            return
        self._put(_Case(name, said, found))

    def _put(self, case: _Case) -> None:
        self._queue.append(case)
        self.tick()

    def tick(self) -> None:
        """Go on as far as it goes without waiting."""
        self._go_on(0.0)

    def close(self) -> None:
        """Wait for what is still being judged; a stop leaves it, and says so."""
        while self._queue and not self.stop.asked:
            self._go_on(0.05)
        for case in self._queue:
            case.remove()
            self._tell(case, why=case.why or both("停止了，没有判断", "stopped, not judged"))
        self._queue.clear()
        self._drop()
        for path in (self.folder, os.path.dirname(self.folder)):
            # Nothing was kept.
            with suppress(OSError):
                os.rmdir(path)

    def _go_on(self, patience: float) -> None:
        while self._queue:
            case = self._queue[0]
            answer = self._answer(case, patience)
            if answer is None:
                return
            self._queue.popleft()
            self._judged(case, answer)

    def _answer(self, case: _Case, patience: float) -> Mapping[str, Any] | None:
        if case.taken is None:
            return _none(case.why)
        if not case.begun:
            case.begun = time.monotonic()
            if self._engine is not None and self._engine.ended:
                self._drop()
            try:
                self._engine = self._engine or Engine(self.root, self.backend, self.run)
            except OSError as error:
                return _none(both(f"精度引擎没有启动：{error}", f"the precision engine could not be started: {error}"))
            self._engine.ask(case.taken.data, case.taken.output)
        if self._engine is None:
            return None
        answer = self._engine.answer(patience)
        if answer is None and time.monotonic() - case.begun > _PATIENCE:
            answer = _none(both(f"{_PATIENCE:g} 秒内没有判断完", f"not judged within {_PATIENCE:g} s"))
            self._drop()
        elif answer is not None and self._engine.ended:
            self._drop()
        return answer

    def _judged(self, case: _Case, answer: Mapping[str, Any]) -> None:
        document, why = answer["document"], answer["why"]
        if document is not None and case.taken is not None and case.taken.changed:
            document, why = None, both(
                "没有判断：判断时后面的用例改写了它的文件；让脚本把每个用例的输出分开放（OPDEV_CASES）",
                "not judged: a later case wrote over its files meanwhile; let the script keep the outputs of each case apart (OPDEV_CASES)",
            )  # fmt: skip
        kept = None
        wrong = document is not None and document["verdict"] != "pass"
        if wrong and case.taken is not None and self._kept + case.size <= self.limit and not case.taken.stamps:
            self._kept += case.size
            kept = case.taken.folder
        else:
            case.remove()
        self._tell(case, document, why, kept, time.monotonic() - case.begun if case.begun else 0.0)

    def _tell(
        self, case: _Case, document: Mapping[str, Any] | None = None, why: Text | None = None, kept: str | None = None,
        seconds: float = 0.0,
    ) -> None:  # fmt: skip
        verdict = document["verdict"] if document is not None else None
        self.events.add(
            "case-precision", phase=self.phase, task=self.task, case=case.name, said=case.said, verdict=verdict, agrees=agrees(case.said, verdict),
            document=document, why=why, kept=kept, seconds=round(seconds, 3),
        )  # fmt: skip

    def _drop(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None


def _none(why: Text | None) -> dict[str, Any]:
    return {"document": None, "why": why}
