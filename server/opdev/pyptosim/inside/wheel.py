"""Which wheels are there: private functions are replaced, so another version is refused, never tried."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from typing import Any


class WrongWheelError(Exception):
    """Nothing can be run here; ``problem`` names why, ``values`` fill its text."""

    def __init__(self, problem: str, **values: Any) -> None:
        super().__init__(problem)
        self.problem = problem
        self.values = values


def installed(spec: dict[str, Any]) -> None:
    """WrongWheelError unless exactly the wheels that this was made for are there; nothing of them is imported."""
    python = f"{sys.executable} ({platform.python_version()})"
    if (
        sys.platform != "linux"
        or sys.implementation.name != "cpython"
        or not (3, 10) <= sys.version_info[:2] <= (3, 12)
    ):
        raise WrongWheelError("python", python=python)
    found = _version("pypto")
    if found != spec["pypto"]:
        raise WrongWheelError("no-pypto" if found is None else "other-pypto", python=python, found=found or "")
    for name in ("torch", "numpy", "sympy"):
        if _version(name) is None:
            raise WrongWheelError("no-wheel", python=python, name=name)
    torch = _version("torch") or ""
    first, most = (tuple(spec["torch"][0]), tuple(spec["torch"][1]))
    number = tuple(int(part) for part in torch.split("+")[0].split(".")[:2] if part.isdigit())
    if not first <= number < most:
        raise WrongWheelError("other-torch", python=python, found=torch)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
