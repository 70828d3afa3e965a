"""Case lists, reports, logs and the intake record: what they say, with places that hold."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opdev.design.nodes import Node
from opdev.facts.cases import cases_of, matrix_of
from opdev.facts.intake import intake_in
from opdev.facts.logs import check_lines, matrix_lines, perf_lines
from opdev.facts.reports import (
    case_matrix_report,
    correctness_report,
    performance_report,
    review_correctness,
    review_report,
)
from opdev.kinds import Place, classify
from opdev.source import Source
from opdev.syntax.file import File

OP = "/w/custom-ops/demo"
CASES = """[
\t{"case_id": "a_2pe_fp16", "category": "functional", "scale": "S", "n_pes": 2, "dtype": "fp16", "shape": [256, 128]},
\t{"case_id": "b_8pe_fp16", "n_pes": 8, "dtype": "float16", "shape": "(64, 32)", "special": "B6: repeat=3", "rtol": 1e-3}
]
"""
RUNNER = """
from dataclasses import dataclass

@dataclass
class Case:
    case_id: str
    n_pes: int
    dtype: str = "float16"
    shape: tuple = (1,)

CASES = [
    Case("a_2pe", 2, "float16", (256, 128)),
    Case(case_id="b_8pe", n_pes=8, shape=[1024 * 1024]),
]
"""
REPORT = """# 正确性

## 汇总

| 指标 | 值 |
|---|---|
| 总用例数 | 3 |
| 通过数 | **1** |
| 失败数 | 1 |
| 通过率 | 33.3% |
| 阻塞（未执行）数 | 1 |

## 全量

| `Case ID` | n_pes | Result | category | 备注 |
|---|---|---|---|---|
| a_2pe_fp16 | 2 | ✅ PASS | functional | |
| b_8pe_fp16 | 8 | fail | stress | 尾块 |
| c | 8 | 阻塞：没有 8 卡 | stress | |

| Invariant | 验证方式 | 结果 | 说明 |
|---|---|---|---|
| 先写后读 | rank pattern | 未验证 | |
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

| 指标 | 值 |
|---|---|
| 优化轮次 | 2/5 |

## 5. 结论

- **设计一致性**：FAIL
- **总体结论**：**可交付**

## 6. 交付物清单

| 交付物 | 路径 | 状态 |
|---|---|---|
| design.md | docs/ | ✅ |
| 报告 | docs/ | ✅ / ❌ |
"""
PERF = """# 性能报告：demo

## 2. Baseline 详细信息

- Type: hccl

## 3. 基线数据（Round 0）

### 3.1 性能结果表

| case_id | e2e_us | kernel_us | kernel_bus_bandwidth_GBps |
|---|---|---|---|
| large | 1200.5 | 1,050 | 111.85 |

## 4. 优化记录

### Round 1: 双缓冲

| Step | 变更 | Correctness | kernel_us |
|---|---|---|---|
| 1.1 | 两块 | PASS | 990 |

**决策**：keep

### Round 2: 未执行（没有机器）

## 6. 最终对比

### 6.1 L 档对比

| 指标 | SHMEM 最终 | HCCL | SHMEM/基线 | 达标 |
|---|---|---|---|---|
| kernel_bus_bandwidth_GBps | 120.0 | 106.77 | 112.4% | PASS |
"""
INTAKE = "phase0_intake:\n  op_name: demo\n  torch_required: maybe\n  askquestion_completed: [1, 2]\n"
LOG = b"[PERF] pe=0 e2e_us=1200.5 kernel_us=1.05e3[PERF] pe=1 e2e_us=nan\nPE 0: PASS (3 elements)\n[MATRIX] total=3 passed=2\n"
PATHS = {
    "scripts/cases.json": CASES, "scripts/run_case_matrix.py": RUNNER, "docs/correctness_report.md": REPORT,
    "docs/case_matrix_report.md": REPORT, "docs/review-report.md": REVIEW, "docs/performance_report.md": PERF,
    "docs/phase0_intake.yaml": INTAKE, "docs/design.md": "## 2. DSL\n\n```yaml\ncorrectness:\n  case_matrix:\n    - {case: x, shape: '[8]'}\n```\n",
}  # fmt: skip


def file(path, text):
    data = text.encode() if isinstance(text, str) else text
    source = Source.from_disk(f"{OP}/{path}", data)
    return File(source, classify(source.path, source.data, in_operator=True), Place(operator="demo", root=OP))


class Project:
    root = OP

    def __init__(self, *files):
        self._files = files

    def files(self, *kinds):
        return [f for f in self._files if not kinds or f.kind.names & set(kinds)]


def test_cases_of_json():
    found = cases_of(file("scripts/cases.json", CASES))

    assert (found.origin, found.complete, [c.id for c in found.cases]) == ("json", True, ["a_2pe_fp16", "b_8pe_fp16"])
    first, second = found.cases
    assert (first.bytes_per_pe, first.tier, first.rounds) == (65536, "S", 1)
    assert (second.tier, second.rounds, second.rtol, second.category) == ("XS", 3, 0.001, None)
    assert CASES.encode()[slice(*first.places["shape"])] == b"[256, 128]"


@pytest.mark.parametrize(
    "text",
    [
        'CASES = [("a", "functional", "S", 2, "fp16", (256, 128))]\n',
        'CASES = [\n    # n_pes, case_id, shape, dtype, scale\n    (2, "a", (256, 128), "fp16", "S"),\n]\n',
        'CASE_MATRIX = [(2, "a", "256x128", "fp16")]\nfor n_pes, case_id, shape, dtype in CASE_MATRIX:\n    pass\n',
        'CASES = [dict(case_id="a", n_pes=2, dtype="fp16", shape=[256, 128])]\n',
        'from collections import namedtuple\nC = namedtuple("C", "case_id n_pes shape dtype")\nCASES = [C("a", 2, (256, 128), "fp16")]\n',
    ],
)
def test_cases_of_a_runner(text):
    found = cases_of(file("scripts/run_case_matrix.py", text))

    assert found.complete
    assert [(c.id, c.n_pes, c.bytes_per_pe) for c in found.cases] == [("a", 2, 65536)]


@pytest.mark.parametrize(
    "text",
    [
        'CASES = [{"case_id": "a", "n_pes": 2}]\nCASES.append(make())\n',
        'CASES = [{"case_id": "a", "n_pes": 2}]\nMORE_CASES = [make_case(n) for n in (2, 8)]\n',
        'CASES = [{"case_id": "a", "n_pes": 2}, *EXTRA]\n',
    ],
)
def test_a_list_that_is_partly_computed_is_not_complete(text):
    assert cases_of(file("scripts/run_case_matrix.py", text)).complete is False


def test_a_runner_without_a_list_has_no_cases():
    assert cases_of(file("scripts/run_case_matrix.py", "CASES = load('cases.json')\nPORTS = [1, 2]\n")) is None


def test_the_case_matrix_is_never_the_designs():
    files = [file(path, text) for path, text in PATHS.items()]

    assert matrix_of(Project(*files)).origin == "json"
    assert matrix_of(Project(*(f for f in files if not f.path.endswith("cases.json")))).origin == "runner"
    assert matrix_of(Project(files[-1])) is None


def test_correctness_report():
    found = correctness_report(file("docs/correctness_report.md", REPORT))

    summary = found.summary
    assert (summary.total, summary.passed, summary.failed, summary.blocked) == (3, 1, 1, 1)
    assert [(r.id, r.n_pes, r.result) for r in found.rows] == [("a_2pe_fp16", 2, "PASS"), ("b_8pe_fp16", 8, "FAIL"), ("c", 8, "BLOCKED")]  # fmt: skip
    assert found.rows[0].shape is None
    assert found.rows[1].note == "尾块"
    assert [(i.text, i.result, i.note) for i in found.invariants] == [("先写后读", "未验证", "")]


def test_review_report():
    found = review_report(file("docs/review-report.md", REVIEW))

    assert (found.mode, [(c.name, c.priority, c.result) for c in found.consistency]) == (
        "interim",
        [("数据面", "P0", "FAIL")],
    )
    assert (found.verdicts["design"].text, found.conclusion.text) == ("FAIL", "可交付")
    assert [(d.name, d.mark) for d in found.deliverables] == [("design.md", "present"), ("报告", None)]
    assert [cell.text for _, cell in found.performance_cells] == ["2/5"]


def test_performance_report():
    found = performance_report(file("docs/performance_report.md", PERF))

    assert found.baseline_type.text == "hccl"
    measured = [
        (m.metric, m.who, m.case, m.figure.value, m.figure.digits) for m in found.measured if m.section == "3.1"
    ]
    assert measured == [
        ("e2e_us", "shmem", "large", 1200.5, 1), ("kernel_us", "shmem", "large", 1050.0, 0),
        ("kernel_bus_bandwidth_GBps", "shmem", "large", 111.85, 2),
    ]  # fmt: skip
    assert [(r.number, r.executed, len(r.steps), r.reason) for r in found.rounds] == [
        (1, True, 1, ""),
        (2, False, 0, "没有机器"),
    ]
    assert (found.final[0].shmem.value, found.final[0].baseline.value, found.final[0].verdict.text) == (
        120.0,
        106.77,
        "PASS",
    )


def test_logs():
    first, second = perf_lines(LOG)
    assert (first.values["kernel_us"], second.pe, "e2e_us" in second.values) == (1050.0, 1, False)
    assert [(c.pe, c.result) for c in check_lines(LOG)] == [(0, "PASS")]
    assert matrix_lines(LOG)[0].count("passed") == 2


def test_intake():
    found = intake_in(file("docs/phase0_intake.yaml", INTAKE))

    assert found.value("op_name") == "demo"
    assert found.flag("torch_required") is None
    codes = {p.field: (p.code, p.expected) for p in found.problems if p.code != "missing"}
    assert codes == {
        "torch_required": ("wrong-type", "true, false"),
        "askquestion_completed": ("unanswered", "3, 4, 5"),
    }


def ranges(value):
    if isinstance(value, (tuple, list)):
        if len(value) == 2 and all(isinstance(v, int) for v in value):
            yield value
            return
        for one in value:
            yield from ranges(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from ranges(one)
    elif isinstance(value, Node):
        yield from ((node.start, node.end) for node in value.walk())
    elif hasattr(value, "start") and hasattr(value, "end"):
        yield value.start, value.end
        for name in getattr(value, "__slots__", ()):
            yield from ranges(getattr(value, name))


READERS = (
    cases_of,
    correctness_report,
    case_matrix_report,
    review_report,
    review_correctness,
    performance_report,
    intake_in,
)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(PATHS)), st.data())
def test_damage_is_read_and_places_stay_inside(path, data):
    text = PATHS[path]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 30))
        piece = data.draw(st.sampled_from(["", "|", "\n", "{", "[", "]", '"', "`", "```\n", "**", ": ", "\t", "\r", "表", "9" * 40, "\x00", "| a |\n|-|\n"]))  # fmt: skip
        text = text[:at] + piece + text[at + cut :]
    one = file(path, text)
    for reader in READERS:
        for start, end in ranges(reader(one)):
            assert 0 <= start <= end <= len(one.data), reader


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=300), st.integers(0, len(LOG)))
def test_any_log_is_read(noise, at):
    data = LOG[:at] + noise + LOG[at:]
    for reader in (perf_lines, check_lines, matrix_lines):
        for line in reader(data):
            assert 0 <= line.start <= line.end <= len(data)


@pytest.mark.parametrize(
    "data",
    [b"[PERF]" + b" a=1" * 300_000, b"[PERF] " * 200_000, b"PE 1: dtype=x" + b" a=" * 300_000, b"\x1b[" * 500_000,
     b"[PERF]" + b" " * 1_000_000, b"[PERF] a" * 200_000],
)  # fmt: skip
def test_hostile_logs_take_no_time(data):
    begin = time.perf_counter()
    for reader in (perf_lines, check_lines, matrix_lines):
        reader(data)

    assert time.perf_counter() - begin < 3
