"""One run at a time works in an operator's folder: its scripts write data/, output/ and build/ there.

The lock is the kernel's and goes with its holder, however that ends.  A run that was started from within the holder's
own step (by a program that a phase was handed over to) works under the holder's lock.
"""

from __future__ import annotations

import fcntl
import os

from opdev.runs.process import TOKEN


class Lock:
    """The lock of the operator at ``root``; its file says which run has it."""

    def __init__(self, root: str, run: str) -> None:
        self._handle = os.open(f"{root}/.opdev/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._run = run
        self._within = os.environ.get(TOKEN, "")

    def taken(self) -> bool:
        """Take it; False where another run has it."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            # A program that a run was handed over to may start runs of its own; the run waits for it meanwhile.
            return bool(self._within) and self.holder() == self._within
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, self._run.encode(), 0)
        return True

    def holder(self) -> str | None:
        """The run that has it, as far as its file says."""
        return os.pread(self._handle, 200, 0).decode("ascii", "replace").strip() or None

    def close(self) -> None:
        os.close(self._handle)
