"""`opdev gate` and `opdev status` of PyPTO operators: their own stages, and never SHMEM's questions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from building import DESIGN, EVIDENCE, pro4, state, write

from opdev.cli import main
from opdev.phases import find, schema
from opdev.phases.pypto_status import stage_gate
from opdev.phases.status import glance, status
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.pypto.finding import name_of, workflow_of
from opdev.workflow.compat import evidence_at

CORPUS = Path(__file__).parents[1] / "corpus" / "clean" / "pypto"


def run(capsys, *words):
    code = main(list(words))
    out = capsys.readouterr()
    return code, out.out, out.err


def gate(capsys, root, stage):
    code, out, _ = run(capsys, "gate", str(stage), "--op", str(root), "--format", "json")
    found = json.loads(out)
    return code, {c["id"]: c["state"] for c in found["checks"] if c["state"] in ("failed", "unknown")}, found


@pytest.fixture
def demo(tmp_path):
    return pro4(tmp_path / "custom" / "demo")


@pytest.mark.parametrize("stage", [1, 2, 3, 4])
def test_every_gate_of_a_finished_operator_is_open(capsys, demo, stage):
    code, closed, found = gate(capsys, demo, stage)

    assert (code, closed) == (0, {})
    assert found["workflow"] == "pypto-pro-4"
    assert found["checks"]


def replaced(name, old, new):
    def act(root):
        path = root / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return act


def removed(name):
    return lambda root: (root / name).unlink()


@pytest.mark.parametrize(
    ("stage", "change", "closes"),
    [
        (1, removed("SPEC.md"), "file:SPEC.md"),
        (1, replaced("SPEC.md", "# demo\n\ny = x + 1\n", " \n"), "file:SPEC.md"),
        (1, replaced("PRO_MATERIAL_INDEX.md", "## §B", "### §B"), "material-index"),
        (1, replaced("EXPLORE_REPORT.md", "## 4.", "## 11."), "explore-report"),
        (1, replaced("EXPLORE_REPORT.md", "## 1. 小节\n", ""), "explore-report"),
        (1, replaced("EXPLORE_REPORT.md", "内容", "该形状不可行"), "feasible"),
        (2, removed("demo_golden_cpu.py"), "file:<op>_golden_cpu.py"),
        (2, removed("GOLDEN_PERF_REPORT.md"), "file:GOLDEN_PERF_REPORT.md"),
        (3, replaced("DESIGN.md", "## §4 ", "## 4 "), "design-sections"),
        (3, replaced("DESIGN.md", "## §9 评估\n\n见上", "## §9 评估\n\n❌ 未过"), "design-evaluation"),
        (3, replaced("DESIGN.md", "load_tile → vf.adds → store_tile", "vf.adds"), "design-dataflow"),
        (3, replaced("DESIGN.md", "| test_small | 1 |\n", ""), "design-cases"),
        (3, replaced("DESIGN.md", "## §5 切核\n\n见上", "## §5 切核\n\n待定"), "design-open"),
        (3, replaced("DESIGN.md", "## §5 切核\n\n见上", "## §5 切核\n\ny = ...\n"), "design-open"),
        (3, replaced("DESIGN.md", "make_tile_group", "make_tile"), "design-tiles"),
        (3, replaced("DESIGN.md", "vf.adds", "add"), "design-vector"),
        (4, replaced("test_demo.py", "import pypto_pro.language as pl", "import pypto_pro.language as pl\nimport pypto"), "pro-imports"),
        (4, replaced("test_demo.py", "@pl.jit(auto_mutex=True)", "@pl.jit\ndef other(): pass\n\n@pl.jit(auto_mutex=True)"), "one-kernel"),
        (4, replaced("test_demo.py", "def demo_wrapper", "def wrapped"), "wrapper"),
        (4, replaced("test_demo.py", "def test_tail", "def check_tail"), "tests"),
        (4, replaced("test_demo.py", "def _assert_precision", "def _compare"), None),
        (4, replaced("test_demo.py", "_assert_precision", "_compare"), "precision-standard"),
        (4, removed("logs/test_demo.log"), "run-evidence"),
        (4, replaced("logs/test_demo.log", "PASS", "FAIL"), "run-evidence"),
    ],
)  # fmt: skip
def test_what_is_taken_from_a_finished_operator_closes_its_gate(capsys, demo, stage, change, closes):
    change(demo)

    code, closed, _ = gate(capsys, demo, stage)

    if closes is None:
        assert "precision-standard" not in closed
        return
    assert code == 1
    assert closes in closed


def test_a_classic_operator_in_stage_5(capsys):
    _, out, _ = run(capsys, "status", str(CORPUS / "custom" / "ScaleAdd"), "--format", "json")

    (found,) = json.loads(out)["operators"]
    assert found["workflow"] == "pypto-classic"
    assert found["operator"] == "scale_add"
    assert found["phase"] == "5"
    assert "opdev state complete-stage 5" in found["next"]["en"]


def test_nobody_asks_a_pypto_operator_the_intake_questions(capsys, demo, tmp_path):
    empty = write(tmp_path / "custom" / "fresh", {"SPEC.md": "# x\n"})
    for root in (demo, empty):
        for lang in ("zh", "en"):
            _, out, err = run(capsys, "status", str(root), "--lang", lang)
            assert "intake" not in (out + err).lower()
            assert "启动确认" not in out + err
        text = glance(Operator(str(root), Places())).text
        assert "intake" not in text["en"]


def test_the_listing_of_a_tree_has_the_operators_of_both_kinds(capsys, demo, tmp_path):
    shutil.copytree(CORPUS.parent / "custom-ops" / "allgather", tmp_path / "custom-ops" / "allgather")

    code, out, _ = run(capsys, "status", str(tmp_path), "--format", "json")

    assert code == 0
    assert {(o["operator"], o["workflow"]) for o in json.loads(out)["operators"]} == {
        ("allgather", "shmem"), ("demo", "pypto-pro-4"),
    }  # fmt: skip
    # What runs phases knows SHMEM's alone.
    assert [op.name for op in find.operators(str(tmp_path))] == ["allgather"]


def test_the_state_says_the_stage_and_the_artifacts_whether_it_holds(demo):
    state(demo, operator_name="demo", max_stage=4, current_stage=3, stage_status={"1": "completed", "2": "completed", "3": "in_progress"})  # fmt: skip
    (demo / "demo_golden.py").unlink()

    found = status(Operator(str(demo), Places()))

    assert found.at.phase.id == "3"
    assert [g.phase.id for g in found.behind] == ["2"]
    assert found.at.next["en"].startswith("its gate is open")


def test_a_state_that_says_all_is_done_is_checked(demo):
    state(
        demo,
        operator_name="demo",
        max_stage=4,
        current_stage=4,
        stage_status={str(n): "completed" for n in range(1, 5)},
    )
    assert status(Operator(str(demo), Places())).at.complete

    (demo / "DESIGN.md").unlink()

    found = status(Operator(str(demo), Places()))
    assert not found.at.complete
    assert found.at.phase.id == "3"


@pytest.mark.parametrize("text", ["{", "[]", '{"current_stage": 99}', '{"current_stage": null}', ""])
def test_a_damaged_state_file_closes_the_gate_and_is_named(capsys, demo, text):
    (demo / ".orchestrator_state.json").write_text(text, encoding="utf-8")

    code, closed, _ = gate(capsys, demo, 2)

    assert code == 1
    assert closed["state-file"] == "failed"


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"SPEC.md": "# x", "KB_SELECTION.json": "{}"}, "pro"),
        ({"SPEC.md": "```json machine-contract\n{}\n```\n"}, "pro"),
        ({"EXPLORE_REPORT.md": "# x"}, "pro4"),
        ({"demo_impl.py": "import pypto\n"}, "classic"),
        ({"src/demo_impl.py": "import pypto\n", "docs/SPEC.md": "# x"}, "classic"),
        ({"test_demo.py": "import pypto_pro.language as pl\n"}, "pro4"),
        ({"demo_impl.py": "import pypto.language as pl\n"}, None),
        ({"demo_impl.py": "import torch\n"}, None),
        ({"docs/design.md": "# 设计", "SPEC.md": "# x"}, None),
        ({"src/demo_kernel.cpp": "", "SPEC.md": "# x"}, None),
        ({"notes.txt": "x"}, None),
        ({".orchestrator_state.json": "{}"}, "classic"),
        ({".orchestrator_state.json": '{"schema_version": "2.2"}'}, "pro"),
        ({".orchestrator_state.json": '{"max_stage": 4}', "demo_impl.py": "import pypto\n"}, "pro4"),
    ],
)
def test_whose_operator_a_folder_is(tmp_path, files, kind):
    root = write(tmp_path / "custom" / "demo", files)

    assert workflow_of(str(root)) == kind


def test_the_name_is_the_files_where_the_folder_is_written_in_camel_case(tmp_path):
    assert (
        name_of(str(write(tmp_path / "ScaleAdd", {"scale_add_impl.py": "", "scale_add_golden.py": ""}))) == "scale_add"
    )


def test_the_json_is_what_the_schema_says(capsys, demo):
    _, _, found = gate(capsys, demo, 3)
    jsonschema.validate(found, schema.gate())
    _, out, _ = run(capsys, "status", str(demo), "--format", "json")
    jsonschema.validate(json.loads(out), schema.status())


@pytest.mark.parametrize("words", [["gate", "7"], ["gate", "5.5"], ["gate", "intake"]])
def test_a_stage_there_is_none_of_is_told_with_those_there_are(capsys, demo, words):
    code, out, err = run(capsys, *words, "--op", str(demo))

    assert (code, out) == (2, "")
    assert "4 implementation" in err


SECOND = {
    "KB_SELECTION.json": '{"schema_version": 1, "op": "demo", "class_id": ".", "topologies": [], "properties": {}, "optional_patterns": [], "required_constraints": [], "no_matching_pattern": true}',
    "DESIGN_BINDINGS.json": '{"schema_version": 1, "bindings": []}',
    "KB_USAGE.json": '{"schema_version": 1, "op": "demo", "class_id": ".", "invariants": []}',
    "module_interfaces.yaml": "op: demo\nmodule_count: 1\nprimary_inputs: [{name: x}]\nmodules: [{id: 1, inputs: [{name: x, source: primary}], outputs: [{name: y}]}]\nfinal_outputs: [{name: y, source: module_1}]\n",
    **EVIDENCE,
}  # fmt: skip


@pytest.mark.parametrize(
    ("stage", "change", "closes"),
    [
        (1, replaced("KB_SELECTION.json", "true", "false"), "rule:invalid-kb-selection"),
        (1, removed("KB_SELECTION.json"), "file:KB_SELECTION.json"),
        (1, lambda _: None, "machine-contract"),
        (3, removed("DESIGN_BINDINGS.json"), "file:DESIGN_BINDINGS.json"),
        (3, replaced("module_interfaces.yaml", "id: 1", "id: 2"), "rule:invalid-module-interfaces"),
        (3, lambda _: None, "wrapper-border"),
        (4, lambda _: None, None),
        (4, removed("KB_USAGE.json"), "file:KB_USAGE.json"),
        (4, lambda root: state(root, max_stage=5, current_stage=4, stage_status={"4": "in_progress"}, stage4_path="L1", stage4_modules={"module_count": 2}), "staged-modules"),
        (5, lambda _: None, None),
        (5, replaced("PERFORMANCE_CASES.json", '["a"]', '["z"]'), "perf-cases"),
        (5, replaced("performance.json", "}", ""), "json:performance.json"),
    ],
)  # fmt: skip
def test_the_second_generation_has_five_stages(capsys, demo, stage, change, closes):
    write(demo, SECOND)
    change(demo)

    code, closed, found = gate(capsys, demo, stage)

    assert found["workflow"] == "pypto-pro"
    assert code == (0 if closes is None else 1), closed
    assert closes is None or closes in closed


@pytest.mark.parametrize(
    ("stage", "files", "check", "stands"),
    [
        (2, {}, "golden-validation", "ok"),
        (2, {"logs/demo_golden_cpu.log": "Traceback (most recent call last):\n"}, "golden-validation", "failed"),
        (2, {"logs/demo_golden.log": ""}, "golden-validation", "unknown"),
        (2, {"GOLDEN_VALIDATION.json": '{"by": "x"}'}, "golden-validation", "unknown"),
        (2, {"GOLDEN_VALIDATION.json": '{"status": "PASS"}'}, "golden-validation", "ok"),
        (2, {"GOLDEN_VALIDATION.json": '{"status": "FAIL"}'}, "golden-validation", "failed"),
        (2, {"GOLDEN_VALIDATION.json": "{"}, "json:GOLDEN_VALIDATION.json", "failed"),
        (3, {"DESIGN.md": DESIGN + "\nvf.add；pl.* Vector API\n"}, "design-vector", "failed"),
        (3, {"DESIGN.md": DESIGN + "\n## §11 附\n"}, "design-sections", "failed"),
        (3, {"DESIGN.md": DESIGN + "\nvector_selection: {step: 加, implementation: vf, decision_reason: default_vf}\n"}, "vector-selection", "ok"),
        (3, {"DESIGN.md": DESIGN + "\nvector_selection: {implementation: tile, decision_reason: default_vf}\n"}, "vector-selection", "failed"),
        (3, {}, "vector-selection", "unknown"),
    ],
)  # fmt: skip
def test_what_only_a_run_or_a_person_shows_is_told_as_open(demo, stage, files, check, stands):
    write(demo, {**SECOND, **files})
    found = {c.id: c.state for c in stage_gate(evidence_at(demo.as_posix()), str(stage)).checks}

    assert found[check] == stands


@pytest.mark.parametrize("stage", ["1", "2", "3", "4", "5"])
def test_a_state_with_an_unknown_status_closes_every_gate(demo, stage):
    write(demo, SECOND)
    state(demo, operator_name="demo", max_stage=5, current_stage=5, stage_status={"5": "in_progress", "1": "doen"})
    found = {c.id: c.state for c in stage_gate(evidence_at(demo.as_posix()), stage).checks}

    assert found["rule:invalid-pypto-state"] == "failed"


def test_modules_of_path_l1_are_verified_before_stage_4_ends(demo):
    ledger = {"module_count": 1, "module_status": {"1": "awaiting_verify"}}
    write(demo, SECOND)
    state(
        demo,
        operator_name="demo",
        max_stage=5,
        current_stage=4,
        stage_status={"4": "in_progress"},
        stage4_path="L1",
        stage4_modules=ledger,
    )
    found = {c.id: c.state for c in stage_gate(evidence_at(demo.as_posix()), "4").checks}

    assert found["modules-verified"] == "failed"
