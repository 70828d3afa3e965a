"""``opdev report``: documents from run records; what a person wrote stays, what no run showed is not said."""

from __future__ import annotations

import json
import shutil

import pytest
from needed import needs
from programs import CASES, MATRIX, SHMEM, TWO

from opdev.facts.reports import case_matrix_report, correctness_report
from opdev.phases.gates import gate
from opdev.runs.preparing import prepare
from opdev.runs.target import look
from opdev.scaffold.cli import main as scaffold


@pytest.fixture
def op(make):
    found = make()
    found.write("scripts/cases.json", json.dumps({"cases": CASES, "invariants": [
        {"invariant": "不越界", "test_method": "file golden", "case": "smoke_2pe_fp16"},
        {"invariant": "大数据不截断", "test_method": "file golden", "case": "large_8pe_fp16"},
    ]}))  # fmt: skip
    found.write("src/main.cpp", "int main() { return 0; }\n")
    found.write("scripts/run_case_matrix.py", MATRIX)
    return found


def measure(op, told=TWO):
    op.write("told.txt", told)
    return op.go("4")[0]


def doc(op, name):
    return (op.root / "docs" / name).read_text(encoding="utf-8")


def rows(op, name="correctness_report.md"):
    evidence = look(str(op.root))
    file = evidence.file(f"docs/{name}")
    read = correctness_report(file) if name.startswith("correct") else case_matrix_report(file)
    return {row.id: row for row in read.rows}


def test_every_case_has_a_row_and_every_figure_its_run_and_line(op):
    run = measure(op)

    assert op.cli("report").returncode == 0
    for name in ("correctness_report.md", "case_matrix_report.md"):
        found = rows(op, name)
        assert [(r.id, r.result, r.maxae, r.n_pes) for r in found.values()] == [
            ("smoke_2pe_fp16", "PASS", "0.25", 2), ("medium_8pe_fp16", "PASS", "0.5", 8), ("large_8pe_fp16", "BLOCKED", "-", 8),
        ]  # fmt: skip
        assert found["large_8pe_fp16"].note == "未执行：矩阵运行没有跑到这个用例"
        assert "模拟" not in doc(op, name)
        assert f"run `{run.id}` 的 `logs/02-matrix.stdout.log`" in doc(op, name)
        line = next(ln for ln in doc(op, name).split("\n") if ln.startswith("| medium_8pe_fp16"))
        number = int(line.split("第 ")[1].split(" ")[0])
        log = (op.root / ".opdev" / "runs" / run.id / "logs" / "02-matrix.stdout.log").read_text().split("\n")
        assert "id=medium_8pe_fp16" in log[number - 1]
    text = doc(op, "correctness_report.md")
    assert "| 总用例数 | 3 |" in text
    assert "| 阻塞（未执行）数 | 1 |" in text
    assert "| 不越界 | file golden | PASS | smoke_2pe_fp16 |" in text
    assert "| 大数据不截断 | file golden | 未验证 | 没有执行：large_8pe_fp16 |" in text
    assert "| medium_8pe_fp16 | 2 | 1 | 0.5 | 0.5 | 3e-06 |" in text
    assert f"run `{run.id}` 留下的 `data/logs/medium_8pe_fp16.log` 第 3 行" in text
    assert "MaxAE=0.5 " in (op.root / "data/logs/medium_8pe_fp16.log").read_text().split("\n")[2]


def test_what_a_script_wrote_is_taken_over_and_what_a_person_wrote_stays(op):
    measure(op)
    op.cli("report")

    text = doc(op, "case_matrix_report.md")
    assert "我们的前言。" in text
    assert text.count("| Case ID |") == 1
    assert "| 9 | 9 |" not in text
    assert "每个用例的日志在" not in text

    report = op.root / "docs" / "correctness_report.md"
    report.write_text(report.read_text(encoding="utf-8") + "\n## 5. 说明\n\n我们自己的一段。\n", encoding="utf-8")
    op.write("keep", "")
    measure(op, TWO.replace("0.25", "0.125"))
    assert op.cli("report", "--check").returncode == 1
    assert "0.25" in doc(op, "correctness_report.md")
    assert op.cli("report").returncode == 0
    assert op.cli("report", "--check").returncode == 0
    text = doc(op, "correctness_report.md")
    assert "| PASS | 0.125 |" in text
    assert "我们自己的一段。" in text


def test_a_block_that_was_edited_is_left_and_told(op):
    measure(op)
    op.cli("report")
    report = op.root / "docs" / "correctness_report.md"
    edited = report.read_text(encoding="utf-8").replace("| 通过数 | 2 |", "| 通过数 | 3 |")
    report.write_text(edited, encoding="utf-8")

    done = op.cli("report")

    assert "correctness_report.md: section 1 was changed inside its markers" in done.stderr
    assert report.read_text(encoding="utf-8") == edited


def test_results_of_other_sources_are_no_results(op):
    run = measure(op)
    op.write("src/main.cpp", "int main() { return 1; }\n")

    op.cli("report")

    assert {row.result for row in rows(op).values()} == {"BLOCKED"}
    assert f"改动前 PASS，run {run.id} 第 2 行" in rows(op)["smoke_2pe_fp16"].note
    assert "0.25" not in doc(op, "correctness_report.md")


def test_a_failure_is_a_failure_and_a_case_of_nowhere_is_named(op):
    measure(op, "smoke_2pe_fp16:FAIL:7 invented_2pe:PASS:0")

    op.cli("report")

    assert rows(op)["smoke_2pe_fp16"].result == "FAIL"
    assert "invented_2pe" not in rows(op)
    assert "运行记录里有 1 个用例不在用例矩阵里，没有列出：invented_2pe" in doc(op, "correctness_report.md")
    assert "| 不越界 | file golden | FAIL |" in doc(op, "correctness_report.md")


def test_a_log_another_run_wrote_over_says_nothing_of_the_pes(op):
    measure(op)
    log = op.root / "data/logs/medium_8pe_fp16.log"
    log.write_text(log.read_text().replace("MaxAE=0.5", "MaxAE=0.75"))

    op.cli("report")

    text = doc(op, "correctness_report.md").split("## 4.")[1]
    assert "smoke_2pe_fp16" in text
    assert f"| medium_8pe_fp16 {'| - ' * 8}| 没有判断：" in text
    assert "0.75" not in text


def test_without_runs_every_case_is_said_not_to_have_run(op):
    done = op.cli("report")

    assert done.returncode == 0
    assert "no run of the matrix is on record" in done.stdout
    assert {row.result for row in rows(op).values()} == {"BLOCKED"}
    assert "后端：没有运行记录。" in doc(op, "correctness_report.md")


def test_without_a_matrix_nothing_is_written(make):
    op = make()

    done = op.cli("report")

    assert (done.returncode, "no case matrix" in done.stdout) == (0, True)
    assert not list((op.root / "docs").glob("*report*"))


def test_review_and_summary_are_filled_where_they_were_begun(op):
    measure(op)
    op.cli("report")
    prepare(look(str(op.root)), "5")
    prepare(look(str(op.root)), "7")
    review = op.root / "docs" / "review-report.md"
    review.write_text(
        review.read_text(encoding="utf-8").replace("[待填] |  |", "PASS | 走读人写的 |", 1), encoding="utf-8"
    )
    before = review.read_text(encoding="utf-8")
    op.write("keep", "")
    measure(op, TWO.replace("0.25", "0.0625"))

    done = op.cli("report")

    assert "docs/review-report.md is written" in done.stdout
    assert "docs/delivery_summary.md is written" in done.stdout
    text = review.read_text(encoding="utf-8")
    assert "| PASS | 0.0625 |" in text
    assert text.count("| Case ID |") == 1
    assert text.count("| 总用例数 |") == 1
    assert text.split("## 2.")[0] == before.split("## 2.")[0]
    assert text.split("## 3.")[1] == before.split("## 3.")[1]
    assert doc(op, "delivery_summary.md").count("| 总用例数 | 3 |") == 1


def test_a_final_review_gets_what_hardware_measured_and_an_interim_one_does_not(op):
    intake = op.root / "docs" / "phase0_intake.yaml"
    intake.write_text(intake.read_text().replace("performance_required: false", "performance_required: true"))
    op.write("scripts/perf.sh", SHMEM)
    measure(op)
    op.go("6")
    op.cli("report")
    prepare(look(str(op.root)), "5")
    prepare(look(str(op.root)), "7")
    op.cli("report")
    review = op.root / "docs" / "review-report.md"
    text = review.read_text(encoding="utf-8")
    assert "待 Phase 6 性能采集后补齐" in text
    assert "| kernel_bus_bandwidth_GBps | 9.98 |" not in text

    review.write_text(text.replace("| 报告模式 | interim |", "| 报告模式 | final |"), encoding="utf-8")
    assert op.cli("report", "--check").returncode == 1
    assert op.cli("report").returncode == 0

    third = review.read_text(encoding="utf-8").split("## 3. ")[1].split("## 4. ")[0]
    assert "| kernel_bus_bandwidth_GBps | 9.98 |" in third
    assert "待 Phase 6" not in third
    assert third.count("| 指标 |") == 2
    assert op.runs()[-1].id in third
    assert "| kernel_bus_bandwidth_GBps | 9.98 |" in doc(op, "delivery_summary.md")
    found = op.cli("lint", "docs/review-report.md", "--no-cache")
    assert "number-not-in-log" not in found.stdout


def test_wrong_use_is_told(op):
    assert op.cli("report", "--html", "x.html", "--check").returncode == 2
    assert op.cli("report", "nonsense").returncode == 2
    (op.root / "docs" / "correctness_report.md").mkdir(parents=True)
    done = op.cli("report", "correctness")
    assert (done.returncode, "correctness_report.md" in done.stderr) == (2, True)


@pytest.mark.e2e
@needs("g++", "cmake")
def test_a_run_on_the_stand_in_opens_gate_4_as_simulated(tmp_path, make):
    op = make(name="my_gather")
    intake = (op.root / "docs" / "phase0_intake.yaml").read_text()
    shutil.rmtree(op.root.parent)
    argv = ["my_gather", "--kind", "allgather", "--dtypes", "float16", "--dir", str(op.repo), "--no-torch", "--no-perf"]
    assert scaffold("new", argv) == 0
    op.write("docs/phase0_intake.yaml", intake)
    cases = op.root / "scripts" / "cases.json"
    value = json.loads(cases.read_text(encoding="utf-8"))
    wanted = (
        "smoke_2pe_fp16",
        "medium_2pe_fp16",
        "tail_chunk_2pe_fp16",
        "repeat_2pe_fp16",
        "tail_pe_8pe_fp16",
        "large_8pe_fp16",
    )
    value["cases"] = [case for case in value["cases"] if case["case_id"] in wanted]
    value["invariants"] = [{**one, "case": "smoke_2pe_fp16"} for one in value["invariants"]]
    cases.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    op.cli("run", "4", "--executor", "sim", seconds=300)
    assert op.cli("report").returncode == 0

    found = gate(look(str(op.root)), "4")

    assert (found.state, found.simulated) == ("open", True), [c.detail for c in found.closed_by]
    assert {row.note for row in rows(op).values()} == {"模拟", "未执行：矩阵运行没有跑到这个用例"}
    assert "CPU 模拟（backend: sim）" in doc(op, "correctness_report.md")
    op.cli("run", "4", "--executor", "sim", "--case", "smoke_2pe_fp16", seconds=300)
    assert "<!-- opdev:report 4 " in doc(op, "correctness_report.md")
    assert op.cli("report", "--check").returncode == 1
