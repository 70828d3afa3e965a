"""PyPTO rules on half-typed and damaged files: no rule fails, every range lies in its file, fixes stay in it."""

from __future__ import annotations

import random

import pytest

from opdev.kinds import classify
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

OP = "/w/custom/demo"
RULES = tuple(r for r in store.load() if r.family == "pypto")
FILES = {
    "docs/SPEC.md": """---
schema_version: 1
op_name: demo
supported_dtypes: [bfloat16, float16]
p0_shapes: [[1024, 128], {x: [8, 8], y: [1]}]
tolerance: "{'atol': 0.001, 'rtol': 0.001}"
---
# 规格

## 数学公式

$y = x$
""",
    "docs/DESIGN.md": "---\nop_name: demo\ndynamic_axes: [N]\n---\n# 设计\n\n```python\nimport pypto\nfor i in pypto.loop(4, unroll_list=[4, 2]):\n    pypto.empty(i)\n```\n",
    "MEMORY.md": "# 记录\n\n## Golden function inventory\n\n| 函数 | 状态 |\n|---|---|\n| a | ❌ |\n\n## Phase M_1 self-review\n\n- [ ] signature\n\n## Experience Preflight\n\n- [-] 尾块\n",
    ".orchestrator_state.json": '{"operator_name": "demo", "current_stage": 6, "max_stage": 7, "stage_status": {"5": "in_progress"}, "stage5_phases": {"active_phase": "M_2", "phase_status": {"M_1": {"status": "awaiting_verify"}}}, "rollback_history": []}',
    "eval/module_interfaces.yaml": "primary_inputs: [{name: x}, {name: y}]\nmodules:\n  - {id: 1, inputs: [{name: x, source: primary}], outputs: [{name: out}]}\nfinal_outputs: [{name: out, source: module_1}, {name: second}]\n",
    "demo_impl.py": '''import pypto as pt
from pypto.frontend import jit
import torch

N = pt.DYNAMIC


def helper(x, out, *rest):
    while x:
        pt.set_cube_tile_shapes([16], [64, 32], n=[3, 64])
    return pt.view(x, [8, 8], [0], valid_shape=[1, 2, 3])


@pt.frontend.jit(runtime_options={"a": 1})
def demo_kernel(n, x: pt.Tensor([N, 128], pt.DT_BF16), y: pt.Tensor(), *, k: torch.Tensor = None, **kw):
    """核函数"""
    y, (a, b) = x, (1, 2)
    for i in pt.loop(1, unroll_list=[4, 2]):
        for j in pt.loop(x.shape[0], unroll_list=[1]):
            pt.set_vec_tile_shapes(x.shape[0], i, -1, 2.0, *kw)
            y[:] = max(x, 0) + pt.sigmoid(x) + pt.sub(1.0, x) + pt.zeros([8], pt.DT_FP32)
    return [pt.cast(x, pt.DT_INT8) for _ in range(4)]


def demo_wrapper(x, y, out):
    for _ in range(3):
        demo_kernel(x, output)
    return torch.softmax(x, -1) @ y.sum() + pt.empty(3)
''',
    "demo_golden.py": "import torch\nimport pypto\n\n\ndef other_golden(x):\n    return x.T + x.t()\n",
    "test_demo.py": "import torch\nfrom demo_impl import helper\n\n\ndef test_one():\n    x = torch.randn(8)\n    torch.npu.set_device(0)\n    assert abs(helper(x, x)).max() < 1, dict(rtol=1.0)\n",
}  # fmt: skip
PIECES = ["(", ")", "[", "]", "{", "}", ":", ",", '"', "'''", "#", "\n", "\\", "---\n", "=", "@", " ", "\t", "é", "好", "😀", "\0",
          "```\n", "|", "- [", "def f(", "import pypto as ", "return", "*", "1e", "pypto.", ".T", "\r\n", "not_started"]  # fmt: skip


def damaged(text: str, rng: random.Random) -> str:
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(text) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + rng.randrange(1, 12) :]
        elif kind == 2:
            text = text[:at]
        else:
            other = rng.randrange(len(text) + 1)
            text = text[:at] + text[min(at, other) : max(at, other)][:80] + text[at:]
    return text


@pytest.mark.parametrize("seed", range(40))
def test_damaged_files_are_told_of_inside_their_bounds(seed):
    rng = random.Random(seed)
    disk = {f"{OP}/{name}": text.encode() for name, text in FILES.items()}
    for path in rng.sample(sorted(disk), 3):
        disk[path] = damaged(disk[path].decode(), rng).encode("utf-8", "surrogatepass")
        if rng.random() < 0.2:
            at = rng.randrange(len(disk[path]) + 1)
            disk[path] = disk[path][:at] + b"\xff\xd6\xd0" + disk[path][at:]
    places = Places(disk.__contains__)
    selection, linter = Selection(RULES), Linter(known=RULES)
    for path, data in sorted(disk.items()):
        place = places.of(path)
        kind = classify(path, data, in_operator=place.operator is not None)
        if not kind:
            continue
        source = Source.from_disk(path, data)
        project = Operator(OP, places, disk.get, disk)
        for finding in linter.lint(File(source, kind, place), selection, project).findings:
            assert finding.rule.name != "internal-error", finding.message("en")
            assert 0 <= finding.start <= finding.end <= len(source.data), finding
            for edit in finding.fix.edits if finding.fix is not None else ():
                assert 0 <= edit.start <= edit.end <= len(source.data), finding
            for lang in ("zh", "en"):
                assert "{" not in finding.message(lang) or "{" in str(finding.args), finding.message(lang)


def test_the_undamaged_files_have_most_of_what_can_be_found():
    disk = {f"{OP}/{name}": text.encode() for name, text in FILES.items()}
    places = Places(disk.__contains__)
    selection, linter = Selection(RULES), Linter(known=RULES)
    names = set()
    for path, data in sorted(disk.items()):
        place = places.of(path)
        kind = classify(path, data, in_operator=True)
        project = Operator(OP, places, disk.get, disk)
        names |= {
            f.rule.name
            for f in linter.lint(File(Source.from_disk(path, data), kind, place), selection, project).findings
        }
    assert len(names) >= 40, sorted(names)
