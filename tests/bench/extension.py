"""The VS Code extension in a clean profile: from its .vsix to a green run, and how soon a window has its first finding.

Seconds of processor are told beside those of the clock, for everything the editor and its windows start: where the
machine does other things, too, they are what can be compared.  The browser that stands for the user's screen is apart.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from measure import Row

if TYPE_CHECKING:
    from code_server import CodeServer
    from workbench import Workbench

E2E = Path(__file__).parents[1] / "e2e"
sys.path[:0] = [str(E2E), str(E2E / "vscode")]
_SUBREAPER = 36
_TICK = os.sysconf("SC_CLK_TCK")
STEPS = ("install", "window", "server", "green")
SAID = {
    "install": "  the .vsix installed",
    "window": "  editor up, window open, walkthrough shown",
    "server": "  environment made, server up",
    "green": "  compiled and smoked on the stand-in",
}
LIMIT = 120.0
"""Seconds from install to green."""
WINDOWS = 3


class Clock:
    """Seconds since it was made: of the clock, of processors, of the browser's processors."""

    def __init__(self) -> None:
        # What loses its parent becomes ours, and is counted on.
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        self.zero = (0.0, 0.0, 0.0)
        self.zero = self.now()

    def now(self) -> tuple[float, float, float]:
        reaped = resource.getrusage(resource.RUSAGE_CHILDREN)
        machine, browser = reaped.ru_utime + reaped.ru_stime, 0.0
        parents, used, drivers = _processes()
        for pid, seconds in used.items():
            line = _line(pid, parents)
            if os.getpid() not in line[1:]:
                continue
            if drivers & set(line):
                browser += seconds
            else:
                machine += seconds
        zero = self.zero
        return time.monotonic() - zero[0], machine - zero[1], browser - zero[2]


def _processes() -> tuple[dict[int, int], dict[int, float], set[int]]:
    """Parents and seconds of all processes (with those of their ended children), and which are Playwright's."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    drivers: set[int] = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if b"run-driver" in (entry / "cmdline").read_bytes():
                drivers.add(int(entry.name))
        except OSError:
            continue
        parents[int(entry.name)] = int(fields[1])
        used[int(entry.name)] = sum(map(int, fields[11:15])) / _TICK
    return parents, used, drivers


def _line(pid: int, parents: dict[int, int]) -> list[int]:
    """A process and what it descends from."""
    found = [pid]
    while (pid := parents.get(pid, 0)) > 1:
        found.append(pid)
    return found


def measure(work: Path) -> Iterator[Row]:
    """The way of a new user, each row as soon as it is known; nothing where a program for it is missing."""
    from chromium import chromium, launched

    if chromium() is None or not all(map(shutil.which, ("npm", "g++", "cmake"))):
        print("Chromium, npm, g++ and cmake are not all here: the extension is not measured", flush=True)
        return
    from code_server import CodeServer, vsix
    from walkthrough import Walkthrough, bare_python, copied_corpus
    from workbench import Workbench

    work.mkdir()
    package = vsix(work)
    workspace = copied_corpus(work / "shmem")
    yield Row("extension: the .vsix", package.stat().st_size / 1e6, "MB", 60)
    # Not below work: the names of sockets may not be long.
    with tempfile.TemporaryDirectory(prefix="ode2e-", ignore_cleanup_errors=True) as folder, launched() as browser:
        # As in measure.ENVIRONMENT: elsewhere Python keeps what it compiled; empty is unset.
        env = {**bare_python(work / "bin"), "PYTHONDONTWRITEBYTECODE": ""}
        server = CodeServer(Path(folder), package, machine={}, locale="zh-cn", env=env)
        clock = Clock()
        marks = [clock.now()]

        def reached() -> None:
            marks.append(clock.now())

        try:
            server.install()
            reached()
            server.serve()
            bench = Workbench(browser.new_page(viewport={"width": 1280, "height": 800}), work / "pictures")
            bench.load(server.url(workspace))
            walkthrough = Walkthrough(bench)
            reached()
            walkthrough.follow("put_signal", reached)
            yield from told(marks)
            yield from first_finding(bench, server, workspace)
        except Exception:
            print(server.logs(), flush=True)
            raise
        finally:
            server.stop()


def told(marks: Sequence[tuple[float, float, float]]) -> list[Row]:
    """All of it, and each step."""
    seconds, machine, browser = marks[-1]
    rows = [
        Row("extension: clean profile, .vsix to green run", seconds, "s", LIMIT),
        Row("  the same, processor", machine, "s", LIMIT),
        Row("  the same, processor of the browser", browser, "s"),
    ]
    for name, before, after in zip(STEPS, marks[:-1], marks[1:], strict=True):
        rows += [
            Row(SAID[name], after[0] - before[0], "s"),
            Row("    processor", after[1] - before[1], "s"),
        ]
    return rows


def first_finding(bench: Workbench, server: CodeServer, workspace: Path) -> list[Row]:
    """A window opened again on a file with a finding: until it is underlined; and what of that is ours."""
    script = workspace / "custom-ops/allgather/scripts/run.sh"
    first, _, rest = script.read_text("utf-8").partition("\n")
    script.write_text(f"{first}\npkill -f shmem\n{rest}", encoding="utf-8")
    payload = json.dumps([["openFile", f"vscode-remote://127.0.0.1:{server.port}{script}"]])
    address = f"{server.url(workspace)}&payload={quote(payload)}"
    taken = []
    for _ in range(WINDOWS):
        bench.page.goto("about:blank")
        began = time.monotonic()
        bench.page.goto(address)
        bench.squiggles().first.wait_for()
        taken.append(time.monotonic() - began)
    rows = [Row("extension: window opened -> first finding underlined", statistics.median(taken), "s")]
    activated = re.findall(r"activated in (\d+) ms", server.our_log())
    rows.append(Row("  of that, activation of the extension", float(activated[-1]), "ms"))
    return rows
