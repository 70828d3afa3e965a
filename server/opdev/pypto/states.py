"""What a state file says, however old or damaged it is: workflow, stages, phases and modules.

Real files lack ``max_stage``, have statuses of their own (``not_started``, ``blocked``) and keys nobody documents.
Nothing here changes a state; ``repaired`` gives a copy in which what is missing is filled in.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from opdev.rules.model import Text

State = dict[str, Any]
Workflow = Literal["classic", "pro", "pro4"]
STAGES: Mapping[Workflow, int] = {"classic": 7, "pro": 5, "pro4": 4}
DONE = frozenset({"completed", "skipped"})
OPEN = frozenset({"pending", "not_started"})
STATUSES = DONE | OPEN | {"in_progress", "failed", "blocked"}
PARTS = frozenset({"pending", "not_started", "in_progress", "awaiting_verify", "in_debug", "verified", "blocked"})
MOST_CYCLES = 10
_MOST_STAGES = 99
_PHASE = re.compile(r"M_?([1-9]\d{0,3})")


class RefusedError(ValueError):
    """A move that the workflow does not allow, or a state it cannot be made from; says why and what to do."""

    def __init__(self, code: str, zh: str, en: str) -> None:
        super().__init__(en)
        self.code = code
        """Stable, for programs: ``not-current``, ``damaged``…"""
        self.text: Text = {"zh": zh, "en": en}


def damaged(key: str, wanted: str) -> RefusedError:
    return RefusedError(
        "damaged",
        f"状态文件里 {key} 应是{_KINDS[wanted][0]}：先改正它（opdev-lint 标出位置）",
        f"{key} in the state file is to be {_KINDS[wanted][1]}: mend it first (opdev-lint marks the place)",
    )


_KINDS = {
    "object": ("一个对象 {…}", "an object {…}"),
    "list": ("一个列表 […]", "a list […]"),
    "stage": ("1 到 max_stage 的整数", "an integer from 1 to max_stage"),
    "count": ("大于 0 的整数", "an integer above 0"),
}


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage as it stands: its number from 1, its status (``pending`` where nothing says one), its retries."""

    number: int
    status: str
    retries: int


def integer(value: object, least: int = 0) -> int | None:
    """A whole number of at least ``least``; 3.0 is one (other programs write it so), True and NaN are none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        if not math.isfinite(value) or not value.is_integer():
            return None
        value = int(value)
    return value if isinstance(value, int) and value >= least else None


def mapping(state: State, key: str) -> dict[str, Any]:
    """A part that is an object; empty where it is missing or null.  Raises RefusedError for anything else."""
    value = state.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise damaged(key, "object")
    return value


def workflow(state: State) -> Workflow:
    """Which workflow a state belongs to."""
    limit = integer(state.get("max_stage"), 1)
    if limit is None:
        if "stage4_path" in state or "stage4_modules" in state or state.get("schema_version") == "2.2":
            return "pro"
        return "classic"
    return "pro4" if limit <= 4 else "pro" if limit == 5 else "classic"


def last_stage(state: State) -> int:
    """How many stages there are."""
    limit = integer(state.get("max_stage"), 1)
    return STAGES[workflow(state)] if limit is None else min(limit, _MOST_STAGES)


def current(state: State) -> int:
    """The stage a state is in; RefusedError where it is none."""
    value = integer(state.get("current_stage"), 1)
    if value is None or value > last_stage(state):
        raise damaged("current_stage", "stage")
    return value


def status(state: State, stage: int) -> str:
    """The status of a stage; RefusedError for one that no workflow has."""
    value = mapping(state, "stage_status").get(str(stage), "pending")
    if not isinstance(value, str) or value not in STATUSES:
        raise RefusedError(
            "damaged",
            f"第 {stage} 阶段的状态 {value!r} 不认识：改成 {'、'.join(sorted(STATUSES))} 之一",
            f"the status of stage {stage} is {value!r}, which no workflow has: make it one of {', '.join(sorted(STATUSES))}",
        )
    return value


def retries(state: State, stage: int) -> int:
    return integer(mapping(state, "stage_retry_count").get(str(stage))) or 0


def stages(state: State) -> list[Stage]:
    """Every stage in order."""
    return [Stage(n, status(state, n), retries(state, n)) for n in range(1, last_stage(state) + 1)]


def running(state: State) -> list[int]:
    """The stages that are in progress, also those beyond the last one, which old files have."""
    found = [
        int(k)
        for k, v in mapping(state, "stage_status").items()
        if k.isascii() and k.isdigit() and len(k) < 4 and v == "in_progress"
    ]
    return sorted(found)


def phase_number(text: str) -> int | None:
    """``M1`` and ``M_1`` are 1; None for what is no phase."""
    match = _PHASE.fullmatch(text.strip())
    return int(match[1]) if match else None


def phases(state: State) -> dict[str, dict[str, Any]]:
    """The phases of stage 5 by name, an entry each; a bare status (old files) is an entry of its own."""
    entries = mapping(mapping(state, "stage5_phases"), "phase_status")
    found = {}
    for name, entry in entries.items():
        if isinstance(entry, str):
            entry = {"status": entry}
        if not isinstance(entry, dict):
            raise damaged(f"phase_status.{name}", "object")
        _known_part(f"phase_status.{name}", entry.get("status", "pending"))
        found[name] = entry
    return found


def modules(state: State) -> dict[str, str]:
    """The modules of stage 4 by number with their status, as PyPTO-Pro's L1 path keeps them."""
    found = mapping(mapping(state, "stage4_modules"), "module_status")
    for name, value in found.items():
        _known_part(f"module_status.{name}", value)
    return dict(found)


def _known_part(where: str, value: object) -> None:
    if not isinstance(value, str) or value not in PARTS:
        raise RefusedError(
            "damaged",
            f"{where} 的状态 {value!r} 不认识：改成 {'、'.join(sorted(PARTS))} 之一",
            f"the status of {where} is {value!r}, which no workflow has: make it one of {', '.join(sorted(PARTS))}",
        )


def repaired(state: State) -> State:
    """A copy with every stage's status and retries filled in; PyPTO-Pro's keys beyond the last stage are dropped."""
    made = copy.deepcopy(state)
    last = last_stage(state)
    made["max_stage"] = last
    for key, empty in (("stage_status", "pending"), ("stage_retry_count", 0)):
        kept = mapping(made, key)
        if workflow(state) != "classic":
            kept = {k: v for k, v in kept.items() if not (k.isascii() and k.isdigit()) or 1 <= int(k[:9]) <= last}
        made[key] = {**{str(n): empty for n in range(1, last + 1)}, **kept}
    return made
