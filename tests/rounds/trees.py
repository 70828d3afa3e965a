"""Folders of files to take states of: made, described, edited."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def described(root: Path) -> dict[str, tuple]:
    """Everything below a folder but ``.opdev``: kind, mode, bytes; links are not followed."""
    found = {}
    for here, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not (here == str(root) and f == ".opdev"))
        for name in [*folders, *files]:
            path = Path(here) / name
            status = path.lstat()
            relative = os.fsencode(path.relative_to(root))
            if stat.S_ISLNK(status.st_mode):
                found[relative] = ("link", os.readlink(path))
            elif stat.S_ISDIR(status.st_mode):
                found[relative] = ("folder", stat.S_IMODE(status.st_mode))
            else:
                found[relative] = ("file", stat.S_IMODE(status.st_mode), path.read_bytes())
        folders[:] = [f for f in folders if not (Path(here) / f).is_symlink()]
    return found


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return root
