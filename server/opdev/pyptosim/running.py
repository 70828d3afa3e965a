"""The child that runs the test: below a keeper, with a time limit and a memory limit, its record read when it has ended."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from opdev.keeping import child
from opdev.pyptosim import wheels
from opdev.pyptosim.layout import Layout

_INSIDE = str(Path(__file__).parent / "inside")
_NAME = "opdev_pypto_inside"
# The user's Python need not have opdev: the one package is loaded from its folder, and nothing else becomes importable.
_BOOT = (
    "import importlib.util as u, sys; n, p = sys.argv[1:3]; "
    "s = u.spec_from_file_location(n, p + '/__init__.py', submodule_search_locations=[p]); "
    "m = u.module_from_spec(s); sys.modules[n] = m; s.loader.exec_module(m); sys.exit(m.main(sys.argv[3]))"
)
_GRACE = 5.0
RECORDS = "records.jsonl"


@dataclass(frozen=True, slots=True)
class Spec:
    """What the child is told, as JSON."""

    out: str
    root: str
    test: str
    paths: Sequence[str]
    sources: Sequence[str]
    cache: str
    texts: dict[str, str]
    memory: int
    cases: Sequence[str] = ()
    pypto: str = wheels.PYPTO
    torch: tuple[tuple[int, int], tuple[int, int]] = wheels.TORCH


@dataclass(frozen=True, slots=True)
class Ended:
    """How the child ended: exit status, or the signal, or that its time was up; what it recorded."""

    records: tuple[dict[str, Any], ...]
    exit: int | None = None
    signal: int | None = None
    timed_out: bool = False
    stopped: int = 0
    failed: str = ""


def spec_of(found: Layout, out: str, cache: str, texts: dict[str, str], memory: int, cases: Sequence[str] = ()) -> Spec:
    """What is run of a layout; ``out`` is an absolute folder that is there."""
    paths = [os.path.dirname(found.test), *found.folders]
    return Spec(
        out, found.root, found.test, list(dict.fromkeys(paths)), found.sources, cache, texts, memory, tuple(cases)
    )


def run(spec: Spec, python: str, timeout: float) -> Ended:
    """Run the child to its end; what ends this process ends it first."""
    argv = [python, "-c", _BOOT, _NAME, _INSIDE, json.dumps(asdict(spec))]
    env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    # With CANN's variables set, pypto takes the NPU for its default.
    env.pop("ASCEND_HOME_PATH", None)
    kept = child.start(argv, os.path.dirname(spec.test), env, grace=_GRACE)
    stopping: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        kept.say(b"K" if stopping else b"T")
        stopping.append(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    timed_out = False
    told: dict[str, Any] = {}
    try:
        deadline = time.monotonic() + timeout
        with os.fdopen(kept.report, "rb", buffering=0) as report:
            rest = b""
            while True:
                if not select.select([report], [], [], 0.5)[0]:
                    if time.monotonic() > deadline and not timed_out:
                        timed_out = True
                        kept.say(b"T")
                    continue
                data = report.read(65536)
                if not data:
                    break
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    told.update(json.loads(line))
        kept.let_go()
        kept.process.wait()
    finally:
        kept.let_go()
        for number, handler in before.items():
            signal.signal(number, handler)
    code, ended = told.get("exit"), told.get("signal")
    return Ended(
        _records(f"{spec.out}/{RECORDS}"), code if isinstance(code, int) else None, ended if isinstance(ended, int) else None,
        timed_out, stopping[0] if stopping else 0, str(told.get("failed") or ""),
    )  # fmt: skip


def _records(path: str) -> tuple[dict[str, Any], ...]:
    """Whole lines only: a child that was killed may have left a part of one."""
    try:
        with open(path, "rb") as stream:
            lines = stream.read().split(b"\n")[:-1]
    except OSError:
        return ()
    found = []
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return tuple(found)
