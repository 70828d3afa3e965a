"""Rendered files onto the disk: a new folder, or what is missing of one; nothing that is there is touched."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from opdev.atomic import write_bytes
from opdev.scaffold.render import Rendered
from opdev.scaffold.texts import ScaffoldError

_OURS = (".opdev", "docs/phase0_intake.yaml", "docs/phase0_intake.yml", "phase0_intake.yaml")
"""What a folder may hold before the operator is written: the intake's record and opdev's own."""


@dataclass(frozen=True, slots=True)
class Written:
    """Absolute paths of what was written, and of what was there before."""

    new: tuple[str, ...]
    kept: tuple[str, ...]


def refuse_full(root: str, *, force: bool) -> None:
    """A ScaffoldError where the folder has files of its own; ``force`` allows them, a file in its place never."""
    if os.path.lexists(root) and not os.path.isdir(root):
        raise ScaffoldError("not-folder", usage=False, path=root)
    found = [] if force else sorted(_foreign(root))
    if found:
        shown = ", ".join(found[:3]) + (" …" if len(found) > 3 else "")
        raise ScaffoldError("not-empty", usage=False, path=root, found=shown)


def _foreign(root: str) -> list[str]:
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        below = os.path.relpath(folder, root).replace("\\", "/")
        folders[:] = [f for f in folders if f"{below}/{f}".removeprefix("./") not in _OURS]
        found += [n for n in (f"{below}/{name}".removeprefix("./") for name in names) if n not in _OURS]
        if len(found) > 3:
            break
    return found


def write_new(root: str, files: Sequence[Rendered], *, dry_run: bool = False) -> Written:
    """Writes every file that is not there, all of them or none: what was written before a failure is taken back."""
    new: list[str] = []
    kept: list[str] = []
    made: list[str] = []
    try:
        for file in files:
            path = target(root, file.path)
            if os.path.lexists(path):
                kept.append(path)
                continue
            if not dry_run:
                made += [folder for folder in _missing(os.path.dirname(path)) if folder not in made]
                put(path, file.text, runs=file.runs)
            new.append(path)
    except BaseException:
        if not dry_run:
            _take_back(new, made)
        raise
    return Written(tuple(new), tuple(kept))


def _missing(folder: str) -> list[str]:
    """The folders that will be made for this one, the outermost first."""
    found: list[str] = []
    while folder and not os.path.lexists(folder):
        found.insert(0, folder)
        folder = os.path.dirname(folder)
    return found


def _take_back(paths: Sequence[str], folders: Sequence[str]) -> None:
    for path in paths:
        with suppress(OSError):
            os.unlink(path)
    for folder in reversed(folders):
        with suppress(OSError):
            os.rmdir(folder)


def target(root: str, relative: str) -> str:
    """The absolute path of a rendered file."""
    return os.path.normpath(os.path.join(root, relative))


def put(path: str, text: str, *, runs: bool = False) -> None:
    """Replaces a file as a whole, so that no reader and no crash sees half of one; a ScaffoldError where it cannot.

    A file that is there keeps its mode; a new one that ``runs`` may be executed by whoever may read it.
    """
    new = not os.path.lexists(path)
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, text.encode("utf-8"))
        if new and runs:
            mode = os.stat(path).st_mode
            os.chmod(path, mode | (mode & 0o444) >> 2)
    except OSError as error:
        raise ScaffoldError("no-write", usage=False, path=path, why=error.strerror or error) from error
