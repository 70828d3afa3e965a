"""The parts a kernel is developed in: phases ``M1``… of the classic stage 5, modules of PyPTO-Pro's stage 4.

Every part goes pending, in_progress, awaiting_verify, verified; one that fails is in_debug, and blocked after ten
failures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from opdev.pypto.states import (
    MOST_CYCLES,
    OPEN,
    PARTS,
    RefusedError,
    State,
    damaged,
    integer,
    mapping,
    modules,
    phase_number,
    phases,
)

_Told = Mapping[str, Any]
_WORKING = frozenset({"in_progress", "in_debug"})
_STARTED = _WORKING | {"awaiting_verify"}


def active(state: State) -> str | None:
    """The phase that is worked on; None for none."""
    value = mapping(state, "stage5_phases").get("active_phase")
    return value if isinstance(value, str) and value else None


@dataclass(frozen=True, slots=True)
class _Step:
    """A move of a part: the statuses it starts from, the one it leads to, what to do where it is in another."""

    begins: frozenset[str]
    to: str
    todo: tuple[str, str]

    def check(self, what: Sequence[str], status: str) -> None:
        if status not in self.begins:
            zh, en = (text.format(*what) for text in self.todo)
            raise RefusedError("wrong-status", f"{what[0]} 是 {status}：{zh}", f"{what[1]} is {status}: {en}")


_IDLE = ("只有在做的才能验收", "only what is worked on can be verified")
_PHASE_STEPS: Mapping[str, _Step] = {
    "start": _Step(PARTS - {"verified", "blocked"}, "in_progress", ("已验收的不用再做；受阻的要回退到更早的阶段（rollback）重新设计", "what is verified is done, and for what is blocked roll back and design it anew")),
    "submit": _Step(_WORKING, "awaiting_verify", ("先 start-phase {0}", "`start-phase {1}` first")),
    "complete": _Step(_STARTED, "verified", _IDLE),
    "fail": _Step(_STARTED, "in_debug", ("没有在做，谈不上失败", "what is not worked on cannot fail")),
}  # fmt: skip
_MODULE_STEPS: Mapping[str, _Step] = {
    "start": _Step(OPEN | {"blocked"}, "in_progress", ("只有没开始的或受阻的才能开始", "only one that is pending or blocked starts")),
    "submit": _Step(_WORKING, "awaiting_verify", ("先 start-module {2}", "`start-module {2}` first")),
    "complete": _Step(_STARTED, "verified", _IDLE),
    "fail": _Step(PARTS - {"verified"}, "in_debug", ("已经验收", "it is accepted")),
}  # fmt: skip


def _phase(state: State, name: str) -> tuple[str, dict[str, Any] | None]:
    """A phase's name as the file spells it, and its entry; None for one that was never begun."""
    number = phase_number(name)
    if number is None:
        raise RefusedError(
            "no-phase",
            f"{name} 不是 M_k：写成 M1、M2……",
            f"{name} is no phase: they are M1, M2…",
        )
    for spelt, entry in phases(state).items():
        if phase_number(spelt) == number:
            return spelt, entry
    return f"M{number}", None


def _put(state: State, name: str, entry: dict[str, Any], *, make_active: bool = True) -> None:
    block = dict(mapping(state, "stage5_phases"))
    block["phase_status"] = {**mapping(block, "phase_status"), name: entry}
    block["active_phase"] = name if make_active else block.get("active_phase")
    block.setdefault("max_cycles_per_phase", MOST_CYCLES)
    state["stage5_phases"] = block


def _move_phase(action: str, state: State, name: str, told: _Told) -> None:
    step = _PHASE_STEPS[action]
    name, entry = _phase(state, name)
    busy = [n for n, e in phases(state).items() if n != name and e.get("status") == "in_progress"]
    if action == "start" and busy:
        raise RefusedError(
            "running",
            f"{'、'.join(busy)} 还在进行：先提交验证或完成它",
            f"{', '.join(busy)} is in progress: submit or complete it first",
        )
    step.check((name, name), str((entry or {}).get("status", "pending")))
    made = {**(entry or {}), "status": step.to}
    was = active(state)
    if action == "start":
        made["cycles"] = integer(made.get("cycles")) or 0
    elif action == "complete":
        made["verified_at"] = told["now"]
    elif action == "fail":
        made["cycles"] = cycles = (integer(made.get("cycles")) or 0) + 1
        made["status"] = _failed(cycles, mapping(state, "stage5_phases").get("max_cycles_per_phase"))
        if told["category"]:
            made["failure_category"] = told["category"]
        made["failing_module_boundary"] = told["boundary"]
        if told["error"]:
            made["last_error"] = told["error"]
    _put(state, name, made, make_active=action != "complete")
    if action == "complete" and was == name:
        state["stage5_phases"]["active_phase"] = None


def _failed(cycles: int, limit: object) -> str:
    """What a part that failed so often is now."""
    return "blocked" if cycles >= (integer(limit, 1) or MOST_CYCLES) else "in_debug"


def require_phases(state: State) -> None:
    """Stage 5 is completed when every phase it knows is verified."""
    left = [
        f"{name}（{e.get('status', 'pending')}）" for name, e in phases(state).items() if e.get("status") != "verified"
    ]
    if left:
        raise RefusedError(
            "phases-open",
            f"还有没验收的：{'、'.join(left)}",
            f"not verified yet: {', '.join(left).replace('（', ' (').replace('）', ')')}",
        )


def planned(state: State, count: int | None) -> None:
    """L1 with so many modules, all pending; L0 without any for None."""
    if count is None:
        state["stage4_path"] = "L0"
        state.pop("stage4_modules", None)
        return
    state["stage4_path"] = "L1"
    state["stage4_modules"] = {
        "module_count": count,
        "max_cycles_per_module": MOST_CYCLES,
        "module_status": {str(n): "pending" for n in range(1, count + 1)},
        "module_retry_count": {str(n): 0 for n in range(1, count + 1)},
        "modules_verified": [],
        "active_module": None,
    }


def _module(state: State, number: int) -> tuple[dict[str, Any], str]:
    """The ledger of modules, copied, and the status of one; RefusedError for one there is none of."""
    ledger = dict(mapping(state, "stage4_modules"))
    count = integer(ledger.get("module_count"), 1)
    if state.get("stage4_path") != "L1" or count is None:
        raise RefusedError(
            "no-plan",
            "还没有拆分模块：先 plan-modules --fusion N",
            "no modules are planned: `plan-modules --fusion N` first",
        )
    if not 1 <= number <= count:
        raise RefusedError(
            "no-module", f"没有模块 {number}：有 1 到 {count}", f"there is no module {number}: they are 1 to {count}"
        )
    return ledger, modules(state).get(str(number), "pending")


def _set(state: State, ledger: dict[str, Any], number: int, status: str) -> None:
    ledger["module_status"] = {**mapping(ledger, "module_status"), str(number): status}
    ledger["active_module"] = None if status == "verified" else number
    done = ledger.get("modules_verified")
    verified = [n for n in done if n != number] if isinstance(done, list) else []
    ledger["modules_verified"] = [*verified, number] if status == "verified" else verified
    state["stage4_modules"] = ledger


def _move_module(action: str, state: State, number: int, told: _Told) -> None:
    step = _MODULE_STEPS[action]
    ledger, status = _module(state, number)
    step.check((f"模块 {number}", f"module {number}", str(number)), status)
    status = step.to
    if action == "fail":
        counts = dict(mapping(ledger, "module_retry_count"))
        counts[str(number)] = cycles = (integer(counts.get(str(number))) or 0) + 1
        ledger["module_retry_count"] = counts
        for key, given in (("last_error", told["error"]), ("failure_category", told["category"])):
            if given:
                ledger[key] = given
        status = _failed(cycles, ledger.get("max_cycles_per_module"))
    _set(state, ledger, number, status)


def require_modules(state: State) -> None:
    """Stage 4 is completed on L0, or when every module of L1 is verified; a ledger edited by hand does not count."""
    if state.get("stage4_path") != "L1":
        if state.get("stage4_path") not in (None, "L0"):
            raise RefusedError("damaged", "stage4_path 应是 L0 或 L1", "stage4_path is to be L0 or L1")
        return
    ledger = mapping(state, "stage4_modules")
    count = integer(ledger.get("module_count"), 1)
    if count is None or count > 10_000:
        raise damaged("stage4_modules.module_count", "count")
    known = modules(state)
    left = [str(n) for n in range(1, count + 1) if known.get(str(n)) != "verified"]
    if left:
        raise RefusedError(
            "modules-open",
            f"还有没验收的模块：{'、'.join(left)}",
            f"modules not verified yet: {', '.join(left)}",
        )


def emptied(state: State, target: int) -> None:
    """After a rollback: what was made of parts in stages that are open again is forgotten."""
    if target < 5 and isinstance(state.get("stage5_phases"), dict):
        state["stage5_phases"] = {**state["stage5_phases"], "active_phase": None, "phase_status": {}}
    if target < 4:
        for key in ("stage4_path", "stage4_modules"):
            state.pop(key, None)


PHASES: Mapping[str, Callable[[State, str, _Told], None]] = {
    f"{action}-phase": partial(_move_phase, action) for action in _PHASE_STEPS
}
MODULES: Mapping[str, Callable[[State, int, _Told], None]] = {
    f"{action}-module": partial(_move_module, action) for action in _MODULE_STEPS
}
