"""Whether the process that wrote a status file is still the one of that number, and what a lost run left behind.

A process is known by its number, its start time and the boot it belongs to: numbers are used again.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from dataclasses import dataclass
from functools import cache

from opdev.keeping.keeper import send, stat_of

TOKEN = "OPDEV_RUN"  # noqa: S105 - a name, no secret
"""The environment variable that every process of a run carries: the run's id."""


@dataclass(frozen=True, slots=True)
class Identity:
    """One process for good.  ``space`` is its PID namespace: numbers of another one say nothing here."""

    pid: int
    start: int
    boot: str
    host: str
    space: str


def supported() -> bool:
    """Whether runs work on this system: they need Linux's /proc and process control."""
    return sys.platform == "linux" and os.path.isdir("/proc/self")


@cache
def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
            return stream.read().strip()
    except OSError:
        return ""


@cache
def _space() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def identity(pid: int | None = None) -> Identity:
    """Who a process is (this one by default); start time 0 where there is none of that number."""
    pid = os.getpid() if pid is None else pid
    entry = stat_of(pid)
    return Identity(pid, entry[3] if entry else 0, _boot(), socket.gethostname(), _space())


def alive(who: Identity) -> bool | None:
    """Whether a process still runs; None where that cannot be told from here (another host or container)."""
    if who.host != socket.gethostname() and who.boot != _boot():
        return None
    if who.boot != _boot():
        return False
    if who.space != _space():
        return None
    entry = stat_of(who.pid)
    return entry is not None and entry[3] == who.start and entry[2] != "Z"


def tell(who: Identity, number: int) -> bool:
    """Signal exactly that process; False where it is gone."""
    if not alive(who):
        return False
    send(who.pid, who.start, number)
    return True


def carrying(run: str) -> dict[int, int]:
    """``{pid: start time}`` of the processes that carry a run's id: what it started, wherever they moved to."""
    word = f"{TOKEN}={run}".encode()
    found: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as stream:
                words = stream.read().split(b"\0")
        except OSError:
            continue
        entry = stat_of(int(name)) if word in words else None
        if entry is not None and entry[2] != "Z":
            found[int(name)] = entry[3]
    return found


def sweep(run: str, grace: float = 1.0) -> int:
    """End what a dead runner and a dead keeper left of a run; how many processes that were."""
    first = carrying(run)
    for number, wait in ((signal.SIGTERM, grace), (signal.SIGKILL, 1.0)):
        deadline = time.monotonic() + wait
        for pid, start in carrying(run).items():
            send(pid, start, number)
        while carrying(run) and time.monotonic() < deadline:
            time.sleep(0.02)
    return len(first)
