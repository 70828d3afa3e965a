"""Operators as they really lie about: other layouts, English headings, old state files, and the framework that has the same name."""

from __future__ import annotations

import json
import shutil

import pytest
from building import KERNEL, pro4, state, write

from opdev.cli import main as opdev
from opdev.facts.pypto_pro import generation, is_pro_project
from opdev.lint.cli import main as lint
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.pypto.finding import name_of, workflow_of
from opdev.pypto.states import STAGES
from opdev.workflow.hookcli import gate
from opdev.workflow.hooks import Asked, answered

SPEC = """\
# Add operator specification (four inputs)

## Formula

Y = ((X1 + X2) + X3) + X4

## Input/Output

| Name | Shape | dtype |
|------|-------|-------|
| x1 | [B, 256] | FP16 |
| y | [B, 256] | FP16 |

## Precision Requirements

atol = 0.001, rtol = 0.001
"""
DESIGN = """\
# Add operator design

## API Mapping

pypto.add, three times

## Tiling Strategy

set_vec_tile_shapes(32, 128)

## Verification

tests/test_add.py
"""
API = """\
# API report of add

## API Mapping

pypto.add

## Constraints

same dtype

## Tiling

by rows
"""
IMPL = """\
import pypto
import torch


@pypto.frontend.jit
def add_kernel(x: pypto.Tensor([pypto.DYNAMIC, 256], pypto.DT_FP16), y: pypto.Tensor([pypto.DYNAMIC, 256], pypto.DT_FP16)):
    pypto.set_vec_tile_shapes(32, 128)
    for i in pypto.loop(x.shape[0]):
        t = pypto.view(x, [1, 256], [i, 0])
        pypto.assemble(pypto.add(t, t), [i, 0], y)


def add_wrapper(x):
    y = torch.empty_like(x)
    add_kernel(x, y)
    return y
"""
GOLDEN = """\
import torch


def add_golden(x):
    return torch.add(x, x)
"""
TEST = """\
import os

import torch
from add_golden import add_golden
from add_impl import add_wrapper
from numpy.testing import assert_allclose


def _check(n):
    torch.npu.set_device(int(os.environ.get("TILE_FWK_DEVICE_ID", 0)))
    torch.manual_seed(0)
    x = torch.randn(n, 256).half()
    assert_allclose(add_wrapper(x), add_golden(x), rtol=1e-3, atol=1e-3)


def test_level0():
    _check(1)


def test_level1():
    _check(1024)
"""
PARTS = {
    "SPEC/SPEC.md": SPEC, "DESIGN/DESIGN.md": DESIGN, "API_REPORT/API_REPORT.md": API, "src/add_impl.py": IMPL,
    "golden/add_golden.py": GOLDEN, "tests/test_add.py": TEST, "README.md": "# add\n\npypto add\n",
}  # fmt: skip
"""A classic operator with a folder for each thing, and headings in English."""
OLD = {
    "operator_name": "add", "current_stage": 6, "env": {"pypto": "0.2.0"}, "audit": {"status": "UNDER_INVESTIGATION"},
    "stage_status": {**{str(n): "completed" for n in range(1, 6)}, "6": "blocked", "7": "not_started"},
}  # fmt: skip
"""As files of the first versions are: no max_stage, no schema_version, statuses and keys of their own."""
LAYOUTS = {
    "a folder for each": {name: name for name in PARTS},
    "docs": {
        name: f"docs/{name.rpartition('/')[2]}" if name[0].isupper() and name != "README.md" else name for name in PARTS
    },
    "flat": {name: name.rpartition("/")[2] for name in PARTS},
}


def findings(capsys, *words):
    """{name: severity} of what the linter finds, licences apart."""
    lint(["--isolated", "--no-cache", "--format", "json", "--ignore", "missing-license-header", *map(str, words)])
    return {(f["name"], f["operator"]): f["severity"] for f in json.loads(capsys.readouterr().out)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("folder", ["operators/add/pypto", "ops/Add", "custom/add"])
@pytest.mark.parametrize("with_state", [True, False])
def test_an_operator_is_found_and_judged_wherever_its_files_lie(capsys, tmp_path, layout, folder, with_state):
    root = write(tmp_path / folder, {LAYOUTS[layout][name]: text for name, text in PARTS.items()})
    if with_state:
        state(root, **OLD)

    assert (workflow_of(str(root)), name_of(str(root))) == ("classic", "add")
    where = folder.removesuffix("/pypto").rpartition("/")[2]
    found = findings(capsys, tmp_path)
    assert {operator for _, operator in found} == {where}
    # English headings count; what these documents really lack is their front matter.
    errors = {name for (name, _), severity in found.items() if severity == "error"}
    assert errors == {"missing-front-matter"}

    code = gate(["--check-gate", "--op-dir", str(root), "--stage", "1", "--lang", "en"])
    failed = {f["rule_id"] for f in json.loads(capsys.readouterr().out)["findings"] if f["status"] == "FAIL"}
    # The documents are there, wherever that is; only a state file may be missing.
    assert not failed & {"OL09", "OL10"}
    assert code == (0 if not failed else 2)


def test_an_old_state_file_is_read_as_it_is(capsys, tmp_path):
    root = state(write(tmp_path / "operators/add/pypto", PARTS), **OLD)

    assert opdev(["status", str(tmp_path), "--format", "json", "--lang", "en"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["operators"]
    assert "blocked" in json.dumps(one)
    found = findings(capsys, root / ".orchestrator_state.json")
    assert found == {("invalid-pypto-state", "add"): "info"}

    before = (root / ".orchestrator_state.json").read_text(encoding="utf-8")
    assert opdev(["state", "start-stage", "6", "--op", str(root), "--lang", "en"]) == 0, capsys.readouterr()
    after = json.loads((root / ".orchestrator_state.json").read_text(encoding="utf-8"))
    assert (after["stage_status"]["6"], after["stage_status"]["7"]) == ("in_progress", "not_started")
    assert after["audit"] == json.loads(before)["audit"]


def operator(root, files):
    write(root, files)
    return Operator(root.as_posix(), Places())


@pytest.mark.parametrize(
    ("more", "second"),
    [
        ({}, False),
        ({"module_interfaces.yaml": "op: demo\n"}, False),
        ({".orchestrator_state.json": '{"max_stage": 4, "schema_version": "2.0"}'}, False),
        ({".orchestrator_state.json": '{"max_stage": 5}'}, True),
        ({".orchestrator_state.json": '{"schema_version": "2.2"}'}, True),
        ({"KB_SELECTION.json": "{}"}, True),
        ({"PERFORMANCE_CASES.json": "{}"}, True),
        ({"SPEC.md": "# demo\n\n```json machine-contract\n{}\n```\n"}, True),
        ({"DESIGN.md": "# 设计\n\n## §1\n\nvector_selection: vf\n"}, True),
    ],
)
def test_the_generations_of_pro_are_told_apart(tmp_path, more, second):
    root = pro4(tmp_path / "custom" / "demo")
    project = operator(root, more)

    assert is_pro_project(project)
    assert generation(project) == (2 if second else 1)


def test_what_only_the_second_generation_forbids_is_not_told_of_the_first(capsys, tmp_path):
    """The same wrapper: support operations on the host are fine in one and beyond the boundary in the other."""
    text = KERNEL.replace("    y = torch.empty", "    x = x.contiguous().reshape(-1)\n    y = torch.empty")
    root = pro4(tmp_path / "custom" / "demo")
    write(root, {"test_demo.py": text})
    first = findings(capsys, root / "test_demo.py")

    write(root, {"KB_SELECTION.json": "{}"})
    second = findings(capsys, root / "test_demo.py")

    name = ("wrapper-beyond-boundary", "demo")
    assert second[name] == "error"
    assert first.get(name) != "error"


FOREIGN = {
    "examples/hello.py": "import pypto.language as pl\n\n\n@pl.program\nclass Hello:\n    @pl.function\n    def main(self, x: pl.Tensor[[64, 64], pl.FP32]):\n"
    "        for i in range(4):\n            if i == 2:\n                break\n        return x\n",
    "custom/add/add_impl.py": "from pypto import ir, language as pl\n\n\n@pl.jit\ndef kernel(x):\n    import os\n    return x\n",
    "custom/add/test_add.py": "import pypto.language as pl\n\n\n@pl.jit\ndef kernel(x):\n    return x\n\n\ndef test_it():\n    assert kernel\n",
    "custom/add/add_golden.py": "from pypto.language import Tensor\n\n\ndef add_golden(x):\n    return x.T\n",
    "docs/guide.md": "# pypto\n\n```python\nimport pypto.language as pl\n\n\n@pl.jit\ndef kernel(x):\n    import os\n    return x\n```\n",
}


def test_the_other_framework_of_the_name_is_met_with_silence(capsys, tmp_path):
    root = write(tmp_path, FOREIGN)

    assert findings(capsys, root) == {}
    assert workflow_of(str(root / "custom/add")) is None
    for mode in ("post-edit", "stop"):
        data = {"tool_input": {"file_path": str(root / "custom/add/add_impl.py")}, "cwd": str(root / "custom/add")}
        answer = answered(Asked(mode, data, str(root), "en"))
        assert (answer.body, answer.status) == (None, 0)
    code = {name: text for name, text in FOREIGN.items() if name.startswith("custom")}
    ours = {
        name: text.replace("from pypto import ir, language as pl", "import pypto_pro.language as pl")
        for name, text in code.items()
    }
    shutil.rmtree(root / "custom")
    # The same words with the other import are ours, and judged.
    assert findings(capsys, write(root, ours)) != {}


def exits(root, mode, path="", **more):
    data = {"tool_input": {"file_path": str(root / path)}} if path else {}
    answer = answered(Asked(mode, {**data, **more}, root.as_posix(), "en"))
    return answer.status, (answer.body or {}).get("hookSpecificOutput", {}).get("decision")


def test_each_hook_has_its_exit_status(tmp_path):
    """Edits are answered and end with 0; what must not end yet ends with 2."""
    root = state(write(tmp_path / "custom/add", {LAYOUTS["flat"][n]: t for n, t in PARTS.items()}),
                 operator_name="add", max_stage=7, current_stage=5, stage_status={"5": "in_progress"})  # fmt: skip
    assert exits(root, "post-edit", "add_impl.py")[0] == 0
    assert exits(root, "pre-edit", "add_impl.py") == (0, None)
    assert exits(root, "pre-edit", ".orchestrator_state.json") == (0, "block")
    assert exits(root, "post-bash") == (0, None)
    assert exits(root, "pre-commit") == (0, None)
    assert exits(root, "stop") == (2, "block")

    write(root, {"add_impl.py": IMPL.replace("@pypto.frontend.jit", "# none")})
    assert exits(root, "post-edit", "add_impl.py") == (0, "block")
    assert exits(root, "stop") == (2, "block")


def test_pro_always_says_allow_or_block(tmp_path):
    root = pro4(tmp_path / "custom" / "demo")
    write(root, {"PERFORMANCE_CASES.json": '{"schema_version": 1}'})
    assert exits(root, "post-edit", "test_demo.py") == (0, "allow")
    assert exits(root, "post-edit", "demo_golden.py") == (0, "allow")
    assert exits(root, "post-edit", "PERFORMANCE_CASES.json") == (0, "block")
    (root / "opdev.toml").write_text("select = 3\n", encoding="utf-8")
    assert exits(root, "post-edit", "test_demo.py") == (0, "block")
    assert exits(root, "post-edit", "notes.txt") == (0, None)


def ended(*words):
    """The exit status of a command line, also of one that argparse refuses."""
    try:
        return opdev([*map(str, words)])
    except SystemExit as end:
        return end.code


def test_every_workflow_has_its_stages_and_no_more(capsys, tmp_path):
    for kind, count in STAGES.items():
        root = tmp_path / kind / "custom" / "demo"
        write(pro4(root) if kind != "classic" else write(root, {"demo_impl.py": IMPL.replace("add", "demo")}), {})
        if kind == "pro":
            write(root, {"KB_SELECTION.json": "{}"})
        assert opdev(["status", str(root), "--format", "json", "--lang", "en"]) == 0
        (one,) = json.loads(capsys.readouterr().out)["operators"]
        assert one["workflow"] == {"pro4": "pypto-pro-4"}.get(kind, f"pypto-{kind}")
        ends = [ended("gate", n, "--op", root, "--lang", "en") for n in (count, count + 1)]
        capsys.readouterr()
        assert ends[0] in (0, 1), kind
        assert ends[1] == 2, kind


def test_a_project_whose_tests_speak_of_pypto_is_no_operator(tmp_path):
    write(tmp_path, {"tests/test_add.py": KERNEL})
    assert workflow_of(str(tmp_path)) is not None
    write(tmp_path, {f"tests/test_part{number}.py": "def test_nothing():\n    pass\n" for number in range(9)})
    assert workflow_of(str(tmp_path)) is None
    # Code of its own beside them makes one all the same.
    write(tmp_path, {"add_impl.py": KERNEL})
    assert workflow_of(str(tmp_path)) is not None
