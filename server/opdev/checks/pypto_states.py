"""Where a PyPTO operator stands: its state file, and whether what that says exists does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.design.nodes import Node
from opdev.facts.pypto_docs import document, operator_names
from opdev.facts.pypto_names import named
from opdev.facts.structured import root_of
from opdev.rules.context import Context
from opdev.rules.model import Hit

_STATUSES = frozenset({"pending", "in_progress", "completed", "failed", "not_started", "blocked", "skipped"})
_PHASES = frozenset({"pending", "in_progress", "awaiting_verify", "in_debug", "verified", "blocked", "not_started"})
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
    import json

    try:
        json.loads(context.data)
    except ValueError as error:
        at = getattr(error, "pos", 0)
        at = len(context.data.decode("utf-8", "replace")[:at].encode())
        at = min(at, max(len(context.data) - 1, 0))
        yield Hit(at, min(at + 1, len(context.data)), "json", {"detail": getattr(error, "msg", str(error))})
        return
    state = _state(context)
    if state is None:
        yield Hit(0, min(1, len(context.data)), "mapping")
        return
    for key in ("operator_name", "current_stage", "stage_status"):
        if state.get(key) is None:
            yield Hit(*_top(state), "missing", {"key": key})
    if state.get("max_stage") is None:
        yield Hit(*_top(state), "old", {}, None, "info")
    yield from _numbers(state)
    status = state.get("stage_status")
    if status is not None and status.kind == "mapping":
        for child in status.children:
            if child.kind == "scalar" and child.text not in _STATUSES:
                yield Hit(*child.where, "status", {"value": child.text, "stage": child.key or ""})
    elif status is not None:
        yield Hit(*status.where, "type", {"key": "stage_status", "expected": "{}"})
    phases = state.get("stage5_phases")
    if phases is not None and phases.kind != "mapping" and phases.tag != "null":
        yield Hit(*phases.where, "type", {"key": "stage5_phases", "expected": "{}"})
    elif phases is not None and phases.kind == "mapping":
        entries = phases.get("phase_status")
        if entries is None or entries.kind != "mapping":
            yield Hit(
                *(entries.where if entries is not None else phases.name_range),
                "type",
                {"key": "phase_status", "expected": "{}"},
            )
        else:
            for child in entries.children:
                value = child.get("status") if child.kind == "mapping" else child
                if value is not None and value.kind == "scalar" and value.text not in _PHASES:
                    yield Hit(*value.where, "phase", {"value": value.text, "phase": child.key or ""})
    for key, kind, expected in (("rollback_history", "sequence", "[]"), ("artifact_hashes", "mapping", "{}")):
        node = state.get(key)
        if node is not None and node.kind != kind and node.tag != "null":
            yield Hit(*node.where, "type", {"key": key, "expected": expected})


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
        if number.isdigit() and int(number) < current and child.text not in ("completed", "skipped"):
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
