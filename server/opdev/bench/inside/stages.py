"""The stages: what each does, and how what a user's code raises becomes a result."""

from __future__ import annotations

import importlib
import platform
import sys
import traceback
from collections.abc import Callable
from importlib import metadata
from typing import Any

_MEMORY = ("can't allocate memory", "bad_alloc", "Cannot allocate memory", "out of memory")
_MOST = 600


class ProblemError(Exception):
    """What keeps a stage from its end; ``kind`` as ``evidence.Stage.problem`` has it."""

    def __init__(self, kind: str, error: str = "", **values: Any) -> None:
        super().__init__(error)
        self.kind, self.error, self.values = kind, error, values


def run(spec: dict[str, Any]) -> dict[str, Any]:
    """Run ``spec["stage"]``; its result, or the ``problem`` that ended it."""
    try:
        module, name = _STAGES[spec["stage"]]
        stage: Callable[[dict[str, Any]], dict[str, Any]] = getattr(_load(module), name)
        found = stage(spec)
    except ProblemError as error:
        found = {"problem": {"kind": error.kind, "error": error.error, **error.values}}
    return {"versions": versions(), **found}


_STAGES = {
    "backend": ("devices", "backend"),
    "inputs": ("making", "inputs"),
    "reference": ("making", "reference"),
    "candidate": ("trial", "candidate"),
    "profile-base": ("profiling", "base"),
    "profile-generated": ("profiling", "generated"),
}


def _load(name: str) -> Any:
    try:
        return importlib.import_module(f"{__package__}.{name}")
    except ModuleNotFoundError as error:
        raise ProblemError(
            "environment", str(error), what="no-wheel", name=error.name or "?", python=sys.executable
        ) from error


def versions() -> dict[str, str]:
    """Of what ran."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in ("torch", "torch_npu", "pypto", "numpy"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def guarded(work: Callable[[], Any], folder: str, paths: dict[str, str] | None = None) -> Any:
    """What a user's code gives; ProblemError for what it raises, at the innermost line of a file below ``folder``."""
    try:
        return work()
    except ProblemError:
        raise
    except BaseException as error:
        frames = [
            frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(f"{folder}/")
        ]
        at = frames[-1] if frames else None
        path, line = (at.filename.removeprefix(f"{folder}/"), at.lineno or 0) if at is not None else ("", 0)
        if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(f"{folder}/"):
            path, line = error.filename.removeprefix(f"{folder}/"), error.lineno or 0
        trace = error.__traceback__
        while trace is not None and not trace.tb_frame.f_code.co_filename.startswith(f"{folder}/"):
            trace = trace.tb_next
        sys.stderr.write("".join(traceback.format_exception(type(error), error, trace or error.__traceback__)))
        text = f"{type(error).__name__}: {error}".strip()
        memory = isinstance(error, MemoryError) or any(word in text for word in _MEMORY)
        lost = isinstance(error, NotImplementedError) and _in_pypto(error)
        kind = "memory" if memory else "unsupported" if lost else "raised"
        raise ProblemError(kind, text[:_MOST], path=(paths or {}).get(path, path), line=line) from error


def _in_pypto(error: BaseException) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and "/pypto/" in frames[-1].filename
