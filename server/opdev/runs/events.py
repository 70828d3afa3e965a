"""A run's events: JSON lines, appended whole, each complete by itself.

``events.schema.json`` beside this module is the contract; ``schema`` reads it.  A line is written by one call, so a
reader sees whole lines, and at most the end of one when the runner was killed within it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from typing import Any

VERSION = 1
Event = dict[str, Any]


class Events:
    """Appends to one run's events file.

    Every event gets ``v``, ``seq`` (from 0), ``time`` (seconds since 1970), ``run``, ``executor`` and ``backend``.
    """

    def __init__(self, path: str, run: str, executor: str, backend: str) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._fixed = {"run": run, "executor": executor, "backend": backend}
        self._seq = 0

    def add(self, type_: str, **fields: Any) -> Event:
        """Append one event; OSError where it cannot be written."""
        return self.extend([(type_, fields)])[0]

    def extend(self, events: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Event]:
        """Append several in one write."""
        made: list[Event] = []
        for type_, fields in events:
            made.append({
                "v": VERSION, "seq": self._seq, "time": round(time.time(), 6), **self._fixed, "type": type_, **fields,
            })  # fmt: skip
            self._seq += 1
        data = b"".join(json.dumps(e, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n" for e in made)  # fmt: skip
        while data:
            data = data[os.write(self._handle, data) :]
        return made

    def close(self) -> None:
        os.close(self._handle)


def schema() -> dict[str, Any]:
    """The JSON Schema of one event."""
    with open(f"{os.path.dirname(__file__)}/events.schema.json", "rb") as stream:
        found: dict[str, Any] = json.load(stream)
    return found
