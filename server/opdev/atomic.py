"""Replacing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile


def write_bytes(path: str, data: bytes) -> None:
    """Replace the content of ``path``; OSError leaves the old file as it was and nothing beside it.

    Mode and owner survive; a link stays a link and what it points to is replaced.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target) or "."
    handle, temporary = tempfile.mkstemp(prefix=".opdev-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        try:
            stat = os.stat(target)
        except FileNotFoundError:
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
        else:
            os.chmod(temporary, stat.st_mode & 0o7777)
            if hasattr(os, "chown"):
                with contextlib.suppress(OSError):
                    os.chown(temporary, stat.st_uid, stat.st_gid)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
