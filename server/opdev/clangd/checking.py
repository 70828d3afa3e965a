"""``clangd --check`` over an operator's files: what an editor would underline, in a terminal."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

# E[10:47:21.008] [undeclared_var_use] Line 42: use of undeclared identifier 'x'
_ERROR = re.compile(r"^E\[[^\]]*\] \[(?P<code>[\w-]+)\] Line (?P<line>\d+): (?P<text>.*)$")
_ENDED = (0, 3)
"""clangd's exit status after a check that came to its end: without and with errors."""
_PATIENCE = 300
_MOST_LINES = 5


@dataclass(frozen=True, slots=True)
class Error:
    """An error clangd shows: file, line from 1, clang's name for it, its words."""

    path: str
    line: int
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What clangd said of one file; ``broken`` holds its last words where the check did not come to an end."""

    path: str
    errors: tuple[Error, ...]
    broken: str = ""


def check(clangd: str, files: Iterable[str], jobs: int = 0) -> Iterator[Checked]:
    """Run ``clangd`` over files that have a command, several at a time; answers in the order of ``files``."""
    with ThreadPoolExecutor(max_workers=max(1, jobs or min(4, os.cpu_count() or 1))) as pool:
        yield from pool.map(lambda path: _check(clangd, path), files)


def _check(clangd: str, path: str) -> Checked:
    argv = [clangd, f"--check={path}", "--check-locations=0", "--enable-config", "--log=error"]
    try:
        done = subprocess.run(
            argv,
            cwd=os.path.dirname(path),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return Checked(path, (), f"no answer after {_PATIENCE} s")
    except OSError as error:
        return Checked(path, (), error.strerror or str(error))
    said = done.stderr.decode("utf-8", "replace").splitlines()
    errors = tuple(
        Error(path, int(match["line"]), match["code"], match["text"]) for line in said if (match := _ERROR.match(line))
    )
    if done.returncode in _ENDED and (errors or not done.returncode):
        return Checked(path, errors)
    return Checked(path, errors, "\n".join(said[-_MOST_LINES:]) or f"exit status {done.returncode}")
