"""One stage of verification: a process in the user's Python with limits, and what it hands over.

It is believed by what it hands over with this run's secret, and by files that match their digests; what it prints goes to a
log, and its exit status alone never makes anything right.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from opdev.bench import memory, placing
from opdev.bench.evidence import Problem, Stage
from opdev.bench.model import Slot
from opdev.bench.texts import both
from opdev.pyptosim import texts as simulation
from opdev.pyptosim import wheels
from opdev.rules.model import Text
from opdev.runs.execute import Outcome, Stop, execute

Name = Literal["backend", "inputs", "candidate", "reference", "profile-base", "profile-generated"]
_HERE = Path(__file__).parent
_INSIDE = {"opdev_pypto_inside": str(_HERE.parent / "pyptosim" / "inside"), "opdev_bench_inside": str(_HERE / "inside")}
# The user's Python need not have opdev: the two packages are loaded from their folders, and nothing else becomes importable.
_BOOT = """
import importlib.util as u, sys
names, path = sys.argv[1:5], sys.argv[5]
del sys.argv[1:]
for n, p in zip(names[::2], names[1::2]):
    s = u.spec_from_file_location(n, p + "/__init__.py", submodule_search_locations=[p])
    m = u.module_from_spec(s)
    sys.modules[n] = m
    s.loader.exec_module(m)
sys.exit(m.main(path))
"""
_DONE = "done.json"
_MOST_RESULT = 64 << 20
_HEAD, _TAIL = 1 << 20, 256 << 10
_TAIL_LINES = 4
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|\x1b\[[0-9;]*m")
_PROBLEMS = frozenset({"environment", "raised", "unsupported", "memory", "state", "artifact", "unstable"})
GRACE = 2.0
_EVERY = 0.25
"""Seconds between two looks at the memory in use."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where and how a stage runs."""

    python: str
    slot: Slot
    timeout: float
    memory: int
    stop: Stop


@dataclass(frozen=True, slots=True)
class Ran:
    """``result`` is what was handed over with the secret; empty where nothing was."""

    stage: Stage
    result: Mapping[str, Any]

    @property
    def good(self) -> bool:
        return self.stage.complete and self.stage.problem is None


class _Log:
    """A log of bounded size: its beginning and its end."""

    def __init__(self, path: str) -> None:
        self.path, self.size, self.tail = path, 0, b""
        self.stream = open(path, "wb")  # noqa: SIM115 - closed by close()

    def add(self, _: str, data: bytes) -> None:
        room = max(0, _HEAD - self.size)
        self.stream.write(data[:room])
        self.size += len(data)
        self.tail = (self.tail + data[room:])[-_TAIL:]

    def close(self) -> None:
        left = self.size - _HEAD - len(self.tail)
        if left > 0:
            self.stream.write(f"\n[opdev] … {left} bytes …\n".encode())
        self.stream.write(self.tail)
        self.stream.close()


def spawn(name: Name, spec: Mapping[str, Any], place: Place, folder: str, log: str) -> Ran:
    """Run a stage in ``folder``, an own and empty one; ``spec`` is what it is told besides."""
    nonce = secrets.token_hex(32)
    os.makedirs(f"{folder}/out")
    os.makedirs(f"{folder}/scratch")
    told = {
        "texts": {"building": simulation.say("building", "en")}, "cache": _cache(), "pypto": wheels.PYPTO, "torch": wheels.TORCH,
        **spec, "stage": name, "nonce": nonce, "out": f"{folder}/out", "memory": place.memory, "device": place.slot.device,
    }  # fmt: skip
    path = f"{folder}/spec.json"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
        json.dump(told, stream)
    words = [word for pair in _inside(place.slot, folder).items() for word in pair]
    env = {
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0",
        "PYTHONSTARTUP": "", "TMPDIR": f"{folder}/scratch",
    }  # fmt: skip
    token = f"verify-{secrets.token_hex(16)}"
    command = placing.command(
        place.slot, [place.python, "-c", _BOOT, *words, path], f"{folder}/scratch", env,
        token=f"{token}-{name}", timeout=place.timeout, grace=GRACE,
    )  # fmt: skip
    output = _Log(log)
    watch = _Watch(token, place)
    try:
        ended = execute(command, output.add, watch.stop, watch.look)
    finally:
        output.close()
        watch.stop.close()
    return _ran(name, ended, f"{folder}/out/{_DONE}", nonce, place, log, full=watch.full)


def _inside(slot: Slot, folder: str) -> Mapping[str, str]:
    """The packages that run in the child; on another host copies in a folder that is shared, opdev itself need not be."""
    if not slot.host.prefix:
        return _INSIDE
    for name, path in _INSIDE.items():
        shutil.copytree(path, f"{folder}/inside/{name}", ignore=shutil.ignore_patterns("__pycache__"))
    return {name: f"{folder}/inside/{name}" for name in _INSIDE}


class _Watch:
    """Ends one stage, and only that, when it shall stop or all its processes together hold too much memory."""

    def __init__(self, token: str, place: Place) -> None:
        self.token, self.place, self.stop, self.full = token, place, Stop(), False
        self.next = 0.0

    def look(self) -> None:
        if self.place.stop.asked > self.stop.asked:
            self.stop.ask(self.place.stop.reason)
        now = time.monotonic()
        if self.stop.asked or self.place.slot.host.prefix or now < self.next:
            return
        self.next = now + _EVERY
        if memory.resident(self.token).get(self.token, 0) > self.place.memory * 1_000_000:
            self.full = True
            self.stop.ask(memory.REASON)


def _cache() -> str:
    from opdev.rules.store import cache_folder

    return str(cache_folder().absolute() / "pypto-sim")


def _ran(name: Name, ended: Outcome, path: str, nonce: str, place: Place, log: str, *, full: bool) -> Ran:
    result, forged = _result(path, nonce, name)
    complete = bool(result) and ended.exit == 0
    problem: Problem | None = None
    message: Text = {}
    if placing.not_started(place.slot, ended.exit, ended.failed):
        problem, message = "start", both("v-s-start", python=place.python, why=ended.failed or tail(log))
    elif full and not place.stop.asked:
        problem, message = "memory", both("v-s-memory", memory=place.memory, error=memory.REASON)
    elif ended.stopped:
        problem, message = "stopped", both("v-s-stopped")
    elif ended.timed_out:
        problem, message = "timeout", both("v-s-timeout", seconds=place.timeout)
    elif not complete:
        if forged:
            problem, message = "tampered", both("v-s-tampered")
        elif ended.signal is not None:
            problem, message = "crash", both("v-s-crash-signal", signal=ended.signal)
        else:
            problem, message = "crash", both("v-s-crash-exit", exit=ended.exit)
    elif result.get("problem"):
        problem, message = told(result["problem"], result, place)
    if problem in ("timeout", "crash"):
        lines = tail(log)
        more = both("v-log", lines=lines) if lines else {"zh": "", "en": ""}
        message = {
            "zh": f"{message['zh']}。{more['zh']}".rstrip("。"),
            "en": f"{message['en']}. {more['en']}".rstrip(". "),
        }
    stage = Stage(
        name,
        ended.exit,
        ended.signal,
        ended.timed_out,
        round(ended.seconds, 3),
        ended.leaked,
        complete,
        problem,
        message,
        log,
    )
    return Ran(stage, result if complete else {})


def _result(path: str, nonce: str, name: str) -> tuple[dict[str, Any], bool]:
    """What was handed over, and whether there is something else in its place."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(_MOST_RESULT + 1)
        value = json.loads(data) if len(data) <= _MOST_RESULT else None
    except OSError:
        return {}, False
    except (ValueError, RecursionError):
        return {}, True
    if not isinstance(value, dict) or value.get("stage") != name or not isinstance(value.get("nonce"), str):
        return {}, True
    return (value, False) if secrets.compare_digest(value["nonce"].encode(), nonce.encode()) else ({}, True)


def told(problem: Any, result: Mapping[str, Any], place: Place) -> tuple[Problem, Text]:
    """A problem that a stage tells of itself."""
    if not isinstance(problem, dict) or problem.get("kind") not in _PROBLEMS:
        return "tampered", both("v-s-tampered")
    kind: Problem = problem["kind"]
    error = clean(str(problem.get("error", "")))
    path, line = clean(str(problem.get("path") or "")), problem.get("line") or 0
    if kind == "environment":
        return kind, _environment(problem, error)
    if kind == "state":
        key = "v-s-state-keys" if error == "keys" else "v-s-state-tensor"
        values = {k: _listed(problem.get(k)) for k in ("missing", "more", "expected", "found", "name")}
        return kind, both(key, **values)
    if kind == "artifact":
        return kind, both("v-s-artifact-case", names=error) if "missing" in problem else both(
            "v-s-artifact-class", path=path or error
        )
    if kind == "unstable":
        return kind, both("v-s-unstable", seed=problem.get("seed"))
    if kind == "memory":
        return kind, both("v-s-memory", memory=place.memory, error=error.partition(". ")[0])
    if kind == "unsupported":
        versions = result.get("versions")
        version = versions.get("pypto", "?") if isinstance(versions, dict) else "?"
        return kind, both("v-s-unsupported", pypto=version, error=error, path=path, line=line)
    return kind, both("v-s-raised", error=error, path=path, line=line) if path else both("v-s-raised-bare", error=error)


def _environment(problem: Mapping[str, Any], error: str) -> Text:
    what = str(problem.get("what", ""))
    values = {k: v for k, v in problem.items() if k not in ("kind", "error", "what")}
    if what == "no-wheel" and problem.get("name") in ("torch", "numpy"):
        return both("v-s-no-torch", **values)
    try:
        return simulation.both(f"e-{what}", **values)
    except (KeyError, IndexError):
        return both("v-s-raised-bare", error=error or what)


def _listed(value: Any) -> str:
    return clean(", ".join(map(str, value)) or "-") if isinstance(value, list) else clean(str(value))


def clean(text: str) -> str:
    """A text of anybody's in one line, without what moves a cursor."""
    return _CONTROL.sub("", " ".join(text.split()))[:600]


def tail(log: str) -> str:
    """The last lines of a log, in one."""
    try:
        with open(log, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - 4000))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return clean(" | ".join([line.strip()[:300] for line in lines if line.strip()][-_TAIL_LINES:]))
