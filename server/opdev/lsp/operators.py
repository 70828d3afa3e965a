"""The operators cross-file rules ask about: open buffers first, unchanged files read and parsed once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from opdev.contracts.anchors import may_hold, places
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
                 parsed: Callable[[str], File | None], outside: set[str], asked_for: Callable[[str], object]) -> None:  # fmt: skip
        super().__init__(root, places, documents.read, [d.path for d in list(documents.open.values()) if d.local])
        self._outside = outside
        self._asked_for = asked_for
        self._documents = documents
        self._kept = kept
        self._parsed = parsed

    def exists(self, relative: str) -> bool:
        self._looked(os.path.normpath(f"{self.root}/{relative}").replace("\\", "/"))
        return super().exists(relative)

    def beside(self, relative: str) -> File | None:
        self._looked(f"{self.root.rpartition('/')[0]}/{relative}")
        return super().beside(relative)

    def read(self, path: str) -> bytes | None:
        self._looked(path)
        return super().read(path)

    def _looked(self, path: str) -> None:
        """Something outside was asked for: when it comes, goes or changes, the operator is judged anew."""
        if not path.startswith(f"{self.root}/") and path not in self._outside:
            self._outside.add(path)
            self._asked_for(path)

    def _file(self, path: str) -> File | None:
        document = self._documents.at_path(path)
        if document is not None:
            file = self._parsed(path)
            if file is not None:
                return file if file.kind else None
            return self._make(document.source)
        stamp = _stamp(path)
        known = self._kept.get(path)
        if known is not None and known[0] == stamp and (known[1] is None or known[1].place == self._places.of(path)):
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
        self._outside: dict[str, set[str]] = {}
        """What was asked for outside of an operator, by its root; it outlasts the operator itself."""
        self.parsed: Callable[[str], File | None] = _nobody
        self.asked_for: Callable[[str], object] = _nobody
        """Told of each file outside of an operator when it is asked for first."""
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
                found = self._live[root] = LiveOperator(
                    root,
                    self._places,
                    self._documents,
                    kept,
                    self.parsed,
                    self._outside.setdefault(root, set()),
                    self.asked_for,
                )
            return found

    def now(self, root: str) -> LiveOperator:
        """The operator at this moment, for another thread than the linter's: only parsed files are shared."""
        return LiveOperator(
            root, self._places, self._documents, self._kept.get(root) or {}, self.parsed, set(), _nobody
        )

    def changed(self, root: str) -> None:
        """Something in an operator changed: ask again, those next to it that look at its files, too."""
        with self._lock:
            self._live.pop(root, None)
            for other in [r for r in self._live if looks_at(r, root)]:
                del self._live[other]

    def lookers(self, root: str) -> list[str]:
        """Files outside an operator whose cross-file findings ask for its files."""
        return [path for path in self.of(root).neighbours() if looks_at(self._places.of(path).root or "", root)]

    def lookers_at(self, path: str, *, is_folder: bool = False) -> list[str]:
        """Roots of the operators whose findings rest on a file outside of them: it was asked for, or would have been.

        Of a folder that came or went nobody reports the files: it stands for all that is below it.
        """
        below = f"{path}/"
        with self._lock:
            found = {root for root, asked in self._outside.items() if path in asked}
            if is_folder:
                found |= {r for r, asked in self._outside.items() if any(one.startswith(below) for one in asked)}
            roots = list(self._outside)
        if is_folder or may_hold(path):
            found |= {
                root
                for root in roots
                if any(
                    path.startswith(f"{one}/") or (is_folder and f"{one}/".startswith(below)) for one in places(root)
                )
            }
        return sorted(root for root in found if not path.startswith(f"{root}/"))

    def forget(self) -> None:
        """Rules or places changed: all of it."""
        with self._lock:
            self._live.clear()
            self._kept.clear()
            self._outside.clear()


def _nobody(_: str) -> None:
    return None


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
