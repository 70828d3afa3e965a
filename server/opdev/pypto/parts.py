"""The parts a kernel is developed in: phases ``M1``… of the classic stage 5, modules of PyPTO-Pro's stage 4.

Every part goes pending, in_progress, awaiting_verify, verified; one that fails is in_debug, and blocked after ten
failures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from opdev.pypto.states import (
    MOST_CYCLES,
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


def _wrong(what: tuple[str, str], status: str, todo: tuple[str, str]) -> RefusedError:
    return RefusedError(
        "wrong-status",
        f"{what[0]} 是 {status}：{todo[0]}",
        f"{what[1]} is {status}: {todo[1]}",
    )


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


def _start_phase(state: State, name: str, _: _Told) -> None:
    name, entry = _phase(state, name)
    busy = [n for n, e in phases(state).items() if n != name and e.get("status") == "in_progress"]
    if busy:
        raise RefusedError(
            "running",
            f"{'、'.join(busy)} 还在进行：先提交验证或完成它",
            f"{', '.join(busy)} is in progress: submit or complete it first",
        )
    status = str((entry or {}).get("status", "pending"))
    if status == "verified":
        raise _wrong((name, name), status, ("已经验收，不用再做", "nothing is left to do"))
    if status == "blocked":
        raise _wrong((name, name), status, ("回退到更早的阶段（rollback）重新设计", "roll back and design it anew"))
    made = {**(entry or {}), "status": "in_progress"}
    made["cycles"] = integer(made.get("cycles")) or 0
    _put(state, name, made)


def _submit_phase(state: State, name: str, _: _Told) -> None:
    name, entry = _phase(state, name)
    status = str((entry or {}).get("status", "pending"))
    if entry is None or status not in _WORKING:
        raise _wrong((name, name), status, (f"先 start-phase {name}", f"`start-phase {name}` first"))
    _put(state, name, {**entry, "status": "awaiting_verify"})


def _complete_phase(state: State, name: str, told: _Told) -> None:
    name, entry = _phase(state, name)
    status = str((entry or {}).get("status", "pending"))
    if entry is None or status not in _STARTED:
        raise _wrong((name, name), status, ("只有在做的才能验收", "only what is worked on can be verified"))
    was = active(state)
    _put(state, name, {**entry, "status": "verified", "verified_at": told["now"]}, make_active=False)
    if was == name:
        state["stage5_phases"]["active_phase"] = None


def _fail_phase(state: State, name: str, told: _Told) -> None:
    name, entry = _phase(state, name)
    status = str((entry or {}).get("status", "pending"))
    if entry is None or status not in _STARTED:
        raise _wrong((name, name), status, ("没有在做，谈不上失败", "what is not worked on cannot fail"))
    cycles = (integer(entry.get("cycles")) or 0) + 1
    limit = integer(mapping(state, "stage5_phases").get("max_cycles_per_phase"), 1) or MOST_CYCLES
    made = {**entry, "status": "blocked" if cycles >= limit else "in_debug", "cycles": cycles}
    if told["category"]:
        made["failure_category"] = told["category"]
    made["failing_module_boundary"] = told["boundary"]
    if told["error"]:
        made["last_error"] = told["error"]
    _put(state, name, made)


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


def _start_module(state: State, number: int, _: _Told) -> None:
    ledger, status = _module(state, number)
    if status not in ("pending", "not_started", "blocked"):
        raise _wrong(
            (f"模块 {number}", f"module {number}"),
            status,
            ("只有没开始的或受阻的才能开始", "only one that is pending or blocked starts"),
        )
    _set(state, ledger, number, "in_progress")


def _submit_module(state: State, number: int, _: _Told) -> None:
    ledger, status = _module(state, number)
    if status not in _WORKING:
        raise _wrong(
            (f"模块 {number}", f"module {number}"),
            status,
            (f"先 start-module {number}", f"`start-module {number}` first"),
        )
    _set(state, ledger, number, "awaiting_verify")


def _complete_module(state: State, number: int, _: _Told) -> None:
    ledger, status = _module(state, number)
    if status not in _STARTED:
        raise _wrong(
            (f"模块 {number}", f"module {number}"),
            status,
            ("只有在做的才能验收", "only what is worked on can be verified"),
        )
    _set(state, ledger, number, "verified")


def _fail_module(state: State, number: int, told: _Told) -> None:
    ledger, status = _module(state, number)
    if status == "verified":
        raise _wrong((f"模块 {number}", f"module {number}"), status, ("已经验收", "it is accepted"))
    counts = dict(mapping(ledger, "module_retry_count"))
    cycles = (integer(counts.get(str(number))) or 0) + 1
    counts[str(number)] = cycles
    ledger["module_retry_count"] = counts
    limit = integer(ledger.get("max_cycles_per_module"), 1) or MOST_CYCLES
    if told["error"]:
        ledger["last_error"] = told["error"]
    if told["category"]:
        ledger["failure_category"] = told["category"]
    _set(state, ledger, number, "blocked" if cycles >= limit else "in_debug")


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
    "start-phase": _start_phase, "submit-phase": _submit_phase, "complete-phase": _complete_phase, "fail-phase": _fail_phase,
}  # fmt: skip
MODULES: Mapping[str, Callable[[State, int, _Told], None]] = {
    "start-module": _start_module, "submit-module": _submit_module,
    "complete-module": _complete_module, "fail-module": _fail_module,
}  # fmt: skip
