"""One slip in a correctness report is one finding; a slip nobody saw is told."""

from __future__ import annotations

import json

import pytest

from opdev.kinds import classify
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

OP = "/w/custom-ops/demo"
PATH = f"{OP}/docs/correctness_report.md"
RULES = tuple(r for r in store.load() if r.family == "reports")
CASES = [
    {"case_id": f"c{i}_2pe_fp16", "category": "functional", "scale": "XS", "n_pes": 2, "dtype": "float16", "shape": [64 + i]}
    for i in range(20)
]  # fmt: skip
ROWS = [f"| {c['case_id']} | functional | XS | 2 | {c['shape']} | fp16 | PASS | 0 | 0 | |\n" for c in CASES]
REPORT = f"""# 正确性

| 指标 | 值 |
|---|---|
| 总用例数 | 20 |
| 通过数 | 20 |
| 失败数 | 0 |
| 通过率 | 100% |
| 阻塞（未执行）数 | 0 |

| Case ID | category | scale | n_pes | shape | dtype | Result | MaxAE | MaxRE | 备注 |
|---|---|---|---|---|---|---|---|---|---|
{"".join(ROWS)}"""


def told(report):
    """(rule, message's key) of all findings in the report."""
    files = {f"{OP}/scripts/cases.json": json.dumps(CASES).encode(), PATH: report.encode()}
    places = Places(lambda path: path in files)
    file = File(Source.from_disk(PATH, files[PATH]), classify(PATH, files[PATH], in_operator=True), places.of(PATH))
    found = Linter(known=RULES).lint(file, Selection(RULES), Operator(OP, places, files.get, files)).findings
    assert all(f.message("zh") and f.message("en") for f in found)
    return [(f.rule.name, f.message_key) for f in found]


def test_a_report_that_agrees_has_none():
    assert told(REPORT) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("总用例数 | 20", "总用例数 | 99", ("wrong-summary", "count")),
        ("| 通过数 | 20", "| 通过数 | 18", ("wrong-summary", "count")),
        ("| 失败数 | 0", "| 失败数 | 3", ("wrong-summary", "count")),
        ("100%", "90%", ("wrong-summary", "rate")),
        ("总用例数 | 20", "总用例数 | 待统计", ("wrong-summary", "unread")),
        ("| 通过数 | 20", "| 通过数 | ", ("wrong-summary", "unread")),
        ("| 通过数 | 20 |\n", "", ("wrong-summary", "missing")),
        # A row that is lost, doubled or without a verdict: the summary is right as it stands.
        (ROWS[3], "", ("unreported-case", "default")),
        (ROWS[3], ROWS[3] * 2, ("inconsistent-case", "twice")),
        (ROWS[3], ROWS[3].replace("PASS", ""), ("unknown-case-result", "none")),
        (ROWS[3], ROWS[3].replace("PASS", "好"), ("unknown-case-result", "default")),
    ],
)  # fmt: skip
def test_one_slip_is_one_finding(old, new, expected):
    assert REPORT.count(old) == 1

    assert told(REPORT.replace(old, new)) == [expected]


def test_a_table_with_a_case_that_failed_is_counted():
    failed = REPORT.replace(ROWS[3], ROWS[3].replace("PASS", "FAIL"))

    assert told(failed) == [("wrong-summary", "count")] * 2
