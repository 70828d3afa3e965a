"""What stands between whoever starts a program and the program: whatever is killed, the program's processes end.

It is a program of its own (``python -I -S keeper.py …``, standard library only, so that it starts in a few
milliseconds), and becomes two processes: a *guard*, and below it the *keeper*, which starts the program.

The keeper leads a session; the program and all it starts live in that session, and what leaves the session is
inherited by the keeper, because it is a *subreaper*.  Only these processes are ever signalled.  Whoever started it
holds the other end of the control pipe: ``T`` asks the program to end (SIGTERM, SIGKILL after the grace period),
``K`` kills it, and the pipe's end means that the starter is dead.  The keeper tells, as JSON lines on the report
pipe, the program's process id and how it ended.

The guard only waits for the keeper's end.  It is a subreaper, too: when the keeper is killed, what it kept becomes
the guard's, which kills it; when the guard is killed, the keeper ends the program.  So one of starter, keeper and
guard is enough.  The guard is a shell (and no Python of this package), so that killing by name does not take all.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time
from contextlib import suppress

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_ORPHANED_GRACE = 1.0
_LEFT_OVER = 0.2
"""Seconds that processes a program left behind get to end by themselves."""
_SHELL = "/bin/sh"
_GUARD = """
trap '' HUP INT TERM
while read -r _; do :; done
children() {
    if [ -r /proc/$$/task/$$/children ]; then
        read -r found </proc/$$/task/$$/children
        for pid in $found; do entry $pid; done
    else
        for folder in /proc/[0-9]*; do entry ${folder#/proc/}; done
    fi
}
entry() {
    read -r line </proc/$1/stat || return
    set -- $1 ${line##*) }
    [ "$3" = $$ ] && [ "$2" != Z ] && left="$left $1"
}
n=0
while [ $n -lt 500 ]; do
    left= found=
    children
    [ -z "$left" ] && exit 0
    kill -KILL $left
    n=$((n + 1))
    sleep 0.02
done
"""
"""Input ends with the keeper.  Whose parent is killed becomes a child of this shell: no tree has to be walked, and
a child's number is nobody else's before the shell has waited for it."""


def table() -> dict[int, tuple[int, int, str, int]]:
    """``{pid: (parent, session, state, start time)}`` of all processes (start time: clock ticks since boot)."""
    found: dict[int, tuple[int, int, str, int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            entry = stat_of(int(name))
            if entry is not None:
                found[int(name)] = entry
    return found


def stat_of(pid: int) -> tuple[int, int, str, int] | None:
    """(parent, session, state, start time) of a process; None where there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            words = stream.read().rpartition(b")")[2].split()
        return int(words[1]), int(words[3]), words[0].decode(), int(words[19])
    except (OSError, IndexError, ValueError):
        return None


def members(keeper: int) -> dict[int, int]:
    """``{pid: start time}`` of what runs below a keeper: its session's processes and its descendants, itself apart."""
    processes = table()
    ours = {pid for pid, entry in processes.items() if entry[1] == keeper} | {keeper}
    grown = True
    while grown:
        more = {pid for pid, entry in processes.items() if entry[0] in ours} - ours
        ours |= more
        grown = bool(more)
    return {pid: processes[pid][3] for pid in ours - {keeper} if pid in processes and processes[pid][2] != "Z"}


def send(pid: int, start: int, number: int) -> None:
    """Signal a process, unless its number belongs to another one by now."""
    try:
        handle = os.pidfd_open(pid)
    except (OSError, AttributeError):
        handle = -1
    try:
        entry = stat_of(pid)
        if entry is None or entry[3] != start:
            return
        if handle >= 0:
            signal.pidfd_send_signal(handle, number)
        else:
            os.kill(pid, number)
    except OSError:
        pass
    finally:
        if handle >= 0:
            os.close(handle)


class _Keeper:
    def __init__(self, control: int, report: int, grace: float, *, source: str, guard: int) -> None:
        self.control, self.report, self.grace = control, report, grace
        self.source = source
        self.guard = guard
        self.lifeline = -1
        self.child = -1
        self.status: int | None = None
        self.woken, self.waker = os.pipe()
        for end in (self.woken, self.waker):
            os.set_blocking(end, False)

    def start(self, argv: list[str]) -> int:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        if self.source == "hold":
            inner, self.lifeline = os.pipe()
        elif self.source == "own":
            inner = os.dup(0)
        else:
            inner = os.open(os.devnull, os.O_RDONLY)
        me = os.getpid()
        self.child = os.fork()
        if self.child == 0:
            self._become(argv, inner, me)
        os.close(inner)
        null = os.open(os.devnull, os.O_RDWR)
        # The program's output ends when the program's processes end, not when the keeper does.
        for number in (0, 1, 2):
            os.dup2(null, number)
        os.close(null)
        entry = stat_of(self.child)
        self.tell(pid=self.child, start=entry[3] if entry else 0, keeper=me)
        return self.child

    def _become(self, argv: list[str], inner: int, keeper: int) -> None:
        try:
            os.setpgid(0, 0)
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != keeper:
                os._exit(127)
            os.dup2(inner, 0)
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            os.execvp(argv[0], argv)  # noqa: S606 - that is what a keeper does
        except OSError as error:
            self.tell(failed=f"{argv[0]}: {error.strerror}")
        finally:
            os._exit(127)

    def tell(self, **values: object) -> None:
        with suppress(OSError):
            os.write(self.report, json.dumps(values).encode() + b"\n")

    def reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.child:
                self.status = status

    def wait(self, seconds: float | None) -> bytes | None:
        """What the starter says (empty: it, or the guard, is dead), or None when time is up or a child changed."""
        watched = [self.woken] + ([self.control] if self.control >= 0 else [])
        ready, _, _ = select.select(watched, [], [], seconds)
        if self.woken in ready:
            try:
                while os.read(self.woken, 4096):
                    pass
            except BlockingIOError:
                pass
        self.reap()
        if self.control in ready:
            said = os.read(self.control, 1)
            if not said:
                self.control = -1
            return said
        if self.guard and os.getppid() != self.guard:
            self.guard = 0
            return b""
        return None

    def run(self) -> None:
        while self.status is None:
            said = self.wait(None)
            if said == b"T":
                self.end(self.grace)
            elif said == b"K":
                self.end(0.0)
            elif said == b"":
                self.end(min(self.grace, _ORPHANED_GRACE))
        leaked = self.left_over()
        code = os.waitstatus_to_exitcode(self.status)
        self.tell(exit=code if code >= 0 else None, signal=-code if code < 0 else None, leaked=leaked)

    def end(self, grace: float) -> None:
        """Ask all to end, kill what is still there when the grace period is over."""
        if self.lifeline >= 0:
            # The other side of the engine ends its processes itself when its input ends.
            os.close(self.lifeline)
            self.lifeline = -1
            self.until_empty(grace + 2.0)
        if grace > 0:
            for pid, start in members(os.getpid()).items():
                send(pid, start, signal.SIGTERM)
                send(pid, start, signal.SIGCONT)
            self.until_empty(grace)
        self.kill()

    def kill(self) -> None:
        me = os.getpid()
        deadline = time.monotonic() + 5.0
        while time.monotonic() < deadline:
            left = members(me)
            for pid, start in left.items():
                send(pid, start, signal.SIGKILL)
            self.reap()
            if not left:
                return
            self.wait(0.02)

    def until_empty(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while members(os.getpid()) and (left := deadline - time.monotonic()) > 0:
            if self.wait(min(left, 0.05)) == b"K":
                return
        self.reap()

    def left_over(self) -> int:
        """End what outlived the program; how many processes that were."""
        if members(os.getpid()):
            self.until_empty(_LEFT_OVER)
        left = members(os.getpid())
        if left:
            self.end(min(self.grace, 1.0))
        return len(left)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _stand_guard(lifeline: int) -> None:
    """Become the shell that kills what is left when the keeper is gone."""
    null = os.open(os.devnull, os.O_RDWR)
    for number, end in ((0, lifeline), (1, null), (2, null)):
        os.dup2(end, number)
    os.closerange(3, 256)
    os.execv(_SHELL, ["sh", "-c", _GUARD])  # noqa: S606 - nothing of a user's is in it


def main(argv: list[str]) -> int:
    """``keeper.py CONTROL_FD REPORT_FD GRACE_SECONDS hold|null|own PROGRAM ARGUMENT…``."""
    os.setsid()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    control, report = int(argv[0]), int(argv[1])
    for end in (control, report):
        os.set_inheritable(end, False)
    lifeline, held = os.pipe()
    guard = os.getpid()
    if os.fork():
        os.close(held)
        _stand_guard(lifeline)
    os.close(lifeline)
    os.setsid()
    keeper = _Keeper(control, report, float(argv[2]), source=argv[3], guard=guard)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(keeper.waker, warn_on_full_buffer=False)
    # The guard's death is told as a child's would be.
    _prctl(_PR_SET_PDEATHSIG, signal.SIGCHLD)
    if os.getppid() != guard:
        return 127
    keeper.start(argv[4:])
    keeper.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
