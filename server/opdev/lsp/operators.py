"""The operators cross-file rules ask about: open buffers first, unchanged files read and parsed once."""

from __future__ import annotations

import os
from collections.abc import Callable

from opdev.lsp.documents import Documents
from opdev.project.operators import Operator, kind_of, read_disk
from opdev.project.places import Places
from opdev.source import Source
from opdev.syntax.file import File

_MOST_OPERATORS = 8
_Stamp = tuple[int, int]


class LiveOperator(Operator):
    """An operator as the editor sees it now."""

    def __init__(self, root: str, places: Places, documents: Documents, kept: dict[str, tuple[object, File | None]],
                 parsed: Callable[[str], File | None]) -> None:  # fmt: skip
        super().__init__(root, places, documents.read, [d.path for d in list(documents.open.values()) if d.local])
        self._documents = documents
        self._kept = kept
        self._parsed = parsed

    def _file(self, path: str) -> File | None:
        document = self._documents.at_path(path)
        if document is not None:
            file = self._parsed(path)
            if file is not None:
                return file if file.kind else None
            return self._make(document.source)
        stamp = _stamp(path)
        known = self._kept.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        raw = read_disk(path)
        made = self._make(Source.from_disk(path, raw)) if raw is not None else None
        self._kept[path] = (stamp, made)
        return made

    def _make(self, source: Source) -> File | None:
        kind = kind_of(source.path, source.data, in_operator=True)
        return File(source, kind, self._places.of(source.path)) if kind else None


class Operators:
    """Operators by root.  One lasts until something in it changes; its files last longer."""

    def __init__(self, places: Places, documents: Documents) -> None:
        self._places = places
        self._documents = documents
        self._live: dict[str, LiveOperator] = {}
        self._kept: dict[str, dict[str, tuple[object, File | None]]] = {}
        self.parsed: Callable[[str], File | None] = lambda _: None

    def of(self, root: str) -> LiveOperator:
        """The operator of a folder, as it is now."""
        found = self._live.get(root)
        if found is None:
            kept = self._kept.pop(root, {})
            self._kept[root] = kept
            while len(self._kept) > _MOST_OPERATORS:
                oldest = next(iter(self._kept))
                del self._kept[oldest]
                self._live.pop(oldest, None)
            found = self._live[root] = LiveOperator(root, self._places, self._documents, kept, self.parsed)
        return found

    def now(self, root: str) -> LiveOperator:
        """The operator at this moment, for another thread than the linter's: only parsed files are shared."""
        return LiveOperator(root, self._places, self._documents, self._kept.get(root) or {}, self.parsed)

    def changed(self, root: str) -> None:
        """Something in an operator changed: ask again."""
        self._live.pop(root, None)

    def forget(self) -> None:
        """Rules or places changed: all of it."""
        self._live.clear()
        self._kept.clear()


def _stamp(path: str) -> _Stamp | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
