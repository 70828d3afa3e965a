"""Which operators and which runs a command line means."""

from __future__ import annotations

import os

from opdev.config import Configs
from opdev.phases.find import every as of_any_workflow
from opdev.phases.find import operators
from opdev.project.operators import Operator
from opdev.runs import store
from opdev.runs.errors import UsageError
from opdev.runs.store import Run

_NAMED = 8


def folder_of(named: str | None) -> str:
    """A folder as an absolute path."""
    path = os.path.abspath(os.path.expanduser(named or ".")).replace("\\", "/")
    if os.path.isfile(path):
        raise UsageError("not-folder", path=named or ".")
    if not os.path.isdir(path):
        raise UsageError("no-folder", path=named or ".")
    return path


def every(named: str | None, *, pypto: bool = False) -> list[Operator]:
    """The operators of a folder: SHMEM's, with ``pypto`` of any workflow."""
    found = (of_any_workflow if pypto else operators)(folder_of(named))
    if not found:
        raise UsageError("no-operator", path=named or ".")
    return found


def one(named: str | None, *, pypto: bool = False) -> Operator:
    """The operator of a folder; UsageError where there is none, or more than one."""
    found = every(named, pypto=pypto)
    if len(found) > 1:
        names = ", ".join(op.name for op in found[:_NAMED]) + (" …" if len(found) > _NAMED else "")
        raise UsageError("several", path=named or ".", count=len(found), names=names)
    return found[0]


def run(named: str | None, word: str) -> Run:
    """The run that a word means among those of the operators of a folder."""
    found = store.find([op.root for op in every(named, pypto=True)], word)
    if not found:
        raise UsageError("no-run", word=word)
    if len(found) > 1:
        names = ", ".join(r.id for r in found[:_NAMED])
        raise UsageError("many-runs", word=word, count=len(found), names=names)
    return found[0]


def configs(operator: Operator) -> Configs:
    """The configuration; one that cannot be used is said before anything is run by it."""
    found = Configs()
    found.for_folder(operator.root)
    return found
