"""An operator's files for cross-file rules, and a record of what was asked.

``Reader`` is how file contents are had: from open buffers first, then from disk.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from opdev.contracts.anchors import documents
from opdev.kinds import LOG_HEAD, NOT_OURS, Kind, classify, has_known_suffix
from opdev.project.places import Places
from opdev.source import Source
from opdev.syntax.file import File

Reader = Callable[[str], bytes | None]
_SKIP = {
    "build",
    "data",
    "output",
    ".git",
    "install",
    "node_modules",
    "__pycache__",
    ".opdev",
    "3rdparty",
    "third_party",
    ".venv",
    "venv",
}
_SHARED = "torch_binding"
"""The folder below custom-ops that binds all operators to PyTorch."""
_MOST_FILES = 400
_MOST_ENTRIES = 20_000
_MOST_BYTES = 2_000_000
_LONGEST_LINE = 64_000
_LOGS = "data/perf"
"""Where measurements are kept: of ``data`` only the logs there are looked at, and only by cross-file rules."""
_MOST_LOGS = 64
_RECORD = ".opdev/phase0_intake.yaml"


def read_disk(path: str) -> bytes | None:
    """A file's bytes, None where it cannot be read or is too large to matter; of a long log the head."""
    try:
        if path.endswith(".log"):
            return read_log(path)
        if os.path.getsize(path) > _MOST_BYTES:
            return None
        return Path(path).read_bytes()
    except OSError:
        return None


def read_log(path: str) -> bytes:
    """What is looked at of a log: all of it, or of a long one a little more than ``LOG_HEAD``, to a line's end.

    So whoever has more than ``LOG_HEAD`` knows that there may be more.  OSError where it cannot be read.
    """
    with open(path, "rb") as stream:
        head = stream.read(LOG_HEAD + 1)
        if len(head) > LOG_HEAD:
            # UTF-16 text halves when it is decoded; it must be known of it, too, that it was long.
            wide = head[:2] in (b"\xff\xfe", b"\xfe\xff")
            head += stream.read(LOG_HEAD) if wide else b""
            head += stream.readline(_LONGEST_LINE)
            if wide:
                head = head[: len(head) // 2 * 2]
    return head


class Operator:
    """The files below one operator's folder.  Satisfies ``rules.context.Project``."""

    def __init__(self, root: str, places: Places, read: Reader = read_disk, extra: Iterable[str] = ()) -> None:
        self.root = root
        self.name = root.rsplit("/", 1)[-1]
        self._places = places
        self._read = read
        self._extra = tuple(extra)
        self._files: dict[str, File] | None = None
        self._beside: dict[str, File | None] = {}
        self.asked: set[str] = set()

    def files(self, *kinds: str) -> Iterable[File]:
        """Files of any of ``kinds`` (all of them without), in path order."""
        self.asked.update(kinds or ("*",))
        wanted = set(kinds)
        return [f for f in self._load().values() if not wanted or not wanted.isdisjoint(f.kind.names)]

    def exists(self, relative: str) -> bool:
        """Whether a path below the operator exists, on disk or as an unsaved buffer."""
        path = f"{self.root}/{relative}"
        return path in self._extra or os.path.exists(path)

    def beside(self, relative: str) -> File | None:
        """A file of a folder next to the operator's: the Torch bindings that all operators share, another's design."""
        if relative not in self._beside:
            self._beside[relative] = self._file(f"{self.root.rpartition('/')[0]}/{relative}")
        return self._beside[relative]

    def read(self, path: str) -> bytes | None:
        """What a file anywhere holds, by its absolute path; None where it cannot be had."""
        return self._read(path)

    def neighbours(self) -> Iterator[str]:
        """Paths of the files outside that findings depend on: whoever keeps findings has to watch these too."""
        yield from documents(self.root)
        parent = self.root.rpartition("/")[0]
        if not parent.endswith("/custom-ops"):
            return
        if self.name != _SHARED:
            for file in ("CMakeLists.txt", "include/shmem_torch_kernel.h", f"src/torch_bind_{self.name}.cpp"):
                yield f"{parent}/{_SHARED}/{file}"
            return
        try:
            names = sorted(os.listdir(parent))
        except OSError:
            return
        for name in names:
            if name not in (_SHARED, "scripts"):
                yield f"{parent}/{name}/docs/design.md"

    def digest(self) -> str:
        """Changes when any file of the operator does; part of the cache key of cross-file rules."""
        digest = hashlib.sha256()
        for path, file in self._load().items():
            name = f"{path}\0{file.source.encoding}\0".encode("utf-8", "surrogateescape")
            digest.update(name + hashlib.sha256(file.data).digest())
        return digest.hexdigest()

    def _load(self) -> dict[str, File]:
        if self._files is None:
            self._files = {}
            paths = {*self.walk(), *(p for p in self._extra if p.startswith(self.root + "/"))}
            for path in sorted(paths):
                file = self._file(path)
                if file is not None:
                    self._files[path] = file
        return self._files

    def _file(self, path: str) -> File | None:
        raw = self._read(path)
        if raw is None:
            return None
        source = Source.from_disk(path, raw)
        kind = kind_of(path, source.data, in_operator=True)
        return File(source, kind, self._places.of(path)) if kind else None

    def walk(self) -> Iterator[str]:
        """Paths of the files that could be of any kind, bounded on huge folders."""
        folder = self.root.rpartition("/")[0]
        if folder.endswith("/examples"):
            # SHMEM's own tree: the list that says which examples are built belongs to each of them.
            yield f"{folder}/CMakeLists.txt"
        count = 0
        for path in self.names():
            if has_known_suffix(path.rpartition("/")[2]):
                count += 1
                if count > _MOST_FILES:
                    break
                yield path
        yield from self._hidden()

    def _hidden(self) -> Iterator[str]:
        """What counts in folders nobody lints: the newest measurements, and the intake record."""
        if os.path.isfile(f"{self.root}/{_RECORD}"):
            yield f"{self.root}/{_RECORD}"
        logs: list[tuple[int, str]] = []
        try:
            with os.scandir(f"{self.root}/{_LOGS}") as entries:
                for _, entry in zip(range(_MOST_ENTRIES), entries, strict=False):
                    if entry.name.endswith(".log") and entry.is_file():
                        logs.append((-entry.stat().st_mtime_ns, f"{self.root}/{_LOGS}/{entry.name}"))
        except OSError:
            return
        yield from sorted(path for _, path in sorted(logs)[:_MOST_LOGS])

    def names(self) -> Iterator[str]:
        """Paths of all files, bounded: what ``exists`` may be asked about."""
        entries = 0
        for folder, names, files in os.walk(self.root):
            names[:] = sorted(n for n in names if n not in _SKIP)
            entries += len(names) + len(files)
            if entries > _MOST_ENTRIES:
                # Dumps and profiles beside the operator: what was found before them is the operator.
                return
            for name in sorted(files):
                yield f"{folder}/{name}".replace("\\", "/")


def kind_of(path: str, data: bytes, *, in_operator: bool) -> Kind:
    """The kind of a file; generated and vendored text is nobody's to lint."""
    if len(data) > 50_000_000:
        return NOT_OURS
    return classify(path, data, in_operator=in_operator)
