"""A terminal a program runs in, what stands on its screen, and a picture of that.

The program believes in a real terminal (a pty); pyte reads what it writes as a terminal would.
"""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import pyte

WAIT = 60.0
"""Seconds until what should have come is said not to have; never how long a test takes."""
_CELL, _LINE = 8.4, 18
_NAMED = {
    "black": "2e3440", "red": "e06c75", "green": "98c379", "brown": "e5c07b", "blue": "61afef", "magenta": "c678dd",
    "cyan": "56b6c2", "white": "dcdfe4", "brightblack": "7f848e", "brightred": "e06c75", "brightgreen": "98c379",
    "brightbrown": "e5c07b", "brightblue": "61afef", "brightmagenta": "c678dd", "brightcyan": "56b6c2", "brightwhite": "ffffff",
}  # fmt: skip
_FONT = 'font-family="ui-monospace,Menlo,Consolas,\'Noto Sans Mono CJK SC\',monospace" font-size="14"'
_FORE, _BACK = "dcdfe4", "1e222a"


@dataclass(frozen=True)
class Run:
    """Cells of one look beside each other: the column they begin in, how many, their text and colours."""

    column: int
    width: int
    text: str
    fore: str
    back: str
    bold: bool
    underlined: bool


class Terminal:
    """A program in a terminal of its own; ``close`` ends it."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: str, columns: int, lines: int) -> None:
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self._news = threading.Condition()
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.process = subprocess.Popen(
            argv, stdin=slave, stdout=slave, stderr=slave, cwd=cwd, env=dict(env), start_new_session=True, close_fds=True
        )  # fmt: skip
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:  # the program is gone
                data = b""
            with self._news:
                if data:
                    self._stream.feed(data)
                self._news.notify_all()
            if not data:
                return

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._master, keys.encode())

    def _text(self) -> str:
        # pyte's own ``display`` stumbles over half of a wide character.
        lines = (self.screen.buffer[y] for y in range(self.screen.lines))
        return "\n".join("".join(line[x].data for x in range(self.screen.columns)) for line in lines)

    def wait(self, what: str, found: Callable[[str], bool], better: Callable[[], bool] = lambda: True) -> None:
        """Until the screen is as wanted, and nothing more comes for a moment; as long as ``better`` says no, longer."""
        until = time.monotonic() + WAIT
        with self._news:
            while not found(self._text()):
                assert time.monotonic() < until, f"no {what}:\n{self._text()}"
                self._news.wait(0.2)
            while self._news.wait(0.3) or (time.monotonic() < until and not better()):
                pass

    def runs(self) -> list[list[Run]]:
        """The screen by line, in runs of one look."""
        with self._news:
            return [list(_runs(self.screen.buffer[y], self.screen.columns)) for y in range(self.screen.lines)]

    def close(self) -> None:
        """End the program, if it still runs."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(WAIT)
        self._reader.join(WAIT)
        os.close(self._master)


def _runs(line: Mapping[int, pyte.screens.Char], columns: int) -> Iterator[Run]:
    look: tuple[str, str, bool, bool] | None = None
    text, begin = "", 0
    for x in range(columns + 1):
        char = line[x] if x < columns else None
        fore, back = (_colour(char.fg, _FORE), _colour(char.bg, _BACK)) if char is not None else ("", "")
        if char is not None and char.reverse:
            fore, back = back, fore
        now = (fore, back, char.bold, char.underscore) if char is not None else None
        if now != look:
            if look is not None and (text.strip() or look[1] != _BACK):
                yield Run(begin, x - begin, text, *look)
            text, begin, look = "", x, now
        text += char.data if char is not None else ""


def _colour(name: str, default: str) -> str:
    return default if name == "default" else _NAMED.get(name, name if len(name) == 6 else default)


def picture(frames: Sequence[list[list[Run]]], columns: int, seconds: float, made_with: str) -> str:
    """An SVG that shows screens one after another, each for ``seconds``."""
    lines = len(frames[0])
    width, height = round(columns * _CELL + 24), lines * _LINE + 24
    total = seconds * len(frames)
    share = 100 / len(frames)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" {_FONT}>',
        f"<desc>{escape(made_with)}</desc>",
        f"<style>g.f{{opacity:0;animation:f {total:g}s step-end infinite}}text{{white-space:pre}}</style>",
        f"<style>@keyframes f{{0%{{opacity:1}}{share:.3f}%{{opacity:0}}}}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#{_BACK}"/>',
    ]
    for number, frame in enumerate(frames):
        out.append(f'<g class="f" style="animation-delay:{number * seconds - total:g}s">')
        for y, line in enumerate(frame):
            for run in line:
                x, base = 12 + run.column * _CELL, 12 + y * _LINE
                if run.back != _BACK:
                    out.append(
                        f'<rect x="{x:.1f}" y="{base}" width="{run.width * _CELL:.1f}" height="{_LINE}" fill="#{run.back}"/>'
                    )
                text = run.text.rstrip()
                if not text:
                    continue
                lead = len(text) - len(text.lstrip())
                cells = run.width - (len(run.text) - len(text)) - lead
                weight = ' font-weight="bold"' if run.bold else ""
                lined = ' text-decoration="underline"' if run.underlined else ""
                out.append(
                    f'<text x="{x + lead * _CELL:.1f}" y="{base + 13}" fill="#{run.fore}"{weight}{lined} '
                    f'textLength="{cells * _CELL:.1f}" lengthAdjust="spacingAndGlyphs">{escape(text.lstrip())}</text>'
                )
        out.append("</g>")
    return "\n".join([*out, "</svg>", ""])
