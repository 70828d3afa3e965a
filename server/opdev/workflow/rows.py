"""The rows of the existing PyPTO linter: how grave each is, in which stages it counts, what it looks at.

Whoever calls that linter's gate filters by these; the rules that judge are opdev's own (``covers`` names the rows).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """``OL01``: severity S0 to S3, dimension, effort of the fix, its stages, and what it is about."""

    id: str
    severity: str
    dimension: str
    effort: str
    stages: frozenset[int]
    target: str


_TABLE = (
    ("01 07 58", "S0", "D1", "E1", "56", "impl"),
    ("02 03 05 06 08 25 52", "S1", "D1", "E1", "56", "impl"),
    ("04 26 49", "S1", "D1", "E2", "56", "impl"),
    ("09 10", "S1", "D2", "E2", "1", "gate"),
    ("11", "S2", "D2", "E2", "2", "gate"),
    ("12", "S1", "D2", "E2", "34", "gate"),
    ("13 44", "S1", "D2", "E2", "5", "gate"),
    ("14", "S1", "D2", "E1", "6", "gate"),
    ("15", "S1", "D3", "E1", "23456", "golden"),
    ("16", "S1", "D3", "E1", "56", "impl"),
    ("17 18", "S1", "D3", "E1", "56", "test"),
    ("19 20 42", "S1", "D4", "E1", "56", "test"),
    ("21", "S2", "D4", "E2", "56", "test"),
    ("22", "S2", "D4", "E1", "56", "test"),
    ("23 29 46", "S2", "D1", "E1", "56", "impl"),
    ("24", "S1", "D2", "E1", "1234567", "gate"),
    ("28", "S2", "D1", "E2", "56", "impl"),
    ("30 33", "S2", "D5", "E2", "56", "gate"),
    ("31", "S1", "D5", "E1", "56", "gate"),
    ("32 53", "S2", "D5", "E1", "56", "gate"),
    ("34", "S1", "D5", "E2", "56", "gate"),
    ("37", "S3", "D1", "E1", "56", "impl"),
    ("39 40 41 61", "S1", "D2", "E1", "56", "gate"),
    ("43", "S1", "D5", "E3", "56", "gate"),
    ("45 57", "S0", "D1", "E3", "56", "impl"),
    ("47", "S3", "D1", "E2", "56", "impl"),
    ("48", "S0", "D1", "E2", "56", "impl"),
    ("50", "S1", "D5", "E2", "56", "impl"),
    ("51", "S1", "D5", "E2", "567", "impl"),
    ("54", "S1", "D2", "E1", "5", "gate"),
    ("55 56", "S0", "D1", "E1", "456", "impl"),
    ("59", "S1", "D2", "E1", "2", "gate"),
    ("60", "S0", "D4", "E1", "567", "test"),
    ("62", "S0", "D5", "E3", "567", "impl"),
)
ROWS: dict[str, Row] = {
    f"OL{number}": Row(f"OL{number}", severity, dimension, effort, frozenset(map(int, stages)), target)
    for numbers, severity, dimension, effort, stages, target in _TABLE
    for number in numbers.split()
}
_CODE = "01 02 03 04 05 06 07 08 16 23 25 26 28 29 37 48 49 55 56 57 58 61 62"
GROUPS: dict[str, frozenset[str]] = {
    name: frozenset(f"OL{n}" for n in numbers.split())
    for name, numbers in {
        "impl": _CODE,
        "golden": "15",
        "test": "17 18 19 20 21 22 42 60",
        "consistency": "30 31 32 33 34 39 40 41 43",
        "design": "12 55 56",
    }.items()
}
"""What ``--lint-impl``, ``--lint-golden``, ``--lint-test``, ``--lint-consistency`` and the design gate judge."""
MISSING: dict[str, tuple[tuple[str, ...], frozenset[int]]] = {
    "OL09": (("SPEC.md",), frozenset({1})),
    "OL10": (("API_REPORT.md",), frozenset({1})),
    "OL11": (("<op>_golden.py",), frozenset({2})),
    "OL12": (("DESIGN.md",), frozenset({3, 4})),
    "OL13": (("<op>_impl.py", "test_<op>.py", "README.md"), frozenset({5})),
    "OL59": (("GOLDEN_PERF_REPORT.md",), frozenset({2})),
}
"""Rows that fail by a file that is not there; a rule, which looks at a file, cannot say so."""
ABSENT = {
    "OL09": "incomplete-spec", "OL10": "incomplete-api-report", "OL11": "unusable-golden", "OL12": "incomplete-pypto-design",
    "OL13": "missing-pypto-deliverable", "OL59": "perf-report-without-table",
}  # fmt: skip
"""The rule whose page says what such a file has to hold."""
LAST = 7


def base(row: str) -> str:
    """``OL51B``, a part of a row that has a rule of its own, is ``OL51``."""
    return row[:4]
