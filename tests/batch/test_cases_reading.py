"""A case is read by its source; what is missing or broken is told with its place, and what cannot be used is left out."""

from __future__ import annotations

import ast
import json

import pytest
from cases_made import RELU
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.bench.contract import contract_of, encoded, shapes_of
from opdev.bench.model import BenchError, Case, CaseSpec
from opdev.bench.reading import read, spec_of, tolerance_of
from opdev.bench.texts import both


@pytest.fixture
def case(tmp_path):
    def put(text, stem="19_ReLU"):
        path = tmp_path / f"{stem}.py"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return Case("level1", stem, "ReLU", str(path))

    return put


def told(case):
    with pytest.raises(BenchError) as caught:
        contract_of(case)
    text = both(caught.value.key, **caught.value.values)
    assert text["zh"] != text["en"]
    return text["en"].replace(case.path, "case.py")


def test_the_parts_of_a_source(case):
    spec = read(case(RELU))

    assert spec.source == RELU
    assert spec.init_source == "def __init__(self):\n    super().__init__()"
    assert spec.forward_source.splitlines()[0] == "def forward(self, x: torch.Tensor) -> torch.Tensor:"
    assert (spec.framework, spec.dtypes, spec.tolerance, spec.p0_shapes, spec.warnings) == (
        "torch", ("float32",), 1e-3, (), (),
    )  # fmt: skip


def test_optional_globals(case):
    spec = read(
        case(
            RELU
            + '''
FORMULA = """
y = max(x, 0)
"""
DYNAMIC_AXIS: list = ["batch", "列"]
CASES = "[[[1, 2]], [[0, 7]]]"
'''
        )
    )

    assert (spec.formula, spec.dynamic_axis) == ("y = max(x, 0)", ("batch", "列"))
    assert spec.p1_shapes == (((1, 2),), ((0, 7),))
    assert read(case(RELU + "CASES = '''\n- [[3]]\n\n- [[4]]\n'''\n")).p1_shapes == (((3,),), ((4,),))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("FORMULA = 3", "FORMULA is no text"),
        ("DYNAMIC_AXIS = 'batch'", "DYNAMIC_AXIS is no list of texts"),
        ("DYNAMIC_AXIS = ['batch', 1]", "DYNAMIC_AXIS is no list of texts"),
        ("CASES = [[[1]]]", "CASES is no text"),
        ("CASES = 'x'", "neither JSON nor lines"),
        ("CASES = '- [[1]]\\n- [[1'", "(line 2: "),
        ("CASES = '{}'", "no list of cases"),
        ("CASES = '[]'", "no list of cases"),
        ("CASES = '[[[1]], [[-1]]]'", "case 2 of CASES is no list of shapes"),
        ("CASES = '[[[true]]]'", "case 1 of CASES"),
        ("CASES = '[[1]]'", "case 1 of CASES"),
        ("CASES = '[[[1.0]]]'", "case 1 of CASES"),
        (f"CASES = {json.dumps([[[1]]] * 10_001)!r}", "more than 10000 cases"),
        (f"CASES = '{'[' * 100_000}'", "neither JSON"),
        (f"CASES = '[[[{'9' * 5000}]]]'", "CASES"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_left_out_and_told(case, line, said):
    spec = read(case(f"{RELU}{line}\n"))

    assert said in spec.warnings[0]["en"]
    assert (spec.p1_shapes, spec.dynamic_axis, spec.formula) == ((), (), "")


def test_as_many_shapes_as_inputs():
    assert shapes_of("[[[1], [2]]]", 2) == ((((1,), (2,)),), None)
    assert shapes_of("[[[1], [2]], [[1]]]", 2) == ((), ("c-cases-count", {"number": 2, "has": 1, "inputs": 2}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import torch\n", "case.py:1: the case lacks Model, get_inputs, get_init_inputs;"),
        ("import torch\n\n@torch.no_grad\nclass Model(torch.nn.Module): pass\n", "case.py:4: the case lacks get_inputs, get_init_inputs;"),
        (RELU.replace("class Model", "class Mode1"), "case.py:1: the case lacks Model;"),
        ("def f():\n    def get_inputs(): pass\n", "lacks Model, get_inputs, get_init_inputs"),
        ("class Model: pass\ndef get_inputs(): pass\nget_init_inputs = list\n", "case.py:1: Model has no forward"),
        ("x = 1\n用例 = (\n", "case.py:2:6: syntax error: '(' was never closed"),
        ("a\0b", "case.py:1:1: syntax error"),
        ("-" * 100_000 + "1", "case.py:1:1: syntax error"),
        ("# 注释".encode("gb18030"), "case.py:1: is not in the encoding it names"),
        (b"x = 1\n\n# \xff\n", "is not in the encoding it names"),
        (b"# coding: none\n", "is not in the encoding it names"),
        ("#" * 200_001, "which no case has"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_case_is_told_with_its_place(case, text, expected):
    assert expected in told(case(text))


def test_what_is_not_there_is_told(case, tmp_path):
    (tmp_path / "1_A.py").mkdir()

    assert "cannot be read" in told(Case("level1", "1_A", "A", str(tmp_path / "1_A.py")))
    assert "cannot be read" in told(Case("level1", "2_B", "B", str(tmp_path / "2_B.py")))


@pytest.mark.parametrize(
    "text",
    [
        "from torch import nn\nfrom somewhere import Model, get_inputs as get_inputs, get_init_inputs\n",
        "from somewhere import *\n",
        "try:\n    class Model(Base): pass\nexcept E:\n    Model = None\nif 1:\n    get_inputs, get_init_inputs = f, g\n",
    ],
)
def test_names_bound_in_other_ways_count(case, text):
    assert contract_of(case(text)).forward_source == ""


def test_a_case_in_another_encoding_is_kept_in_it(case):
    raw = ("# -*- coding: gbk -*-\r\n# 激活\r\n" + RELU).encode("gbk")
    spec = read(case(raw))

    assert spec.source.splitlines()[1] == "# 激活"
    assert encoded(spec.source) == raw
    assert encoded(read(case(b"\xef\xbb\xbf" + RELU.encode())).source) == RELU.encode()


def test_half_precision_has_the_wider_tolerance():
    assert [tolerance_of(d) for d in (("float32",), ("int64",), ("float32", "bfloat16"), ("float16",))] == [
        1e-3, 1e-3, 4e-3, 4e-3,
    ]  # fmt: skip


def test_a_python_that_cannot_run_it_costs_only_shapes(case, tmp_path):
    """The Python of the tests has no torch; one that is not there does not even start."""
    one = case(RELU + "FORMULA = 'y'\n")

    spec = spec_of(one, str(tmp_path / "python"))
    assert "does not start" in spec.warnings[0]["en"]
    assert (spec.formula, spec.inputs, spec.forward_source != "") == ("y", (), True)


def test_what_is_not_written_for_torch_is_not_run(case, tmp_path):
    text = f"import mindspore\nopen({str(tmp_path / 'ran')!r}, 'w')\n" + RELU.replace("torch", "mindspore")
    spec = spec_of(case(text), "python3")

    assert spec.framework == "mindspore"
    assert "written for mindspore" in spec.warnings[0]["en"]
    assert not (tmp_path / "ran").exists()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=12,
)


@settings(max_examples=200, deadline=2000)
@given(
    st.one_of(
        st.text(max_size=60),
        VALUES.map(json.dumps),
        st.lists(VALUES.map(json.dumps), max_size=4).map(lambda lines: "\n".join(f"- {line}" for line in lines)),
    ),
    st.integers(0, 2) | st.none(),
)
def test_any_cases_block_is_shapes_or_a_warning(text, inputs):
    shapes, wrong = shapes_of(text, inputs)

    if wrong is None:
        assert shapes
        assert all(type(n) is int and n >= 0 for one in shapes for shape in one for n in shape)
        assert inputs is None or {len(one) for one in shapes} == {inputs}
    else:
        assert shapes == ()
        assert both(wrong[0], where="case.py", **wrong[1])["zh"]


PIECES = st.sampled_from([*RELU.splitlines(), "CASES = '''", "'''", "if x:", "  ", "\t", "\\", "(", "@", "用例", "\x0c", "class Model:", "async "])  # fmt: skip


@settings(max_examples=150, deadline=2000)
@given(st.lists(PIECES, max_size=12).map("\n".join))
def test_any_source_is_a_case_or_is_told(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "fuzzed.py"
    path.write_text(text, encoding="utf-8")
    found = said = None
    try:
        found = read(Case("l", "1_A", "A", str(path)))
    except BenchError as error:
        said = both(error.key, **error.values)
    assert isinstance(found, CaseSpec) != bool(said)
    if said and "syntax" not in said["en"]:
        ast.parse(text)
