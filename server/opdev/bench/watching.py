"""The state of a batch as whoever watches it may believe it: a dead batch does not run, and a damaged file is not the end."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from opdev.bench.model import BenchError
from opdev.bench.monitor import INTERRUPTED, PREFLIGHT, RUNNING, STOPPED, dev_status, status_word
from opdev.bench.records import LARGEST, text_of
from opdev.bench.texts import both
from opdev.keeping.keeper import stat_of
from opdev.runs.process import Identity, alive

_TRIES, _PAUSE = 4, 0.15
_STALE = 60.0
"""Seconds after which a state without a start time is believed to be that of a process that is gone."""


class Watched:
    """The state file of the batch at ``root`` (or that file itself); what it said last is kept."""

    def __init__(self, root: str) -> None:
        root = os.path.abspath(root)
        tries = (root, f"{root}/state/state.json", f"{root}/state.json", f"{os.path.dirname(root)}/state/state.json")
        self.path = next((path for path in tries if os.path.isfile(path)), "")
        if not self.path:
            raise BenchError("r-no-state", path=root)
        self._last: dict[str, Any] | None = None

    def now(self) -> dict[str, Any]:
        """The state now; with a ``monitor_note`` where it could not be read, and ``main_status`` interrupted where it is dead.

        BenchError as long as it could never be read.
        """
        note: Mapping[str, str] | None = None
        for left in range(_TRIES if self._last is None else 1, 0, -1):
            try:
                self._last = _read(self.path)
                break
            except FileNotFoundError as error:
                note = both("r-m-gone")
                if self._last is None and left == 1:
                    raise BenchError("r-no-state", path=self.path) from error
            except (BenchError, OSError) as error:
                why = error.values.get("why", "?") if isinstance(error, BenchError) else error.strerror
                note = both("r-m-stale", why=why)
                if self._last is None and left == 1:
                    raise
            if self._last is None:
                time.sleep(_PAUSE)
        state = dict(self._last or {})
        if note is not None:
            state["monitor_note"] = note
        return _seen(state)


def told(state: Mapping[str, Any], now: float) -> dict[str, Any]:
    """The same for programs: every operator's ``dev_status`` as it is now."""
    limit = state.get("timeout_sec")
    timeout = float(limit) if isinstance(limit, (int, float)) and abs(limit) < LARGEST else 0.0
    dead = state.get("main_status") in STOPPED
    operators = [
        {**one, "dev_status": status_word(dev_status(one, now, timeout, dead=dead), "zh")}
        for one in _operators(state)
        if isinstance(one, dict)
    ]
    return {**state, "operators": operators}


def _read(path: str) -> dict[str, Any]:
    text = text_of(path)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise BenchError("r-damaged", path=path, line=error.lineno, column=error.colno, why=error.msg) from error
    except (ValueError, RecursionError) as error:
        raise BenchError("r-damaged", path=path, line=1, column=1, why=str(error).partition("\n")[0]) from error
    if not isinstance(value, dict) or len(text) > LARGEST:
        raise BenchError("r-damaged", path=path, line=1, column=1, why=f"{type(value).__name__}, not an object")
    return value


def _seen(state: dict[str, Any]) -> dict[str, Any]:
    """With what only this machine knows: whether the batch's process still is."""
    if state.get("main_status") not in (RUNNING, PREFLIGHT):
        return state
    lives = _lives(state)
    if lives is False:
        state["main_status"] = INTERRUPTED
    elif lives is None and isinstance(who := state.get("main_identity"), dict):
        state.setdefault("monitor_note", both("r-m-elsewhere", host=who.get("host", "?")))
    return state


def _lives(state: Mapping[str, Any]) -> bool | None:
    who = state.get("main_identity")
    if isinstance(who, dict):
        try:
            return alive(Identity(**who))
        except TypeError:
            return None
    # The field's own benchmark writes a number alone: one that is gone, in a file that nobody writes any more, is dead.
    pid = state.get("main_pid")
    if not isinstance(pid, int) or stat_of(pid) is not None:
        return None
    try:
        age = time.time() - datetime.fromisoformat(str(state.get("updated_at"))).timestamp()
    except (ValueError, OverflowError):
        return None
    return False if age > _STALE else None


def _operators(state: Mapping[str, Any]) -> list[Any]:
    found = state.get("operators")
    return found if isinstance(found, list) else []
