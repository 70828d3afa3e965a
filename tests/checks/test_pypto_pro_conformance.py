"""The existing PyPTO-Pro linter's own cases, rebuilt from their descriptions: what it reports we report, by its ids.

Left out are cases of its machinery (its registry, its configuration, its hooks) and those of gates.
"""

from __future__ import annotations

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
LINTED = ("PL01", "PL02", "PL04", "PL05", "PL07", "PL08", "PL09", "PL10", "PL11", "PL13", "PL15", "PL16")
RULES = tuple(r for r in store.load() if any(row[:4] in LINTED for row in r.covers))
EVERY = tuple(r for r in store.load() if r.family == "pypto-pro")
BY_ROW = {row: [r for r in RULES if any(other[:4] == row for other in r.covers)] for row in LINTED}

TEST = """import torch
import pypto_pro.language as pl

TILE = 64


@pl.vector_function
def demo_rows(x_tile, z_tile):
    mask = vf.create_mask(pattern=pl.MaskPattern.ALL, dtype=pl.DT_FP32)
    reg = vf.load_align(x_tile, 0)
    reg = vf.add(reg, reg, mask)
    vf.store_align(z_tile, reg, mask)


@pl.jit(auto_mutex=True)
def demo_kernel(x: pl.Tensor[["M", TILE], pl.DT_FP32], z: pl.Tensor[["M", TILE], pl.DT_FP32]):
    tile = pl.TileType(shape=[1, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec)
    x_db = pl.make_tile_group(type=tile, addrs=0x0000, mutex_ids=[0, 1])
    z_db = pl.make_tile_group(type=tile, addrs=0x1000, mutex_ids=[2, 3])
    with pl.section_vector():
        for i in pl.range(pl.get_block_idx(), x.shape[0], pl.get_block_num()):
            x_tile = x_db.next()
            z_tile = z_db.next()
            pl.load(x_tile, x, [i, 0])
            demo_rows(x_tile, z_tile)
            pl.store(z, z_tile, [i, 0])


def demo_wrapper(x: torch.Tensor):
    z = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    demo_kernel[None, min(x.shape[0], 8)](x, z)
    return z


def _assert_precision(actual, *inputs, label="", **kwargs):
    from precision_compare import check_precision
    from demo_golden_cpu import demo_golden_cpu

    passed, summary = check_precision(actual.cpu(), demo_golden_cpu(*[i.cpu() for i in inputs], **kwargs))
    if not passed:
        raise AssertionError(summary)


def _check(rows):
    from demo_golden import _get_device

    torch.manual_seed(42)
    x = torch.randn(rows, TILE, device=_get_device())
    _assert_precision(demo_wrapper(x), x)


def test_demo_aligned():
    _check(64)


def test_demo_tail():
    _check(65)


def test_demo_single():
    _check(1)


def test_demo_multitile():
    _check(1000)
"""
GOLDEN = "import torch\n\n\ndef demo_golden(x):\n    return x + x\n\n\ndef _get_device():\n    return 'npu'\n"
CPU = "import torch\n\n\ndef demo_golden_cpu(x):\n    return x.float() + x.float()\n"
STATE = '{"operator_name": "demo", "max_stage": 4, "current_stage": 4, "stage_status": {"1": "completed", "2": "completed", "3": "completed", "4": "in_progress"}}'
BASE = {
    ".orchestrator_state.json": STATE,
    "module_interfaces.yaml": "op: demo\nmodule_count: 1\nis_fusion: false\n",
    "demo_golden.py": GOLDEN,
    "demo_golden_cpu.py": CPU,
    "test_demo.py": TEST,
}


def found(files, rules):
    """(relative path, line, rule name, severity) of all findings."""
    disk = {f"{OP}/{name}": text.encode() for name, text in files.items()}
    places = Places(disk.__contains__)
    linter = Linter(known=RULES)
    out = []
    for path, data in sorted(disk.items()):
        place = places.of(path)
        kind = classify(path, data, in_operator=place.operator is not None)
        source = Source.from_disk(path, data)
        project = Operator(OP, places, disk.get, disk)
        for finding in linter.lint(File(source, kind, place), Selection(tuple(rules)), project).findings:
            assert finding.rule.name != "internal-error", finding.message("en")
            out.append((path[len(OP) + 1 :], finding.span()[0] + 1, finding.rule.name, finding.severity))
    return out


def lines(row, **changes):
    """Where a row's rules report in the base operator with files replaced (``module1`` is modules/demo_golden_stage1.py)."""
    names = {"test": "test_demo.py", "golden": "demo_golden.py", "cpu": "demo_golden_cpu.py",
             "stage1": "modules/demo_golden_stage1.py", "stage12": "modules/demo_golden_stage12.py",
             "state": ".orchestrator_state.json"}  # fmt: skip
    files = {**BASE, **{names[name]: text for name, text in changes.items()}}
    return [(path, line) for path, line, _, _ in found({k: v for k, v in files.items() if v is not None}, BY_ROW[row])]


def test_every_row_we_claim_has_a_rule():
    assert all(BY_ROW[row] for row in LINTED)


def test_a_complete_operator_is_clean():
    assert found(BASE, EVERY) == [(".orchestrator_state.json", 1, "missing-pro-file", "error")]
    assert found({**BASE, "DESIGN.md": "# demo PyPTO-Pro\n"}, BY_ROW["PL07"]) == []


@pytest.mark.parametrize(
    "line",
    [
        "from pypto import frontend",
        "import pypto",
        "import pypto.frontend as f",
        "import importlib\nm = importlib.import_module('pypto.frontend')",
        "import importlib as il\nm = il.import_module('pypto')",
        "from importlib import import_module as load\nm = load('pypto')",
        "m = __import__('pypto')",
    ],
)
def test_pl01_classic_imports(line):
    assert lines("PL01", test=f"{line}\n{TEST}") == [("test_demo.py", line.count("\n") + 1)]


def test_pl01_looks_into_functions():
    inside = TEST + "\n\ndef later():\n    import pypto\n\n    return pypto\n"
    assert lines("PL01", test=inside) == [("test_demo.py", TEST.count("\n") + 4)]


@pytest.mark.parametrize(
    "line",
    [
        "import pypto_pro.language",
        "import pypto_pro.language as p",
        "from pypto_pro import language as pl",
        "import os",
    ],
)
def test_pl01_needs_the_one_form(line):
    assert lines("PL01", test=TEST.replace("import pypto_pro.language as pl", line))


def test_pl01_the_classic_decorator():
    at = TEST[: TEST.index("@pl.jit")].count("\n") + 1
    classic = TEST.replace("@pl.jit(auto_mutex=True)", "@pypto.frontend.jit")
    assert lines("PL01", test=classic) == [("test_demo.py", at)]


def test_pl02_text_is_no_decorator():
    assert lines("PL02", test='"""@pl.jit"""\n# @pl.jit\n' + TEST + '\nTEXT = "@pl.jit"\n') == []


def test_pl02_none_and_two():
    without = TEST.replace("@pl.jit(auto_mutex=True)\n", "")
    first = without[: without.index("def test_demo_aligned")].count("\n") + 1
    assert lines("PL02", test=without) == [("test_demo.py", first)]
    second = "\n\n@pl.jit\ndef other(x):\n    pass\n"
    assert lines("PL02", test=TEST + second) == [("test_demo.py", TEST.count("\n") + 4)]


def test_pl02_looks_at_staged_tests_too():
    files = {**BASE, "modules/test_demo_module1.py": TEST + "\n\n@pl.jit\ndef other(x):\n    pass\n"}
    assert [path for path, *_ in found(files, BY_ROW["PL02"])] == ["modules/test_demo_module1.py"]


@pytest.mark.parametrize(
    "line", ["import pypto_pro.language as pl", "from pypto import frontend", "m = __import__('pypto')"]
)
@pytest.mark.parametrize("file", ["golden", "cpu", "stage1"])
def test_pl11_goldens_without_pypto(line, file):
    assert [at for _, at in lines("PL11", **{file: f"{line}\n{GOLDEN}"})] == [1]


@pytest.mark.parametrize(
    "line",
    [
        "from modules.test_demo_module1 import run",
        "from modules import test_demo_module1",
        "import modules.test_demo_module1",
        "m = __import__('modules.test_demo_module1')",
    ],
)
def test_pl13_goldens_independent_of_staged_tests(line):
    assert lines("PL13", stage1=f"{line}\n{GOLDEN}") == [("modules/demo_golden_stage1.py", 1)]
    both = lines("PL13", stage1=GOLDEN, stage12=f"{line}\n{GOLDEN}")
    assert both == [("modules/demo_golden_stage12.py", 1)]


def test_pl15_mentions_are_nothing():
    assert lines("PL15", test='"""assert_close"""\n# assert_close\n' + TEST + '\nWORD = "assert_close"\n') == []
    helper = TEST.replace("def _assert_precision", "def _other")
    assert lines("PL15", test=helper + '\nNAME = "_assert_precision"\n')
    assert lines("PL15", test=helper + "\n_assert_precision = None\n")


@pytest.mark.parametrize(
    "line",
    ["from torch.testing import assert_close", "torch.testing.assert_close(1, 2)", "from t import assert_close as c"],
)
def test_pl15_assert_close(line):
    assert ("test_demo.py", TEST.count("\n") + 1) in lines("PL15", test=f"{TEST}{line}\n")


def test_pl16_the_cpu_reference():
    assert lines("PL16", test=TEST.replace("from demo_golden_cpu import demo_golden_cpu", "pass"))
    dynamic = TEST.replace("from demo_golden_cpu import demo_golden_cpu", "m = __import__('demo_golden_cpu')")
    assert lines("PL16", test=dynamic) == []


@pytest.mark.parametrize(("file", "row"), [("golden", "PL04"), ("cpu", "PL05"), ("test", "PL09")])
def test_files_a_stage_leaves(file, row):
    done = STATE.replace('"in_progress"', '"completed"')
    files = {**BASE, "DESIGN.md": "# demo PyPTO-Pro\n", ".orchestrator_state.json": done, "EXPLORE_REPORT.md": "#\n"}
    names = {"golden": "demo_golden.py", "cpu": "demo_golden_cpu.py", "test": "test_demo.py"}
    assert found(files, BY_ROW[row]) == []
    del files[names[file]]
    assert [name for *_, name, _ in found(files, BY_ROW[row])] == ["missing-pro-file"]


def test_pl08_belongs_to_the_second_generation():
    files = {**BASE, "DESIGN.md": "# demo PyPTO-Pro\n"}
    del files["module_interfaces.yaml"]
    assert found(files, BY_ROW["PL08"]) == []
    files["KB_SELECTION.json"] = "{}"
    assert [name for *_, name, _ in found(files, BY_ROW["PL08"])] == ["missing-pro-file"]


@pytest.mark.parametrize(("value", "bad"), [("4", False), ("5", False), ("7", True), ("3", True)])
def test_pl10_stages(value, bad):
    assert bool(lines("PL10", state=STATE.replace('"max_stage": 4', f'"max_stage": {value}'))) is bad


@pytest.mark.parametrize("decorator", ["@pl.program", "@pl.function", "@pl.jit"])
def test_another_framework_of_the_name_is_left_alone(decorator):
    other = f"import pypto.language as pl\n\n\n{decorator}\ndef a(x):\n    for i in range(3):\n        pass\n"
    assert not classify("/w/elsewhere/test_other.py", other.encode())
