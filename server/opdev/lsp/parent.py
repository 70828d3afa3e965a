"""Noticing that the editor is gone although nobody closed our input.

A grandchild of a killed editor may hold the pipe open for ever, so the end of input is not enough.
The process id an editor gives may be of another namespace (a container, a remote host): one that
is not there from the start says nothing.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable

INTERVAL = 1.0


def watch_parent(process_id: int | None, gone: Callable[[], object]) -> None:
    """Call ``gone`` (from a thread) when the parent or process ``process_id`` has died."""
    parent = os.getppid()
    watched = process_id if process_id is not None and process_id != os.getpid() and alive(process_id) else None

    def watch() -> None:
        while True:
            time.sleep(INTERVAL)
            orphaned = os.name != "nt" and os.getppid() != parent
            if orphaned or (watched is not None and not alive(watched)):
                gone()
                # The loop may be in a handler that does not return.
                time.sleep(3)
                os._exit(1)

    threading.Thread(target=watch, name="opdev-lsp-parent", daemon=True).start()


def alive(process_id: int) -> bool:
    """Whether a process exists (a zombie nobody has waited for does not count)."""
    if sys.platform == "win32":
        return _alive_windows(process_id)
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    except OSError:
        return False
    return not _zombie(process_id)


def _zombie(process_id: int) -> bool:
    try:
        with open(f"/proc/{process_id}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[:1] == [b"Z"]
    except OSError:
        return False


def _alive_windows(process_id: int) -> bool:
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]  # there on Windows alone
    synchronize, still_waiting = 0x00100000, 0x00000102
    handle = kernel.OpenProcess(synchronize, 0, process_id)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == still_waiting)
    finally:
        kernel.CloseHandle(handle)
