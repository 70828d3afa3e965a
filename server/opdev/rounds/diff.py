"""What a round changed, as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from opdev.rounds import ledger as ledgers
from opdev.rounds.errors import Refused
from opdev.rounds.ledger import Round
from opdev.rounds.store import Store
from opdev.rounds.tree import Entry, Tree


def of_round(store: Store, number: int | None) -> tuple[Round, Tree, Tree]:
    """A round, what it started from, and what it became; the open one, else the last, where no number is given.

    The present files of an open round are kept, so that ``unified`` can read them.
    """
    ledger = ledgers.read(store.root)
    one = ledger.find(number) if number is not None else (ledger.rounds[-1] if ledger.rounds else None)
    if one is None:
        raise Refused("no-round", number=number) if number is not None else Refused("no-rounds")
    if one.number == 0:
        tree = store.tree("0/end")
        return one, tree, tree
    before = store.tree(f"{one.number}/base")
    if one.state == "open":
        store.prepare()
        from opdev.rounds.scan import scan

        return one, before, scan(store.root, store.limits, store.put).tree
    return one, before, store.tree(f"{one.number}/end")


def unified(store: Store, before: Tree, after: Tree) -> Iterator[str]:
    """The lines of the diff, with their ends; a binary file is named, not shown."""
    for path, change in before.changes(after).items():
        old, new = before.entries.get(path), after.entries.get(path)
        yield f"diff a/{_shown(path)} b/{_shown(path)}\n"
        if old is not None and new is not None and old.mode != new.mode and old.kind == new.kind == "file":
            yield f"old mode {old.mode:04o}\nnew mode {new.mode:04o}\n"
        if change == "mode":
            continue
        texts = _text(store, old), _text(store, new)
        if texts[0] is None or texts[1] is None:
            yield f"Binary files a/{_shown(path)} and b/{_shown(path)} differ\n"
            continue
        names = [f"{side}/{_shown(path)}" if e is not None else "/dev/null" for side, e in (("a", old), ("b", new))]
        for line in difflib.unified_diff(texts[0], texts[1], names[0], names[1]):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _text(store: Store, entry: Entry | None) -> list[str] | None:
    """The lines of a file, of UTF-8 or GBK; None for a binary one."""
    if entry is None or entry.kind == "folder":
        return []
    if entry.kind == "link":
        return [f"-> {_shown(entry.content)}\n"]
    data = store.get(entry.content)
    if b"\0" in data:
        return None
    for encoding in ("utf-8", "gb18030"):
        try:
            return data.decode(encoding).splitlines(keepends=True)
        except UnicodeDecodeError:
            continue
    return None
