"""The report: headings, figures that can be traced, what people wrote, and what was not measured."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lines import baseline, launch, log

from opdev.blocks import Section, merge
from opdev.facts.report_performance import read_performance
from opdev.kinds import Place, classify
from opdev.perf import cells
from opdev.perf.document import Aim, document
from opdev.perf.report import Facts, sections
from opdev.perf.rows import RoundRow, StepRow
from opdev.perf.tables import BUS, Tables
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

FACTS = Facts(
    "demo", ("float16",), "ascend910b", "current >= 80% baseline", "HcclAlltoAll", "HCCL 清单里有", op_kind="collective"
)
KNOWN = {"n_pes": 8, "dtype": "float16"}
TITLE = "# 性能报告：demo"


def logs(time=1050.0):
    return [
        log(launch(time), "logs/02-perf.stdout.log", run="20260101-000000-000000-aaaaaa", count=8388608, **KNOWN),
        log(launch(25.0, payload=262144), "logs/01-perf.stdout.log", run="20260101-000000-000000-aaaaaa", count=16384, **KNOWN),
        log(launch(1100.0, make=baseline), "logs/01-baseline.stdout.log", run="20260101-000000-000000-bbbbbb", count=8388608, **KNOWN),
        log(launch(30.0, payload=262144, make=baseline), "logs/01-b.stdout.log", run="20260101-000000-000000-bbbbbb", count=16384, **KNOWN),
    ]  # fmt: skip


def written(old="", found=None, facts=FACTS, rounds=()):
    made = document(logs() if found is None else found, "demo", Aim())
    return merge(old, TITLE, sections(made, facts, rounds))


def read(text):
    path = "/repo/custom-ops/demo/docs/performance_report.md"
    source = Source.from_disk(path, text.encode())
    return read_performance(File(source, classify(path, source.data, in_operator=True), Place()))


def test_the_headings_are_those_of_the_standard():
    lines = [line for line in written().text.split("\n") if line.startswith("#")]

    assert lines[0] == TITLE
    assert [line.split(" ")[1] for line in lines if line.startswith("## ")] == [f"{n}." for n in range(1, 8)]
    assert [line.split(" ")[1] for line in lines if line.startswith("### ")] == [
        "3.1",
        "3.2",
        "3.3",
        "3.4",
        "3.5",
        "6.1",
        "6.2",
    ]


def test_our_own_reader_finds_what_was_written():
    found = read(written().text)

    assert found.baseline_type.text == "hccl"
    mine = {
        (m.section, m.metric, m.who): m.figure.value for m in found.measured if m.case in (None, "L_8388608_fp16_8pe")
    }
    assert mine["3.1", "kernel_bus_bandwidth_GBps", "shmem"] == 111.85
    assert mine["3.5", "kernel_bus_bandwidth_GBps", "baseline"] == 106.76
    finals = {(f.section, f.metric): f for f in found.final}
    assert finals["6.1", "kernel_bus_bandwidth_GBps"].verdict.text == "PASS"
    assert finals["6.1", "kernel_bus_bandwidth_GBps"].ratio.value == 104.8
    assert finals["6.2", "kernel_bus_bandwidth_GBps"].shmem.value == 9.18
    assert "PASS" in found.conclusion.text


def test_every_table_names_run_and_lines():
    text = written().text

    assert (
        text.count(
            "来源：L_8388608_fp16_8pe：run `20260101-000000-000000-aaaaaa` 的 `logs/02-perf.stdout.log` 第 1–8 行"
        )
        == 4
    )
    assert (
        "来源：L_8388608_fp16_8pe（基线）：run `20260101-000000-000000-bbbbbb` 的 `logs/01-baseline.stdout.log` 第 1–8 行"
        in text
    )


def test_what_was_not_measured_says_so_and_simulated_figures_stay_out():
    sim = log("[SIM] backend=sim\n" + launch(3.0), "logs/x.log", run="20260101-000000-000000-cccccc", **KNOWN)
    facts = Facts("demo", simulated=("20260101-000000-000000-cccccc",))
    text = written(found=[sim], facts=facts).text

    assert "39147" not in text
    assert text.count("未测") >= 8
    assert "只有模拟数据：20260101-000000-000000-cccccc" in text
    assert read(text).measured == ()
    assert "PASS" not in text


def test_noise_is_written_as_such():
    noisy = [log(launch(1200.0) + launch(1400.0) + launch(1500.0), "a.log", count=8388608, **KNOWN), *logs()[2:]]

    assert "无法判断（波动太大）" in written(found=noisy).text
    assert "| PASS |" not in written(found=noisy).text


def test_rounds_are_told_as_the_ledger_has_them():
    rows = [
        RoundRow(0, "起点", "-", "", "PASS", 90.0, 1300.0, None, None, "r0"),
        RoundRow(
            1,
            "双缓冲",
            "keep",
            "",
            "PASS",
            99.0,
            1200.0,
            10.0,
            10.0,
            "r1",
            (
                StepRow(
                    "1.1",
                    "双缓冲",
                    "PASS",
                    {"e2e_us": 1200.0, "kernel_us": 1190.0, "algo_bandwidth_GBps": 113.1, BUS: 99.0},
                    "run `r1` 的 `logs/03-perf.stdout.log` 第 3–8 行",
                ),
            ),
            104.2,
        ),
        RoundRow(2, "换引擎", "revert", "更慢", "FAIL", None, None, None, None, "r2"),
    ]
    found = read(written(rounds=rows).text)

    assert [(r.number, r.decision.text) for r in found.rounds] == [(1, "keep"), (2, "revert（更慢）")]
    assert [s.name for s in found.rounds[0].steps] == ["1.1"]
    shown = Tables("zh").rounds(rows).split("\n")
    assert [line.split() for line in shown[4:6]] == [
        ["0", "起点", "90.00", "-", "-", "-", "1300.00", "PASS", "-"],
        ["1", "双缓冲", "99.00", "+10.0%", "+10.0%", "104.2%", "1200.00", "PASS", "keep"],
    ]
    assert Tables("en").rounds([]) == ""
    text = written(rounds=rows).text
    assert "| 1 | 优化 | 双缓冲 | 1.1 | 99.00 | +10.0% | 1200.00 | keep |" in text
    assert "| 1.1 | 双缓冲 | PASS | 1200.00 | 1190.00 | 113.10 | 99.00 | N/A | - |" in text
    # All three tables say where the figures are from.
    assert text.count("- 来源：1.1：run `r1` 的 `logs/03-perf.stdout.log` 第 3–8 行，取中位数") == 3


def test_writing_again_changes_nothing():
    once = written().text

    assert written(once).text == once


def test_what_people_wrote_stays_and_figures_move_on():
    mine = "我们的结论：瓶颈在 PE 3。\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    text = written().text.replace("### 3.5", f"{mine}\n\n### 3.5").replace("## 7. 结论", "## 7. 结论（最终）")
    new = written(text, found=logs(900.0))

    assert mine in new.text
    assert new.text.count("## 7. 结论（最终）") == 1
    assert "130.49" in new.text
    assert "111.85" not in new.text
    assert new.kept == ()


def test_an_edited_block_is_left_alone_and_told():
    text = written().text.replace("| SoC | ascend910b |", "| SoC | ascend910b4（两台） |")
    new = written(text, found=logs(900.0))

    assert new.kept == ("1",)
    assert "ascend910b4（两台）" in new.text
    assert "130.49" in new.text


def test_a_report_of_their_own_gets_blocks_below_its_headings():
    old = "# 性能报告：demo\n\n前言。\n\n## 1. 算子信息\n\n手写的一段。\n\n## 7. 结论\n\n手写的结论。\n"
    new = written(old).text

    for line in old.split("\n"):
        assert line in new.split("\n")
    order = [
        new.index(h)
        for h in ("前言。", "## 1.", "手写的一段。", "## 2.", "## 3.", "### 3.5", "## 6.", "## 7.", "手写的结论。")
    ]
    assert order == sorted(order)
    assert written(new).text == new


def test_crlf_and_a_heading_in_a_fence():
    old = "# 性能报告：demo\r\n\r\n```\r\n## 1. 不是标题\r\n```\r\n"
    new = written(old).text

    assert "\n" not in new.replace("\r\n", "")
    assert new.count("## 1. 算子信息") == 1
    assert new.index("## 1. 不是标题") < new.index("## 1. 算子信息")


def test_a_block_without_its_end_is_nobodys_to_replace():
    text = written().text.replace("<!-- /opdev:perf 3.1 -->\n", "")
    new = written(text, found=logs(900.0))

    assert "3.1" in new.kept
    assert "111.85" in new.text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(("一段话", "", "# t", "## 3. x", "### 3.1 y", "```", "| a |", "<!-- opdev:perf 3.1 0123456789ab -->", "<!-- /opdev:perf 3.1 -->", "## 9. z")), max_size=14), st.integers(0, 9))  # fmt: skip
def test_no_line_of_theirs_is_lost(lines, number):
    old = "\n".join(lines)
    made = [Section("3", "## 3. a"), Section("3.1", "### 3.1 b", f"新 {number}"), Section("7", "## 7. c", "尾")]
    new = merge(old, "# 标题", made).text

    left = new.split("\n")
    for line in lines:
        if line.strip():
            assert line in left
    again = merge(new, "# 标题", made).text
    assert again == new


@pytest.mark.parametrize("case", ["a|b", "换\n行"])
def test_cells_keep_to_their_cells(case):
    assert cells.table(("x", "y"), [(case, 1)]).count("\n") == 2


def test_a_round_is_told_with_all_that_belongs_to_one():
    figures = {"e2e_us": 1200.0, "kernel_us": 1190.0, "algo_bandwidth_GBps": 113.1, BUS: 111.85}
    frame = {"frame": 1, "phase": "remote_put_get", "avg_us": 400.0, "max_core_us": 900.0, "count": 8, "e2e_pct": 33.3, "tail": True, "run": "r1", "log": "logs/a.log", "line": 9}  # fmt: skip
    full = RoundRow(
        1, "双缓冲 2→4", "keep", "更快", "PASS", 111.85, 1200.0, 24.3, 24.3, "r1", (StepRow("1.1", "双缓冲 2→4", "PASS", figures, "run `r1` 的 `logs/a.log` 第 1 行"),), 120.0, "1.1",
        "搬运与计算没有重叠", "8 PE，float16，134217728 B；改动文件 `src/demo_kernel.cpp`", {BUS: 93.2, "e2e_us": 1500.0}, "Baseline", "run `r0` 的 `logs/b.log` 第 1–8 行", (frame,),
    )  # fmt: skip
    text = written(rounds=[RoundRow(0, "起点", "-", "", "PASS", 90.0, 1300.0, None, None, "r0"), full]).text

    assert "- 瓶颈假设：搬运与计算没有重叠" in text
    assert "| kernel_bus_bandwidth_GBps | 93.20 | 111.85 | +20.0% |" in text
    assert "| e2e_latency_us | 1500.00 | 1200.00 | -20.0% |" in text
    assert "| kernel_latency_us | - | 1190.00 | - |" in text
    assert "- 来源：Baseline：run `r0` 的 `logs/b.log` 第 1–8 行，取中位数" in text
    assert "| 1 | remote_put_get | 400.000 | 900.000 | 8 | 33.3 | 占比最大、最慢核是平均的 2.2 倍 |" in text
    assert "- 本轮最优配置：Step 1.1：8 PE，float16，134217728 B；改动文件 `src/demo_kernel.cpp`" in text


@pytest.mark.parametrize(
    "figures", [{}, {"e2e_us": 1200.0, "kernel_us": 1190.0, "algo_bandwidth_GBps": 113.1, BUS: 111.85}]
)
def test_a_written_round_would_pass_as_a_round_written_by_hand(figures):
    one = RoundRow(
        1,
        "双缓冲 2→4",
        "keep",
        "",
        "PASS",
        None,
        None,
        None,
        None,
        "r1",
        (StepRow("1.1", "双缓冲 2→4", "PASS", figures),),
    )
    text = re.sub(r"<!-- /?opdev:.*? -->\n", "", written(rounds=[one]).text)
    path = "/w/custom-ops/demo/docs/performance_report.md"
    rules = tuple(r for r in store.load() if r.name == "incomplete-round")
    places = Places(lambda _: False)

    def found(said):
        source = Source.from_disk(path, said.encode())
        file = File(source, classify(path, source.data, in_operator=True), places.of(path))
        files = {path: source.data}
        return Linter(known=rules).lint(file, Selection(rules), Operator("/w/custom-ops/demo", places, files.get, files)).findings  # fmt: skip

    assert not found(text)
    for part in ("瓶颈假设", "性能验证", "Device Frame", "本轮最优配置", "正确性复测", "决策："):
        assert found(re.sub(rf"(?m)^.*{part}.*\n", "", text)), part


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_rules_on_reports_find_nothing_in_what_was_written(end):
    rounds = [
        RoundRow(0, "起点", "-", "", "PASS", 90.0, 1300.0, None, None, "r0"),
        RoundRow(1, "双缓冲", "keep", "", "PASS", 111.85, 1200.0, 24.3, 24.3, "r1", (StepRow("1.1", "调参", "PASS", {"e2e_us": 1200.0, BUS: 111.85}, "run `r1` 的 `logs/a.log` 第 1 行"),)),
    ]  # fmt: skip
    text = written(rounds=rounds).text.replace("\n", end)
    path = "/w/custom-ops/demo/docs/performance_report.md"
    rules = tuple(r for r in store.load() if r.family == "reports")
    source = Source.from_disk(path, text.encode())
    files = {path: source.data}
    places = Places(lambda _: False)

    def found(source):
        file = File(source, classify(path, source.data, in_operator=True), places.of(path))
        return [f.rule.name for f in Linter(known=rules).lint(file, Selection(rules), Operator("/w/custom-ops/demo", places, files.get, files)).findings]  # fmt: skip

    # That there is no log to hold it against does not count: every figure names its run.
    assert found(source) == []
    # What is written by hand is judged.
    own = text.replace("## 5. 轮次总览", f"### Round 2: 换引擎{end * 2}- 决策：keep{end * 2}## 5. 轮次总览", 1)
    assert "incomplete-round" in found(Source.from_disk(path, own.encode()))
