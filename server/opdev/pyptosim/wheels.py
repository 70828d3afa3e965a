"""Which wheels simulation was made for, and which Python has them.

Private functions of pypto are replaced, so it is one version and no other.  Its interpreter is C++ built against torch:
torch 2.14's headers no longer compile with the language level its build asks for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping

PYPTO = "0.2.0"
TORCH = ((2, 1), (2, 14))
"""From the first on, below the second."""
INSTALL = 'pip install "opdev[pypto-sim]"'
_HAS = "import importlib.util as u, sys; sys.exit(u.find_spec('pypto') is None)"
_SECONDS = 20


def torch_fits(version: str) -> bool:
    """Whether pypto's interpreter builds with this torch."""
    number = tuple(int(part) for part in version.split("+", maxsplit=1)[0].split(".")[:2] if part.isdigit())
    return TORCH[0] <= number < TORCH[1]


def python_with_pypto(asked: str, environ: Mapping[str, str]) -> str:
    """The Python to run in: the one asked for, else the first that has pypto, else this one, which will say what it lacks."""
    if asked:
        return asked
    for candidate in _candidates(environ):
        try:
            if not subprocess.run(
                [candidate, "-c", _HAS], capture_output=True, check=False, timeout=_SECONDS
            ).returncode:
                return candidate
        except (OSError, subprocess.TimeoutExpired):
            continue
    return sys.executable


def _candidates(environ: Mapping[str, str]) -> Iterator[str]:
    if environ.get("PYTHON_CMD"):
        yield environ["PYTHON_CMD"]
    yield sys.executable
    found = shutil.which("python3", path=environ.get("PATH"))
    if found:
        yield found


def memory_megabytes() -> int:
    """What a child may use: three quarters of this machine's memory."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 8_000
    return max(2_000, whole * 3 // 4 // 1_000_000)
