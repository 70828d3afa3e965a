"""What simulation needs, and what of it is there: for `opdev doctor`, before anybody runs anything.

The Python that has pypto is asked in a process of its own, for its version and the versions of what it has; nothing of
pypto or torch is imported by it.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opdev.pyptosim import wheels
from opdev.pyptosim.texts import both
from opdev.rules.model import Text

_ASKED = """
import json, platform, sys
from importlib import metadata
found = {"python": platform.python_version(), "kind": sys.implementation.name, "system": sys.platform, "version": list(sys.version_info[:2])}
for name in ("pypto", "torch", "numpy", "sympy"):
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        found[name] = None
print(json.dumps(found))
"""
_SECONDS = 60
_TOOLS = ("cmake", "g++")
_NOTHING: Text = {"zh": "", "en": ""}


def probes(asked: str, environ: Mapping[str, str], cache: Path) -> list[dict[str, Any]]:
    """Rows as `opdev doctor` has them: ``probe``, ``state`` (ok, missing, failed), ``detail``, ``next``.

    ``asked`` is the Python to be used, empty for the one a run would choose; ``cache`` is where the interpreter is built.
    """
    python = wheels.python_with_pypto(asked, environ)
    try:
        done = subprocess.run([python, "-c", _ASKED], capture_output=True, text=True, check=False, timeout=_SECONDS)
        found = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return [_row("python", "failed", f"{python}: {error}", both("l-python"))]
    rows = [_python(python, found), _pypto(python, found), _torch(found)]
    for name in ("numpy", "sympy"):
        rows.append(_row(name, "ok" if found[name] else "missing", found[name] or f"no {name}", both("l-install")))
    rows += _tools(environ)
    rows.append(_interpreter(cache))
    return rows


def _row(name: str, state: str, detail: str, todo: Text) -> dict[str, Any]:
    return {"probe": name, "state": state, "detail": detail, "next": dict(_NOTHING if state == "ok" else todo)}


def _python(python: str, found: Mapping[str, Any]) -> dict[str, Any]:
    fits = found["system"] == "linux" and found["kind"] == "cpython" and (3, 10) <= tuple(found["version"]) <= (3, 12)
    return _row("python", "ok" if fits else "failed", f"{found['python']} ({python})", both("l-python"))


def _pypto(python: str, found: Mapping[str, Any]) -> dict[str, Any]:
    version = found["pypto"]
    state = "missing" if version is None else "ok" if version == wheels.PYPTO else "failed"
    return _row("pypto", state, version or f"{python}: no pypto", both("l-pypto"))


def _torch(found: Mapping[str, Any]) -> dict[str, Any]:
    version = found["torch"]
    state = "missing" if version is None else "ok" if wheels.torch_fits(version) else "failed"
    return _row("torch", state, version or "no torch", both("l-torch"))


def _tools(environ: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for name in _TOOLS:
        try:
            done = subprocess.run(
                [name, "--version"], capture_output=True, text=True, check=False, timeout=_SECONDS, env=dict(environ)
            )
            said = (done.stdout or done.stderr).splitlines() or [""]
            yield _row(name, "ok" if done.returncode == 0 else "failed", said[0], both("l-tool", name=name))
        except (OSError, subprocess.TimeoutExpired) as error:
            yield _row(name, "missing", getattr(error, "strerror", None) or str(error), both("l-tool", name=name))


def _interpreter(cache: Path) -> dict[str, Any]:
    """Not there is no fault: the first run builds it."""
    built = any(cache.rglob("*.so")) if os.path.isdir(cache) else False
    return {
        "probe": "interpreter",
        "state": "ok" if built else "unneeded",
        "detail": str(cache),
        "next": dict(_NOTHING if built else both("l-interpreter")),
    }
