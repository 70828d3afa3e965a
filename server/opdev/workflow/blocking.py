"""What keeps a move from being made: the failed checks of the gate it passes through.

What nothing on disk proves is told and does not block: the people who move a state on may know it.
"""

from __future__ import annotations

from typing import Any

from opdev.phases.model import Check, Title, both
from opdev.phases.pypto_checks import PyptoEvidence, judged
from opdev.phases.pypto_status import stage_gate
from opdev.pypto.moves import Move
from opdev.pypto.states import phase_number
from opdev.workflow.compat import evidence_at, of_phase

_FILES = Title("part-files", "这一部分的文件在位", "the files of the part are there")
_OWN = frozenset({"phases", "modules-verified"})
"""Checks about the state file itself: the moves have guards of their own for these."""


def blocking(root: str, move: Move, stage: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(checks that fail, checks that nothing proves) of the gate a move passes through."""
    evidence = evidence_at(root)
    checks = [check for check in _checks(evidence, move, stage) if check.id not in _OWN]
    failed = [_told(check) for check in checks if check.state == "failed"]
    return failed, [_told(check) for check in checks if check.state == "unknown"]


def _checks(evidence: PyptoEvidence, move: Move, stage: int) -> list[Check]:
    if move.action == "complete-stage":
        return list(stage_gate(evidence, str(stage)).checks)
    if move.action == "submit-design":
        return list(judged(evidence, "pypto-design"))
    number = phase_number(move.phase or "") if move.phase else move.module
    return list(phase_checks(evidence, number)) if number is not None else []


def phase_checks(evidence: PyptoEvidence, number: int) -> list[Check]:
    """What the rules say of the files of one phase (classic) or module (PyPTO-Pro)."""
    mine = of_phase(evidence, number)
    if not any(f.language == "python" and mine(f) for f in evidence.files.values()):
        text = both(f"modules/ 里没有第 {number} 部分的文件", f"modules/ has no files of part {number}")
        return [_FILES.failed(text, both("先写出它", "write them first"), evidence.at("modules"))]
    return [*judged(evidence, "pypto-impl", "pypto-test", "pypto-golden", only=mine), *judged(evidence, "pypto-memory")]


def _told(check: Check) -> dict[str, Any]:
    place = check.place
    return {
        "id": check.id,
        "title": dict(check.title),
        "detail": dict(check.detail),
        "opens": dict(check.opens),
        "place": {"path": place.path, "line": place.line, "column": place.column} if place is not None else None,
    }
