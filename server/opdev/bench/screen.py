"""Frames on a terminal, one over the other: drawn from the top without clearing first, on a screen of their own.

Whatever ends the program, the terminal is as it was, with the last frame left on it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from typing_extensions import Self

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_BEGIN, _END = "\x1b[?2026h\x1b[H", "\x1b[J\x1b[?2026l"
_TICK = 0.1
_PLAIN = 160
Size = tuple[int, int]


class Screen:
    """A terminal's other screen, as a context."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._drawn: Sequence[str] = ()
        self._size: Size | None = None

    def __enter__(self) -> Self:
        self._put(_ENTER)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A terminal that is gone cannot be put right.
        with suppress(OSError):
            self._put(_LEAVE + "".join(line + "\n" for line in self._drawn))

    def size(self) -> Size:
        """Columns and rows as they are now."""
        try:
            found = os.get_terminal_size(self._out.fileno())
        except (OSError, ValueError):
            return _PLAIN, 24
        if not found.columns:
            # A terminal that nobody gave a size.
            return _PLAIN, 24
        return max(found.columns, 20), max(found.lines, 4)

    def draw(self, lines: Sequence[str], rows: int) -> None:
        """Lines in the place of those drawn before; what is longer than the terminal is cut off."""
        self._drawn = lines
        self._size = self.size()
        self._put(_BEGIN + "\r\n".join(f"{line}\x1b[K" for line in lines[:rows]) + _END)

    def wait(self, seconds: float) -> None:
        """Until the next frame: after so many seconds, or when the terminal has another size."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and self.size() == self._size:
            time.sleep(min(left, _TICK))

    def _put(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def watch(frames: Callable[[Size], tuple[list[str], bool]], interval: float) -> None:
    """Draw what ``frames`` makes for a size until it says that it was the last."""
    with _ended_well(), Screen() as screen:
        while True:
            size = screen.size()
            lines, last = frames(size)
            screen.draw(lines, size[1])
            if last:
                return
            screen.wait(interval)


@contextmanager
def _ended_well() -> Iterator[None]:
    """A request to end becomes an exception, so that the terminal is put right."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    kinds = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = [(kind, signal.signal(kind, leave)) for kind in kinds]
    try:
        yield
    finally:
        for kind, handler in before:
            signal.signal(kind, handler)
