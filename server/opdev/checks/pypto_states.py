"""Where a PyPTO operator stands: its state file, and whether what that says exists does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.pypto_values import choice, json_fault, required, twice, whole
from opdev.contracts.vocabulary import PARTS, STATUSES
from opdev.contracts.workflow import STATE
from opdev.design.nodes import Node
from opdev.facts.pypto_docs import document, operator_names
from opdev.facts.pypto_names import named
from opdev.facts.structured import root_of
from opdev.rules.context import Context
from opdev.rules.model import Hit

_TOP = STATE.top.fields
_MODULES = next(f for f in _TOP if f.key == "stage4_modules").fields
_LAST = 8
_PHASE = re.compile(r"M_?([1-9]\d?)")


def _state(context: Context) -> Node | None:
    root = root_of(context.file)
    return root if root is not None and root.kind == "mapping" else None


def _stages(state: Node) -> int:
    """How many stages the workflow has."""
    node = state.get("max_stage")
    value = node.data() if node is not None else None
    return value if isinstance(value, int) and not isinstance(value, bool) else 7


def _is_classic(state: Node) -> bool:
    return _stages(state) >= 7


def invalid_state(context: Context) -> Iterator[Hit]:
    """A state file the workflow cannot go on from."""
    fault = json_fault(context.data)
    if fault is not None:
        yield fault
        return
    state = _state(context)
    if state is None:
        yield Hit(0, min(1, len(context.data)), "mapping")
        return
    yield from twice(state)
    yield from required(context.data, state, _TOP)
    if state.get("max_stage") is None:
        yield Hit(*_top(state), "old", {}, None, "info")
    yield from _numbers(state)
    status = state.get("stage_status")
    if status is not None and status.kind == "mapping":
        for child in status.children:
            if child.kind == "scalar":
                yield from choice(child, "stage_status", STATUSES, message="status", stage=child.key or "")
            else:
                yield Hit(*child.where, "type", {"key": f"stage_status.{child.key}", "expected": "pending…"})
    elif status is not None:
        yield Hit(*status.where, "type", {"key": "stage_status", "expected": "{}"})
    yield from _phases(state.get("stage5_phases"))
    yield from _modules(context, state)
    for key, kind, expected in (
        ("rollback_history", "sequence", "[]"), ("artifact_hashes", "mapping", "{}"), ("stage_retry_count", "mapping", "{}"),
    ):  # fmt: skip
        node = state.get(key)
        if node is not None and node.kind != kind and node.tag != "null":
            yield Hit(*node.where, "type", {"key": key, "expected": expected})


def _phases(phases: Node | None) -> Iterator[Hit]:
    """The phases of the classic stage 5."""
    if phases is None or phases.tag == "null":
        return
    if phases.kind != "mapping":
        yield Hit(*phases.where, "type", {"key": "stage5_phases", "expected": "{}"})
        return
    entries = phases.get("phase_status")
    if entries is None or entries.kind != "mapping":
        where = entries.where if entries is not None else phases.name_range
        yield Hit(*where, "type", {"key": "phase_status", "expected": "{}"})
        return
    for child in entries.children:
        value = child.get("status") if child.kind == "mapping" else child
        if value is not None and value.kind == "scalar":
            yield from choice(value, "phase_status", PARTS, message="phase", phase=child.key or "")


def _modules(context: Context, state: Node) -> Iterator[Hit]:
    """The modules of PyPTO-Pro's stage 4: as many as are counted, each with a status."""
    path, ledger = state.get("stage4_path"), state.get("stage4_modules")
    if path is not None and path.tag != "null":
        yield from choice(path, "stage4_path", ("L0", "L1"))
    if ledger is None or ledger.tag == "null":
        if path is not None and path.value == "L1":
            yield Hit(*path.where, "no-ledger")
        return
    if ledger.kind != "mapping":
        yield Hit(*ledger.where, "type", {"key": "stage4_modules", "expected": "{}"})
        return
    yield from required(context.data, ledger, _MODULES)
    count, statuses = ledger.get("module_count"), ledger.get("module_status")
    number = whole(count)
    if count is not None and (number is None or number < 1):
        yield Hit(*count.where, "count", {"value": count.text[:40]})
    if statuses is not None and statuses.kind != "mapping":
        yield Hit(*statuses.where, "type", {"key": "module_status", "expected": "{}"})
        return
    known = [child.key or "" for child in statuses.children] if statuses is not None else []
    for child in statuses.children if statuses is not None else ():
        yield from choice(child, "module_status", PARTS, message="phase", phase=f"module {child.key}")
    wanted = [str(n) for n in range(1, min(number, 99) + 1)] if number is not None and number > 0 else known
    if statuses is not None and sorted(known) != sorted(wanted):
        yield Hit(*statuses.name_range, "ledger", {"given": ", ".join(known) or "—", "count": len(wanted)})


def _top(state: Node) -> tuple[int, int]:
    """The state's first key: what to show where another is missing."""
    return state.children[0].name_range if state.children else (state.start, state.start + 1)


def _numbers(state: Node) -> Iterator[Hit]:
    stage = state.get("current_stage")
    if stage is None:
        return
    value = stage.data()
    limit = max(_stages(state), 1)
    if (
        not isinstance(value, int)
        or isinstance(value, bool)
        or not 0 <= value <= max(limit, _LAST if limit >= 7 else limit)
    ):
        yield Hit(*stage.where, "stage", {"value": stage.text, "limit": limit})


def skipped_stage(context: Context) -> Iterator[Hit]:
    """A stage left behind unfinished."""
    state = _state(context)
    stage = state.get("current_stage") if state is not None else None
    status = state.get("stage_status") if state is not None else None
    current = stage.data() if stage is not None else None
    if not isinstance(current, int) or status is None or status.kind != "mapping":
        return
    for child in status.children:
        number = child.key or ""
        if number.isdecimal() and int(number) < current and child.text not in ("completed", "skipped"):
            yield Hit(*child.where, "default", {"stage": number, "status": child.text, "current": current})


def missing_deliverable(context: Context) -> Iterator[Hit]:
    """What stage 5 delivers and is not there."""
    state = _state(context)
    stage = state.get("current_stage") if state is not None else None
    if state is None or stage is None or context.project is None or not _is_classic(state):
        return
    current = stage.data()
    if not isinstance(current, int) or current < 5 or (current == 5 and not _is_done(state, "5")):
        return
    names = operator_names(context.project)
    name = names[0] if names else context.project.name
    have = {"impl": "pypto-impl", "test": "pypto-test"}
    parts = {
        part: any(
            (n := named(f.path)) is not None and n.part == part and not n.suffix for f in context.project.files(kind)
        )
        for part, kind in have.items()
    }
    parts["readme"] = any(True for _ in context.project.files("readme"))
    wanted = {"impl": f"{name}_impl.py", "test": f"test_{name}.py", "readme": "README.md"}
    missing = [wanted[part] for part, there in parts.items() if not there]
    if missing:
        yield Hit(
            *stage.where, "default", {"files": "、".join(missing), "files_en": ", ".join(missing), "stage": current}
        )


def _is_done(state: Node, stage: str) -> bool:
    status = state.get("stage_status")
    node = status.get(stage) if status is not None else None
    return node is not None and node.text == "completed"


def missing_phase_files(context: Context) -> Iterator[Hit]:
    """The active phase's module, golden or test is not there."""
    state = _state(context)
    phases = state.get("stage5_phases") if state is not None else None
    active = phases.get("active_phase") if phases is not None else None
    if state is None or active is None or active.empty or context.project is None or not _is_classic(state):
        return
    match = _PHASE.fullmatch(active.text)
    if match is None:
        yield Hit(*active.where, "phase", {"value": active.text})
        return
    if _module_count(context) == 1:
        return
    suffix = "".join(str(n) for n in range(1, int(match[1]) + 1))
    name = next(iter(operator_names(context.project)), context.project.name)
    wanted = [f"{name}_module{suffix}_impl.py", f"{name}_module{suffix}_golden.py", f"test_{name}_module{suffix}.py"]
    there = {f.path.rpartition("/")[2] for f in context.project.files("pypto-impl", "pypto-golden", "pypto-test")}
    missing = [f"modules/{file}" for file in wanted if file not in there]
    if missing:
        args = {"phase": active.text, "files": "、".join(missing), "files_en": ", ".join(missing)}
        yield Hit(*active.where, "default", args)


def _module_count(context: Context) -> int | None:
    for kind, pattern in (
        ("pypto-memory", rb"module_count\s*[:=]\s*(\d+)"),
        ("pypto-design", rb"Decision[^\n]*module_count\s*=\s*(\d+)"),
    ):
        file = document(context.project, kind)
        found = re.search(pattern, file.data) if file is not None else None
        if found is not None:
            return int(found[1])
    return None
