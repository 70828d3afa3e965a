"""How long a keystroke takes until it is on the screen, measured inside the page: from the browser's event to the paint."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

# The frame after the event has been painted when a message posted from inside it arrives.
_LISTEN = """() => {
  window.opdevKeys = [];
  if (window.opdevListens) return;
  window.opdevListens = true;
  document.addEventListener('keydown', (event) => {
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.opdevKeys.push(performance.now() - event.timeStamp);
      channel.port2.postMessage(null);
    });
  }, true);
}"""


@dataclass(frozen=True)
class Times:
    """Milliseconds of each keystroke."""

    each: tuple[float, ...]
    busy: float
    """Share of the time in which the browser's pages were computing, in processors."""

    def at(self, share: float) -> float:
        """The time that ``share`` of the keystrokes stayed within."""
        ordered = sorted(self.each)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def __str__(self) -> str:
        return f"{len(self.each)} keystrokes: p50 {self.at(0.5):.0f} ms, p95 {self.at(0.95):.0f} ms, worst {max(self.each):.0f} ms, pages busy {self.busy:.2f}"


def typed(page: Page, text: str, pause: float = 60) -> Times:
    """Type into what has the focus, ``pause`` milliseconds between keys, as a quick typist does."""
    page.evaluate(_LISTEN)
    began, used = time.monotonic(), _computed()
    page.keyboard.type(text, delay=pause)
    page.wait_for_function("(wanted) => window.opdevKeys.length >= wanted", arg=len(text))
    busy = (_computed() - used) / (time.monotonic() - began)
    return Times(tuple(page.evaluate("window.opdevKeys")), busy)


def _computed() -> float:
    """Processor seconds of the pages of browsers that this process started."""
    parents: dict[int, int] = {}
    pages: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit():
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
                if b"--type=renderer" in (entry / "cmdline").read_bytes():
                    pages[int(entry.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return sum(seconds for pid, seconds in pages.items() if _descends(pid, parents))


def _descends(pid: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != os.getpid():
        pid = parents[pid]
    return pid == os.getpid()
