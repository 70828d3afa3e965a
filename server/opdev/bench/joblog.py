"""What a program of a batch prints, on disk and bounded: a case that prints without end fills nobody's disk.

The beginning is written as it comes; of what is beyond the bound, the last part is kept in memory and written at the
end, after a line that says how much is between them.
"""

from __future__ import annotations

import os
from collections import deque

_HEAD, _TAIL = 16_000_000, 1_000_000


class JobLog:
    """A log at ``path`` (absolute); an old one is kept as ``.previous``.  ``failed`` says why it could not be written."""

    def __init__(self, path: str) -> None:
        self.path, self.failed = path, ""
        self._written = self._beyond = self._kept = 0
        self._tail: deque[bytes] = deque()
        self._file = -1
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if os.path.exists(path):
                os.replace(path, f"{path}.previous")
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        except OSError as error:
            self.failed = error.strerror or str(error)

    def add(self, stream: str, data: bytes) -> None:
        """As ``execute`` hands it on; both streams go into one file."""
        del stream
        head = data[: max(0, _HEAD - self._written)]
        if head:
            self._written += len(head)
            self._write(head)
        rest = data[len(head) :]
        if not rest:
            return
        self._beyond += len(rest)
        self._tail.append(rest)
        self._kept += len(rest)
        while self._kept - len(self._tail[0]) >= _TAIL:
            self._kept -= len(self._tail.popleft())

    def close(self) -> None:
        if self._beyond:
            tail = b"".join(self._tail)[-_TAIL:]
            self._write(b"\n... opdev: %d bytes left out ...\n" % (self._beyond - len(tail)) + tail)
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def last(self, lines: int = 3) -> str:
        """The last lines that say anything, for a message."""
        try:
            with open(self.path, "rb") as stream:
                stream.seek(max(0, os.fstat(stream.fileno()).st_size - 4000))
                text = stream.read().decode("utf-8", "replace")
        except OSError:
            return ""
        said = [line.strip()[:300] for line in text.splitlines() if line.strip()]
        return " | ".join(said[-lines:])

    def _write(self, data: bytes) -> None:
        # A full disk costs lines of a log, never the two hours a generator has worked.
        view = memoryview(data)
        try:
            while view and self._file >= 0:
                view = view[os.write(self._file, view) :]
        except OSError as error:
            self.failed = error.strerror or str(error)
