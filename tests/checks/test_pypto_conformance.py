"""The existing PyPTO linter's own cases, rebuilt from their descriptions: what it reports we report, by its ids.

Where we deliberately differ the case says so, and the rule's page says why.
"""

from __future__ import annotations

import pytest

from opdev.config import expand_word
from opdev.kinds import classify
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

OP = "/w/custom/demo"
RULES = tuple(r for r in store.load() if any(row.startswith("OL") for row in r.covers))
# A row that several pages share is OL48 on one and OL48B on the next.
BY_ROW = {
    row[:4]: [r for r in RULES if any(other[:4] == row[:4] for other in r.covers)] for r in RULES for row in r.covers
}

SPEC = """---
schema_version: 1
op_name: demo
supported_dtypes: [bfloat16]
p0_shapes: [[1024, 128], [1024, 256], [1024, 512]]
tolerance: "{'atol': 0.001, 'rtol': 0.001}"
---
# SPEC
"""
DESIGN = """---
schema_version: 1
op_name: demo
dynamic_axes: [N]
---
# DESIGN
"""
API_REPORT = """---
schema_version: 1
op_name: demo
---
# API
"""
HEAD = "import pypto\nimport torch\n\nN = pypto.DYNAMIC\nC = pypto.STATIC\n\n\n"
SIGNATURE = "(x: pypto.Tensor([N, C], pypto.DT_BF16), y: pypto.Tensor([N, C], pypto.DT_BF16))"
WRAPPER = "\n\ndef demo_wrapper(x, y):\n    demo_kernel(x, y)\n    return None\n"
BODY = """    pypto.set_vec_tile_shapes(32, 128)
    t = pypto.cast(x, pypto.DT_FP32)
    y[:] = pypto.cast(t, pypto.DT_BF16)
"""


def kernel(body=BODY, *, signature=SIGNATURE, decorator="@pypto.frontend.jit\n", name="demo_kernel"):
    return f"{decorator}def {name}{signature}:\n{body}"


def impl(body=BODY, *, before="", head=HEAD, wrapper=WRAPPER, **options):
    return head + before + kernel(body, **options) + wrapper


GOLDEN = "import torch\n\n\ndef demo_golden(x, y):\n    return x\n"
TEST = """import torch
from numpy.testing import assert_allclose


def _run_and_check(name, n, m, scale):
    x = torch.randn(n, m).bfloat16() * scale
    assert_allclose(x, x, rtol=1e-3, atol=1e-3)


def test_level0_basic():
    _run_and_check("basic", 1024, 128, 1.0)


def test_level1_basic():
    _run_and_check("wide", 1024, 256, 1.0)
    _run_and_check("wider", 1024, 512, 1.0)
"""
BASE = {
    "SPEC.md": SPEC,
    "DESIGN.md": DESIGN,
    "API_REPORT.md": API_REPORT,
    "demo_impl.py": impl(),
    "demo_golden.py": GOLDEN,
    "test_demo.py": TEST,
    "README.md": "# demo\n",
}
MODULE = "modules/demo_module1_impl.py"


def found(files, row):
    """(relative path, line, rule name, severity) of all findings of a row's rules."""
    disk = {f"{OP}/{name}": text.encode() for name, text in files.items()}
    places = Places(disk.__contains__)
    selection = Selection(tuple(BY_ROW[row]))
    linter = Linter(known=RULES)
    out = []
    for path, data in sorted(disk.items()):
        place = places.of(path)
        kind = classify(path, data, in_operator=place.operator is not None)
        source = Source.from_disk(path, data)
        project = Operator(OP, places, disk.get, disk)
        for finding in linter.lint(File(source, kind, place), selection, project).findings:
            assert finding.rule.name != "internal-error", finding.message("en")
            out.append((path[len(OP) + 1 :], finding.span()[0] + 1, finding.rule.name, finding.severity))
    return out


def with_files(**changes):
    """The base operator with files replaced; None takes one away.  ``module`` puts the text into a module alone."""
    files = dict(BASE)
    for name, text in changes.items():
        if name == "module":
            del files["demo_impl.py"]
            files[MODULE] = text
            continue
        path = {"impl": "demo_impl.py", "golden": "demo_golden.py", "test": "test_demo.py"}.get(name, name)
        if text is None:
            del files[path]
        else:
            files[path] = text
    return files


def loops(*lines):
    return "    pypto.set_vec_tile_shapes(32, 128)\n" + "".join(f"    {line}\n" for line in lines)


ONE = "(x: pypto.Tensor([1024], pypto.DT_FP32), out: pypto.Tensor([1024], pypto.DT_FP32))"
FP32 = "(x: pypto.Tensor([64, 128], pypto.DT_FP32), out: pypto.Tensor([64, 128], pypto.DT_FP32))"


def host(body, *, signature=FP32, more=""):
    """An implementation whose wrapper has this body."""
    text = HEAD + kernel("    out[:] = pypto.exp(x)\n", signature=signature, name="demo_kernel_npu") + more
    return text + "\n\ndef demo_wrapper(x):\n" + "".join(f"    {line}\n" for line in body)


def tiles(*lines, signature=SIGNATURE):
    return impl("".join(f"    {line}\n" for line in lines) + "    y[:] = pypto.exp(x)\n", signature=signature)


def cube(m, k, n):
    return tiles(f"pypto.set_cube_tile_shapes({m}, {k}, {n})", "pypto.set_vec_tile_shapes(32, 32)")


INT_PARAMETER = "(x: pypto.Tensor([N, C], pypto.DT_BF16), y: pypto.Tensor([N, C], pypto.DT_BF16), m_l0: int)"
UNROLL = "unroll_list=[8, 4, 2, 1, 1]"
SECOND = kernel(signature=ONE.replace("out", "y"), name="second_kernel")

INTERFACES = """schema_version: 1
op: demo
primary_inputs: [{name: x}, {name: y}]
modules:
  - {id: 1, inputs: [{name: x, source: primary}, {name: y, source: primary}], outputs: [{name: out_a}, {name: out_b}]}
final_outputs: [{name: out_a, source: module_1}, {name: out_b, source: module_1}]
"""
FOUR = "(" + ", ".join(f"{n}: pypto.Tensor([8], pypto.DT_FP32)" for n in ("x", "y", "out_a", "out_b")) + ")"


def written(*lines):
    """An operator with two outputs whose kernel has these lines."""
    text = impl("".join(f"    {line}\n" for line in lines), signature=FOUR)
    return with_files(impl=text, **{"eval/module_interfaces.yaml": INTERFACES})


# (row, case, files, files it is reported in)
CASES = [
    ("OL01", "fixture", BASE, []),
    ("OL01", "no decorator", with_files(impl=impl(decorator="")), ["demo_impl.py"]),
    ("OL01", "two kernels", with_files(impl=impl(signature=ONE.replace("out", "y"), wrapper="\n\n" + SECOND)), ["demo_impl.py"]),
    ("OL01", "module without a kernel", with_files(module=impl(decorator="")), [MODULE]),
    ("OL02", "output bound to the input", with_files(impl=impl(BODY + "    y = x\n")), ["demo_impl.py"]),
    ("OL02", "fixture", BASE, []),
    ("OL02", "module", with_files(module=impl(BODY + "    y = x\n")), [MODULE]),
    ("OL03", "return", with_files(impl=impl(BODY + "    return y\n")), ["demo_impl.py"]),
    ("OL03", "fixture", BASE, []),
    ("OL03", "module", with_files(module=impl(BODY + "    return y\n")), [MODULE]),
    ("OL04", "fixture", BASE, []),
    ("OL04", "no tile shapes", with_files(impl=impl("    y[:] = pypto.exp(x)\n")), ["demo_impl.py"]),
    ("OL04", "in a function it calls", with_files(impl=impl(
        "    y[:] = _demo_kernel_impl(x)\n",
        before="def _demo_kernel_impl(x):\n    pypto.set_vec_tile_shapes(32, 128)\n    return pypto.exp(x)\n\n\n")), []),
    ("OL04", "in a function nobody calls", with_files(impl=impl(
        "    y[:] = pypto.exp(x)\n",
        before="def _unused_tile_helper():\n    pypto.set_vec_tile_shapes(32, 128)\n\n\n")), ["demo_impl.py"]),
    ("OL04", "module", with_files(module=impl("    y[:] = pypto.exp(x)\n")), [MODULE]),
    ("OL05", "fixture", BASE, []),
    ("OL05", "no annotations", with_files(impl=impl(signature="(x, y)")), ["demo_impl.py"] * 2),
    ("OL06", "fixture", BASE, []),
    ("OL06", "builtin max of x and 0", with_files(impl=impl(BODY + "    y[:] = max(x, 0)\n")), ["demo_impl.py"]),
    ("OL06", "module", with_files(module=impl(BODY + "    y[:] = max(x, 0)\n")), [MODULE]),
    ("OL07", "only torch", with_files(impl="import torch\n\n\ndef demo_wrapper(x):\n    return x\n"), ["demo_impl.py"]),
    ("OL07", "fixture", BASE, []),
    ("OL07", "alias", with_files(impl=impl().replace("import pypto\n", "import pypto as pt\n").replace("pypto.", "pt.")), ["demo_impl.py"]),
    ("OL07", "submodule with an alias", with_files(impl=impl(head="import pypto\nimport pypto.frontend as fe\n" + HEAD[13:])), ["demo_impl.py"]),
    ("OL07", "from-import of the front end", with_files(impl=impl(head="from pypto import frontend\n" + HEAD)), ["demo_impl.py"]),
    ("OL07", "module", with_files(module="import torch\n\n\ndef demo_module1_wrapper(x):\n    return x\n"), [MODULE]),
    ("OL08", "fixture", BASE, []),
    ("OL08", "module", with_files(module=impl(wrapper="")), [MODULE]),
    ("OL11", "fixture", BASE, []),
    ("OL15", "golden imports pypto", with_files(golden="import pypto\n" + GOLDEN), ["demo_golden.py"]),
    ("OL15", "fixture", BASE, []),
    ("OL15", ".T of an operand", with_files(golden=GOLDEN.replace("return x", "return x * y.T")), ["demo_golden.py"]),
    ("OL15", ".t() without arguments", with_files(golden=GOLDEN.replace("return x", "return x.t()")), ["demo_golden.py"]),
    ("OL16", "fixture", BASE, []),
    ("OL16", "golden in the implementation", with_files(impl="from demo_golden import demo_golden\n" + impl()), ["demo_impl.py"]),
    ("OL17", "fixture", BASE, []),
    ("OL17", "kernel in the test", with_files(test=HEAD + kernel() + TEST), ["test_demo.py"]),
    ("OL18", "neither imported", BASE, ["test_demo.py"]),
    ("OL18", "both imported", with_files(test="from demo_impl import demo_wrapper\nfrom demo_golden import demo_golden\n" + TEST), []),
    ("OL19", "absolute difference by hand", with_files(test=TEST.replace(
        "assert_allclose(x, x, rtol=1e-3, atol=1e-3)", "assert abs(x - x).max() < 0.01").replace("from numpy.testing import assert_allclose\n", "")), ["test_demo.py"]),
    ("OL19", "fixture", BASE, []),
    ("OL19", "detailed_tensor_compare", with_files(test=TEST.replace("assert_allclose", "detailed_tensor_compare")), []),
    ("OL20", "neither", BASE, ["test_demo.py"]),
    ("OL20", "number only", with_files(test='import os\n\nDEVICE = os.environ["TILE_FWK_DEVICE_ID"]\n' + TEST), ["test_demo.py"]),
    ("OL20", "set_device(0) only", with_files(test=TEST + "\n\ntorch.npu.set_device(0)\n"), ["test_demo.py"]),
    ("OL20", "both", with_files(test=TEST + '\n\nimport os\ntorch.npu.set_device(int(os.environ["TILE_FWK_DEVICE_ID"]))\n'), []),
    ("OL21", "level 0 only", with_files(test=TEST.replace("test_level1_basic", "test_other")), ["test_demo.py"]),
    ("OL21", "fixture", BASE, []),
    ("OL21", "l0 and l1", with_files(test=TEST.replace("test_level0_basic", "test_demo_l0").replace("test_level1_basic", "test_demo_l1")), []),
    ("OL21", "l0 only", with_files(test=TEST.replace("test_level0_basic", "test_demo_l0").replace("test_level1_basic", "test_b")), ["test_demo.py"]),
    ("OL22", "no seed", BASE, ["test_demo.py"]),
    ("OL22", "manual_seed(42)", with_files(test=TEST + "\n\ntorch.manual_seed(42)\n"), []),
    ("OL23", "module without a loop", with_files(module=impl()), [MODULE]),
    ("OL25", "fixture", BASE, []),
    ("OL25", "empty Tensor()", with_files(impl=impl(signature="(x: pypto.Tensor(), y: pypto.Tensor())")), ["demo_impl.py", "demo_impl.py"]),
    ("OL25", "module, empty shape", with_files(module=impl(signature=SIGNATURE.replace("[N, C]", "[]"))), [MODULE, MODULE]),
    ("OL26", "fixture", BASE, []),
    ("OL26", "int before the tensors", with_files(impl=impl(signature="(n: int, " + SIGNATURE[1:])), ["demo_impl.py"] * 2),
    ("OL26", "module", with_files(module=impl(signature="(n: int, " + SIGNATURE[1:])), [MODULE] * 2),
    ("OL48", "fixture", BASE, []),
    ("OL48", "local constant", with_files(impl=tiles("tile = 128", "pypto.set_vec_tile_shapes(32, tile)")), []),
    ("OL48", "module constants", with_files(impl=impl(
        "    pypto.set_vec_tile_shapes(TM, TN)\n", before="TM = 32\nTN = 64\n\n\n")), []),
    ("OL48", "cube pairs", with_files(impl=cube("[64, 64]", "[64, 64]", "[64, 64]")), []),
    ("OL48", "int parameter", with_files(impl=tiles("pypto.set_vec_tile_shapes(m_l0, 128)", signature=INT_PARAMETER)), ["demo_impl.py"]),
    ("OL48", "entry of a shape", with_files(impl=tiles("pypto.set_vec_tile_shapes(x.shape[0], 128)")), ["demo_impl.py"]),
    ("OL48", "entry of a shape by name", with_files(impl=tiles("B = x.shape[0]", "pypto.set_vec_tile_shapes(B, 128)")), ["demo_impl.py"]),
    ("OL48", "parameter in a cube list", with_files(impl=tiles(
        "pypto.set_cube_tile_shapes([m_l0, 128], [128, 128], [128, 128])", signature=INT_PARAMETER)), ["demo_impl.py"]),
    ("OL48", "module, entry of a shape", with_files(module=tiles("pypto.set_vec_tile_shapes(x.shape[0], 128)")), [MODULE]),
    ("OL48", "single numbers", with_files(impl=cube("[16]", "[32]", "[64]")), ["demo_impl.py"] * 3),
    ("OL48", "L0 above L1", with_files(impl=cube("[128, 64]", "[128, 128]", "[128, 128]")), ["demo_impl.py"]),
    ("OL48", "no multiple", with_files(impl=cube("[3, 64]", "[128, 128]", "[128, 128]")), ["demo_impl.py"]),
    ("OL48", "multiples", with_files(impl=cube("[64, 128]", "[64, 128]", "[128, 256]")), []),
    ("OL49", "one loop", with_files(impl=impl(loops(f"for b in pypto.loop(4, {UNROLL}):", "    y[:] = x"))), []),
    ("OL49", "inner loop", with_files(impl=impl(loops(
        "for b in pypto.loop(4):", "    for i in pypto.loop(2, unroll_list=[4, 2, 1]):", "        y[:] = x"))), []),
    ("OL49", "siblings", with_files(impl=impl(loops(
        *(f"for {i} in pypto.loop(4, {UNROLL}):\n        y[:] = x" for i in "ab")))), []),
    ("OL49", "outer loop", with_files(impl=impl(loops(
        f"for b in pypto.loop(4, {UNROLL}):", "    for i in pypto.loop(2):", "        y[:] = x"))), ["demo_impl.py"]),
    ("OL49", "the middle one of three", with_files(impl=impl(loops(
        "for b in pypto.loop(4):", f"    for i in pypto.loop(2, {UNROLL}):", "        for j in pypto.loop(2):",
        "            y[:] = x"))), ["demo_impl.py"]),
    ("OL49", "fixture", BASE, []),
    ("OL49", "module", with_files(module=impl(loops(
        f"for b in pypto.loop(4, {UNROLL}):", "    for i in pypto.loop(2):", "        y[:] = x"))), [MODULE]),
    *[("OL56", f"one value {v}", with_files(impl=impl(loops(f"for b in pypto.loop(4, unroll_list=[{v}]):", "    y[:] = x"))), []) for v in (1, 16)],
    ("OL56", "five values", with_files(impl=impl(loops("for b in pypto.loop(4, unroll_list=[16, 8, 4, 2, 1]):", "    y[:] = x"))), ["demo_impl.py"]),
    ("OL56", "second sibling", with_files(impl=impl(loops(
        "for a in pypto.loop(4, unroll_list=[1]):", "    y[:] = x", "for b in pypto.loop(4, unroll_list=[8, 4, 1]):", "    y[:] = x"))), ["demo_impl.py"]),
    ("OL56", "innermost", with_files(impl=impl(loops(
        "for a in pypto.loop(4):", "    for b in pypto.loop(4, unroll_list=[4, 2, 1]):", "        y[:] = x"))), ["demo_impl.py"]),
    ("OL56", "no list", with_files(impl=impl(loops("for a in pypto.loop(4):", "    y[:] = x"))), []),
    ("OL56", "by a variable", with_files(impl=impl(loops("u = [8, 4, 1]", "for a in pypto.loop(4, unroll_list=u):", "    y[:] = x"))), []),
    ("OL56", "in the design", with_files(**{"DESIGN.md": DESIGN + "\n```python\nfor a in pypto.loop(4, unroll_list=[16, 8, 4, 2, 1]):\n    pass\n```\n"}), ["DESIGN.md"]),
    ("OL56", "one value in the design", with_files(**{"DESIGN.md": DESIGN + "\n```python\nfor a in pypto.loop(4, unroll_list=[1]):\n    pass\n```\n"}), []),
    ("OL56", "module", with_files(module=impl(loops("for b in pypto.loop(4, unroll_list=[8, 4, 2, 1]):", "    y[:] = x"))), [MODULE]),
    ("OL57", "range in a loop", with_files(impl=impl("    _demo_kernel_impl(x, y)\n", before=(
        "def _demo_kernel_impl(x, y):\n    for b in pypto.loop(4):\n        for i in range(8):\n"
        "            pypto.assemble(pypto.view(x, [1, 128], [i, 0]), [i, 0], y)\n\n\n"))), []),
    ("OL57", "list of views by append", with_files(impl=impl("    y[:] = parts(x)\n", before=(
        "def parts(x):\n    found = []\n    for i in range(8):\n        found.append(pypto.view(x, [1, 128], [i, 0]))\n"
        "    return pypto.concat(found, 0)\n\n\n"))), []),
    ("OL57", "while in a helper", with_files(impl=impl("    helper(x, y)\n", before=(
        "def helper(x, y):\n    i = 0\n    while i < 8:\n        pypto.assemble(pypto.view(x, [1, 128], [i, 0]), [i, 0], y)\n"
        "        i += 1\n\n\n"))), ["demo_impl.py"]),
    ("OL57", "comprehension of views", with_files(impl=impl(
        "    y[:] = pypto.concat([pypto.view(x, [1, 128], [i, 0]) for i in range(8)], 0)\n")), ["demo_impl.py"]),
    ("OL57", "only pypto.loop", with_files(impl=impl(loops(
        "for b in pypto.loop(4):", "    for i in pypto.loop(2, unroll_list=[1], submit_before_loop=True):", "        y[:] = x"))), []),
    ("OL57", "plain loop in the wrapper", with_files(impl=host(
        ["total = 0", "for i in range(4):", "    total += i", "out = torch.empty_like(x)", "demo_kernel_npu(x, out)"])), []),
    *[("OL58", f"pypto.{maker}", with_files(impl=host(
        [f"out = pypto.{maker}([1024], dtype=pypto.DT_FP32, device='npu')", "demo_kernel_npu(x, out)"])), ["demo_impl.py"])
      for maker in ("zeros", "empty", "ones")],
    *[("OL58", f"torch.{made[:10]}", with_files(impl=host([f"out = torch.{made}", "demo_kernel_npu(x, out)"])), [])
      for made in ("empty([1024], dtype=x.dtype, device=x.device)", "empty_like(x)", "zeros([8, 8], dtype=x.dtype, device=x.device)")],
    ("OL58", "reshape of an input", with_files(impl=host(
        ["x2 = x.reshape(8, 128)", "out = torch.empty([8, 128])", "demo_kernel_npu(x2, out)"])), []),
    ("OL58", "through a name", with_files(impl=host(["tmp = pypto.zeros([8])", "out = tmp", "demo_kernel_npu(x, out)"])), ["demo_impl.py"]),
    ("OL58", "never allocated", with_files(impl=host(["demo_kernel_npu(x, out)"])), ["demo_impl.py"]),
    ("OL58", "no wrapper", with_files(impl=impl(wrapper="")), []),
    ("OL55", "fixture", BASE, []),
    ("OL55", "pypto.empty", with_files(impl=host(["return pypto.empty([1024], dtype=pypto.DT_FP32)"])), ["demo_impl.py"]),
    ("OL55", "pypto.empty_like", with_files(impl=host(["return pypto.empty_like(x)"])), ["demo_impl.py"]),
    ("OL55", "nonsense", with_files(impl=host(["return pypto.qwzxv(x)"])), ["demo_impl.py"]),
    ("OL55", "alias, a name that exists", with_files(impl="import pypto as pt\n\n\ndef demo_wrapper(x):\n    return pt.zeros([8])\n"), []),
    ("OL55", "alias, one that does not", with_files(impl="import pypto as pt\n\n\ndef demo_wrapper(x):\n    return pt.empty([8])\n"), ["demo_impl.py"]),
    ("OL55", "in the design", with_files(**{"DESIGN.md": DESIGN + "\n```python\ny = pypto.empty([8])\n```\n"}), ["DESIGN.md"]),
    ("OL55", "right in the design", with_files(**{"DESIGN.md": DESIGN + "\n```python\ny = pypto.amax(x)\n```\n"}), []),
    ("OL55", "bash and yaml fences", with_files(**{"DESIGN.md": DESIGN + "\n```bash\npypto.empty\n```\n\n```yaml\na: pypto.empty\n```\n"}), []),
    # Incomplete code is looked at, too.
    ("OL55", "a fence that does not parse", with_files(**{"DESIGN.md": DESIGN + "\n```python\ny = pypto.empty([8\n```\n"}), ["DESIGN.md"]),
    ("OL55", "nothing to look at", with_files(impl=None, **{"DESIGN.md": None}), []),
    ("OL60", "entry in torch", with_files(
        impl=impl(wrapper="\n\ndef flash_kda(x):\n    return x\n" + WRAPPER),
        test="from demo_impl import flash_kda\n" + TEST + "\n\ndef test_it(x):\n    flash_kda(x)\n"), ["test_demo.py"]),
    ("OL60", "wrapper calls the kernel", with_files(test="from demo_impl import demo_wrapper\n" + TEST + "\n\ndef test_it(x):\n    demo_wrapper(x, x)\n"), []),
    ("OL60", "no kernel", with_files(impl=impl(decorator=""), test="from demo_impl import demo_wrapper\n" + TEST + "\n\ndef test_it(x):\n    demo_wrapper(x, x)\n"), ["test_demo.py"]),
    ("OL60", "nothing imported", BASE, []),
    ("OL60", "imported, not called", with_files(test="from demo_impl import demo_wrapper\n" + TEST), []),
    ("OL60", "entry to wrapper to kernel", with_files(
        impl=impl(wrapper=WRAPPER + "\n\ndef entry(x):\n    demo_wrapper(x, x)\n"),
        test="from demo_impl import entry\n" + TEST + "\n\ndef test_it(x):\n    entry(x)\n"), []),
    ("OL60", "module test, clean", with_files(test="", **{MODULE: impl(), "modules/test_demo_module1.py":
        "from demo_module1_impl import demo_wrapper\n\n\ndef test_it(x):\n    demo_wrapper(x, x)\n"}), []),
    ("OL60", "module test, entry in torch", with_files(test="", **{
        MODULE: impl(wrapper="\n\ndef flash_kda(x):\n    return x\n"),
        "modules/test_demo_module1.py": "from demo_module1_impl import flash_kda\n\n\ndef test_it(x):\n    flash_kda(x)\n"}),
     ["modules/test_demo_module1.py"]),
    ("OL62", "torch in the wrapper", with_files(impl=host(
        ["a = torch.matmul(x, x)", "return torch.softmax(a, -1)"])), ["demo_impl.py"] * 2),
    ("OL62", "layout in the wrapper", with_files(impl=host(
        ["out = torch.empty_like(x).reshape(8, 8).contiguous().to(x.dtype)", "demo_kernel_npu(x, out)", "return out"])), []),
    ("OL62", "scalars in the kernel, torch below main", with_files(impl=impl(
        BODY + "    n = x.shape[0].min(1)\n",
        wrapper=WRAPPER + '\n\nif __name__ == "__main__":\n    print(torch.matmul(torch.ones(2, 2), torch.ones(2, 2)).sum())\n')), []),
    ("OL09", "fixture, which has headings only", BASE, ["SPEC.md"]),
    ("OL09", "complete", with_files(**{"SPEC.md": SPEC + "\n## 数学公式\n\ny = x\n\n## 输入输出规格\n\ndtype, shape\n\n## 精度要求\n\natol\n"}), []),
    ("OL10", "headings in a fence", with_files(**{"API_REPORT.md": API_REPORT + "\n```\n## API 映射\n## 约束\n## Tiling\n```\n"}), ["API_REPORT.md"]),
    ("OL10", "complete", with_files(**{"API_REPORT.md": API_REPORT + "\n## API 映射\n\n## 约束\n\n## Tiling\n"}), []),
    ("OL12", "complete", with_files(**{"DESIGN.md": DESIGN + "\n## 计算图\n\n## 数据切分\n\n## 验证方案\n"}), []),
    ("OL13", "no README after stage 5", with_files(**{"README.md": None, ".orchestrator_state.json":
        '{"operator_name": "demo", "max_stage": 7, "current_stage": 6, "stage_status": {"5": "completed"}}'}), [".orchestrator_state.json"]),
    ("OL14", "stage 6 before 5 is done", with_files(**{".orchestrator_state.json":
        '{"operator_name": "demo", "max_stage": 7, "current_stage": 6, "stage_status": {"5": "in_progress"}}'}), [".orchestrator_state.json"]),
    ("OL24", "no state", BASE, []),
    ("OL24", "no JSON", with_files(**{".orchestrator_state.json": "{"}), [".orchestrator_state.json"]),
    ("OL30", "fixture", with_files(test=TEST), []),
    ("OL30", "a dtype nobody tests", with_files(**{"SPEC.md": SPEC.replace("[bfloat16]", "[bfloat16, float16]")}), ["SPEC.md"]),
    ("OL31", "fixture", BASE, []),
    ("OL31", "kernel of the wrapper is static", with_files(impl=impl(
        before=kernel(name="marker") + "\n\n", signature=SIGNATURE.replace("N, C", "8, C"))), ["demo_impl.py"]),
    ("OL31", "module, static", with_files(module=impl(signature=SIGNATURE.replace("N, C", "8, C"))), [MODULE]),
    ("OL32", "fixture", BASE, []),
    ("OL32", "looser", with_files(test=TEST.replace("rtol=1e-3", "rtol=1e-1")), ["test_demo.py"]),
    ("OL33", "fixture", BASE, []),
    ("OL33", "one too many", with_files(golden=GOLDEN.replace("(x, y)", "(x, y, z)")), ["demo_impl.py"]),
    ("OL34", "fixture", BASE, []),
    ("OL34", "a shape nobody tests", with_files(**{"SPEC.md": SPEC.replace("[1024, 512]", "[4096, 512]")}), ["SPEC.md"]),
    # Shapes as mappings of scalars are told where the front matter is judged.
    ("OL40", "shapes as mappings of scalars", with_files(**{"SPEC.md": SPEC.replace(
        "[[1024, 128], [1024, 256], [1024, 512]]", "[{B: 1, C: 2, H: 3, W: 4}]")}), ["SPEC.md"]),
    ("OL39", "no front matter", with_files(**{"DESIGN.md": "# DESIGN\n"}), ["DESIGN.md"]),
    ("OL39", "fixture", BASE, []),
    ("OL40", "only op_name", with_files(**{"SPEC.md": "---\nop_name: demo\n---\n# SPEC\n"}), ["SPEC.md"] * 4),
    ("OL40", "design with op_name only", with_files(**{"DESIGN.md": "---\nop_name: demo\n---\n# D\n"}), ["DESIGN.md"] * 2),
    ("OL40", "nothing in it", with_files(**{"API_REPORT.md": "---\n{}\n---\n# A\n"}), ["API_REPORT.md"] * 2),
    ("OL40", "fixture", BASE, []),
    ("OL41", "pasted line", with_files(impl=impl() + "\n# [pypto-op-lint] OL01 FAIL\n"), ["demo_impl.py"]),
    ("OL41", "module", with_files(module=impl() + "\n# blocking_rules: OL01\n"), [MODULE]),
    ("OL50", "an extra keyword parameter", with_files(impl=impl(wrapper="\n\ndef demo_wrapper(x, y, *, runtime_options=None):\n    demo_kernel(x, y)\n"),
        **{"eval/module_interfaces.yaml": INTERFACES}), ["demo_impl.py"]),
    ("OL50", "any keywords", with_files(impl=impl(wrapper="\n\ndef demo_wrapper(x, y, **kwargs):\n    demo_kernel(x, y)\n"),
        **{"eval/module_interfaces.yaml": INTERFACES}), []),
    ("OL50", "suffix 15", with_files(**{"eval/module_interfaces.yaml": INTERFACES, "modules/demo_module15_impl.py": impl()}), ["modules/demo_module15_impl.py"]),
    ("OL51", "one of two", written("pypto.assemble(pypto.exp(x), [0, 0], out_a)"), ["demo_impl.py"]),
    ("OL51", "assemble with two arguments", written("pypto.assemble(pypto.exp(x), [0, 0])"), ["demo_impl.py"]),
    ("OL51", "move and subscript", written("out_a.move(pypto.exp(x))", "out_b[:] = pypto.add(x, y)"), []),
    *[("OL51", f"{name} on both", written(*(f"pypto.{name}({out}, 0, x, y)" for out in ("out_a", "out_b"))), [])
      for name in ("index_add_", "scatter_", "axpy_")],
    ("OL51", "method in place", written("out_a.index_add_(0, x, y)", "out_b[:] = pypto.exp(x)"), []),
    ("OL51", "the inputs themselves", written("out_a[:] = x", "out_b[:] = y"), ["demo_impl.py"] * 2),
    ("OL51", "zeros and tensor", written("out_a[:] = pypto.zeros([8])", "out_b[:] = pypto.tensor([8])"), ["demo_impl.py"] * 2),
    ("OL51", "zeros by a name", written("z = pypto.zeros([8])", "pypto.assemble(z, [0], out_a)", "pypto.assemble(z, [0], out_b)"), ["demo_impl.py"] * 2),
    ("OL51", "filled later", written(
        "a = pypto.zeros([8])", "b = pypto.zeros([8])", "a[:] = pypto.exp(x)", "b[:] = pypto.add(x, y)",
        "pypto.assemble(a, [0], out_a)", "pypto.assemble(b, [0], out_b)"), []),
    ("OL51", "computed", written("out_a[:] = pypto.exp(x)", "pypto.assemble(pypto.add(x, y), [0], out_b)"), []),
]  # fmt: skip


@pytest.mark.parametrize(("row", "case", "files", "where"), CASES, ids=[f"{row}-{case}" for row, case, *_ in CASES])
def test_the_existing_linters_cases(row, case, files, where):
    assert [path for path, *_ in found(files, row)] == where


@pytest.mark.parametrize("row", sorted(BY_ROW))
def test_a_stub_and_another_framework_are_left_alone(row):
    if not row.startswith("OL"):
        return
    other = "import pypto.language as pl\n\n\n@pl.function\ndef demo_kernel(x):\n    return max(x, 0)\n"
    assert not [f for f in found({"demo_impl.py": other, "test_demo.py": other}, row) if f[0].endswith(".py")]


def test_a_finished_operator_is_free_of_findings_of_any_rule():
    """Rules of SHMEM operators and of documents elsewhere have nothing to say of a PyPTO operator."""
    text = impl("    pypto.set_vec_tile_shapes(32, 128)\n    for i in pypto.loop(x.shape[0]):\n"
                "        t = pypto.cast(x, pypto.DT_FP32)\n        y[:] = pypto.cast(t, pypto.DT_BF16)\n")  # fmt: skip
    head = (
        "import os\n\nimport torch\nfrom demo_golden import demo_golden\nfrom demo_impl import demo_wrapper\n"
        'torch.npu.set_device(int(os.environ.get("TILE_FWK_DEVICE_ID", "0")))\ntorch.manual_seed(42)\n'
    )
    files = with_files(
        impl=text,
        test=TEST.replace("import torch\n", head, 1).replace(
            "assert_allclose(x, x,", "demo_wrapper(x, x)\n    assert_allclose(x, demo_golden(x, x),"
        ),
        **{
            "SPEC.md": SPEC
            + "\n## 数学公式\n\n$y = x$\n\n## 输入输出规格\n\ndtype bf16，shape [N, 128]\n\n## 精度要求\n\natol 0.001\n",
            "API_REPORT.md": API_REPORT + "\n## API 映射\n\n## 约束\n\n## Tiling\n",
            "DESIGN.md": DESIGN + "\n## 计算图\n\n## 数据切分\n\n## 验证方案\n",
            "MEMORY.md": "# 记录\n",
            ".orchestrator_state.json": '{"operator_name": "demo", "max_stage": 7, "current_stage": 5, "stage_status": {"4": "completed", "5": "in_progress"}}',
        },
    )
    assert everything(files) == []


def everything(files):
    disk = {f"{OP}/{name}": text.encode() for name, text in files.items()}
    places = Places(disk.__contains__)
    rules = store.load()
    selection, linter = Selection(tuple(rules)), Linter(known=rules)
    out = []
    for path, data in sorted(disk.items()):
        place = places.of(path)
        kind = classify(path, data, in_operator=place.operator is not None)
        project = Operator(OP, places, disk.get, disk)
        result = linter.lint(File(Source.from_disk(path, data), kind, place), selection, project)
        # The licence header is every repository's own.
        found = [f for f in result.findings if f.rule.name != "missing-license-header"]
        out += [(path[len(OP) + 1 :], f.span()[0] + 1, f.rule.name, f.severity, f.message("en")) for f in found]
    return out


def test_an_id_of_the_existing_linter_chooses_all_its_rules():
    rules = store.load()
    table = store.by_name(rules)
    assert expand_word("OL48", table, rules) == {"runtime-tile-shape", "invalid-cube-tile"}
    assert expand_word("ol61", table, rules) == {
        "open-preflight-item", "number-as-first-operand", "positional-dtype", "unsupported-cast",
    }  # fmt: skip
    assert expand_word("SH700", table, rules) == {table["sh700"].name}
