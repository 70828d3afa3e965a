"""Which files of a repository differ from git's index, read from disk: no git is run, so that asking has no side effects.

The index holds size, time and digest of every file as it was last added or checked out.  Where size and time are the same the
file is not looked into; else its digest decides.  What was staged or committed is therefore no difference: whoever did that meant it.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MOST_INDEX = 200_000_000
_MOST_READ = 64_000_000
_ASSUMED, _EXTENDED, _STAGES = 0x8000, 0x4000, 0x3000
_SKIPPED = 0x4000 | 0x2000
"""Not checked out, or only meant to be added."""
_SHA256 = re.compile(rb"objectformat\s*=\s*sha256", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    mode: int
    size: int
    time: tuple[int, int]
    digest: bytes
    conflict: bool


def changed(repo: str, below: Sequence[str]) -> list[str] | None:
    """The paths below the folders ``below`` (``docs/``) whose files are not what the index has, gone ones included, in its order.

    None where it cannot be told: no index, one of a form this does not read, or too much to read.
    """
    folder = _git_folder(repo)
    if folder is None:
        return None
    try:
        entries = list(_entries(folder, tuple(one.encode() for one in below)))
        filtered = _filters(repo, below)
        out, left = [], _MOST_READ
        for entry in entries:
            size = _size_if_touched(f"{repo}/{entry.path}", entry)
            if size is None and not entry.conflict:
                continue
            left -= size or 0
            if left < 0:
                return None
            if entry.conflict or (not filtered and _differs(f"{repo}/{entry.path}", entry)):
                out.append(entry.path)
    except (OSError, ValueError, struct.error, IndexError):
        return None
    return list(dict.fromkeys(out))


def _git_folder(repo: str) -> str | None:
    place = f"{repo}/.git"
    if os.path.isdir(place):
        return place
    try:
        with open(place, encoding="utf-8") as stream:
            word, _, path = stream.read(4096).partition(":")
    except (OSError, UnicodeDecodeError):
        return None
    return os.path.normpath(os.path.join(repo, path.strip())) if word == "gitdir" and path.strip() else None


def _read(path: str, most: int) -> bytes:
    with open(path, "rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise ValueError(path)
    return data


def _entries(folder: str, below: tuple[bytes, ...]) -> Iterator[_Entry]:
    data = _read(f"{folder}/index", _MOST_INDEX)
    magic, version, count = struct.unpack(">4sII", data[:12])
    if magic != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("no index")
    # A linked worktree has its configuration in the folder it belongs to.
    common = folder
    if os.path.isfile(f"{folder}/commondir"):
        common = os.path.join(folder, _read(f"{folder}/commondir", 4096).decode().strip())
    wide = os.path.isfile(f"{common}/config") and _SHA256.search(_read(f"{common}/config", 1_000_000)) is not None
    digest = 32 if wide else 20
    at, path = 12, b""
    for _ in range(count):
        seconds, nanos, mode, size = struct.unpack_from(">8xII8xI8xI", data, at)
        begun, place = at, at + 40
        name = data[place : place + digest]
        (flags,) = struct.unpack_from(">H", data, place + digest)
        at = place + digest + 2
        more = 0
        if flags & _EXTENDED and version > 2:
            (more,) = struct.unpack_from(">H", data, at)
            at += 2
        if version == 4:
            strip, at = _varint(data, at)
            end = data.index(b"\0", at)
            path = path[: len(path) - strip] + data[at:end]
            at = end + 1
        else:
            end = data.index(b"\0", at)
            path = data[at:end]
            at = begun + (end - begun + 8) // 8 * 8
        if (
            not path.startswith(below)
            or flags & _ASSUMED
            or more & _SKIPPED
            or stat.S_IFMT(mode) not in (stat.S_IFREG, stat.S_IFLNK)
        ):
            continue
        shown = path.decode("utf-8", "surrogateescape")
        yield _Entry(shown, mode, size, (seconds, nanos), name, bool(flags & _STAGES))
    if b"link" in _extensions(data, at, len(data) - digest):
        raise ValueError("a split index")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 0x7F)
    return value, at + 1


def _extensions(data: bytes, at: int, end: int) -> set[bytes]:
    found = set()
    while at + 8 <= end:
        name, size = struct.unpack_from(">4sI", data, at)
        found.add(name)
        at += 8 + size
    return found


def _filters(repo: str, below: Sequence[str]) -> bool:
    """Whether files are kept in another form than they are checked out in: then a digest says nothing."""
    for place in (".gitattributes", *(f"{one}.gitattributes" for one in below)):
        try:
            if b"filter=" in _read(f"{repo}/{place}", 1_000_000):
                return True
        except OSError:
            continue
    return False


def _size_if_touched(path: str, entry: _Entry) -> int | None:
    """How much there is to read to know; None where size and time are those of the index."""
    try:
        found = os.lstat(path)
    except OSError:
        return 0
    time = (found.st_mtime_ns // 10**9, found.st_mtime_ns % 10**9)
    same = (found.st_size & 0xFFFFFFFF) == entry.size and time[0] == entry.time[0] and entry.time[1] in (0, time[1])
    return None if same else found.st_size


def _differs(path: str, entry: _Entry) -> bool:
    try:
        if stat.S_ISLNK(entry.mode) and os.path.islink(path):
            data = os.fsencode(os.readlink(path))
        else:
            data = _read(path, _MOST_READ)
    except OSError:
        return not os.path.lexists(path)
    # Line ends may be those of the platform in the folder and git's in the index.
    return all(_digest(text, len(entry.digest)) != entry.digest for text in (data, data.replace(b"\r\n", b"\n")))


def _digest(data: bytes, size: int) -> bytes:
    made = hashlib.sha256() if size == 32 else hashlib.sha1(usedforsecurity=False)
    made.update(b"blob %d\0" % len(data) + data)
    return made.digest()
