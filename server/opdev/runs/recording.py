"""A step's output on its way: raw to its logs, whole lines to the parsers, what they find to the events.

The raw bytes are on disk before the event that speaks of them.  A parser that raises loses itself only.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from opdev.phases.model import both
from opdev.runs.diagnose import Watch
from opdev.runs.events import Events
from opdev.runs.execute import Stream
from opdev.runs.lines import LineBuffer
from opdev.runs.parsers import Fields, Parser

_SOON = 0.05
_MUCH = 1 << 20
_CASE = re.compile(rb"^[^\n]*\[CASE\][^\n]*\n?", re.M)


class Recording:
    """The output of one step (``task``).  ``counts`` says what was seen: ``check:PASS``, ``case:FAIL``, ``perf`` …

    ``case`` is told each case that ended, after its event.
    """

    def __init__(
        self, events: Events, folder: str, task: str, parsers: Sequence[Parser],
        case: Callable[[Mapping[str, Any]], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self.events, self.task, self._case = events, task, case
        self.logs: dict[Stream, str] = {"stdout": f"{task}.stdout.log", "stderr": f"{task}.stderr.log"}
        self.paths = {stream: f"{folder}/{name}" for stream, name in self.logs.items()}
        self.watch = Watch()
        self.counts: Counter[str] = Counter()
        self.error = ""
        """The first error of a compiler, a linker or CMake."""
        self._parsers = list(parsers)
        self._handles = {s: os.open(p, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644) for s, p in self.paths.items()}  # fmt: skip
        self._buffers: dict[Stream, LineBuffer] = {"stdout": LineBuffer(), "stderr": LineBuffer()}
        self._ends: dict[Stream, int] = {s: os.fstat(h).st_size for s, h in self._handles.items()}
        self._told = dict(self._ends)
        self._last: Stream = "stdout"
        self._flushed = 0.0

    def output(self, stream: Stream, data: bytes) -> None:
        """Bytes of a stream as they come."""
        if stream != self._last:
            self.flush()
            self._last = stream
        left = data
        while left:
            left = left[os.write(self._handles[stream], left) :]
        self._ends[stream] += len(data)
        lines = self._buffers[stream].feed(data)
        if lines:
            self._lines(lines, stream)
        if self._ends[stream] - self._told[stream] >= _MUCH:
            self.flush()
        else:
            self.tick()

    def tick(self) -> None:
        """Tell of what came, if the last time is a while ago."""
        if time.monotonic() - self._flushed >= _SOON:
            self.flush()

    def flush(self) -> None:
        """Tell of what came."""
        for stream, end in self._ends.items():
            start = self._told[stream]
            if end > start:
                self._told[stream] = end
                self.events.add("output", task=self.task, stream=stream, log=self.logs[stream], start=start, end=end)
        self._flushed = time.monotonic()

    def close(self) -> None:
        """The end of the output: unfinished lines, and what parsers were waiting for."""
        streams: tuple[Stream, ...] = ("stdout", "stderr")
        for stream in streams:
            rest = self._buffers[stream].close()
            if rest:
                self._lines(rest, stream)
        found: list[Fields] = []
        for parser in self._parsers[:]:
            try:
                found += parser.close()
            except Exception as error:  # noqa: BLE001 - see the module
                self._lost(parser, error)
        self._tell(found)
        self.flush()
        for handle in self._handles.values():
            os.close(handle)

    def _lines(self, lines: bytes, stream: str) -> None:
        self.watch.feed(lines)
        found: list[Fields] = []
        for part in _parts(lines):
            for parser in self._parsers[:]:
                try:
                    found += parser.feed(part, stream)
                except Exception as error:  # noqa: BLE001 - see the module
                    self._lost(parser, error)
        self._tell(found)

    def _tell(self, found: Sequence[Fields]) -> None:
        if not found:
            return
        self.flush()
        for type_, fields in found:
            self.counts[type_] += 1
            verdict = fields.get("verdict")
            if isinstance(verdict, str):
                self.counts[f"{type_}:{verdict}"] += 1
            if type_ == "diagnostic" and fields["severity"] == "error" and not self.error and fields["tool"] != "make":
                place = f"{fields['path']}:{fields['line']}:{fields['column'] or 1}: " if fields["path"] else ""
                self.error = f"{place}error: {fields['message']}"
        self.events.extend((type_, {"task": self.task, **fields}) for type_, fields in found)
        for type_, fields in found:
            if type_ == "case":
                self._case(fields)

    def _lost(self, parser: Parser, error: Exception) -> None:
        self._parsers.remove(parser)
        name = type(parser).__module__.rpartition(".")[2]
        why = f"{type(error).__name__}: {error}"
        self.events.add("note", text=both(f"解析器 {name} 出错，本步骤不再使用它（{why}）", f"the parser {name} failed and is not used any more in this step ({why})"))  # fmt: skip


def _parts(lines: bytes) -> Iterator[bytes]:
    """Lines cut at those that end a case: what a checker said of the case is told before its end, however both came."""
    at = 0
    if b"[CASE]" in lines:
        for match in _CASE.finditer(lines):
            if match.start() > at:
                yield lines[at : match.start()]
            yield match[0]
            at = match.end()
    if at < len(lines):
        yield lines[at:]
