"""One program of a step: started below its keeper, read without loss, ended on time.

Output is handed on as it comes; when the reader of it is slow, the program waits, and nothing is dropped.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from opdev.keeping import child as children
from opdev.keeping.child import Kept
from opdev.keeping.keeper import members, send
from opdev.runs import process

Stream = Literal["stdout", "stderr"]
_CHUNK = 1 << 18
_PIPE = 1 << 20
_TICK = 0.05
_CLOSING = 5.0
"""Seconds for a keeper to end after its step did."""
_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run.  ``env`` is its whole environment; ``hold`` keeps its input open until it shall end."""

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    timeout: float | None = None
    grace: float = 5.0
    hold: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended: ``exit`` or ``signal``; ``failed`` says why it could not be started.

    ``leaked`` counts the processes it left behind, which were ended; ``seconds`` is how long it took.
    """

    exit: int | None = None
    signal: int | None = None
    failed: str = ""
    timed_out: bool = False
    stopped: bool = False
    leaked: int = 0
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        return self.exit == 0 and not (self.failed or self.timed_out or self.stopped)


class Stop:
    """Asked from outside: once to end, twice to end at once.  ``fd`` wakes whoever waits."""

    def __init__(self) -> None:
        self.asked = 0
        self.reason = ""
        self.fd, self._waker = os.pipe()
        for end in (self.fd, self._waker):
            os.set_blocking(end, False)

    def ask(self, reason: str) -> None:
        """Safe in a signal handler."""
        self.asked += 1
        self.reason = self.reason or reason
        with suppress(OSError):
            os.write(self._waker, b"!")

    def drained(self) -> int:
        """How often it was asked; the wake-up is taken back."""
        try:
            while os.read(self.fd, 512):
                pass
        except OSError:
            pass
        return self.asked

    def close(self) -> None:
        """Give its descriptors back: nobody waits for it any more."""
        for end in (self.fd, self._waker):
            os.close(end)


def inherit() -> None:
    """Make this process the heir of what loses its keeper and its guard: for a process that does nothing but run steps."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _heir() -> bool:
    found = ctypes.c_int(0)
    ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(found), 0, 0, 0)
    return bool(found.value)


def execute(
    command: Command, output: Callable[[Stream, bytes], None], stop: Stop, tick: Callable[[], None] | None = None,
    began: Callable[[int], None] | None = None,
) -> Outcome:  # fmt: skip
    """Run a program to its end.  ``output`` gets its bytes, ``tick`` is called now and then, ``began`` gets its number."""
    return _Execution(command, output, stop, tick or (lambda: None), began or (lambda _: None)).run()


class _Execution:
    def __init__(
        self, command: Command, output: Callable[[Stream, bytes], None], stop: Stop, tick: Callable[[], None],
        began: Callable[[int], None],
    ) -> None:  # fmt: skip
        self.command, self.output, self.stop, self.tick, self.began = command, output, stop, tick, began
        self.selector = selectors.DefaultSelector()
        self.told: dict[str, object] = {}
        self.rest = b""
        self.open: set[str] = set()
        self.asked = 0
        self.timed_out = False

    def run(self) -> Outcome:
        begun = time.monotonic()
        if not os.path.isdir(self.command.cwd):
            return Outcome(failed=f"{self.command.cwd}: no such folder")
        self.kept, ends = self._start()
        try:
            self._watch(begun, ends)
            self._close()
        finally:
            for end in ends.values():
                os.close(end)
            self.kept.let_go()
            self.selector.close()
            self.kept.process.wait()
        code, number = self.told.get("exit"), self.told.get("signal")
        failed = str(self.told.get("failed") or "")
        if not failed and "exit" not in self.told:
            number = signal.SIGKILL
        leaked = self.told.get("leaked")
        return Outcome(
            exit=code if isinstance(code, int) and not failed else None,
            signal=int(number) if isinstance(number, int) else None,
            failed=failed,
            timed_out=self.timed_out,
            stopped=bool(self.stop.asked),
            leaked=leaked if isinstance(leaked, int) else 0,
            seconds=time.monotonic() - begun,
        )

    def _start(self) -> tuple[Kept, dict[str, int]]:
        (out, out_w), (err, err_w) = os.pipe(), os.pipe()
        for end in (out, err):
            # The user's pipes may be limited; a smaller one works as well.
            with suppress(OSError):
                fcntl.fcntl(end, getattr(fcntl, "F_SETPIPE_SZ", 1031), _PIPE)
        job = self.command
        try:
            kept = children.start(
                job.argv,
                job.cwd,
                job.env,
                grace=job.grace,
                source="hold" if job.hold else "null",
                stdout=out_w,
                stderr=err_w,
            )
        finally:
            os.close(out_w)
            os.close(err_w)
        return kept, {"stdout": out, "stderr": err, "report": kept.report}

    def _watch(self, begun: float, ends: Mapping[str, int]) -> None:
        for name, end in ends.items():
            os.set_blocking(end, False)
            self.selector.register(end, selectors.EVENT_READ, name)
        self.selector.register(self.stop.fd, selectors.EVENT_READ, "stop")
        self.open = set(ends)
        deadline = begun + self.command.timeout if self.command.timeout else None
        self._stop()
        while self.open:
            for key, _ in self.selector.select(_TICK):
                self._ready(key.data, key.fd)
            self.tick()
            if deadline is not None and time.monotonic() >= deadline and not self.asked:
                self.timed_out = True
                self._say(b"T")
            if "report" not in self.open:
                # The keeper is gone: with its last words, or killed.  What it kept is not left running.
                self._orphans()
                self._drain(ends)
                return

    def _ready(self, name: str, end: int) -> None:
        if name == "stop":
            self._stop()
            return
        try:
            data = os.read(end, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self.open.discard(name)
            self.selector.unregister(end)
        elif name == "report":
            self._told(data)
        else:
            self.output("stdout" if name == "stdout" else "stderr", data)

    def _told(self, data: bytes) -> None:
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            said = json.loads(line)
            self.told.update(said)
            if "pid" in said:
                self.began(said["pid"])

    def _stop(self) -> None:
        for _ in range(self.asked, min(self.stop.drained(), 2)):
            self._say(b"T" if self.asked == 0 else b"K")

    def _say(self, word: bytes) -> None:
        self.asked += 1
        self.kept.say(word)

    def _orphans(self) -> None:
        if "exit" in self.told or self.told.get("failed"):
            return
        deadline = time.monotonic() + _CLOSING
        run, heir = self.command.env.get(process.TOKEN, ""), _heir()
        while time.monotonic() < deadline:
            # The guard does the same, unless it was killed as well.
            left = {**members(self.kept.process.pid), **(process.carrying(run) if run else {})}
            if heir:
                left |= members(os.getpid())
            left.pop(self.kept.process.pid, None)
            if not left:
                return
            for pid, start in left.items():
                send(pid, start, signal.SIGKILL)
            time.sleep(0.01)

    def _drain(self, ends: Mapping[str, int]) -> None:
        """What is left in the pipes, without waiting for whoever may still hold them."""
        for name in ("stdout", "stderr"):
            while name in self.open:
                before = len(self.open)
                try:
                    data = os.read(ends[name], _CHUNK)
                except BlockingIOError:
                    break
                if not data:
                    self.open.discard(name)
                    if len(self.open) < before:
                        break
                else:
                    self.output("stdout" if name == "stdout" else "stderr", data)

    def _close(self) -> None:
        self.kept.let_go()
        try:
            self.kept.process.wait(_CLOSING + self.command.grace)
        except subprocess.TimeoutExpired:
            self.kept.process.kill()
