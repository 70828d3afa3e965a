"""Putting a kept state back, so that being cut off at any moment loses nothing.

First the present state is kept, then the journal says from what to what, then paths are replaced one by one (a file by
a rename), then the journal goes.  Whoever finds a journal finishes it (``settle``).  A path is touched only while it is
what the journal says it was: what somebody edited in between is left as it is, and named.

Restored files carry the present time, not that of the snapshot: a build has to see that they changed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opdev.rounds.errors import Refused
from opdev.rounds.ledger import JOURNAL
from opdev.rounds.ledger import NAME as LEDGER
from opdev.rounds.scan import TEMPORARY, own, read
from opdev.rounds.store import Store, write_json
from opdev.rounds.tree import Entry, Tree


@dataclass(slots=True)
class Restored:
    """What a restore did.  ``left`` are paths somebody changed meanwhile; ``saved`` is what was there before."""

    saved: str
    to: str
    changed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def restore(store: Store, name: str, ledger: Mapping[str, Any] | None = None) -> Restored:
    """Make the operator's own files what ``name`` stands for; ``ledger`` is written with it, in one go.

    Refused, with nothing touched, where the state cannot be read whole.
    """
    to = store.tree(name)
    for entry in to.entries.values():
        if entry.kind == "file":
            store.get(entry.content)
    saved, before = store.save()
    if before.passed and (taken := [p for p in before.passed if p in to.entries]):
        raise Refused("special", path=taken[0])
    journal = {"version": 1, "saved": saved, "to": name, "ledger": dict(ledger) if ledger is not None else None}
    write_json(f"{store.folder}/{JOURNAL}", journal)
    return _finish(store, journal)


def settle(store: Store) -> Restored | None:
    """Finish a restore that was cut off; None where there is none."""
    path = f"{store.folder}/{JOURNAL}"
    try:
        with open(path, "rb") as stream:
            journal = json.load(stream)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Refused("damaged", path=path, why=error) from error
    return _finish(store, journal)


def _finish(store: Store, journal: Mapping[str, Any]) -> Restored:
    done = Restored(str(journal["saved"]), str(journal["to"]))
    old, new = store.tree(done.saved), store.tree(done.to)
    root = os.open(store.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _sweep(root)
        _Work(root, store, old, new, done).run()
    finally:
        os.close(root)
    if journal["ledger"] is not None:
        write_json(f"{store.folder}/{LEDGER}", dict(journal["ledger"]))
    os.unlink(f"{store.folder}/{JOURNAL}")
    store.prune()
    return done


def _sweep(folder: int, prefix: str = "") -> None:
    """Remove the temporary files of a restore that was cut off."""
    with os.scandir(folder) as found:
        entries = [(e.name, e.is_dir(follow_symlinks=False)) for e in found]
    for name, inner in entries:
        if inner and own(f"{prefix}{name}", folder=True):
            with contextlib.suppress(OSError):
                handle = _folder(name, folder)
                try:
                    _sweep(handle, f"{prefix}{name}/")
                finally:
                    os.close(handle)
        elif name.startswith(TEMPORARY):
            os.unlink(name, dir_fd=folder)


def _folder(name: str, above: int) -> int:
    """A real folder, opened; OSError (ENOTDIR, ELOOP, ENOENT) where it is none."""
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)


class _Work:
    """From ``old`` to ``new`` below the folder ``root`` (a descriptor); every path through real folders only."""

    def __init__(self, root: int, store: Store, old: Tree, new: Tree, done: Restored) -> None:
        self.root, self.store, self.done = root, store, done
        self.old, self.new = old.entries, new.entries
        self.folders = {f for f, e in new.entries.items() if e.kind == "folder"}
        self.loosened: set[str] = set()

    def run(self) -> None:
        for path, entry in self.old.items():
            if entry.kind != "folder" and not self._stays(path):
                self._remove(path, entry)
        for path in sorted((p for p, e in self.old.items() if e.kind == "folder"), reverse=True):
            if path not in self.folders:
                self._remove_folder(path)
        for path in sorted(self.folders):
            self._make_folder(path)
        for path, entry in self.new.items():
            if entry.kind != "folder":
                self._write(path, entry)
        for path in sorted(self.folders | self.loosened, reverse=True):
            entry = self.new.get(path) or self.old[path]
            self._mode_of_folder(path, entry.mode)

    def _stays(self, path: str) -> bool:
        """Whether something of the new state takes the path without its being removed first."""
        return path in self.new and self.new[path].kind != "folder"

    @contextmanager
    def _parent(self, path: str) -> Iterator[tuple[int, str]]:
        """The folder a path is in, and its name there; OSError (ENOTDIR, ELOOP, ENOENT) where that is no real folder."""
        *above, name = path.split("/")
        handle = os.dup(self.root)
        try:
            for part in above:
                inner = _folder(part, handle)
                os.close(handle)
                handle = inner
            yield handle, name
        finally:
            os.close(handle)

    def _now(self, path: str) -> Entry | None:
        """What is at a path; None for nothing.  A path through something that is no folder has nothing."""
        try:
            with self._parent(path) as (folder, name):
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISLNK(found.st_mode):
                    return Entry("link", 0, os.readlink(name, dir_fd=folder))
                if stat.S_ISDIR(found.st_mode):
                    return Entry("folder", stat.S_IMODE(found.st_mode))
                if not stat.S_ISREG(found.st_mode):
                    return Entry("file", 0, "?")
                mode, data = read(folder, name)
                return Entry("file", mode, hashlib.sha256(data).hexdigest(), len(data))
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return None
            raise

    def _leave(self, path: str) -> None:
        self.done.left.append(path)

    def _loosen(self, folder: int, path: str) -> None:
        """Make a folder writable for as long as this takes."""
        mode = stat.S_IMODE(os.fstat(folder).st_mode)
        above = path.rpartition("/")[0]
        if above and not mode & stat.S_IWUSR:
            os.fchmod(folder, mode | stat.S_IRWXU)
            self.loosened.add(above)

    def _remove(self, path: str, entry: Entry) -> None:
        now = self._now(path)
        if now is None:
            return
        if now != entry:
            if not (now.kind == "folder" and path in self.folders):
                self._leave(path)
            return
        with self._parent(path) as (folder, name):
            self._loosen(folder, path)
            os.unlink(name, dir_fd=folder)
        self.done.changed.append(path)

    def _remove_folder(self, path: str) -> None:
        """Remove a folder unless something is in it: what is not the operator's own stays, and its folder with it."""
        try:
            with self._parent(path) as (folder, name):
                self._loosen(folder, path)
                os.rmdir(name, dir_fd=folder)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENOTEMPTY, errno.EEXIST):
                raise

    def _make_folder(self, path: str) -> None:
        now = self._now(path)
        if now is not None:
            if now.kind != "folder":
                self._leave(path)
            return
        try:
            with self._parent(path) as (folder, name):
                self._loosen(folder, path)
                os.mkdir(name, 0o700, dir_fd=folder)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise
            self._leave(path)

    def _write(self, path: str, entry: Entry) -> None:
        now = self._now(path)
        if now == entry:
            return
        if now is not None and now != self.old.get(path):
            self._leave(path)
            return
        try:
            with self._parent(path) as (folder, name):
                self._loosen(folder, path)
                self._replace(folder, name, entry)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR):
                raise
            self._leave(path)
            return
        self.done.changed.append(path)

    def _replace(self, folder: int, name: str, entry: Entry) -> None:
        temporary = f"{TEMPORARY}{secrets.token_hex(6)}"
        try:
            if entry.kind == "link":
                os.symlink(entry.content, temporary, dir_fd=folder)
            else:
                self._fill(folder, name, temporary, entry)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise

    def _fill(self, folder: int, name: str, temporary: str, entry: Entry) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(temporary, flags, 0o600, dir_fd=folder)
        with os.fdopen(handle, "wb") as stream:
            stream.write(self.store.get(entry.content))
            stream.flush()
            with contextlib.suppress(OSError):
                was = os.stat(name, dir_fd=folder, follow_symlinks=False)
                os.fchown(handle, was.st_uid, was.st_gid)
            os.fchmod(handle, entry.mode)
            os.fsync(handle)

    def _mode_of_folder(self, path: str, mode: int) -> None:
        try:
            with self._parent(path) as (folder, name):
                handle = _folder(name, folder)
                try:
                    if stat.S_IMODE(os.fstat(handle).st_mode) != mode:
                        os.fchmod(handle, mode)
                finally:
                    os.close(handle)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise
