"""The verdict from a record alone: no wheel is needed for it."""

from __future__ import annotations

import numpy as np
import pytest

from opdev.pyptosim.judging import judge
from opdev.pyptosim.layout import layout

GOLD = np.linspace(-2, 2, 256, dtype=np.float16).reshape(4, 64)


@pytest.fixture
def judged(tmp_path):
    """``judged(records, {name: array})``: the verdict on a record whose tensors are these."""

    def judged(records, tensors=None, whole=True):
        for name, array in (tensors or {}).items():
            np.save(tmp_path / f"{name}.npy", array)
        return judge(records, str(tmp_path), name="scale", root=str(tmp_path), whole=whole)

    return judged


def kept(name, array=GOLD):
    return {"file": f"{name}.npy", "dtype": str(array.dtype), "shape": list(array.shape)}


def pair(case="t", actual=None, golden=None, written=True):
    return {
        "kind": "pair", "case": case, "how": "assert_close", "output": "out", "written": written, "path": "/op/test_scale.py",
        "line": 7, "actual": actual or kept("a"), "golden": golden or kept("g"),
    }  # fmt: skip


def ended(state="passed", case="t", **more):
    return {"kind": "case", "case": case, "state": state, **more}


KERNEL = {"kind": "kernel", "case": "t", "name": "scale_kernel"}


def only(found):
    (case,) = found.cases
    return case


def test_an_output_within_the_standard_passes(judged):
    found = judged([KERNEL, pair(), ended()], {"a": GOLD, "g": GOLD})

    assert (found.verdict, only(found).compared, only(found).matched) == ("pass", 1, 1.0)
    assert [(r.standard, r.backend) for r in found.reports] == [("pypto", "sim")]


def test_a_loose_assertion_that_held_does_not_make_a_wrong_output_right(judged):
    wrong = GOLD.copy()
    wrong[2, 5] += np.float16(0.5)

    found = judged([KERNEL, pair(), ended()], {"a": wrong, "g": GOLD})

    assert found.verdict == "fail"
    assert (only(found).path, only(found).line) == ("/op/test_scale.py", 7)
    assert "out" in only(found).why["zh"]
    assert "max_abs_error" in only(found).why["en"]


def test_the_outputs_dtype_sets_the_limits_whatever_the_goldens_is(judged):
    wide = GOLD.astype(np.float32) + np.float32(1e-3)

    found = judged([KERNEL, pair(golden=kept("g", wide)), ended()], {"a": GOLD, "g": wide})

    assert found.verdict == "pass"
    assert found.reports[0].results[0].limits.dtype == "float16"


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([KERNEL, ended()], "nothing was checked"),
        ([ended()], "no PyPTO kernel was run"),
        (
            [KERNEL, {"kind": "unrelated", "case": "t", "unwritten": "out"}, pair(written=False), ended()],
            "did not write out",
        ),
        (
            [
                KERNEL,
                pair(actual={"file": None, "why": "dtype", "dtype": "float8_e5m2", "shape": [4, 64]}),
                ended(),
            ],
            "float8_e5m2",
        ),
    ],
)
def test_a_test_that_ended_well_and_compared_nothing_is_no_pass(judged, records, words):
    found = judged(records, {"a": GOLD, "g": GOLD})

    assert (found.verdict, only(found).verdict) == ("unchecked", "unchecked")
    assert words in only(found).why["en"]


def test_one_unchecked_case_keeps_all_from_passing(judged):
    found = judged([KERNEL, pair(), ended(), ended(case="other")], {"a": GOLD, "g": GOLD})

    assert [c.verdict for c in found.cases] == ["pass", "unchecked"]
    assert found.verdict == "unchecked"


def test_a_skipped_case_is_neither_and_skips_alone_are_no_pass(judged):
    skipped = ended("skipped", "big", error="only on the device")
    found = judged([KERNEL, pair(), ended(), skipped], {"a": GOLD, "g": GOLD})

    assert ([c.verdict for c in found.cases], found.verdict) == (["pass", "skipped"], "pass")
    assert judged([skipped]).verdict == "unchecked"
    assert judged([]).verdict == "unchecked"


def test_an_assertion_of_the_test_fails_the_case_even_where_the_standard_holds(judged):
    told = ended("failed", error="AssertionError: 自定检查\nmore", path="/op/test_scale.py", line=9)

    found = judged([KERNEL, pair(), told], {"a": GOLD, "g": GOLD})

    assert (found.verdict, only(found).line) == ("fail", 9)
    assert only(found).why["en"].endswith("AssertionError: 自定检查")


def test_values_that_broadcast_are_still_of_another_shape(judged):
    row = GOLD[:1]

    found = judged([KERNEL, pair(golden=kept("g", row)), ended()], {"a": GOLD, "g": row})

    assert found.verdict == "fail"
    assert "[4, 64]" in only(found).why["en"]


@pytest.mark.parametrize("whole", [True, False])
def test_a_case_without_an_end_fails(judged, whole):
    assert judged([KERNEL, pair()], {"a": GOLD, "g": GOLD}, whole=whole).verdict == "fail"


def test_the_test_of_an_operator_is_found_by_its_name_and_never_guessed(tmp_path):
    root = tmp_path / "custom" / "Scale"
    (root / "tests").mkdir(parents=True)
    (root / "scale_impl.py").write_text("import pypto\n")
    (root / "tests" / "test_scale.py").write_text("")
    (root / "tests" / "test_scale_module1.py").write_text("")
    assert layout(str(root)).test == f"{root}/tests/test_scale.py"

    (root / "tests" / "test_scale.py").rename(root / "tests" / "test_a.py")
    assert layout(str(root)).test == f"{root}/tests/test_a.py"

    (root / "tests" / "test_b.py").write_text("")
    assert layout(str(root)).test == ""
    assert len(layout(str(root)).tests) == 2
