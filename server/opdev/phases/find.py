"""The operators of a folder: the one it lies in, or those below it.

An operator is a folder of its own that holds at least one thing an operator has: a design, an intake record,
a kernel, a run script.  Folders that all operators share (``torch_binding``, ``scripts``, ``utils``) are none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from opdev.project.index import SHARED
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.pypto.finding import workflow_of

_SKIP = frozenset({
    "build", "data", "output", ".git", "install", "node_modules", "__pycache__", ".opdev", "3rdparty", "third_party",
    ".venv", "venv",
})  # fmt: skip
_MARKS = ("docs/design.md", "design.md", "phase0_intake.yaml", "docs/phase0_intake.yaml", "scripts/run.sh", "run.sh")
_MOST_FOLDERS = 5000
_DEEPEST = 6


def operators(folder: str, places: Places | None = None) -> list[Operator]:
    """The operator that ``folder`` (absolute, forward slashes) is or lies in, else those below it, by path."""
    places = places or Places()
    root = _root(folder, places)
    if root is not None:
        return [Operator(root, places)]
    return [Operator(found, places) for found in sorted(set(_below(folder, places)))]


def every(folder: str, places: Places | None = None) -> list[Operator]:
    """The operators of any workflow in a folder: SHMEM's and PyPTO's."""
    places = places or Places()
    for root in (places.of(f"{folder}/SPEC.md").root, folder):
        if root is not None and workflow_of(root) is not None:
            return [Operator(root, places)]
    root = _root(folder, places)
    if root is not None:
        return [Operator(root, places)]
    return [Operator(found, places) for found in sorted(set(_below(folder, places, pypto=True)))]


def _root(folder: str, places: Places) -> str | None:
    root = places.of(f"{folder}/CMakeLists.txt").root
    if root is not None and (is_operator(root) or _new(root, folder)):
        return root
    return folder if os.path.isfile(f"{folder}/docs/design.md") else None


def _new(root: str, folder: str) -> bool:
    """Whether the folder asked about is one that somebody made for an operator and left empty."""
    parent, _, name = root.rpartition("/")
    return root == folder and parent.endswith("/custom-ops") and name not in SHARED and os.path.isdir(root)


def is_operator(root: str) -> bool:
    """Whether a folder holds what an operator has."""
    parent, _, name = root.rpartition("/")
    if name in SHARED or parent.endswith("/custom"):
        # PyPTO operators (``custom/``) have another workflow.
        return False
    if any(os.path.isfile(f"{root}/{mark}") for mark in _MARKS):
        return True
    return any(_is_code(name) for here in (root, *_folders(root)) for name in _names(here))


def _is_code(name: str) -> bool:
    return name.endswith(("_kernel.cpp", "_kernel.h")) or name == "main.cpp"


def _folders(root: str) -> list[str]:
    """Its folders: some operators keep their variants in one each."""
    return [f"{root}/{name}" for name in _names(root) if name not in _SKIP and os.path.isdir(f"{root}/{name}")]


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _below(folder: str, places: Places, *, pypto: bool = False) -> Iterator[str]:
    top = folder.rstrip("/").count("/")
    for count, (here, names, _) in enumerate(os.walk(folder)):
        here = here.replace("\\", "/")
        names[:] = sorted(n for n in names if n not in _SKIP and not n.startswith("."))
        if count > _MOST_FOLDERS:
            return
        root = places.of(f"{here}/CMakeLists.txt").root if here != folder else None
        ours = root is not None and (is_operator(root) or (pypto and workflow_of(root) is not None))
        root = root if ours else None
        if root is not None and root.startswith(folder.rstrip("/") + "/"):
            yield root
            names.clear()
        elif here.count("/") - top >= _DEEPEST:
            names.clear()
