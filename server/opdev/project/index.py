"""The operators of a workspace, found file by file and kept current by what changes.

It holds an operator's folder, name and profile, nothing of its contents: those are the files' own facts
(``opdev.facts``), which live as long as the files are unchanged.  So it stays small however big the workspace.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from opdev.kinds import Place

MOST = 5_000
"""Operators listed; a tree with more is no workspace."""
DESIGN = "docs/design.md"
SHARED = frozenset({"torch_binding", "scripts", "utils", "lib", "common"})
"""Folders beside operators that all of them use: none of them is one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An operator: absolute folder with forward slashes, name, profile, and whether it has a docs/design.md."""

    root: str
    name: str
    profile: str
    designed: bool


class Index:
    """Operators by root.  Used by one thread at a time."""

    def __init__(self, exists: Callable[[str], bool] = os.path.exists) -> None:
        self._exists = exists
        self._entries: dict[str, Entry] = {}
        self._seen: set[str] | None = None
        self._changed = False

    def entries(self) -> list[Entry]:
        """The operators found so far, by root."""
        return sorted(self._entries.values(), key=lambda entry: entry.root)

    def note(self, path: str, place: Place) -> None:
        """A file is there."""
        root = place.root
        if (
            root is None
            or root.rpartition("/")[2] in SHARED
            or (root not in self._entries and len(self._entries) >= MOST)
        ):
            return
        if self._seen is not None:
            self._seen.add(root)
        known = self._entries.get(root)
        designed = path == f"{root}/{DESIGN}" or (known is not None and known.designed)
        entry = Entry(root, place.operator or root.rpartition("/")[2], place.profile, designed)
        if entry != known:
            self._entries[root] = entry
            self._changed = True

    def gone(self, path: str) -> None:
        """A file or a folder is not there any more."""
        for root, entry in list(self._entries.items()):
            if (root == path or root.startswith(f"{path}/") or path.startswith(f"{root}/")) and not self._exists(root):
                del self._entries[root]
                self._changed = True
            elif entry.designed and not self._exists(f"{root}/{DESIGN}"):
                self._entries[root] = Entry(root, entry.name, entry.profile, designed=False)
                self._changed = True

    def begin(self) -> None:
        """A walk over all files begins: each will be noted."""
        self._seen = set()

    def end(self) -> None:
        """The walk is over: what was not met is gone."""
        seen, self._seen = self._seen, None
        for root in [r for r in self._entries if seen is not None and r not in seen]:
            del self._entries[root]
            self._changed = True

    def changed(self) -> bool:
        """Whether the list changed since this was asked last."""
        was, self._changed = self._changed, False
        return was
