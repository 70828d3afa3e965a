"""Which files are an operator's own, and what is in them now.

Own is what a person (or a program for a person) writes: design, sources, CMake, scripts, baseline, binding.  Not own is
what builds and runs leave (``build/``, ``output/``, ``logs/``, ``data/`` …), what tools keep (hidden folders, among them
``.git`` and ``.opdev``), and the reports in ``docs/``: they tell of rounds and must outlive the taking back of one.

Folders are opened by descriptor and without following links: nothing outside the operator is ever read.
"""

from __future__ import annotations

import errno
import fnmatch
import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from opdev.rounds.errors import Refused
from opdev.rounds.tree import Entry, Tree

TEMPORARY = ".opdev-round-"
"""How names of files begin that a restore is about to move into place."""
_ANYWHERE = ("build", "build-*", "build_*", "cmake-build-*", "CMakeFiles", "_deps", "__pycache__", "node_modules")
_AT_TOP = ("data", "output", "outputs", "logs", "log", "install")
_FILES = ("*.pyc", "*.o", "*.log", "*.swp", ".DS_Store", ".opdev-*", "compile_commands.json", ".clangd")
_MOST = 20_000
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of an operator a snapshot takes; above it nothing is taken at all."""

    bytes: int = 64_000_000
    entries: int = _MOST


@dataclass(slots=True)
class Scan:
    """The present state.  ``passed`` are paths that are neither file, folder nor link: they are left alone."""

    tree: Tree
    passed: list[str] = field(default_factory=list)


def own(path: str, *, folder: bool) -> bool:
    """Whether a path below the operator is one of its own; for what lies in a folder that is."""
    parts = path.split("/")
    name = parts[-1]
    if folder:
        if name.startswith(".") or any(fnmatch.fnmatchcase(name, p) for p in _ANYWHERE):
            return False
        return not (name in _AT_TOP and (len(parts) == 1 or (len(parts) == 2 and parts[0] == "baseline")))
    if len(parts) == 2 and parts[0] == "docs" and name.endswith(".md") and "report" in name:
        return False
    return not any(fnmatch.fnmatchcase(name, p) for p in _FILES)


def scan(root: str, limits: Limits | None = None, keep: Callable[[bytes], object] | None = None) -> Scan:
    """The operator's own files as they are; ``keep`` gets the content of each.

    Refused where they are more than ``limits`` allow, or one cannot be read.
    """
    walk = _Walk(limits or Limits(), keep)
    try:
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Refused("unreadable", path=root, why=error.strerror) from error
    try:
        walk.folder(handle, "")
    finally:
        os.close(handle)
    return Scan(Tree(dict(sorted(walk.entries.items()))), sorted(walk.passed))


class _Walk:
    def __init__(self, limits: Limits, keep: Callable[[bytes], object] | None) -> None:
        self.limits, self.keep = limits, keep
        self.entries: dict[str, Entry] = {}
        self.passed: list[str] = []
        self.sizes: Counter[str] = Counter()

    def folder(self, handle: int, prefix: str) -> None:
        with os.scandir(handle) as found:
            names = sorted(entry.name for entry in found)
        for name in names:
            path = f"{prefix}{name}"
            try:
                self._one(handle, name, path)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise Refused("unreadable", path=path, why=error.strerror) from error

    def _one(self, handle: int, name: str, path: str) -> None:
        found = os.stat(name, dir_fd=handle, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            if own(path, folder=True):
                self._inner(handle, name, path)
        elif not own(path, folder=False):
            return
        elif stat.S_ISLNK(found.st_mode):
            self._add(path, Entry("link", 0, os.readlink(name, dir_fd=handle)))
        elif stat.S_ISREG(found.st_mode):
            self._file(handle, name, path, found.st_size)
        else:
            self.passed.append(path)

    def _inner(self, handle: int, name: str, path: str) -> None:
        try:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):  # Replaced by a link or a file within this moment.
                self._one(handle, name, path)
                return
            raise
        try:
            self._add(path, Entry("folder", stat.S_IMODE(os.fstat(inner).st_mode)))
            self.folder(inner, f"{path}/")
        finally:
            os.close(inner)

    def _file(self, handle: int, name: str, path: str, size: int) -> None:
        self.sizes[path.split("/", 1)[0]] += size
        if sum(self.sizes.values()) > self.limits.bytes:
            largest, most = self.sizes.most_common(1)[0]
            raise Refused("too-large", limit=self.limits.bytes // 1_000_000, path=largest, size=most / 1e6)
        mode, data = read(handle, name)
        if self.keep is not None:
            self.keep(data)
        self._add(path, Entry("file", mode, hashlib.sha256(data).hexdigest(), len(data)))

    def _add(self, path: str, entry: Entry) -> None:
        self.entries[path] = entry
        if len(self.entries) > self.limits.entries:
            counts = Counter(p.split("/", 1)[0] for p in self.entries)
            raise Refused("too-many", limit=self.limits.entries, path=counts.most_common(1)[0][0])


def read(handle: int, name: str) -> tuple[int, bytes]:
    """A file's mode and content, read again while somebody writes it."""
    for _ in range(_TRIES):
        one = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=handle)
        with os.fdopen(one, "rb") as stream:
            before = os.fstat(one)
            data = stream.read()
            after = os.fstat(one)
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, len(data)):
            break
    return stat.S_IMODE(after.st_mode), data
