"""Every check of every gate: once where it holds, once where it does not, with a place and a way out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import recipes
from build import (
    BINARY,
    FINAL,
    LATER,
    PERF,
    REVIEW,
    ROUND_REPORT,
    SCRIPTS,
    TORCH,
    Built,
    copied,
    correctness_report,
    finished,
    performance_report,
    review_report,
    round_,
    torch_log,
)

from opdev.phases import proofs, review, torch
from opdev.phases.evidence import Evidence
from opdev.phases.gates import gate
from opdev.phases.graph import ORDER
from opdev.phases.recovery import recover
from opdev.phases.status import glance
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules.engine import Cancelled

INTAKE = """\
phase0_intake:
  op_name: allgather
  build_mode: independent_project
  torch_required: true
  performance_required: true
  performance_auto_optim: false
  cann_set_env: {cann}
  cann_source_mode: user_custom
  conda_env: base_npu
  shmem_repo: {repo}
  skills_root: {repo}
  askquestion_completed: [1, 2, 3, 4, 5]
  cann_set_env_pending: false
  docker_container: null
  docker_workdir: ""
  docker_exec_required: false
"""
DESIGN = "docs/design.md"
REPORT = "docs/correctness_report.md"
PERF_REPORT = "docs/performance_report.md"
REVIEW_REPORT = "docs/review-report.md"


def with_intake(op: Built) -> None:
    """A record whose paths exist on this machine."""
    repo = op.root.parents[1] / "shmem"
    for folder in ("include", "src"):
        (repo / folder).mkdir(parents=True, exist_ok=True)
    cann = repo / "set_env.sh"
    cann.write_text("", encoding="utf-8")
    op.replace(DESIGN, "/home/developer/shmem", repo.as_posix())
    op.write("docs/phase0_intake.yaml", INTAKE.format(cann=cann.as_posix(), repo=repo.as_posix()), 50)


def optimised(op: Built) -> None:
    text = (
        (op.root / DESIGN)
        .read_text(encoding="utf-8")
        .replace("performance_auto_optim: false", "performance_auto_optim: true")
    )
    op.write(DESIGN, text, 100)
    op.write(PERF_REPORT, performance_report(op, met=False, rounds=5), ROUND_REPORT)


def edit(path: str, old: str, new: str) -> Callable[[Built], None]:
    return lambda op: op.replace(path, old, new)


def drop(*paths: str) -> Callable[[Built], None]:
    return lambda op: op.remove(*paths)


def put(path: str, text: str, at: float) -> Callable[[Built], None]:
    return lambda op: op.write(path, text, at)


def older(path: str, at: float) -> Callable[[Built], None]:
    return lambda op: op.age(path, at)


def report(**how) -> Callable[[Built], None]:
    return lambda op: op.write(REPORT, correctness_report(op, **how), FINAL)


def reviewed(**how) -> Callable[[Built], None]:
    return lambda op: op.write(REVIEW_REPORT, review_report(op, **how), FINAL)


def without_lines(path: str, *words: str) -> Callable[[Built], None]:
    """Take out the lines with any of some words."""

    def spoil(op: Built) -> None:
        target = op.root / path
        lines = target.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if not any(word in line for word in words)]
        assert len(kept) < len(lines), words
        op.write(path, "".join(kept), SCRIPTS)

    return spoil


def several(*steps: Callable[[Built], None]) -> Callable[[Built], None]:
    def spoil(op: Built) -> None:
        for step in steps:
            step(op)

    return spoil


def no_dsl(op: Built) -> None:
    op.write(DESIGN, "# 设计\n\n## 2. Canonical DSL\n\n还没有。\n", 100)


def few_cases(*keep: str) -> Callable[[Built], None]:
    """Leave the cases of which a word is true."""

    def spoil(op: Built) -> None:
        import json

        left = [c for c in op.cases() if not keep or any(k in (c["scale"], str(c["n_pes"])) for k in keep)]
        op.write("scripts/cases.json", json.dumps(left[:19]), SCRIPTS)

    return spoil


def small_large_case(op: Built) -> None:
    import json

    cases = [{**c, "shape": [33554432], "n_pes": 2} if c["scale"] == "L" else c for c in op.cases()]
    op.write("scripts/cases.json", json.dumps(cases), SCRIPTS)


def rounds(change: Callable[[str], str]) -> Callable[[Built], None]:
    def spoil(op: Built) -> None:
        optimised(op)
        text = (op.root / PERF_REPORT).read_text(encoding="utf-8")
        changed = change(text)
        assert changed != text
        op.write(PERF_REPORT, changed, ROUND_REPORT)

    return spoil


# (phase, check, state when spoilt, how it is spoilt).  Unspoilt, the same check holds.
SPOILT = [
    ("0", "intake-record", "failed", several(drop("docs/phase0_intake.yaml"), edit(DESIGN, "  torch_required: true\n", ""))),
    ("0", "intake-five", "failed", edit("docs/phase0_intake.yaml", "[1, 2, 3, 4, 5]", "[1, 2, 3]")),
    ("0", "intake-values", "failed", edit("docs/phase0_intake.yaml", "build_mode: independent_project", "build_mode: somewhere")),
    ("0", "intake-values", "failed", edit("docs/phase0_intake.yaml", "docker_container: null", "docker_container: dev")),
    ("0", "intake-cann", "failed", edit("docs/phase0_intake.yaml", "cann_set_env_pending: false", "cann_set_env_pending: true")),
    ("0", "intake-cann", "unknown", edit("docs/phase0_intake.yaml", "/set_env.sh", "/elsewhere/set_env.sh")),
    ("0", "intake-repo", "unknown", lambda op: op.remove("../../shmem/src")),
    ("0", "intake-semantics", "unknown", drop(DESIGN)),
    ("1", "design-file", "failed", drop(DESIGN)),
    ("1", "design-dsl", "failed", no_dsl),
    ("1", "design-flags", "failed", edit(DESIGN, "performance_auto_optim: false", "performance_auto_optim: maybe")),
    ("1", "design-placeholder", "failed", edit(DESIGN, "placement: A", "placement: replace_me")),
    ("1", "design-topology", "failed", edit(DESIGN, "  intra_node_topology: full-mesh\n", "")),
    ("1", "design-complete", "failed", edit(DESIGN, "  oracle:", "  orakel:")),
    ("1", "design-confirmed", "failed", edit(DESIGN, "op_name: phase0_intake", 'op_name: ""')),
    ("1", "design-capability", "failed", edit(DESIGN, "| 可复用 |", "| 能用 |")),
    ("1", "design-invariants", "failed", edit(DESIGN, "test_method: intermediate check, ", "")),
    ("1", "design-contract", "failed", without_lines(DESIGN, "| run_command |")),
    ("1", "design-review", "failed", edit(DESIGN, "| GM scratch | pass |", "| GM scratch | fail |")),
    ("1", "design-open-questions", "failed", edit(DESIGN, "2、4 或 8 | no |", "2、4 或 8 | no |\n| open question | 是否要求 16 PE | yes |")),
    ("1", "design-place", "rule", edit(DESIGN, "op_name: allgather\n", "op_name: all_gather\n")),
    ("2", "tests-gen-data", "failed", drop("scripts/gen_data.py")),
    ("2", "tests-check-result", "failed", drop("scripts/check_result.py")),
    ("2", "tests-run", "failed", drop("scripts/run.sh")),
    ("2", "tests-run-case-matrix", "failed", drop("scripts/run_case_matrix.py")),
    ("2", "tests-cases", "failed", few_cases()),
    ("2", "tests-cases", "failed", drop("scripts/cases.json")),
    ("2", "tests-scales", "failed", few_cases("XS", "S", "L")),
    ("2", "tests-large-case", "failed", small_large_case),
    ("2", "tests-pe-counts", "failed", few_cases("2")),
    ("2", "tests-generator-alone", "failed", edit("scripts/gen_data.py", "import argparse", "import argparse\nimport torch_npu")),
    ("2", "tests-generator-alone", "failed", put("scripts/gen_data.py", "def main(:\n", SCRIPTS)),
    ("2", "tests-checker-exit", "failed", without_lines("scripts/check_result.py", "exit", "raise", "assert")),
    ("2", "tests-run-environment", "failed", without_lines("scripts/run.sh", "setup_shmem_runtime_env", "shmem_runtime_env.sh")),
    ("2", "tests-run-endpoints", "failed", edit("scripts/run.sh", "setup_shmem_dynamic_endpoints", 'IPPORT="tcp://127.0.0.1:27010"')),
    ("2", "tests-run-several", "failed", put("scripts/run.sh", 'set -euo pipefail\n"${EXEC_BIN}" 1 0 "${IPPORT}"\n', SCRIPTS)),
    ("2", "tests-run-rules", "rule", edit("scripts/run.sh", "setup_shmem_dynamic_endpoints", 'export IPPORT="tcp://127.0.0.1:27010"')),
    ("3", "code-main", "failed", drop("src/main.cpp")),
    ("3", "code-kernel", "failed", drop("src/allgather_kernel.cpp")),
    ("3", "code-cmake", "failed", drop("CMakeLists.txt")),
    ("3", "code-readme", "failed", put("README.md", "# allgather\n", 300)),
    ("3", "code-follows-design", "unknown", several(older(DESIGN, LATER), drop(REPORT))),
    ("3", "code-no-perf", "failed", several(drop(REPORT, "docs/case_matrix_report.md"), edit("src/allgather_kernel.cpp", "    aclshmem_barrier_all();", "    SHMEMI_PROF_START(0);\n    aclshmem_barrier_all();"))),
    ("3", "code-layout", "rule", put("notes.md", "# 记录\n\nallgather 的调试记录。\n", 300)),
    ("3", "code-p0-kernel", "rule", edit("src/allgather_kernel.cpp", "aclshmem_barrier_all();", "aclshmemi_barrier_all();")),
    ("3", "code-p0-host", "rule", edit("src/main.cpp", "aclshmem_finalize", "aclrtResetDevice(0); aclshmem_finalize")),
    ("3", "code-p0-build", "rule", edit("CMakeLists.txt", "PRIVATE allgather_kernel shmem", "PRIVATE allgather_kernel aclshmem hccl")),
    ("3", "code-build", "unknown", several(drop("build"), drop(REPORT, "docs/case_matrix_report.md"))),
    ("3", "code-build", "failed", several(older("build/bin/allgather", 1), put("build/build.log", "a.cpp:1:2: error: no\n", LATER))),
    ("3", "code-smoke", "unknown", drop("data/smoke_2pe.log", REPORT, "docs/case_matrix_report.md")),
    ("4", "correctness-report", "failed", drop(REPORT)),
    ("4", "correctness-report", "failed", put(REPORT, "# 正确性报告\n", FINAL)),
    ("4", "correctness-matrix-report", "failed", drop("docs/case_matrix_report.md")),
    ("4", "correctness-passed", "failed", lambda op: report(failing=op.case("S"))(op)),
    ("4", "correctness-passed", "failed", lambda op: report(blocked=op.case("S"))(op)),
    ("4", "correctness-current", "failed", older("src/main.cpp", LATER)),
    ("4", "correctness-medium", "failed", without_lines(REPORT, "| M |", "| L |")),
    ("4", "correctness-all-cases", "failed", without_lines(REPORT, "| L |")),
    ("4", "correctness-invariants", "failed", without_lines(REPORT, "| CPU golden |")),
    ("4", "correctness-command", "failed", edit(DESIGN, "build_mode: independent_project", "build_mode: in_tree_example")),
    ("5", "review-report", "failed", drop(REVIEW_REPORT)),
    ("5", "review-rows", "failed", without_lines(REVIEW_REPORT, "| 10 |")),
    ("5", "review-p0", "failed", reviewed(final=False, failing="block_dim")),
    ("5", "review-conclusion", "failed", reviewed(final=False, conclusion="需修复")),
    ("5", "review-section-3", "failed", several(reviewed(final=False), edit(REVIEW_REPORT, "待 Phase 6 回填", "| 指标 | 值 |\n|---|---|\n| kernel_bus | 111 |"))),
    ("5", "review-cores", "rule", edit("src/allgather_kernel.cpp", "<<<block_dim,", "<<<1,")),
    ("5.5", "torch-binding", "failed", drop("../torch_binding/src/torch_bind_allgather.cpp")),
    ("5.5", "torch-test", "failed", drop("scripts/torch_test_allgather.py")),
    ("5.5", "torch-rules", "rule", edit("scripts/torch_test_allgather.py", "torch_npu.npu.set_device", "# torch_npu.npu.set_device")),
    ("5.5", "torch-library", "unknown", older("../torch_binding/src/torch_bind_allgather.cpp", LATER)),
    ("5.5", "torch-2pe", "unknown", drop("data/torch/torch_2pe.log")),
    ("5.5", "torch-8pe", "failed", lambda op: torch_log(op, 8, TORCH, failing=0)),
    ("6", "perf-report", "failed", drop(PERF_REPORT)),
    ("6", "perf-script", "failed", drop("scripts/perf.sh")),
    ("6", "perf-baseline", "failed", edit(PERF_REPORT, "- Type：hccl", "- Type：none")),
    ("6", "perf-baseline-code", "failed", drop("baseline")),
    ("6", "perf-logs", "unknown", drop("data/perf/baseline_8388608_float16.log")),
    ("6", "perf-scales", "failed", lambda op: without_lines(PERF_REPORT, f"| {op.case('S')} |")(op)),
    ("6", "perf-bottleneck", "failed", without_lines(PERF_REPORT, "remote_put")),
    ("6", "perf-decision", "failed", lambda op: op.write(PERF_REPORT, performance_report(op, decided=False), PERF)),
    ("6", "perf-current", "failed", older("src/main.cpp", LATER)),
    ("6.5", "round-1", "failed", rounds(lambda text: text.replace("### Round 1", "### 第一轮"))),
    ("6.5", "round-2", "failed", rounds(lambda text: text.replace("\n".join(round_(2)), "\n".join(round_(2, decision=""))))),
    ("6.5", "round-3", "failed", rounds(lambda text: text.replace("\n".join(round_(3)), "\n".join(round_(3, correctness="FAIL"))))),
    ("6.5", "round-4", "failed", rounds(lambda text: text.replace("\n".join(round_(4)), "### Round 4：未执行\n"))),
    ("6.5", "round-5", "failed", rounds(lambda text: text.replace("\n".join(round_(5)), "\n".join(round_(5)).replace("机制改动：", "")))),
    ("6.5", "code-build", "unknown", several(optimised, older("src/main.cpp", LATER))),
    ("6.5", "rounds-retested", "failed", several(optimised, older("src/main.cpp", LATER))),
    ("6.5", "rounds-overview", "failed", rounds(lambda text: text.replace("| 3 | 机制 | 双缓冲 3 | 3.1 | 75 | 未测 | 未测 | keep |\n", ""))),
    ("6.5", "rounds-final", "failed", rounds(lambda text: text.replace("### 6.2 S", "### 其他"))),
    ("6.5", "rounds-conclusion", "failed", rounds(lambda text: text.replace("达标状态：达标", ""))),
    ("regression", "torch-8pe", "unknown", several(optimised, lambda op: torch_log(op, 8, TORCH), older("src/main.cpp", LATER))),
    ("7", "review-report", "failed", drop(REVIEW_REPORT)),
    ("7", "review-final", "failed", reviewed(final=False)),
    ("7", "review-current", "failed", older("src/main.cpp", LATER)),
    ("7", "review-rows", "failed", without_lines(REVIEW_REPORT, "| 10 |")),
    ("7", "review-p0-p1", "failed", reviewed(final=True, failing="tile/tail")),
    ("7", "review-conclusion", "failed", reviewed(final=True, conclusion="需修复")),
    ("7", "review-performance", "failed", reviewed(final=True, perf=False)),
    ("7", "review-verdicts", "failed", without_lines(REVIEW_REPORT, "- 设计一致性", "- 正确性验证", "- 总体结论")),
    ("7", "review-deliverables", "failed", edit(REVIEW_REPORT, "src/allgather_kernel.cpp", "src/another_kernel.cpp")),
]  # fmt: skip
IDS = [f"{phase}-{check}-{n}" for n, (phase, check, _, _) in enumerate(SPOILT)]


def whole(folder) -> Built:
    op = finished(folder, "allgather")
    with_intake(op)
    return op


def at(op: Built, phase: str):
    return gate(Evidence(Operator(op.root.as_posix(), Places())), phase)


def base(folder, phase: str, check: str) -> Built:
    op = whole(folder)
    if phase in ("6.5", "regression"):
        optimised(op)
    if check == "code-no-perf":
        op.remove(REPORT, "docs/case_matrix_report.md")
    if check == "review-section-3":
        op.write(REVIEW_REPORT, review_report(op, final=False), REVIEW)
    return op


@pytest.mark.parametrize(("phase", "check", "state", "spoil"), SPOILT, ids=IDS)
def test_a_check_holds_and_does_not(tmp_path, phase, check, state, spoil):
    good = {c.id: c for c in at(base(tmp_path / "good", phase, check), phase).checks}
    op = whole(tmp_path / "bad")
    spoil(op)
    found = at(op, phase)
    bad = {c.id: c for c in found.checks}

    assert good[check].state == "ok", good[check].detail
    assert found.state == "closed"
    if state == "rule":
        assert check not in bad
        one = next(c for c in found.closed_by if c.id.startswith("rule:"))
    else:
        one = bad[check]
        assert one.state == state, one.detail
    assert one.opens["zh"]
    assert one.opens["en"]
    assert one.detail["zh"]
    assert one.detail["en"]


@pytest.mark.parametrize("phase", ORDER)
def test_a_finished_operators_gates_are_open(tmp_path, phase):
    op = base(tmp_path, phase, "")

    found = at(op, phase)

    assert found.state == "open", [(c.id, c.state, c.detail["en"]) for c in found.closed_by]


def test_fewer_rounds_are_the_designs_to_say(tmp_path):
    op = base(tmp_path, "6.5", "round-1")
    op.replace(DESIGN, "max_opt_rounds: 5", "max_opt_rounds: 3")
    op.age(DESIGN, 100)
    op.write(PERF_REPORT, performance_report(op, met=False, rounds=2), ROUND_REPORT)

    assert [c.id for c in at(op, "6.5").checks if c.id.startswith("round-")] == ["round-1", "round-2", "round-3"]
    match = recover(Evidence(Operator(op.root.as_posix(), Places())))
    assert (match.row, match.why["en"]) == (13, "the line is not met; 2 of 3 rounds are done")

    op.write(PERF_REPORT, performance_report(op, met=False, rounds=3), ROUND_REPORT)
    assert {c.id: c.state for c in at(op, "6.5").checks if c.id.startswith("round-")} == dict.fromkeys(
        ("round-1", "round-2", "round-3"), "ok"
    )
    match = recover(Evidence(Operator(op.root.as_posix(), Places())))
    assert (match.row, match.why["en"]) == (
        13,
        "all rounds (3) are done; the final comparison (section 6) is not filled",
    )
    assert match.next["en"].startswith("measure L and S")


def test_every_check_is_tried(tmp_path):
    """No check of a finished operator is left without a case where it does not hold."""
    tried = {(phase, check) for phase, check, _, _ in SPOILT}
    there = {(phase, c.id) for phase in ORDER for c in at(base(tmp_path / phase, phase, ""), phase).checks}

    also = {
        ("4", "code-build"),
        ("4", "correctness-rules"),
        ("5", "review-rules"),
        ("6", "perf-rules"),
        # In test_measured_when and test_upstream.
        ("6", "perf-after-correctness"),
        ("6", "perf-apart"),
        ("7", "upstream-untouched"),
        ("7", "review-rules"),
        ("7", "hardware-evidence"),
    }
    assert there - tried - also == set()


def test_a_phase_that_is_passed_over_says_why(tmp_path):
    op = finished(tmp_path, "allgather", torch=False)

    found = at(op, "5.5")

    assert found.state == "skipped"
    assert "torch_required" in found.why["en"]


def test_a_suppressed_finding_closes_nothing(tmp_path):
    op = whole(tmp_path)
    op.replace(DESIGN, "  intra_node_topology: full-mesh\n", "")
    rules = {c.place.line for c in at(op, "1").closed_by if c.id == "design-topology"}
    assert rules
    text = (op.root / DESIGN).read_text(encoding="utf-8")
    op.write(DESIGN, text.replace("\ntopology:\n", "\ntopology:  # opdev: ignore[missing-topology] 见第 1.3 节\n"), 100)

    assert "design-topology" not in {c.id for c in at(op, "1").closed_by}


def test_rules_that_are_off_leave_a_check_unproven(tmp_path):
    op = whole(tmp_path)
    op.write("opdev.toml", 'ignore = ["design"]\n', 1)

    found = {c.id: c.state for c in at(op, "1").checks}

    assert found["design-topology"] == "unknown"
    assert found["design-file"] == "ok"


def test_a_record_by_digest_beats_file_times(tmp_path):
    import hashlib
    import json

    op = copied(tmp_path, "allgather")
    evidence = Evidence(Operator(op.root.as_posix(), Places()))
    sources = {s: hashlib.sha256((op.root / s).read_bytes()).hexdigest() for s in evidence.sources}
    lines = [{"step": s, "result": "pass", "n_pes": 2, "time": 1, "sources": sources} for s in ("build", "smoke")]
    op.write(".opdev/runs/r1/events.jsonl", "".join(json.dumps(line) + "\n" for line in lines) + '{"step": "bu', BINARY)

    found = {c.id: c for c in at(op, "3").checks}
    assert (found["code-build"].state, found["code-smoke"].state) == ("ok", "ok")
    assert "by content" in found["code-build"].detail["en"]

    op.replace("src/main.cpp", "int main", "int  main")
    found = {c.id: c for c in at(op, "3").checks}
    assert found["code-build"].state == "unknown"


def test_a_build_that_fails_is_shown_in_the_source(tmp_path):
    op = recipes.build_fails(tmp_path, "alltoallv")

    one = next(c for c in at(op, "4").closed_by if c.id == "code-build")

    assert one.place.path.endswith("src/alltoallv_kernel.cpp")
    assert (one.place.line, one.place.column) == (42, 7)


def test_places_are_where_the_trouble_is(tmp_path):
    op = recipes.case_fails(tmp_path, "put_signal")

    one = next(c for c in at(op, "4").closed_by if c.id == "correctness-passed")

    line = (op.root / REPORT).read_text(encoding="utf-8").splitlines()[one.place.line - 1]
    assert "FAIL" in line


@pytest.mark.parametrize(
    "said",
    ["PASS", "pass（无遗留）", "通过，未发现问题", "✅", "N/A", "n/a: 不做性能，未测", "不适用", "not applicable"],
)
def test_results_that_let_a_review_pass(said):
    assert review.passes(said)


@pytest.mark.parametrize(
    "said",
    [
        "",
        None,
        "—",
        "FAIL",
        "not passed",
        "pass pending",
        "待通过",
        "未验证通过",
        "部分通过",
        "不通过",
        "signal 还没看",
        "final",
        "PASS/FAIL",
        "analysed",
    ],
)
def test_results_that_let_no_review_pass(said):
    assert not review.passes(said)


def test_a_review_without_p0_rows_is_none(tmp_path):
    op = finished(tmp_path, "allgather")
    text = (op.root / REVIEW_REPORT).read_text(encoding="utf-8")
    op.write(REVIEW_REPORT, text.replace("| P0 |", "| |"), FINAL)

    assert review.interim(Evidence(Operator(op.root.as_posix(), Places()))).verdict == "missing"


def test_a_torch_log_that_breaks_off_is_no_smaller_pass(tmp_path):
    op = finished(tmp_path, "allgather")
    op.remove("data/torch/torch_2pe.log")
    op.write("data/torch/torch_8pe.log", "[PE 0] PASS\n[PE 1] PASS\nSegmentation fault\n", TORCH)
    evidence = Evidence(Operator(op.root.as_posix(), Places()))

    assert [torch.passed(evidence, n, current=False).good for n in (2, 8)] == [False, False]


def test_an_empty_file_is_no_program(tmp_path):
    op = copied(tmp_path, "allgather")
    op.write("build/bin/allgather", "", LATER)

    assert proofs.build(Evidence(Operator(op.root.as_posix(), Places()))).verdict == "missing"


def test_a_glance_steps_aside_when_asked_to(tmp_path):
    op = copied(tmp_path, "allgather")
    op.remove("src/allgather_kernel.cpp")

    with pytest.raises(Cancelled):
        glance(Operator(op.root.as_posix(), Places()), cancelled=lambda: True)
