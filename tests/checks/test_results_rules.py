"""Case lists, reports and layout as their rules judge them: half-typed, damaged, mended twice, and one operator as a whole."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opdev.kinds import classify
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.fixes import fix_to_the_end
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

OP = "/w/custom-ops/demo"
RULES = tuple(r for r in store.load() if r.family in ("cases", "reports", "layout"))
CASES = [
    {
        "case_id": f"c{i}_{pes}pe_fp16",
        "category": "functional",
        "scale": "XS",
        "n_pes": pes,
        "dtype": "float16",
        "shape": [64 + i],
    }
    for i, pes in enumerate([2, 4, 8] * 7)
]
ROWS = "".join(
    f"| {c['case_id']} | functional | XS | {c['n_pes']} | {c['shape']} | fp16 | PASS | 0 | 0 | |\n" for c in CASES
)
REPORT = f"""# 正确性

| 指标 | 值 |
|---|---|
| 总用例数 | 21 |
| 通过数 | 21 |
| 失败数 | 0 |
| 通过率 | 100% |
| 阻塞（未执行）数 | 0 |

| Case ID | category | scale | n_pes | shape | dtype | Result | MaxAE | MaxRE | 备注 |
|---|---|---|---|---|---|---|---|---|---|
{ROWS}"""
PERF = """# 性能报告：demo

## 1. 算子信息

## 2. Baseline 详细信息

## 3. 基线数据

| case_id | e2e_us | kernel_us |
|---|---|---|
| large | 1200.5 | 1050.1 |
"""
REVIEW = """# 走读

| 字段 | 内容 |
|---|---|
| 算子名称 | demo |
| 报告模式 | interim |

## 1. 设计一致性检查

| 序号 | 检查项 | 严重级别 | 结果 | 说明 |
|---|---|---|---|---|
| 1 | 数据面 | P0 | FAIL | |

## 3. 性能评估摘要

| 指标 | SHMEM 最终 |
|---|---|
| kernel_bus_bandwidth_GBps | 2 |

- **总体结论**：**可交付**

| 交付物 | 路径 | 状态 |
|---|---|---|
| design.md | docs/ | ✅ |
"""
LOG = "[PERF] pe=0 e2e_us=1200.5 kernel_us=1050.1\n"
FILES = {
    "scripts/cases.json": json.dumps(CASES, indent=1), "docs/correctness_report.md": REPORT, "docs/case_matrix_report.md": "# 矩阵\n",
    "docs/performance_report.md": PERF, "docs/review-report.md": REVIEW, "data/perf/shmem_1_float16.log": LOG,
    "README.md": "# demo\n\n## 性能采集\n\n带宽 3 GB/s\n",
    "docs/design.md": "# d\n\n```yaml\ndsl_version: '0.3'\nmeta:\n  op_name: demo\n  torch_required: true\ncorrectness:\n  invariants:\n"
    "    - {invariant: 先写后读, case: c0_2pe_fp16}\n  case_matrix:\n    - {case: c0_2pe_fp16, shape: '[64]', n_pes: 2}\n```\n",
    "CMakeLists.txt": "project(demo)\nadd_library(demo_kernel SHARED src/demo_kernel.cpp)\n",
}  # fmt: skip


def findings(name, changes=None, linter=None):
    files = {
        f"{OP}/{n}": t if isinstance(t, bytes) else t.encode()
        for n, t in {**FILES, **(changes or {})}.items()
        if t is not None
    }
    places = Places(lambda path: path in files)
    project = Operator(OP, places, files.get, files)
    path = f"{OP}/{name}"

    def lint(source):
        place = places.of(path)
        file = File(source, classify(path, source.data, in_operator=True), place)
        own = {**files, path: source.data}
        return (linter or Linter(known=RULES)).lint(file, Selection(RULES), Operator(OP, places, own.get, own)).findings

    assert project.root == OP
    return lint, lint(Source.from_disk(path, files[path]))


def names(name, changes=None):
    return [f.rule.name for f in findings(name, changes)[1]]


def test_an_operator_whose_reports_agree_has_no_finding_in_them():
    assert names("docs/correctness_report.md") == []
    assert names("docs/performance_report.md") == []


def test_a_number_goes_wrong_with_its_log():
    newer = {"data/perf/shmem_1_float16.log": LOG.replace("1050.1", "990.4")}
    found = findings("docs/performance_report.md", newer)[1]

    assert [f.rule.name for f in found] == ["number-not-in-log"]
    (related,) = found[0].related
    assert related.path == f"{OP}/data/perf/shmem_1_float16.log"
    assert newer[related.path.removeprefix(f"{OP}/")].encode()[related.start : related.end].startswith(b"[PERF]")


@pytest.mark.parametrize(
    ("shown", "fine"), [("1050", True), ("1050.1", True), ("1050.2", False), ("1,050.1", True), ("1051", False)]
)  # fmt: skip
def test_a_number_is_held_against_the_log_by_the_digits_it_shows(shown, fine):
    found = names("docs/performance_report.md", {"docs/performance_report.md": PERF.replace("1050.1", shown)})

    assert found == ([] if fine else ["number-not-in-log"])


def test_the_mean_of_the_pes_is_a_value_of_the_log():
    log = "[PERF] pe=0 e2e_us=1200 kernel_us=1000\n[PERF] pe=1 e2e_us=1201 kernel_us=1100.2\n"

    assert names("docs/performance_report.md", {"data/perf/shmem_1_float16.log": log}) == []


def test_a_case_lost_from_the_report_points_to_the_matrix_and_is_put_in_once():
    shorter = REPORT.replace("| c3_2pe_fp16 | functional | XS | 2 | [67] | fp16 | PASS | 0 | 0 | |\n", "")
    lint, found = findings("docs/correctness_report.md", {"docs/correctness_report.md": shorter})

    assert [f.rule.name for f in found] == ["unreported-case"]
    lost = found[-1]
    assert lost.related[0].path == f"{OP}/scripts/cases.json"
    source = Source.from_disk(f"{OP}/docs/correctness_report.md", shorter.replace("\n", "\r\n").encode())
    fixes = [f for f in lint(source) if f.rule.name == "unreported-case"]
    row = "| c3_2pe_fp16 | functional | XS | 2 | [67] | float16 | 未执行 |  |  | 原因待补 |"
    assert fixes[0].fix.edits[0].text == f"\r\n{row}"

    def again(one):
        return [f for f in lint(one) if f.rule.name == "unreported-case"]

    outcome = fix_to_the_end(
        source, again, lambda s: File(s, classify(s.path, s.data, in_operator=True)), ("suggestion",)
    )
    assert again(Source.from_disk(source.path, outcome.data)) == []
    assert outcome.data.count(b"c3_2pe_fp16") == 1


WHOLE = {
    "too-few-cases", "missing-scale", "missing-pe-count", "too-few-functional-cases", "missing-boundary-case", "missing-stress-case",
    "missing-performance-case", "missing-dtype-in-scale", "invented-case",
}  # fmt: skip


@pytest.mark.parametrize("cut", [1, 40, 400, 1500, -2])
def test_a_list_that_is_being_typed_is_not_judged_as_a_whole(cut):
    broken = FILES["scripts/cases.json"][:cut] + '{"case_id": "x'

    assert WHOLE.isdisjoint(names("scripts/cases.json", {"scripts/cases.json": broken}))
    assert "invented-case" not in names("docs/correctness_report.md", {"scripts/cases.json": broken})


def test_a_runner_is_judged_only_without_a_cases_json():
    runner = {"scripts/run_case_matrix.py": 'CASES = [("a_2pe", 2, "fp16")]\n'}

    assert "too-few-cases" not in names("scripts/run_case_matrix.py", runner)
    assert "too-few-cases" in names("scripts/run_case_matrix.py", {**runner, "scripts/cases.json": None})


PIECES = [
    "",
    "|",
    "\n",
    "\r\n",
    "{",
    "]",
    '"',
    "`",
    "```\n",
    "**",
    ": ",
    "\t",
    "表",
    "🚀",
    "9" * 30,
    "\x00",
    "| a | b |\n|-|-|\n",
    "PASS",
    "✅",
    "...",
]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(n for n in FILES if not n.endswith(".log"))), st.data())
def test_damage_never_fails_a_rule_and_places_stay_inside(name, data):
    text = FILES[name]
    for _ in range(data.draw(st.integers(1, 4))):
        at, cut = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 40))
        text = text[:at] + data.draw(st.sampled_from(PIECES)) + text[at + cut :]
    for other in (name, "docs/correctness_report.md", "docs/design.md"):
        for found in findings(other, {name: text})[1]:
            assert found.rule.name != "internal-error", found.message("en")
            assert 0 <= found.start <= found.end <= len(found.source.data)
            for lang in ("zh", "en"):
                assert found.message(lang)
            for edit in found.fix.edits if found.fix else ():
                assert 0 <= edit.start <= edit.end <= len(found.source.data)


def test_a_huge_report_and_a_huge_matrix_take_no_time():
    many = json.dumps([dict(CASES[0], case_id=f"n{i}_2pe") for i in range(1000)])
    rows = "".join(f"| n{i}_2pe | functional | XS | 2 | [64] | fp16 | PASS | 0 | 0 | |\n" for i in range(0, 2000, 2))
    text = REPORT.replace(ROWS, rows)
    begin = time.perf_counter()
    found = names("docs/correctness_report.md", {"scripts/cases.json": many, "docs/correctness_report.md": text})

    assert "unreported-case" in found
    assert time.perf_counter() - begin < 5
