"""The cases of PyPTO-Pro's existing linter for its gates and hooks: a complete operator passes every stage, row by row."""

from __future__ import annotations

import json

import pytest
from building import KERNEL, state, write

from opdev.workflow.hookcli import gate
from opdev.workflow.hooks import Asked, answered
from opdev.workflow.prorows import ROWS

GOLDEN = "import torch\n\n\ndef demo_golden(x):\n    return x + 1\n\n\ndef _get_device():\n    return 'npu:0'\n"
CPU = "import torch\n\n\ndef demo_golden_cpu(x):\n    return x.float() + 1\n"
CONTRACT = {
    "schema_version": 1, "op_name": "demo", "formula": "y = x + 1", "supported_dtypes": ["float32"],
    "inputs": [{"name": "x", "shape": ["N"], "dtype": "float32", "value_range": [-1, 1]}],
    "outputs": [{"name": "y", "shape": ["N"], "dtype": "float32", "value_range": [0, 2]}],
    "default_params": {}, "tolerance": {"policy": "pro_scheme_a"}, "dynamic_axes_ranges": {"N": [1, 4096]}, "shape_constraints": [],
    "p0_cases": [{"name": "aligned", "params": {}, "input_shapes": {"x": [64]}, "output_shapes": {"y": [64]}}],
}  # fmt: skip
INTERFACES = """op: demo
module_count: 1
is_fusion: false
primary_inputs: [{name: x, shape: "[N]", dtype: float32}]
modules: [{id: 1, name: add, section: vector, inputs: [{name: x, source: primary}], outputs: [{name: y, shape: "[N]", dtype: float32}]}]
final_outputs: [{name: y, source: module_1}]
"""
STAGE1 = "modules/demo_golden_stage1.py"


@pytest.fixture(params=[4, 5])
def demo(request, tmp_path):
    """The fixture of that linter's own cases, of either number of stages."""
    root = write(tmp_path / "custom" / "demo", {
        "SPEC.md": "# 规格\n\n```json machine-contract\n" + json.dumps(CONTRACT) + "\n```\n", "DESIGN.md": "# 设计\n",
        "module_interfaces.yaml": INTERFACES, "demo_golden.py": GOLDEN, "demo_golden_cpu.py": CPU, "test_demo.py": KERNEL,
    })  # fmt: skip
    return state(root, operator_name="demo", max_stage=request.param, schema_version="2.2" if request.param == 5 else "2.0",
                 current_stage=4, stage_status={**dict.fromkeys("123", "completed"), "4": "in_progress"})  # fmt: skip


@pytest.fixture
def judged(capsys, demo):
    def run(stage):
        try:
            code = gate(["--check-gate", "--op-dir", str(demo), "--stage", str(stage), "--lang", "en"])
        except SystemExit as end:
            return end.code, {}
        found = json.loads(capsys.readouterr().out)["findings"]
        return code, {f["rule_id"]: f["status"] for f in sorted(found, key=lambda f: f["status"] == "FAIL")}

    return run


@pytest.mark.parametrize("stage", [1, 2, 3, 4])
def test_a_complete_operator_passes_with_every_row_of_the_stage(judged, stage):
    code, rows = judged(stage)

    assert code == 0, rows
    assert {name for name in rows if name.startswith("PL")} == {n for n, row in ROWS.items() if stage in row.stages}
    assert set(rows.values()) == {"PASS"}


@pytest.mark.parametrize(
    ("stage", "name", "text", "row"),
    [
        (1, "SPEC.md", None, "PL03"),
        (1, "SPEC.md", "# demo\n\n```json machine-contract\n" + json.dumps({**CONTRACT, "op_name": "other"}) + "\n```\n", "PL03"),
        (2, "demo_golden.py", None, "PL04"),
        (2, "demo_golden_cpu.py", "import pypto_pro.language as pl\n" + CPU, "PL11"),
        (3, "DESIGN.md", None, "PL07"),
        (4, "demo_golden.py", None, "PL04"),
        (4, "demo_golden_cpu.py", None, "PL05"),
        (4, "test_demo.py", None, "PL09"),
        (4, "test_demo.py", "from pypto import frontend\n" + KERNEL, "PL01"),
        (4, "test_demo.py", KERNEL.replace("@pl.jit(auto_mutex=True)", "# none"), "PL02"),
        (4, "test_demo.py", KERNEL.replace("_assert_precision", "_compare"), "PL15"),
        (4, "test_demo.py", "import pypto_pro.language as pl\n", "PL02"),
        (4, "test_demo.py", "def f(:\n" + KERNEL, "SYNTAX"),
        (4, STAGE1, "import torch\nimport pypto_pro.language as pl\n", "PL11"),
        (4, STAGE1, "import torch\nfrom modules.test_demo_module1 import x\n", "PL13"),
        (4, ".orchestrator_state.json", "{", "PL10"),
    ],
)  # fmt: skip
def test_what_a_row_forbids_closes_the_gate(demo, judged, stage, name, text, row):
    if text is None:
        (demo / name).unlink()
    else:
        write(demo, {name: text})

    code, rows = judged(stage)

    assert code == 2
    assert rows[row] == "FAIL"


def test_rows_count_in_their_stages_only(demo, judged):
    write(demo, {STAGE1: "import torch\nimport pypto_pro.language as pl\n"})
    # Staged goldens are not there yet when the goldens are written.
    assert judged(2)[0] == 0
    assert judged(4)[0] == 2
    (demo / "SPEC.md").unlink()
    (demo / STAGE1).unlink()
    assert judged(4)[0] == 0
    assert judged(99)[0] == 2


def test_stopping_in_stage_4_needs_nothing_more(demo):
    assert answered(Asked("stop", {}, demo.as_posix(), "en")).body is None
    (demo / "demo_golden_cpu.py").unlink()

    answer = answered(Asked("stop", {}, demo.as_posix(), "en"))

    assert answer.status == 2
    assert "PL05" in answer.body["hookSpecificOutput"]["reason"]
