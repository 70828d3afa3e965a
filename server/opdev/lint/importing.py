"""``opdev-lint --import-check``: whether tests, implementations and goldens of PyPTO operators can be imported as delivered.

An import runs the file, so it is asked for on the command line and nowhere else: no configuration turns it on, and the
server never does it.  Each file is imported in a child of its own, with a time limit and no device backend loaded.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from opdev.lint.collect import Found
from opdev.lint.record import Record, place_of
from opdev.lint.session import Session
from opdev.rules.selection import Active, activate
from opdev.rules.suppress import find as suppressions
from opdev.source import Source
from opdev.syntax.file import File

SECONDS = 60.0
_KINDS = frozenset({"pypto-test", "pypto-impl", "pypto-golden"})
_FOLDERS = ("", "tests", "src", "golden", "modules")
_ENVIRONMENT = frozenset({"pypto", "pypto_pro", "torch", "torch_npu", "numpy", "pytest"})
"""Packages that are the machine's to have: without them nothing is known of the file."""
_CHILD = r"""
import importlib.util, json, sys, traceback
path, answer, *folders = sys.argv[1:]
sys.argv = [path]
sys.path[:0] = folders
said = {}
try:
    spec = importlib.util.spec_from_file_location(path.rpartition('/')[2][:-3], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
except BaseException as error:
    frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((error.filename, error.lineno or 1))
    text = f'{type(error).__name__}: {error}'.splitlines()[0]
    said = {'text': text, 'frames': frames, 'missing': error.name if isinstance(error, ModuleNotFoundError) else None}
with open(answer, 'w', encoding='utf-8') as stream:
    json.dump(said, stream)
"""
NAME = "import-fails"
"""The rule whose page says what is told here."""


def check(
    files: Iterable[Found], session: Session, python: str, seconds: float = SECONDS
) -> Iterator[Record | tuple[str, str]]:
    """A record for each file that cannot be imported; (path, module) where this Python lacks what the machine should have."""
    for found in files:
        source = _source(found.path)
        if source is None:
            continue
        file = session.file(source)
        active = _active(file, session) if file is not None else None
        if file is None or active is None:
            continue
        root = file.place.root or os.path.dirname(found.path)
        key, line, args = _imported(found.path, root, python, seconds)
        if key == "environment":
            yield session.shown(found.path), str(args["module"])
        elif key:
            start, end = _line(source, line)
            if not session.options.ignore_suppressions and _is_silenced(file, active, start):
                continue
            yield Record(
                at=place_of(source, start, end, session.shown(found.path)), rule=NAME, severity=active.severity, key=key,
                args=args, kind=min(_KINDS & file.kind.names), operator=file.place.operator,
                frame=(source.line_bytes(line - 1).decode("utf-8", "replace")[:400],),
            )  # fmt: skip


def _active(file: File, session: Session) -> Active | None:
    """The rule as the file's configuration has it; None where that leaves it out."""
    selection = session.configs.for_path(file.path).selection_for(file.path)
    rule = next((r for r in selection.rules if r.name == NAME), None)
    if rule is None or not _KINDS & file.kind.names:
        return None
    return activate(rule, file.place.profile, selection.severity.get(NAME), asked=NAME in selection.asked)


def _is_silenced(file: File, active: Active, start: int) -> bool:
    """Whether the file itself says that what is told at a byte is meant to be so."""
    if b"opdev:" not in file.data:
        return False
    line = file.source.line_of(start)
    return suppressions(file).covering(active.rule, line, line) is not None


def _source(path: str) -> Source | None:
    if not path.endswith(".py"):
        return None
    try:
        return Source.from_disk(path, Path(path).read_bytes())
    except OSError:
        return None


def _imported(path: str, root: str, python: str, seconds: float) -> tuple[str, int, dict[str, Any]]:
    """What came of an import: a key of the rule's messages (empty: it works), the line, the values."""
    folders = [os.path.dirname(path), *(p for f in _FOLDERS if os.path.isdir(p := os.path.join(root, f).rstrip("/")))]
    env = {
        **os.environ,
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    with tempfile.TemporaryDirectory(prefix="opdev-import-") as scratch:
        answer = f"{scratch}/answer.json"
        child = subprocess.Popen(
            [python, "-c", _CHILD, path, answer, *dict.fromkeys(folders)], cwd=scratch, env=env, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            return "timeout", 1, {"seconds": int(seconds)}
        finally:
            _end(child)
        try:
            said = json.loads(Path(answer).read_bytes())
        except (OSError, ValueError):
            how = f"signal {-child.returncode}" if child.returncode < 0 else f"exit {child.returncode}"
            return "died", 1, {"how": how}
    if not said:
        return "", 1, {}
    missing = said["missing"]
    if missing and missing.partition(".")[0] in _ENVIRONMENT:
        return "environment", 1, {"module": missing}
    own = [line for name, line in said["frames"] if name == path]
    line = int(own[-1]) if own and own[-1] else 1
    return ("missing", line, {"module": missing}) if missing else ("default", line, {"error": said["text"][:300]})


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and what it started, which lead a group of their own."""
    with suppress(OSError):
        if sys.platform == "win32":
            child.kill()
        else:
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _line(source: Source, line: int) -> tuple[int, int]:
    """The byte range of a line's code."""
    line = max(1, min(line, len(source.line_starts)))
    start, _ = source.line_range(line - 1)
    data = source.line_bytes(line - 1)
    return start + len(data) - len(data.lstrip()), start + len(data.rstrip())
