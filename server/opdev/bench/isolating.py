"""A copy of an implementation without anything it could look its answers up in, and the case file as it was read once.

The reference, goldens, tests and results of earlier runs stay behind; links are not followed.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from opdev.bench.model import BenchError

_CODE = (".py", ".pyi", ".cpp", ".cc", ".cxx", ".cce", ".asc", ".c", ".h", ".hpp", ".so")
_DATA = (".json", ".yaml", ".yml", ".toml", ".txt")
_LEFT_OUT = re.compile(r"(?:task_desc|test_\w+|\w*golden\w*|\w+_torch|conftest)\.py|result\.json|verification\.json")
_FOLDERS_LEFT_OUT = re.compile(r"\..*|__pycache__|output.*|golden|tests|node_modules|build|eval|docs")
_MOST_FILES, _MOST_BYTES, _MOST_DATA = 1000, 64_000_000, 1_000_000
PATHS = ("", "src", "modules")


@dataclass(frozen=True, slots=True)
class Copied:
    """``sources`` maps the code that was copied to its SHA-256, by its path in the folder."""

    root: str
    sources: dict[str, str]

    @property
    def paths(self) -> Sequence[str]:
        return [path for f in PATHS if os.path.isdir(path := os.path.join(self.root, f).rstrip("/"))]


def is_reference(path: str, case_file: str) -> bool:
    """Whether a path is of what an implementation is judged by."""
    name = os.path.basename(path)
    return bool(_LEFT_OUT.fullmatch(name)) or name == os.path.basename(case_file)


def copied(folder: str, target: str, case_file: str) -> Copied:
    """Copy what may run; BenchError where it is more than an implementation can be, OSError where it cannot be read."""
    found: dict[str, str] = {}
    count = total = 0
    case = os.path.basename(case_file)
    for top, folders, files in os.walk(folder):
        folders[:] = sorted(
            f for f in folders if not _FOLDERS_LEFT_OUT.fullmatch(f) and not os.path.islink(f"{top}/{f}")
        )
        for name in sorted(files):
            path = f"{top}/{name}"
            entry = os.lstat(path)
            code = name.endswith(_CODE)
            if _LEFT_OUT.fullmatch(name) or name == case or not stat.S_ISREG(entry.st_mode):
                continue
            if not code and not (name.endswith(_DATA) and entry.st_size <= _MOST_DATA):
                continue
            count, total = count + 1, total + entry.st_size
            if count > _MOST_FILES or total > _MOST_BYTES:
                raise BenchError(
                    "v-s-artifact-size", folder=folder, most=f"{_MOST_FILES} files / {_MOST_BYTES // 1_000_000} MB"
                )
            with open(path, "rb") as stream:
                data = stream.read()
            there = os.path.relpath(path, folder)
            os.makedirs(os.path.dirname(os.path.join(target, there)), exist_ok=True)
            with open(os.path.join(target, there), "wb") as stream:
                stream.write(data)
            if code:
                found[there] = hashlib.sha256(data).hexdigest()
    return Copied(target, found)
