"""A newer template, or other options, merged into an operator that was edited since it was written.

For each file of the template three texts count: the base (as the template had it last time), the user's, and the
new one.  A clean merge is written; a conflict leaves the user's file as it is and goes to ``<file>.merge`` beside
it, with git's markers.  Either way the new text becomes the base: whatever the user makes of the ``.merge`` file,
the next update starts from there.  Files the user deleted stay deleted, and nothing is ever removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from opdev.scaffold import record
from opdev.scaffold.merge import merge
from opdev.scaffold.options import Options
from opdev.scaffold.render import Rendered, render
from opdev.scaffold.texts import ScaffoldError
from opdev.scaffold.write import put, target

SUFFIX = ".merge"
Outcome = Literal["updated", "merged", "added", "deleted-by-user", "obsolete", "conflict"]


@dataclass(frozen=True, slots=True)
class Change:
    """What an update does to one file.  ``text`` is what is written, None where nothing is."""

    path: str
    outcome: Outcome
    text: str | None = None
    runs: bool = False

    @property
    def written_to(self) -> str:
        """Where ``text`` goes."""
        return self.path + SUFFIX if self.outcome == "conflict" else self.path


def pending(root: str, base: Mapping[str, str]) -> list[str]:
    """Conflicts of an earlier update that nobody has dealt with."""
    return [path + SUFFIX for path in base if os.path.lexists(target(root, path + SUFFIX))]


def update(root: str, options: Options, known: record.Record, *, dry_run: bool = False) -> list[Change]:
    """Merges what the templates now make of ``options`` into the operator; changes in the template's order.

    A ScaffoldError where an earlier conflict is open, and then nothing is written.
    """
    left = pending(root, known.base)
    if left:
        raise ScaffoldError("pending", usage=False, path=left[0])
    files = [file for file in render(options) if not file.shared]
    changes = list(_changes(root, files, known.base))
    if dry_run or (not changes and options == known.options):
        return changes
    for change in changes:
        if change.text is not None:
            put(target(root, change.written_to), change.text, runs=change.runs)
    record.save(root, options, files)
    return changes


def _changes(root: str, files: list[Rendered], base: Mapping[str, str]) -> Iterator[Change]:
    for file in files:
        old, mine = base.get(file.path), _read(target(root, file.path))
        if mine is None:
            if old is None:
                yield Change(file.path, "added", file.text, file.runs)
            elif old != file.text:
                yield Change(file.path, "deleted-by-user")
            continue
        if old == file.text or _same(mine, file.text):
            continue
        merged = merge(old or "", mine, file.text)
        if merged.conflicts:
            yield Change(file.path, "conflict", merged.text)
        elif merged.text != mine:
            kept = old is None or not _same(mine, old)
            yield Change(file.path, "merged" if kept else "updated", merged.text)
    made = {file.path for file in files}
    for path in base:
        if path not in made and os.path.lexists(target(root, path)):
            yield Change(path, "obsolete")


def _read(path: str) -> str | None:
    """A file's text; None where there is none.  Bytes that are no UTF-8 cannot be merged, and are said so."""
    if not os.path.lexists(path):
        return None
    try:
        return Path(path).read_bytes().decode("utf-8")
    except OSError as error:
        raise ScaffoldError("no-read", usage=False, path=path, why=error.strerror or error) from error
    except UnicodeDecodeError as error:
        raise ScaffoldError("no-read", usage=False, path=path, why="not UTF-8") from error


def _same(one: str, other: str) -> bool:
    return one.replace("\r\n", "\n") == other.replace("\r\n", "\n")
