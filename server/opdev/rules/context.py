"""What a check gets to look at.

An *item* check sees one definition, the file's integer constants (``syntax.cpp.constants``, of PyPTO-Pro
files ``syntax.py_values.constants``) that the definition names, and nothing else: its hits are kept for as long as those are unchanged, which is
what makes a keystroke cheap.  A *file* check sees the
file, a *project* check the operator.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from opdev.rules.model import Rule
from opdev.syntax.file import File
from opdev.syntax.view import View


class Project(Protocol):
    """An operator as a whole, as project checks see it.  Unsaved text wins over disk."""

    @property
    def root(self) -> str:
        """Absolute folder, forward slashes."""
        ...

    @property
    def name(self) -> str:
        """The operator's name, its folder's."""
        ...

    def files(self, *kinds: str) -> Iterable[File]:
        """The operator's files of any of ``kinds``, in path order; what is asked for is recorded."""
        ...

    def exists(self, relative: str) -> bool:
        """Whether a path below the operator exists."""
        ...

    def beside(self, relative: str) -> File | None:
        """A file of a folder next to the operator's (``torch_binding/src/…``); None where there is none."""
        ...

    def read(self, path: str) -> bytes | None:
        """What a file anywhere holds, by its absolute path; None where it cannot be had."""
        ...


@dataclass(slots=True)
class Context(View):
    """One run of one check: the range, the rule, and for project checks the operator."""

    rule: Rule | None = None
    project: Project | None = None
