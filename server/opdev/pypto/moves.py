"""The moves of the workflow as pure functions: a state in, a new state out, or ``RefusedError`` with the reason.

Both generations share the stages; the classic one has phases (``M1``…) in stage 5, PyPTO-Pro modules in stage 4
(see ``parts``).  A move never looks at a disk: what a stage must have produced is the gates' business.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from opdev.pypto import parts
from opdev.pypto.states import (
    DONE,
    OPEN,
    STAGES,
    RefusedError,
    State,
    Workflow,
    current,
    integer,
    last_stage,
    mapping,
    repaired,
    retries,
    running,
    status,
    workflow,
)

OWNERS: Mapping[str, int] = {
    "spec_md": 1, "api_report_md": 1, "golden_py": 2, "design_md": 3, "module_interfaces_yaml": 4,
}  # fmt: skip
"""The stage that makes what a recorded hash belongs to."""
_SCHEMA: Mapping[Workflow, str] = {"classic": "2.0", "pro": "2.2", "pro4": "2.0"}


@dataclass(frozen=True, slots=True)
class Move:
    """What is asked for: an action and what it is given; what an action does not use is left out."""

    action: str
    stage: int | None = None
    phase: str | None = None
    module: int | None = None
    reason: str = ""
    category: str | None = None
    boundary: str | None = None
    error: str | None = None
    name: str = ""
    hash: str = ""
    fusion: bool | None = None
    modules: int | None = None
    workflow: Workflow | None = None
    operator: str = ""
    again: bool = False
    now: str = field(default_factory=lambda: dt.datetime.now(dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))


def applied(state: State | None, move: Move) -> State:
    """The state after a move; the one given is not touched.  Raises RefusedError."""
    if move.action == "init":
        made = _init(state, move)
    else:
        if state is None:
            raise RefusedError(
                "no-state",
                "还没有状态文件：先 opdev state init",
                "there is no state file yet: `opdev state init` makes one",
            )
        known = actions(workflow(state))
        act = known.get(move.action)
        if act is None:
            raise RefusedError(
                "no-action",
                f"{NAMES[workflow(state)]['zh']}流程没有 {move.action}：可用的有 {'、'.join(('init', *known))}",
                f"the {NAMES[workflow(state)]['en']} workflow has no {move.action}: there are {', '.join(('init', *known))}",
            )
        made = repaired(state)
        current(made)
        act(made, move)
    made["last_updated"] = move.now
    return made


NAMES: Mapping[Workflow, Mapping[str, str]] = {
    "classic": {"zh": "经典 7 阶段", "en": "classic seven-stage"},
    "pro": {"zh": "PyPTO-Pro 5 阶段", "en": "PyPTO-Pro five-stage"},
    "pro4": {"zh": "PyPTO-Pro 4 阶段", "en": "PyPTO-Pro four-stage"},
}


def actions(kind: Workflow) -> dict[str, Callable[[State, Move], None]]:
    """What a workflow can be asked to do, ``init`` apart."""
    common: dict[str, Callable[[State, Move], None]] = {
        "start-stage": _start, "complete-stage": _complete, "fail-stage": _fail,
        "record-hash": _record, "rollback": _rollback,
    }  # fmt: skip
    if kind == "classic":
        return {**common, "submit-design": _submit_design, **{n: _in_five(f) for n, f in parts.PHASES.items()}}
    return {**common, "plan-modules": _plan, **{n: _in_four(f) for n, f in parts.MODULES.items()}}


def allowed(state: State, stage_only: bool = False) -> list[str]:
    """The actions that may be taken now, those that need nothing but a stage; for people who ask what comes next."""
    found = []
    for action in actions(workflow(state)):
        if action in ("record-hash", "rollback") or (stage_only and "stage" not in action):
            continue
        for stage in range(1, last_stage(state) + 1):
            try:
                applied(state, Move(action, stage=stage, fusion=False))
            except RefusedError:
                continue
            found.append(f"{action} {stage}" if action.endswith("-stage") else action)
            if not action.endswith("-stage"):
                break
    return found


def _init(state: State | None, move: Move) -> State:
    if move.stage not in (None, 1):
        raise RefusedError("not-first", "只能从第 1 阶段开始", "a workflow begins with stage 1")
    if state is not None:
        busy = running(state)
        if busy:
            raise RefusedError(
                "running",
                f"第 {_list(busy, '、')} 阶段正在进行：init 会清掉记录。先完成它，或记为失败（fail-stage）",
                f"stage {_list(busy, ', ')} is in progress and init would clear the record: complete it, or fail it first",
            )
        had = workflow(state)
        if move.workflow not in (None, had):
            raise RefusedError(
                "other-workflow",
                f"已有的状态文件是{NAMES[had]['zh']}流程；要换流程，先把它移走",
                f"the state file is of the {NAMES[had]['en']} workflow: move it away to begin another",
            )
        done = [
            int(k)
            for k, v in mapping(state, "stage_status").items()
            if isinstance(v, str) and v in DONE and k.isascii() and k.isdigit()
        ]
        if done and not move.again:
            raise RefusedError(
                "has-progress",
                f"已有 {len(done)} 个阶段完成，重新开始会清掉这些记录：确实要，加 --again；只退几步用 rollback",
                f"{len(done)} stages are completed and would be cleared: --again if that is meant; rollback goes back a few",
            )
    kind = workflow(state) if state is not None else move.workflow or "classic"
    made: State = dict(state or {})
    last = last_stage(state) if state is not None else STAGES[kind]
    made["operator_name"] = made.get("operator_name") or move.operator
    made["schema_version"] = made.get("schema_version") or _SCHEMA[kind]
    made["max_stage"] = last
    made["current_stage"] = 1
    made["stage_status"] = {str(n): "in_progress" if n == 1 else "pending" for n in range(1, last + 1)}
    made["stage_retry_count"] = {str(n): 0 for n in range(1, last + 1)}
    made["artifact_hashes"] = {}
    made["rollback_history"] = []
    for key in ("stage5_phases", "stage4_path", "stage4_modules"):
        made.pop(key, None)
    return made


def _list(numbers: list[int], comma: str) -> str:
    return comma.join(map(str, numbers))


def _stage(state: State, move: Move) -> int:
    """The stage a move names; the current one where it names none."""
    stage = move.stage if move.stage is not None else current(state)
    if not 1 <= stage <= last_stage(state):
        raise RefusedError(
            "no-stage",
            f"没有第 {stage} 阶段：有 1 到 {last_stage(state)}",
            f"there is no stage {stage}: they are 1 to {last_stage(state)}",
        )
    return stage


def _start(state: State, move: Move) -> None:
    stage = _stage(state, move)
    others = [n for n in running(state) if n != stage]
    if others:
        raise RefusedError(
            "running",
            f"第 {_list(others, '、')} 阶段还在进行：先完成它，或记为失败",
            f"stage {_list(others, ', ')} is in progress: complete it, or fail it, first",
        )
    if status(state, stage) in DONE:
        raise RefusedError(
            "completed",
            f"第 {stage} 阶段已经完成：要重做用 rollback {stage}",
            f"stage {stage} is completed: `rollback {stage}` does it again",
        )
    if stage > 1 and status(state, stage - 1) not in DONE:
        before = status(state, stage - 1)
        raise RefusedError(
            "too-early",
            f"第 {stage - 1} 阶段是 {before}：阶段只能依次前进，先完成它",
            f"stage {stage - 1} is {before}: stages go one by one, complete it first",
        )
    state["stage_status"][str(stage)] = "in_progress"
    state["current_stage"] = stage


def _current(state: State, move: Move, what: tuple[str, str]) -> int:
    """The stage of a move that may only be about the stage in progress."""
    stage, now = _stage(state, move), current(state)
    if stage != now:
        raise RefusedError(
            "not-current",
            f"当前是第 {now} 阶段，不能{what[0]}第 {stage} 阶段",
            f"the current stage is {now}: stage {stage} cannot be {what[1]}",
        )
    if status(state, stage) != "in_progress":
        raise RefusedError(
            "not-running",
            f"第 {stage} 阶段是 {status(state, stage)}，不在进行中：先 start-stage {stage}",
            f"stage {stage} is {status(state, stage)}, not in progress: `start-stage {stage}` first",
        )
    return stage


def _complete(state: State, move: Move) -> None:
    stage = _current(state, move, ("完成", "completed"))
    if workflow(state) == "classic" and stage == 5:
        parts.require_phases(state)
    if workflow(state) == "pro" and stage == 4:
        parts.require_modules(state)
    state["stage_status"][str(stage)] = "completed"
    if stage < last_stage(state):
        state["stage_status"][str(stage + 1)] = "in_progress"
        state["current_stage"] = stage + 1


def _fail(state: State, move: Move) -> None:
    stage = _current(state, move, ("判失败", "failed"))
    state["stage_retry_count"][str(stage)] = retries(state, stage) + 1
    state["stage_status"][str(stage)] = "failed"


def _submit_design(state: State, move: Move) -> None:
    stage = _stage(state, move)
    if stage != 4 or status(state, 4) != "in_progress":
        raise RefusedError(
            "not-current",
            f"设计在第 4 阶段进行时提交；现在第 4 阶段是 {status(state, 4)}",
            f"a design is submitted while stage 4 is in progress; it is {status(state, 4)}",
        )


def _record(state: State, move: Move) -> None:
    if not move.name.strip() or not move.hash.strip():
        raise RefusedError("empty", "名称和哈希都不能为空", "a hash needs a name and a value")
    hashes = dict(mapping(state, "artifact_hashes"))
    hashes[move.name.strip()] = move.hash.strip()
    state["artifact_hashes"] = hashes


def _rollback(state: State, move: Move) -> None:
    target, now = _stage(state, move), current(state)
    if move.stage is None or target >= now:
        raise RefusedError(
            "not-back",
            f"只能退到当前阶段（{now}）之前的阶段",
            f"a rollback goes to a stage before the current one ({now})",
        )
    if not move.reason.strip():
        raise RefusedError("no-reason", "要说明原因（--reason）", "say why (--reason)")
    history = state.get("rollback_history")
    if history is not None and not isinstance(history, list):
        from opdev.pypto.states import damaged

        raise damaged("rollback_history", "list")
    entry: dict[str, Any] = {"from_stage": now}
    phase = move.phase or (parts.active(state) if workflow(state) == "classic" else None)
    if phase:
        entry["from_phase"] = phase
    entry |= {"to_stage": target, "reason": move.reason.strip()}
    if move.category:
        entry["failure_category"] = move.category
    for number in range(target + 1, last_stage(state) + 1):
        state["stage_status"][str(number)] = "pending"
    state["stage_status"][str(target)] = "in_progress"
    state["stage_retry_count"][str(target)] = retries(state, target) + 1
    state["current_stage"] = target
    parts.emptied(state, target)
    hashes = mapping(state, "artifact_hashes")
    state["artifact_hashes"] = {k: v for k, v in hashes.items() if OWNERS.get(k, 0) <= target}
    state["rollback_history"] = [*(history or []), {**entry, "timestamp": move.now}]


def _plan(state: State, move: Move) -> None:
    if current(state) != 4:
        raise RefusedError(
            "not-current",
            f"第 4 阶段才拆分模块；现在是第 {current(state)} 阶段",
            f"modules are planned in stage 4; the current stage is {current(state)}",
        )
    if move.fusion is None:
        raise RefusedError(
            "no-path",
            "用 --fusion N（L1，N 个模块）或 --single（L0）说明路径",
            "say --fusion N (L1, N modules) or --single (L0)",
        )
    if move.fusion and integer(move.modules, 1) is None:
        raise RefusedError("no-modules", "融合算子至少有 1 个模块", "a fused operator has at least one module")
    parts.planned(state, move.modules if move.fusion else None)


def _in_five(act: Callable[[State, str, Mapping[str, Any]], None]) -> Callable[[State, Move], None]:
    def run(state: State, move: Move) -> None:
        if move.stage not in (None, 5) or status(state, 5) != "in_progress":
            raise RefusedError(
                "not-current",
                f"各个 M_k 在第 5 阶段进行；现在第 5 阶段是 {status(state, 5)}",
                f"phases M_k belong to stage 5, which is {status(state, 5)}",
            )
        if not move.phase:
            raise RefusedError("no-phase", "说明是哪个 M_k，如 M1", "say which phase, like M1")
        act(state, move.phase, _told(move))

    return run


def _in_four(act: Callable[[State, int, Mapping[str, Any]], None]) -> Callable[[State, Move], None]:
    def run(state: State, move: Move) -> None:
        if move.stage not in (None, 4) or status(state, 4) != "in_progress":
            raise RefusedError(
                "not-current",
                f"各模块在第 4 阶段进行；现在第 4 阶段是 {status(state, 4)}",
                f"modules belong to stage 4, which is {status(state, 4)}",
            )
        if move.module is None:
            raise RefusedError("no-module", "说明是第几个模块", "say which module")
        act(state, move.module, _told(move))

    return run


def _told(move: Move) -> Mapping[str, Any]:
    return {"category": move.category, "boundary": move.boundary, "error": move.error, "now": move.now}


__all__ = ["NAMES", "OPEN", "OWNERS", "Move", "actions", "allowed", "applied"]
