"""Progress of long work in the background, where the client shows it."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from typing import Any

_SOON = 1.0
"""Seconds: shorter work shows nothing."""
_OFTEN = 0.5
_tokens = count(1)


class Progress:
    """One piece of work, on the loop's thread.  Each has a token of its own, ended or not."""

    def __init__(
        self,
        title: str,
        notify: Callable[[str, Any], object],
        ask: Callable[[str, Any], Future[Any]],
        clock: Callable[[], float] = time.monotonic,
        soon: float = _SOON,
    ) -> None:
        """``soon``: seconds until it is shown."""
        self.token = f"opdev-{next(_tokens)}"
        self.cancelled = False
        self._title = title
        self._notify = notify
        self._ask = ask
        self._clock = clock
        self._soon = soon
        self._message: tuple[str, int | None] = ("", None)
        self._began = clock()
        self._said = self._began
        self._asked = self._shown = self._ended = False

    def at(self, message: str, percentage: int | None = None) -> bool:
        """How far it is; the client is told now and then.  Whether it was told this."""
        now = self._clock()
        self._message = (message, percentage)
        if not self._asked and now - self._began >= self._soon:
            self._asked = True
            self._ask("window/workDoneProgress/create", {"token": self.token}).add_done_callback(self._created)
        elif self._shown and now - self._said >= _OFTEN:
            self._said = now
            self._tell({"kind": "report", "message": message, **_percent(percentage)})
            return True
        return False

    def end(self, message: str = "") -> None:
        """It is done, or given up."""
        if self._shown and not self._ended:
            self._tell({"kind": "end", "message": message} if message else {"kind": "end"})
        self._ended = True

    def _created(self, answer: Future[Any]) -> None:
        # The work may be over, or the client may refuse.
        if self._ended or answer.cancelled() or answer.exception() is not None:
            return
        self._shown = True
        self._said = self._clock()
        message, percentage = self._message
        said = {"message": message} if message and self._soon == 0 else {}
        self._tell({"kind": "begin", "title": self._title, "cancellable": True, **said, **_percent(percentage)})

    def _tell(self, value: dict[str, Any]) -> None:
        self._notify("$/progress", {"token": self.token, "value": value})


def _percent(percentage: int | None) -> dict[str, int]:
    return {} if percentage is None else {"percentage": percentage}
