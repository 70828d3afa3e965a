"""Replacing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile


def write_bytes(path: str, data: bytes) -> None:
    """Replace the content of ``path``; OSError leaves the old file as it was and nothing beside it.

    Mode and owner survive; a link stays a link and what it points to is replaced.  What is no file (``/dev/null``, a pipe) is
    written to: nothing is ever put in its place.
    """
    if _is_special(path):
        with open(path, "wb") as out:
            out.write(data)
        return
    target = os.path.realpath(path)
    folder = os.path.dirname(target) or "."
    handle, temporary = tempfile.mkstemp(prefix=".opdev-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        try:
            found = os.stat(target)
        except FileNotFoundError:
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
        else:
            os.chmod(temporary, found.st_mode & 0o7777)
            if hasattr(os, "chown"):
                with contextlib.suppress(OSError):
                    os.chown(temporary, found.st_uid, found.st_gid)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _is_special(path: str) -> bool:
    """Whether there is something that is neither a file nor a folder."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
