"""The operators cross-file rules ask about: open buffers first, unchanged files read and parsed once."""

from __future__ import annotations

import os
import threading
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
    """Operators by root.  One lasts until something in it changes; its files last longer.

    ``of`` is the worker's, whose operators are used by no other thread; an edit makes the loop say ``changed``.
    """

    def __init__(self, places: Places, documents: Documents) -> None:
        self._places = places
        self._documents = documents
        self._live: dict[str, LiveOperator] = {}
        self._kept: dict[str, dict[str, tuple[object, File | None]]] = {}
        self.parsed: Callable[[str], File | None] = lambda _: None
        self._lock = threading.Lock()

    def of(self, root: str) -> LiveOperator:
        """The operator of a folder, as it is now."""
        with self._lock:
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
        """Something in an operator changed: ask again, those next to it that look at its files, too."""
        with self._lock:
            self._live.pop(root, None)
            for other in [r for r in self._live if looks_at(r, root)]:
                del self._live[other]

    def lookers(self, root: str) -> list[str]:
        """Files outside an operator whose cross-file findings ask for its files."""
        return [path for path in self.of(root).neighbours() if looks_at(self._places.of(path).root or "", root)]

    def forget(self) -> None:
        """Rules or places changed: all of it."""
        with self._lock:
            self._live.clear()
            self._kept.clear()


def looks_at(one: str, other: str) -> bool:
    """Whether rules on one operator's files ask for another's: the shared bindings for each design, and back."""
    return one != other and one.rpartition("/")[0] == other.rpartition("/")[0] and "torch_binding" in (
        one.rpartition("/")[2], other.rpartition("/")[2],
    )  # fmt: skip


def _stamp(path: str) -> _Stamp | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
