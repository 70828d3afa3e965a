"""What a state of an operator's own files is: paths with kind, mode and content, as plain data.

``Tree.code`` names the state of what is built and run: Markdown is not part of it, so writing a report or a README
does not make a retest stale.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Kind = Literal["file", "link", "folder"]
Change = Literal["added", "removed", "modified", "mode"]
KINDS = frozenset({"file", "link", "folder"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One path.  ``content`` is a file's SHA-256 or what a link says; ``mode`` the permission bits (0 for a link)."""

    kind: Kind
    mode: int = 0
    content: str = ""
    size: int = 0


@dataclass(frozen=True)
class Tree:
    """Paths below the operator (forward slashes), folders included, sorted."""

    entries: Mapping[str, Entry]

    @cached_property
    def code(self) -> str:
        """One name for the content and modes of all that is neither Markdown nor a folder."""
        rows = [[p, e.kind, e.mode, e.content] for p, e in self.items() if not p.lower().endswith(".md")]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()

    def items(self) -> Iterator[tuple[str, Entry]]:
        """Files and links with their paths."""
        return ((p, e) for p, e in self.entries.items() if e.kind != "folder")

    @property
    def folders(self) -> list[str]:
        """The folders, outer before inner."""
        return [p for p, e in self.entries.items() if e.kind == "folder"]

    @property
    def size(self) -> int:
        return sum(e.size for e in self.entries.values())

    def changes(self, to: Tree) -> dict[str, Change]:
        """What files and links are different in ``to``."""
        before, after = dict(self.items()), dict(to.items())
        found: dict[str, Change] = {}
        for path in sorted(before.keys() | after.keys()):
            old, new = before.get(path), after.get(path)
            if old is None:
                found[path] = "added"
            elif new is None:
                found[path] = "removed"
            elif (old.kind, old.content) != (new.kind, new.content):
                found[path] = "modified"
            elif old.mode != new.mode:
                found[path] = "mode"
        return found

    def data(self) -> dict[str, Any]:
        """As JSON holds it; names that are no UTF-8 keep their bytes."""
        rows = {
            p: {"kind": e.kind, "mode": f"{e.mode:04o}", "content": e.content, "size": e.size}
            for p, e in self.entries.items()
        }
        return {"version": 1, "entries": rows}

    @classmethod
    def read(cls, value: Any) -> Tree:
        """From JSON; ValueError for what is no tree, or names a path that would leave the operator."""
        try:
            rows = value["entries"].items()
            entries = {p: Entry(e["kind"], int(e["mode"], 8), e["content"], int(e["size"])) for p, e in rows}
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no tree: {error!r}") from error
        for path, entry in entries.items():
            parts = path.split("/")
            if entry.kind not in KINDS or not all(parts) or {".", "..", ".opdev", ".git"} & set(parts) or "\0" in path:
                raise ValueError(f"no path of an operator: {path!r}")
        return cls(dict(sorted(entries.items())))
