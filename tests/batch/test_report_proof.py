"""A result that its evidence does not bear out is no success, in whatever way it was made to say so."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reports_made import compared, edit, finished, measured, rehash, seed

from opdev.bench import audit, proof, summary, verdicts
from opdev.bench.model import BenchError, CheatReport, Check, Generated
from opdev.bench.report_texts import TEXTS


@pytest.fixture
def root(tmp_path):
    return tmp_path / "batch"


def only(root):
    (case,) = summary.build(str(root))["cases"]
    return case


def problems(root):
    return [problem.key for problem in audit.check(str(root))]


@pytest.mark.parametrize("backend", ["sim", "ascend"])
def test_what_is_proven_is_a_success(root, backend):
    perf = {"performance": measured()} if backend == "ascend" else {}
    finished(root, backend=backend, **perf)
    case = only(root)

    assert (case["overall_status"], case["proven"], case["backend"]) == ("success", True, backend)
    assert case["perf_speedup"] == (2.0 if backend == "ascend" else None)
    assert problems(root) == []


def test_a_batch_may_be_moved_with_its_case_files_left_behind(root, tmp_path):
    finished(root)
    moved = tmp_path / "elsewhere"
    root.rename(moved)
    (tmp_path / "KernelBench" / "level1" / "19_ReLU.py").unlink()

    assert problems(moved) == []


def forge_overall(root, report):
    edit(report / "result.json", overall_status="success", verifier_status="passed", correctness=True)


def forge_speedup(root, report):
    edit(report / "result.json", perf_speedup=9.0)


def swap_source(root, report):
    (root / "ops/level1/19_ReLU/ReLU_impl.py").write_text("import torch\n", encoding="utf-8")


def swap_copy(root, report):
    (report / "ReLU_impl.py").write_text("import torch\n", encoding="utf-8")


def swap_everything(root, report):
    """The source, its copy, and the digest of it in the record."""
    from opdev.bench.records import digest

    swap_source(root, report)
    swap_copy(root, report)
    edit(report / "result.json", evidence__sources__0__sha256=digest(str(report / "ReLU_impl.py")))


def edit_evidence(root, report):
    edit(report / "verification.json", seconds=4.0)


def edit_numbers(root, report):
    edit(report / "verification.json", seeds__0__outputs__0__metrics__within=20)
    rehash(report)


def edit_case(root, report):
    (root.parent / "KernelBench/level1/19_ReLU.py").write_text("# easier\n", encoding="utf-8")


def delete_log(root, report):
    (root / "logs/level1/19_ReLU/verify.log").unlink()


def edit_log(root, report):
    (root / "logs/level1/19_ReLU/verify.log").write_text("verifyinG\n", encoding="utf-8")


def delete_evidence(root, report):
    (report / "verification.json").unlink()


def drop_evidence(root, report):
    edit(report / "result.json", evidence=None)


def other_backend(root, report):
    edit(report / "result.json", backend="ascend")
    edit(report / "verification.json", backend="ascend")
    rehash(report)


@pytest.mark.parametrize(
    ("forge", "found"),
    [
        (forge_speedup, {"differs"}), (swap_source, {"source-changed"}), (swap_copy, {"source-changed"}),
        (swap_everything, {"other-source"}), (edit_evidence, {"verification-changed"}), (edit_numbers, {"output", "differs"}),
        (edit_case, {"case-changed"}), (delete_log, {"log-missing"}), (edit_log, {"log-changed"}),
        (delete_evidence, {"unreadable"}), (drop_evidence, {"no-evidence"}), (other_backend, {"backend"}),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)  # fmt: skip
def test_forging_a_success_is_seen(root, forge, found):
    finished(root)
    forge(root, root / "report/level1/19_ReLU")

    assert found <= set(problems(root))
    if forge is not edit_log:  # Every byte of logs is read by the audit alone.
        made = summary.build(str(root))
        assert made["totals"]["success"] == 0
        assert made["cases"][0]["overall_status"] == "unproven"
        assert [one["case"] for one in made["unproven"]] == ["level1/19_ReLU"] * len(made["unproven"])
        assert all(one["message"]["zh"] and one["message"]["en"] for one in made["unproven"])


def test_a_failure_made_a_success_in_its_record_is_none(root):
    finished(
        root,
        status="failed",
        category="CORRECTNESS_NUMERICAL",
        seeds=(seed(outputs=(compared(within=3, verdict="fail", problem="numbers"),)),),
    )
    assert only(root)["overall_status"] == "verify_failed"
    forge_overall(root, root / "report/level1/19_ReLU")

    assert "differs" in problems(root)
    assert only(root)["overall_status"] == "unproven"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"seeds": (seed(outputs=(compared(within=30),)),)}, "output"),
        ({"seeds": (seed(outputs=(compared(max_abs=0.5),)),)}, "output"),
        ({"seeds": (seed(outputs=(compared(max_abs="nan"),)),)}, "output"),
        ({"seeds": (seed(outputs=(compared(origin="computed"),)),)}, "output"),
        ({"seeds": (seed(outputs=(compared(shape=(4, 9)),)),)}, "output"),
        ({"seeds": (seed(launches=0),)}, "launches"),
        ({"seeds": (seed(launches=2),)}, "launches"),
        ({"seeds": (seed(changed=("x0",)),)}, "changed-inputs"),
        ({"seeds": ()}, "seeds"),
        ({"settings": {"seeds": 5}}, "seeds"),
        ({"seeds": (seed(), seed(7))}, "no-drawn-seed"),
        ({"seeds": (seed(), seed(42, drawn=True))}, "same-seeds"),
        ({"stages": ()}, "no-stage"),
        ({"performance": measured()}, "simulated-figures"),
        ({"simulated": False}, "backend"),
        ({"cheat": CheatReport("ReLU", "", "pass", (Check("has_jit", "fail", "fatal"),))}, "cheat-verdict"),
        ({"cheat": CheatReport("ReLU", "", "cheat", (Check("has_jit", "fail", "fatal"),))}, "cheated"),
        ({"correctness": None}, "verdict"),
    ],
)  # fmt: skip
def test_a_verdict_has_to_follow_from_its_own_numbers(root, change, found):
    finished(root, change=lambda made: replace(made, **change))

    assert found in problems(root)
    assert only(root)["overall_status"] == "unproven"


def leaves(value, path=()):
    """Where something stands in a document."""
    yield path
    if isinstance(value, (dict, list)):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(one, (*path, key))


JSON = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.just([])
    | st.just({})
    | st.just([[{}]])
)


@settings(max_examples=300, deadline=None)
@given(st.data(), JSON)
def test_whatever_stands_anywhere_in_evidence_a_verdict_is_derived(evidence_document, data, value):
    document = json.loads(evidence_document)
    path = data.draw(st.sampled_from([p for p in leaves(document) if len(p) > 1]))
    target = document
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value

    found = verdicts.derive(document)
    assert isinstance(found, verdicts.Verdict)
    json.dumps(found.facts)


@pytest.fixture(scope="module")
def evidence_document(tmp_path_factory):
    root = tmp_path_factory.mktemp("fuzz") / "batch"
    finished(root)
    return json.dumps(verdicts.read(str(root / "report/level1/19_ReLU/verification.json")))


def test_every_problem_of_the_source_has_a_text():
    found = set()
    for module in (verdicts, proof, audit, summary):
        text = Path(module.__file__).read_text(encoding="utf-8")
        found |= set(re.findall(r'(?:yield|append\(\()\s*\(?"([a-z-]+)", \{', text))
        found |= set(re.findall(r'Problem\([^()"]*(?:f"[^"]*", |, )"([a-z-]+)"', text))

    assert len(found) > 25
    assert {key for key in found if f"r-p-{key}" not in TEXTS} == set()


def test_an_error_of_the_verifier_claims_nothing(root):
    finished(root)
    report = root / "report/level1/19_ReLU"
    edit(
        report / "result.json",
        verifier_status="error",
        correctness=None,
        overall_status="verify_error",
        evidence__verification=None,
    )

    assert problems(root) == []
    assert only(root)["overall_status"] == "verify_error"


def test_a_speedup_is_that_of_its_two_times(root):
    finished(root, backend="ascend", performance=replace(measured(), speedup=20.0))

    assert "speedup" in problems(root)
    assert only(root)["perf_speedup"] is None
    assert "perf" not in summary.build(str(root))["totals"]


def test_the_record_of_another_case_proves_nothing(root):
    finished(root)
    finished(root, "level1/20_LeakyReLU", op="LeakyReLU", status="failed")
    here, there = root / "report/level1/20_LeakyReLU", root / "report/level1/19_ReLU"
    for name in ("result.json", "verification.json", "ReLU_impl.py", "task_desc.py"):
        (here / name).write_bytes((there / name).read_bytes())
    assert "misplaced" in problems(root)
    edit(
        here / "result.json",
        case_id="20_LeakyReLU",
        op_name="LeakyReLU",
        source_file=str(root.parent / "KernelBench/level1/20_LeakyReLU.py"),
    )

    assert "other-case" in problems(root)
    assert summary.build(str(root))["totals"]["success"] == 1


def test_a_link_to_another_batch_shows_nothing_of_it(root, tmp_path):
    finished(root)
    other = tmp_path / "other/batch"
    finished(other, "level1/20_LeakyReLU", op="LeakyReLU")
    (root / "report/level1/20_LeakyReLU").symlink_to(other / "report/level1/20_LeakyReLU")

    assert problems(root) == ["link"]
    assert summary.build(str(root))["totals"]["by_status"] == {"success": 1, "unproven": 1}


def test_a_record_taken_away_is_missed(root):
    finished(root)
    finished(root, "level1/20_LeakyReLU", op="LeakyReLU", generated=Generated("timeout"))
    operators = [
        {"level": "level1", "case_id": "19_ReLU", "result_status": "success"},
        {"level": "level1", "case_id": "20_LeakyReLU", "result_status": "pypto_failed"},
        {"level": "level1", "case_id": "3_Later", "result_status": None},
    ]
    (root / "state").mkdir()
    (root / "state/state.json").write_text(json.dumps({"operators": operators}), encoding="utf-8")
    assert summary.build(str(root))["totals"]["by_status"] == {"pending": 1, "pypto_failed": 1, "success": 1}
    for name in os.listdir(root / "report/level1/20_LeakyReLU"):
        (root / "report/level1/20_LeakyReLU" / name).unlink()

    assert problems(root) == ["record-gone"]
    assert summary.build(str(root))["totals"]["by_status"] == {"pending": 1, "success": 1, "unproven": 1}


def test_a_summary_that_says_otherwise_is_named(root):
    finished(root, generated=Generated("timeout"))
    made = summary.build(str(root))
    path = root / "report/summary.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    assert problems(root) == []
    edit(path, totals__success=1, cases__0__overall_status="success")

    found = audit.check(str(root))
    assert [problem.values["name"].partition("[")[0] for problem in found] == [
        "totals.by_status",
        "totals.by_level",
        "cases",
    ]
    assert {problem.key for problem in found} == {"summary-differs"}
    assert {problem.path for problem in found} == {str(path)}
    assert summary.build(str(root))["totals"]["success"] == 0


def test_a_source_changed_later_is_one_problem_and_not_one_of_the_summary_too(root):
    finished(root)
    (root / "report/summary.json").write_text(json.dumps(summary.build(str(root))), encoding="utf-8")
    assert problems(root) == []
    swap_copy(root, root / "report/level1/19_ReLU")
    assert problems(root) == ["source-changed"]

    (root / "report/summary.json").write_text(
        json.dumps({"schema_version": 1, "cases": [{"key": []}]}), encoding="utf-8"
    )
    assert problems(root) == ["source-changed", "malformed", "summary-differs", "summary-invented"]


def test_what_has_no_evidence_anywhere_is_said_once(tmp_path):
    """As the field's own benchmark leaves it: flat records and nothing else."""
    for number in range(5):
        folder = tmp_path / f"level1/op{number}"
        folder.mkdir(parents=True)
        record = {
            "op_name": f"op{number}",
            "case_id": f"{number}_op{number}",
            "level": "level1",
            "pypto_status": "success",
            "verifier_status": "passed",
            "correctness": True,
            "overall_status": "success",
        }
        (folder / "result.json").write_text(json.dumps(record), encoding="utf-8")
    made = summary.build(str(tmp_path))

    assert [one["problem"] for one in made["unproven"]] == ["no-evidence-at-all"]
    assert (made["totals"]["success"], made["totals"]["unproven"], made["totals"]["total"]) == (0, 5, 5)


@pytest.mark.parametrize("name", ["result.json", "verification.json"])
def test_what_never_ends_is_not_read(root, name):
    finished(root)
    path = root / "report/level1/19_ReLU" / name
    path.unlink()
    os.mkfifo(path)

    assert "no-file" in problems(root)
    assert only(root)["overall_status"] == "unproven"


def test_there_has_to_be_a_batch(tmp_path):
    with pytest.raises(BenchError) as none:
        summary.build(str(tmp_path))
    assert none.value.key == "r-nothing"
    with pytest.raises(BenchError) as missing:
        summary.build(str(tmp_path / "none"))
    assert missing.value.key == "r-no-folder"
