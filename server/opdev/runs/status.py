"""A run's status file: small, replaced whole, and honest about a runner that died.

``state`` is what the runner wrote last; a reader asks ``now``, which says ``lost`` when the runner that wrote
``running`` is no more.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, cast

from opdev.runs.process import Identity, alive

State = Literal["starting", "running", "passed", "failed", "blocked", "stopped", "lost"]
"""``blocked``: nothing failed, but a gate waits for a person."""
STATES: tuple[State, ...] = ("starting", "running", "passed", "failed", "blocked", "stopped", "lost")
ACTIVE: frozenset[str] = frozenset({"starting", "running"})
NAME = "status.json"


@dataclass(frozen=True, slots=True)
class Status:
    """Times are seconds since 1970; ``phase`` and ``step`` are where the run is, or where it ended."""

    id: str
    state: State
    operator: str
    root: str
    request: str
    executor: str
    backend: str
    started: float
    runner: Identity | None = None
    phase: str | None = None
    step: str | None = None
    ended: float | None = None
    message: str = ""
    n_pes: int | None = None
    resume_of: str | None = None

    @property
    def now(self) -> State:
        """The state, with a dead runner seen."""
        if self.state in ACTIVE and self.runner is not None and alive(self.runner) is False:
            return "lost"
        return self.state

    def changed(self, **values: Any) -> Status:
        return replace(self, **values)


def write(folder: str, status: Status) -> None:
    """Replace the status file; a reader sees the old one or the new one, never a part."""
    data = json.dumps(asdict(status), ensure_ascii=False, indent=1).encode()
    handle, path = tempfile.mkstemp(prefix=".status-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(path, f"{folder}/{NAME}")
    except BaseException:
        if os.path.exists(path):
            os.unlink(path)
        raise


def read(folder: str) -> Status | None:
    """The status of a run; None where there is none that can be read."""
    try:
        with open(f"{folder}/{NAME}", "rb") as stream:
            value = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("state") not in STATES:
        return None
    try:
        who = value.get("runner")
        value["runner"] = Identity(**who) if isinstance(who, dict) else None
        known = {k: v for k, v in value.items() if k in Status.__dataclass_fields__}
        return Status(**cast("dict[str, Any]", known))
    except TypeError:
        return None
