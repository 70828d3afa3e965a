"""Writes compile_commands.json and .clangd of one operator, and never over what a user wrote."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field

from opdev import atomic
from opdev.clangd import dotclangd
from opdev.clangd.headers import MARK, Origin
from opdev.clangd.sources import sources
from opdev.clangd.texts import say
from opdev.rules.model import Lang

DATABASE, CONFIG, CACHE = "compile_commands.json", ".clangd", ".cache/"
_MOST_BYTES = 50_000_000
_PATIENCE = 10


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know about one file (absolute path); ``key`` names it, ``text`` says it."""

    path: str
    key: str
    values: Mapping[str, str] = field(default_factory=dict)

    def text(self, lang: Lang) -> str:
        """The sentence, without the path."""
        return say(self.key, lang, **self.values)


@dataclass(frozen=True, slots=True)
class Written:
    """What ``write`` did; all paths absolute.

    ``origin`` says whose headers clangd sees, ``home`` where they are.  ``files`` are those clangd has a command for.
    ``wrote`` and ``same`` are the files written and those that were right already; ``kept`` the user's own that were
    left alone, with the reason (a command that asked for them failed in part).  ``left_out`` are sources without a
    command, ``notes`` what else a user should know.
    """

    root: str
    origin: Origin
    home: str
    files: tuple[str, ...] = ()
    wrote: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    kept: tuple[Note, ...] = ()
    left_out: tuple[Note, ...] = ()
    notes: tuple[Note, ...] = ()


def write(
    root: str, *, overwrite: bool = False, environ: Mapping[str, str] | None = None, python: str = "",
) -> Written:  # fmt: skip
    """Write both files into the operator's folder ``root``; nothing where it has no C++ file.

    ``overwrite`` replaces files that opdev did not write.  ``environ`` (the process's own by default) tells where CANN
    and SHMEM are; ``python`` is a Python that has Torch.  NotADirectoryError when there is no such folder.
    """
    root = os.path.abspath(root).replace("\\", "/")
    if not os.path.isdir(root):
        raise NotADirectoryError(root)
    environ = os.environ if environ is None else environ
    found = sources(root, environ, python)
    left_out = tuple(Note(path, "no-torch") for path in found.left_out)
    notes = [Note(root, found.headers.why)] if found.headers.why else []
    if not found.commands:
        return Written(root, found.headers.origin, found.headers.home, left_out=left_out, notes=tuple(notes))
    work = _Work(root, overwrite)
    work.database(found.commands)
    work.config()
    work.ignored()
    return Written(
        root, found.headers.origin, found.headers.home, tuple(path for path, _ in found.commands), tuple(work.wrote),
        tuple(work.same), tuple(work.kept), left_out, (*notes, *work.notes),
    )  # fmt: skip


def database(commands: tuple[tuple[str, tuple[str, ...]], ...], root: str) -> bytes:
    """The text of compile_commands.json."""
    entries = [{"directory": root, "file": path, "arguments": list(words)} for path, words in commands]
    return (json.dumps(entries, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "surrogateescape")


def is_ours(data: bytes) -> bool:
    """Whether every command of a compile_commands.json is one of opdev's."""
    try:
        entries = json.loads(data)
    except ValueError:
        return False
    return isinstance(entries, list) and all(
        isinstance(e, dict) and isinstance(e.get("arguments"), list) and MARK in e["arguments"] for e in entries
    )


class _Work:
    """One call of ``write``: what becomes of each file."""

    def __init__(self, root: str, overwrite: bool) -> None:
        self.root, self.overwrite = root, overwrite
        self.wrote: list[str] = []
        self.same: list[str] = []
        self.kept: list[Note] = []
        self.notes: list[Note] = []
        self._ours: list[str] = []
        """Names that are ours alone, which git should not see."""

    def database(self, commands: tuple[tuple[str, tuple[str, ...]], ...]) -> None:
        path = f"{self.root}/{DATABASE}"
        link = os.path.islink(path)
        before = _read(path)
        if not self.overwrite and (link or before is None or (before and not is_ours(before))):
            self.kept.append(Note(path, "foreign-database"))
            return
        if link:
            # What the link leads to is a build's own.
            os.unlink(path)
        self._put(path, before, database(commands, self.root), mine=True)

    def config(self) -> None:
        path = f"{self.root}/{CONFIG}"
        before = _read(path)
        if before is None:
            self.kept.append(Note(path, "unwritable", {"why": "unreadable"}))
            return
        try:
            text = dotclangd.merged("" if self.overwrite else before.decode("utf-8"))
        except (UnicodeDecodeError, dotclangd.ForeignError) as error:
            self.kept.append(Note(path, "foreign-config", {"why": str(error).splitlines()[0]}))
            return
        self._put(path, before, text.encode(), mine=dotclangd.alone(text))
        where = dotclangd.database_elsewhere(text)
        if where:
            self.notes.append(Note(path, "other-database", {"where": where}))

    def _put(self, path: str, before: bytes | None, after: bytes, *, mine: bool) -> None:
        if mine:
            self._ours.append(os.path.basename(path))
        if before == after:
            self.same.append(path)
            return
        try:
            atomic.write_bytes(path, after)
        except OSError as error:
            self.kept.append(Note(path, "unwritable", {"why": error.strerror or str(error)}))
            return
        self.wrote.append(path)

    def ignored(self) -> None:
        """Keep the files of this machine out of git: by the operator's own .gitignore, else by a word to the user."""
        if not self._ours:
            return
        seen = _seen_by_git(self.root, [*self._ours, CACHE])
        if not seen:
            return
        path = f"{self.root}/.gitignore"
        before = _read(path)
        if before and not os.path.islink(path):
            end = b"" if before.endswith(b"\n") else b"\n"
            self._put(path, before, before + end + "".join(f"{name}\n" for name in seen).encode(), mine=False)
        else:
            self.notes.append(Note(f"{self.root}/{self._ours[0]}", "not-ignored", {"names": " ".join(seen)}))


def _read(path: str) -> bytes | None:
    """A file's bytes, empty where there is none; None where it is there and cannot be read."""
    try:
        if os.path.lexists(path) and os.path.getsize(path) > _MOST_BYTES:
            return None
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return b""
    except OSError:
        return None


def _seen_by_git(root: str, names: list[str]) -> list[str]:
    """Those of ``names`` that git would offer to commit; none outside a checkout, or without git."""
    try:
        done = subprocess.run(
            ["git", "check-ignore", "--no-index", "-z", "--stdin"], cwd=root, capture_output=True, check=False,
            input="\0".join(names).encode(), timeout=_PATIENCE,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return []
    if done.returncode not in (0, 1):
        return []
    ignored = done.stdout.decode("utf-8", "replace").split("\0")
    return [name for name in names if name not in ignored]
