"""What a generator left in an operator's folder: the files it owes, how far its workflow says it is, copies for the report.

The files are somebody else's: links are not followed, and no copy lands among our own records.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from opdev.bench.prompt import SPEC, required
from opdev.pypto import statefile, states
from opdev.pypto.states import RefusedError
from opdev.rules.model import Text

Progress = Literal["complete", "open", "failed", "none", "damaged"]
FOLDER = "artifacts"
"""Where copies are, below a case's report: nothing a generator names its file can take the place of a record."""
_FAILED = frozenset({"failed", "blocked", "cancelled"})
_MOST_FILES, _MOST_BYTES = 500, 64_000_000
_CODE = (".py", ".pyi", ".cpp", ".cc", ".cxx", ".cce", ".asc", ".c", ".h", ".hpp", ".so")
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True)
class Made:
    """``files`` maps names to absolute paths; ``stamps`` tell one writing of a file from another."""

    files: Mapping[str, str]
    missing: Sequence[str]
    stamps: Mapping[str, tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class Stages:
    """How far the state file says a workflow is; ``stage`` and ``status`` are what keeps it from being complete."""

    progress: Progress
    stage: str = ""
    status: str = ""
    why: Text | None = None


def made(folder: str, op: str, *, whole: bool) -> Made:
    """The files of an operator that are there, and those that are not."""
    files: dict[str, str] = {}
    missing: list[str] = []
    stamps: dict[str, tuple[int, int, int]] = {}
    wanted = required(op, whole=whole)
    for name in dict.fromkeys((*wanted, *required(op, whole=True))):
        path = _path(folder, name)
        try:
            entry = os.lstat(path)
        except OSError:
            entry = None
        if entry is not None and stat.S_ISREG(entry.st_mode) and entry.st_size:
            files[name] = path
            stamps[name] = (entry.st_mtime_ns, entry.st_size, entry.st_ino)
        elif name in wanted:
            missing.append(name)
    return Made(files, missing, stamps)


def _path(folder: str, name: str) -> str:
    return f"{folder}/{(statefile.spec_of(folder) or SPEC) if name == SPEC else name}"


def stages(folder: str) -> Stages:
    """How far the workflow is: complete when every stage of its own is, be they seven, five or four."""
    try:
        state = statefile.read(folder)
        if state is None:
            return Stages("none")
        said = states.mapping(state, "stage_status")
        last = states.last_stage(state)
    except RefusedError as error:
        return Stages("damaged", why=error.text)
    for stage, status in said.items():
        if status in _FAILED:
            return Stages("failed", str(stage), str(status))
    for number in range(1, last + 1):
        status = said.get(str(number), "pending")
        if status not in states.DONE:
            return Stages("open", str(number), str(status))
    return Stages("complete")


def code(folder: str) -> list[str]:
    """Everything that may run of an operator, from its folder."""
    return [there for there, entry in _walked(folder) if there.endswith(_CODE) and stat.S_ISREG(entry.st_mode)]


def _walked(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Paths from ``folder`` in order, without results of runs, caches and hidden files; links are not followed."""
    for top, folders, files in os.walk(folder):
        kept = [d for d in folders if d not in _LEFT_OUT and not d.startswith((".", "output"))]
        folders[:] = sorted(d for d in kept if not os.path.islink(f"{top}/{d}"))
        for name in sorted(files):
            if not name.startswith("output") and (not name.startswith(".") or name == statefile.NAME):
                yield os.path.relpath(f"{top}/{name}", folder), os.lstat(f"{top}/{name}")


def copied(folder: str, report: str) -> tuple[list[str], int]:
    """Copy what was made into ``<report>/artifacts``; the names from ``report``, and how many files were left out.

    Results of runs (``output…``) are left out, as are links, caches, and what is beyond 500 files or 64 MB.  OSError
    where the report cannot be written.
    """
    target = f"{report}/{FOLDER}"
    fresh = f"{target}.new"
    names: list[str] = []
    left_out = total = 0
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        os.makedirs(fresh)
        for there, entry in _walked(folder):
            if not stat.S_ISREG(entry.st_mode) or len(names) >= _MOST_FILES or total + entry.st_size > _MOST_BYTES:
                left_out += 1
                continue
            os.makedirs(os.path.dirname(f"{fresh}/{there}"), exist_ok=True)
            shutil.copyfile(f"{folder}/{there}", f"{fresh}/{there}", follow_symlinks=False)
            names.append(f"{FOLDER}/{there}")
            total += entry.st_size
        shutil.rmtree(target, ignore_errors=True)
        os.rename(fresh, target)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    return names, left_out
