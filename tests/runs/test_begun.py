"""What a phase begins from templates: what is known filled in, holes where a person decides, nothing written over."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from fakes import checked, of

from opdev.phases import gates
from opdev.phases.graph import ORDER
from opdev.phases.holes import HOLE
from opdev.runs.preparing import prepare
from opdev.runs.target import look
from opdev.scaffold import missing, record
from opdev.scaffold.options import Options
from opdev.scaffold.render import render
from opdev.scaffold.write import write_new

CORRECT = """\
# 正确性报告：demo

## 1. 汇总

| 项目 | 值 |
|---|---|
| 总用例数 | 2 |
| 通过数 | 2 |
| 失败数 | 0 |
| 通过率 | 100.0% |
| 阻塞（未执行）数 | 0 |

## 2. 用例

| Case ID | category | scale | n_pes | shape | dtype | Result | MaxAE | MaxRE | 备注 |
|---|---|---|---|---|---|---|---|---|---|
| smoke_2pe_fp16 | functional | XS | 2 | [8] | float16 | PASS | 0.25 | 0.5 | - |
| medium_8pe_fp16 | functional | M | 8 | [1048576] | float16 | PASS | 0 | 0 | - |

## 3. 不变量

| Invariant | 验证方式 | 结果 | 说明 |
|---|---|---|---|
| 不越界 | file golden | PASS | smoke_2pe_fp16 |
"""


def whole(op, options=None):
    """The operator as ``opdev new`` writes it, with its record."""
    options = options or Options("demo", "allgather", ("float16",), perf=False)
    files = render(options)
    shutil.rmtree(op.root / "scripts")
    (op.root / "CMakeLists.txt").unlink()
    write_new(str(op.root), files)
    record.save(str(op.root), options, files)
    return {file.path: file.text for file in files}


def own_design(op):
    """The same, and a design that somebody made their own; nothing else but it."""
    whole(op)
    design = op.root / "docs/design.md"
    design.write_text(design.read_text().replace("平分即可", "按块平分"))
    for name in ("src", "scripts"):
        shutil.rmtree(op.root / name)
    for name in ("CMakeLists.txt", "README.md"):
        (op.root / name).unlink()


def states(op, phase):
    return {check.id: check.state for check in gates.gate(look(str(op.root)), phase).checks}


def test_a_design_is_begun_with_what_the_intake_says(make):
    op = make()
    intake = op.root / "docs/phase0_intake.yaml"
    text = intake.read_text().replace("torch_required: false", "torch_required: true")
    intake.write_text(
        text.replace("shmem_repo: pending", "shmem_repo: /srv/shmem") + '  semantics: "各 PE 的 \\"块\\" 相加"\n'
    )

    run, found = op.go("1")

    design = (op.root / "docs/design.md").read_text()
    assert 'op_name: "demo"' in design
    assert "torch_required: true" in design
    assert 'shmem_repo: "/srv/shmem"' in design
    assert json.dumps('各 PE 的 "块" 相加', ensure_ascii=False) in design
    # What nobody said is left to be decided, and is no confirmation.
    assert "replace_me" in design
    assert "| dtype |" in design
    assert not re.search(r"\| dtype \|.*\| confirmed \|", design)
    assert of(found, "prepared")[0]["paths"] == [f"{op.root}/docs/design.md"]
    assert of(found, "gate")[-1]["state"] == "closed"
    assert run.status.now == "blocked"


def test_nothing_that_is_there_is_written_over(make):
    op = make()
    whole(op)
    for name in ("docs/correctness_report.md", "docs/review-report.md", "docs/delivery_summary.md", "src/main.cpp"):
        op.write(name, "mine\n")
    (op.root / "scripts/gen_data.py").unlink()
    before = {path: path.read_bytes() for path in op.repo.rglob("*") if path.is_file()}

    for phase in ORDER:
        prepare(look(str(op.root)), phase)

    assert {path: path.read_bytes() for path in before} == before
    assert (op.root / "scripts/gen_data.py").is_file()


def test_an_operator_of_the_template_gets_the_template_back(make):
    op = make()
    made = whole(op)
    (op.root / "scripts/check_result.py").unlink()
    (op.root / "src/main.cpp").unlink()

    assert [p.rpartition("/")[2] for p in prepare(look(str(op.root)), "2").paths] == ["check_result.py"]
    assert [p.rpartition("/")[2] for p in prepare(look(str(op.root)), "3").paths] == ["main.cpp"]

    assert (op.root / "scripts/check_result.py").read_text() == made["scripts/check_result.py"]
    assert "template-holes" not in states(op, "2")


def test_tests_and_code_of_ones_own_design_have_holes_that_close_the_gates(make):
    op = make()
    own_design(op)

    tests = prepare(look(str(op.root)), "2")
    code = prepare(look(str(op.root)), "3")

    assert {p.rpartition("/")[2] for p in tests.paths} >= {"gen_data.py", "check_result.py", "run.sh", "run_case_matrix.py", "cases.json"}  # fmt: skip
    assert {p.rpartition("/")[2] for p in code.paths} >= {"demo_kernel.cpp", "demo_kernel.h", "main.cpp", "CMakeLists.txt", "README.md"}  # fmt: skip
    assert HOLE in (op.root / "scripts/gen_data.py").read_text()
    assert f'#error "{HOLE}' in (op.root / "src/demo_kernel.cpp").read_text()
    assert states(op, "2")["template-holes"] == "failed"
    assert states(op, "3")["template-holes"] == "failed"
    # The cases are the design's own.
    cases = json.loads((op.root / "scripts/cases.json").read_text())["cases"]
    assert [c["case_id"] for c in cases][:1] == ["smoke_2pe_float16".replace("float16", "fp16")]
    assert {c["n_pes"] for c in cases} == {2, 4, 8}
    assert all(c["repeat"] >= 3 for c in cases if c["category"] == "stress")


def test_a_filled_hole_is_none(make):
    op = make()
    own_design(op)
    prepare(look(str(op.root)), "2")
    script = op.root / "scripts/gen_data.py"
    script.write_text("\n".join(line for line in script.read_text().split("\n") if HOLE not in line))

    assert "template-holes" not in states(op, "2")


def test_without_a_design_that_says_its_dtypes_nothing_is_begun_and_that_is_said(make):
    op = make()
    (op.root / "scripts/run.sh").unlink()
    op.write("docs/design.md", missing.skeleton({"op_name": "demo"}))

    _, found = op.go("2")

    assert not of(found, "prepared")
    notes = [e["text"] for e in of(found, "note")]
    assert any("dtypes" in text["en"] and "dtypes" in text["zh"] for text in notes)


def test_a_review_is_begun_from_reports_and_records_and_judges_nothing(make):
    op = make()
    op.write("src/main.cpp", "int main() { return 0; }\n")
    op.write("docs/correctness_report.md", CORRECT)
    op.go("3")

    _, found = op.go("5")

    text = (op.root / "docs/review-report.md").read_text()
    assert "| smoke_2pe_fp16 | functional | XS | 2 | [8] | float16 | PASS | 0.25 | 0.5 |" in text
    assert "| 不越界 | file golden | PASS | smoke_2pe_fp16 |" in text
    assert "| 通过率 | 100.0% |" in text
    assert "smoke，2 PE：pass" in text
    assert text.count(f"| P0 | {HOLE} |") == 7
    assert "PASS |" not in text.partition("## 2.")[0].partition("## 1.")[2].replace("结果写 PASS、FAIL", "")
    gate = of(found, "gate")[-1]
    assert gate["state"] == "closed"
    assert {"review-p0", "template-holes"} <= {c["id"] for c in gate["checks"]}


def test_what_is_to_be_measured_is_no_number_before_it_is(make):
    op = make()
    record = op.root / "docs/phase0_intake.yaml"
    record.write_text(record.read_text().replace("performance_required: false", "performance_required: true"))
    op.write("src/main.cpp", "int main() { return 0; }\n")
    op.write("docs/correctness_report.md", CORRECT)

    prepare(look(str(op.root)), "5")

    assert "待 Phase 6 性能采集后补齐" in (op.root / "docs/review-report.md").read_text()
    assert states(op, "5")["review-section-3"] == "ok"


def test_without_a_correctness_report_there_is_no_review_to_begin(make):
    op = make()
    op.write("src/main.cpp", "int main() { return 0; }\n")

    assert prepare(look(str(op.root)), "5").paths == ()


def test_a_delivery_summary_is_begun_once_there_is_a_review(make):
    op = make()
    op.write("src/main.cpp", "int main() { return 0; }\n")
    op.write("docs/correctness_report.md", CORRECT)
    assert prepare(look(str(op.root)), "7").paths == ()
    prepare(look(str(op.root)), "5")

    (made,) = prepare(look(str(op.root)), "7").paths

    text = (op.root / "docs/delivery_summary.md").read_text()
    assert made.endswith("docs/delivery_summary.md")
    assert "未做性能验证" in text
    assert "| 总用例数 | 2 |" in text
    assert HOLE in text
    assert states(op, "7")["template-holes"] == "failed"


def test_a_manual_stop_has_a_file_for_people_and_one_for_programs(make):
    op = make()

    run, found = op.go("1", lang="zh")

    event = of(found, "manual")[-1]
    context = json.loads(Path(event["context"]).read_text(encoding="utf-8"))
    brief = Path(event["brief"]).read_text(encoding="utf-8")
    assert context["gate"]
    assert all(check["opens"]["zh"] for check in context["gate"])
    assert any(check["path"] == f"{op.root}/docs/design.md" and check["line"] > 1 for check in context["gate"])
    assert context["facts"]["intake"]["op_name"] == "demo"
    assert context["again"] == "opdev run 1"
    for check in context["gate"]:
        assert f"`{check['id']}`" in brief
    assert "## 门禁还差" in brief
    checked(run)
