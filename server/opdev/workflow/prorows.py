"""The rows of PyPTO-Pro's existing linter, PL01 to PL16: the stages each counts in, and what it looks at.

They are what that linter asks of a stage, not all that a stage has to show: that is ``opdev gate``'s, which the moves
of the state file go by.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from opdev.workflow.rows import base

LAST = 4
"""The last stage that has a gate of the linter's."""
FILES = "missing-pro-file"
"""The rule for files that are not there goes by the stage of the state file; a gate goes by the stage it is asked for."""
SECOND = "PL08"
"""Only the second generation has module interfaces."""


@dataclass(frozen=True, slots=True)
class ProRow:
    """A row: the stages it counts in, the kinds of files it is found in, and the file it asks for."""

    stages: frozenset[int]
    kinds: frozenset[str] = frozenset()
    file: str = ""


def _row(stages: str, kinds: str = "", file: str = "") -> ProRow:
    return ProRow(frozenset(map(int, stages)), frozenset(kinds.split()), file)


ROWS: Mapping[str, ProRow] = {
    "PL01": _row("4", "pypto-test"), "PL02": _row("4", "pypto-test"), "PL03": _row("1", "pypto-spec", "SPEC.md"),
    "PL04": _row("24", "", "<op>_golden.py"), "PL05": _row("24", "", "<op>_golden_cpu.py"), "PL07": _row("3", "", "DESIGN.md"),
    "PL08": _row("3", "pypto-interfaces", "module_interfaces.yaml"), "PL09": _row("4", "", "test_<op>.py"), "PL10": _row("1234", "pypto-state"),
    "PL11": _row("24", "pypto-golden"), "PL13": _row("4", "pypto-golden"), "PL15": _row("4", "pypto-test"), "PL16": _row("4", "pypto-test"),
}  # fmt: skip


def of_stage(stage: int) -> dict[str, ProRow]:
    """The rows of a stage."""
    return {name: row for name, row in ROWS.items() if stage in row.stages}


def row_of(words: Collection[str], kinds: frozenset[str], rows: Mapping[str, ProRow]) -> str | None:
    """The row that a finding in a file of some kinds belongs to, by the words of its rule; None for none of these."""
    if "OL24" in words and "PL10" in rows:
        # What the classic linter says of a state file holds for PyPTO-Pro's.
        return "PL10"
    return next((base(w) for w in sorted(words) if base(w) in rows and rows[base(w)].kinds & kinds), None)
