"""Bringing one generated Markdown report up to date on disk: read, merged, written whole, or only compared."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from opdev.atomic import write_bytes
from opdev.blocks import Section, merge
from opdev.runs.errors import UsageError
from opdev.source import Source


@dataclass(frozen=True, slots=True)
class Marked:
    """What became of a report: whether its text changed (or would), and the ids of blocks left as the user made them."""

    path: str
    changed: bool
    kept: tuple[str, ...]


def bring(path: str, title: str, sections: Sequence[Section], tag: str, *, check: bool) -> Marked:
    """Write the blocks of ``sections`` into the report at ``path``; with ``check`` nothing is written.

    UsageError where the file can be neither read nor written.
    """
    old = _read(path)
    before = old.data.decode("utf-8", "surrogatepass") if old is not None else ""
    made = merge(before, title, sections, tag)
    changed = made.text != before
    if changed and not check:
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            data = made.text.encode("utf-8", "surrogatepass")
            write_bytes(path, old.to_disk(data) if old is not None else data)
        except OSError as error:
            raise UsageError("unwritable", path=path, why=error.strerror or error) from error
    return Marked(path, changed, made.kept)


def _read(path: str) -> Source | None:
    try:
        with open(path, "rb") as stream:
            return Source.from_disk(path, stream.read())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError("unwritable", path=path, why=error.strerror or error) from error
