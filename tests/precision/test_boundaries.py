"""Every limit of both standards, met exactly and missed by one step of the dtype."""

from __future__ import annotations

import numpy as np
import pytest
from tensors import after, encode

from opdev.precision.judge import Ask, Pair, judge_pairs

FLOATS = ("float16", "bfloat16", "float32")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
# From the standard's table, written out once more: (class, accumulations, dtype) → rtol.
SHMEM = [
    ("COMPUTE_FLOAT", 2047, "float16", 2**-8), ("COMPUTE_FLOAT", 2048, "float16", 2**-7), ("COMPUTE_FLOAT", None, "float16", 2**-7),
    ("COMPUTE_FLOAT", 2047, "bfloat16", 2**-7), ("COMPUTE_FLOAT", 2048, "bfloat16", 2**-6), ("COMPUTE_FLOAT", None, "bfloat16", 2**-6),
    ("COMPUTE_FLOAT", 2047, "float32", 2**-11), ("COMPUTE_FLOAT", 2048, "float32", 2**-10), ("COMPUTE_FLOAT", None, "float32", 2**-10),
    ("COMPUTE_FLOAT_HIGH_PRECISION", None, "float16", 2**-11), ("COMPUTE_FLOAT_HIGH_PRECISION", None, "bfloat16", 2**-11),
    ("COMPUTE_FLOAT_HIGH_PRECISION", None, "float32", 2**-14), ("COMPUTE_QUANT", None, "float16", 2**-8),
]  # fmt: skip
EB = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-14}
PYPTO = {
    "float16": (2**-9, 2**-9, 0.1), "bfloat16": (2**-6, 2**-6, 1.0), "float32": (2**-10, 2**-16, 0.01), "float64": (2**-10, 2**-16, 0.01),
}  # fmt: skip


def judged(paths, dtype, **ask):
    report = judge_pairs([Pair("out", *paths)], Ask(dtype=dtype, **ask))
    result = report.results[0]
    assert report.verdict == result.verdict
    return result


def codes(result):
    return [reason.code for reason in result.reasons]


# SHMEM


@pytest.mark.parametrize(("kind", "times", "dtype", "rtol"), SHMEM)
@pytest.mark.parametrize("sign", [1, -1])
def test_an_element_may_be_off_by_rtol_and_no_more(pair, kind, times, dtype, rtol, sign):
    ask = {"op_type": kind, "compute_times": times}
    golden = [0, 0, 64]  # The other element leans the other way, so that the balance holds.

    exact = judged(pair([sign * rtol, -sign * rtol, 64], golden, dtype), dtype, **ask)
    beyond = judged(pair([sign * after(rtol, dtype), -sign * rtol, 64], golden, dtype), dtype, **ask)

    assert (exact.verdict, exact.limits.rtol, exact.limits.atol) == ("pass", rtol, rtol)
    assert (beyond.verdict, codes(beyond), beyond.mismatches[0].index) == ("fail", ["precision-percent"], 0)
    assert beyond.metrics.precision_percent == pytest.approx(200 / 3)


@pytest.mark.parametrize(("kind", "times", "dtype", "rtol"), [c for c in SHMEM if c[3] >= 2**-8 or c[2] == "float32"])
def test_above_one_the_tolerance_grows_with_the_golden(pair, kind, times, dtype, rtol):
    ask = {"op_type": kind, "compute_times": times}
    golden = [8, -8, 1024]

    exact = judged(pair([8 + 8 * rtol, -8 - 8 * rtol, 1024], golden, dtype), dtype, **ask)
    beyond = judged(pair([after(8 + 8 * rtol, dtype), -8 - 8 * rtol, 1024], golden, dtype), dtype, **ask)

    assert exact.verdict == "pass"
    assert (beyond.verdict, codes(beyond)) == ("fail", ["precision-percent"])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_balance_may_be_its_limit_and_no_more(pair, dtype, sign):
    ask = {"op_type": "COMPUTE_FLOAT"}
    limit = EB[dtype]

    exact = judged(pair([sign * (1 + limit)], [sign], dtype), dtype, **ask)
    beyond = judged(pair([sign * after(1 + limit, dtype)], [sign], dtype), dtype, **ask)

    assert (exact.verdict, exact.metrics.eb) == ("pass", limit)
    assert (beyond.verdict, codes(beyond)) == ("fail", ["eb"])
    assert beyond.metrics.within == beyond.metrics.elements


@pytest.mark.parametrize("dtype", [*FLOATS, "float64", *INTEGERS])
@pytest.mark.parametrize("kind", ["MOVE", "COMPUTE_INTEGER"])
def test_moved_data_are_equal(pair, dtype, kind):
    other = 0 if dtype == "bool" else 1 if dtype in INTEGERS else after(1.0, dtype)
    same = judged(pair([1, 0, 1], [1, 0, 1], dtype), dtype, op_type=kind)
    off = judged(pair([other, 0, 1] if other != 1 else [2, 0, 1], [1, 0, 1], dtype), dtype, op_type=kind)

    assert same.verdict == "pass"
    assert (off.verdict, off.mismatch_count) == ("fail", 1)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("COMPUTE_QUANT", "bfloat16"), ("COMPUTE_QUANT", "float32"), *((k, "float64") for k in ("COMPUTE_QUANT", "COMPUTE_FLOAT", "COMPUTE_FLOAT_HIGH_PRECISION"))],
)  # fmt: skip
def test_where_the_standard_has_no_value_nothing_passes(pair, kind, dtype):
    result = judged(pair([1], [1], dtype), dtype, op_type=kind)

    assert (result.verdict, codes(result)) == ("error", ["no-limit"])


@pytest.mark.parametrize("dtype", [d for d in INTEGERS if d != "bool"])
@pytest.mark.parametrize("kind", ["COMPUTE_QUANT", "COMPUTE_FLOAT", "COMPUTE_FLOAT_HIGH_PRECISION"])
def test_integers_are_equal_in_every_class(pair, kind, dtype):
    assert judged(pair([100, 3], [100, 3], dtype), dtype, op_type=kind).verdict == "pass"
    assert judged(pair([100, 4], [100, 3], dtype), dtype, op_type=kind).verdict == "fail"


@pytest.mark.parametrize("standard", ["shmem", "pypto"])
@pytest.mark.parametrize(("dtype", "value"), [("int64", 2**53), ("uint64", 2**64 - 2), ("int64", -(2**63))])
def test_integers_that_no_float64_tells_apart(tmp_path, standard, dtype, value):
    for name, number in (("golden", value), ("output", value + 1)):
        np.array([number], dtype).tofile(tmp_path / f"{name}.bin")
    paths = str(tmp_path / "output.bin"), str(tmp_path / "golden.bin")
    off = judged(paths, dtype, standard=standard, op_kind="collective")

    assert (off.verdict, off.mismatches[0].actual, off.mismatches[0].expected) == ("fail", value + 1, value)
    assert off.mismatches[0].difference == 1
    (tmp_path / "output.bin").write_bytes((tmp_path / "golden.bin").read_bytes())
    assert judged(paths, dtype, standard=standard, op_kind="collective").verdict == "pass"


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_inf_in_the_output_fail(pair, dtype, value):
    golden = [1.0] * 5
    result = judged(pair([1, 1, value, 1, 1], golden, dtype), dtype, op_type="COMPUTE_FLOAT")

    assert result.verdict == "fail"
    assert codes(result)[0] == "not-finite"
    assert result.mismatches[0].index == 2


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_golden_with_nan_or_inf_judges_nothing(pair, dtype, value):
    for output in ([1, value], [1, 1]):
        result = judged(pair(output, [1, value], dtype), dtype, op_type="COMPUTE_FLOAT")

        assert (result.verdict, codes(result)) == ("error", ["golden-not-finite"])


def test_equal_inf_counts_where_a_design_has_it(pair):
    ask = {"op_type": "COMPUTE_FLOAT", "equal_inf": True}

    assert judged(pair([1, np.inf, -np.inf], [1, np.inf, -np.inf], "float16"), "float16", **ask).verdict == "pass"
    for wrong in (-np.inf, np.nan, 65504):
        result = judged(pair([1, wrong], [1, np.inf], "float16"), "float16", **ask)
        assert (result.verdict, result.mismatch_count) == ("fail", 1)
    for dtype in ("bfloat16", "float32"):
        assert codes(judged(pair([1, np.inf], [1, np.inf], dtype), dtype, **ask)) == ["equal-inf"]


# The reference pass


def compared(folder, dtype, golden, output, reference, **ask):
    for name, values in (("golden", golden), ("output", output), ("torch", reference)):
        encode(values, dtype).tofile(folder / f"{name}.bin")
    pair = Pair("out", *(str(folder / f"{n}.bin") for n in ("output", "golden")), reference=str(folder / "torch.bin"))
    return judge_pairs([pair], Ask(dtype=dtype, op_type="COMPUTE_FLOAT", **ask)).results[0]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("output", "reference", "step", "passed"),
    [
        # golden 8: MARE and MERE are |a−8|/8, RMSE is |a−8|
        (8 + 2 * 2**-3, 8 + 2**-3, False, True),
        (8 + 2 * 2**-3, 8 + 2**-3, True, False),
        (8, 8, False, True),
        (8 + 2**-3, 8, False, False),
        (8, 8 + 2**-3, False, True),
    ],
)
def test_twice_the_reference_is_enough(tmp_path, dtype, output, reference, step, passed):
    output = after(output, dtype) if step else output
    result = compared(tmp_path, dtype, [8], [output], [reference], compute_times=8)

    assert result.reference.passed is passed
    assert result.verdict == ("pass" if passed or result.basic else "fail")
    assert {r.name: r.limit for r in result.reference.ratios} == {"MARE": 10, "MERE": 2, "RMSE": 2}
    assert {r.name for r in result.reference.ratios if not r.passed} <= {"MERE", "RMSE", *(["MARE"] if reference == 8 else [])}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
def test_ten_times_the_largest_relative_error_is_enough(tmp_path, dtype):
    """One element of 1000 may be ten times as wrong as the reference's worst, while means stay below twice."""
    golden = np.full(1000, 8.0)
    reference = golden + 0.125
    for worst, passed in ((8 + 0.125 * 10, True), (after(8 + 0.125 * 10, dtype), False)):
        output = golden + 0.125
        output[7] = worst
        result = compared(tmp_path, dtype, golden, output, reference)

        assert [r.name for r in result.reference.ratios if not r.passed] == ([] if passed else ["MARE"])
        assert result.verdict == ("pass" if passed else "fail")


@pytest.mark.parametrize("broken", ["nan", "short", "zero"])
def test_a_reference_that_cannot_be_compared_passes_nothing(tmp_path, broken):
    np.ones(4, np.float32).tofile(tmp_path / "golden.bin")
    np.full(4, 2, np.float32).tofile(tmp_path / "output.bin")
    values = np.array({"nan": [5, 5, 5, np.nan], "short": [5, 5, 5], "zero": [0, 0, 0, 0]}[broken], np.float32)
    values.tofile(tmp_path / "torch.bin")
    pairs = [
        Pair("out", *(str(tmp_path / f"{n}.bin") for n in ("output", "golden")), reference=str(tmp_path / "torch.bin"))
    ]
    result = judge_pairs(pairs, Ask(dtype="float32", op_type="COMPUTE_FLOAT")).results[0]

    assert (result.verdict, result.reference.passed, result.reference.ratios) == ("fail", False, ())
    assert result.reference.why is not None


# PyPTO


@pytest.mark.parametrize("dtype", PYPTO)
def test_scheme_a_allows_atol_plus_rtol(pair, dtype):
    rtol, atol, _ = PYPTO[dtype]
    for golden, most in ((0, atol), (1, 1 + atol + rtol)):
        exact = judged(pair([most, golden], [golden, golden], dtype), dtype, standard="pypto")
        beyond = judged(pair([after(most, dtype), golden], [golden, golden], dtype), dtype, standard="pypto")

        assert (exact.verdict, exact.metrics.matched_ratio) == ("pass", 1)
        assert (beyond.verdict, beyond.metrics.matched_ratio, codes(beyond)) == ("fail", 0.5, ["matched-ratio"])


@pytest.mark.parametrize("dtype", PYPTO)
@pytest.mark.parametrize(
    ("wrong", "count", "passed"), [(1, 100, True), (1, 99, False), (2, 200, True), (3, 299, False), (3, 300, True)]
)
def test_one_element_of_a_hundred_may_be_beyond(pair, dtype, wrong, count, passed):
    output = np.zeros(count)
    output[:wrong] = after(PYPTO[dtype][1], dtype)
    result = judged(pair(output, np.zeros(count), dtype), dtype, standard="pypto")

    assert (result.verdict == "pass", result.mismatch_count) == (passed, wrong)


@pytest.mark.parametrize("dtype", PYPTO)
def test_no_element_may_be_off_by_more_than_the_fixed_limit(pair, dtype):
    limit = PYPTO[dtype][2]
    most = limit if dtype in ("bfloat16", "float64") else float(encode([limit], dtype)[0])
    most = most if most <= limit else float(np.nextafter(encode([limit], dtype)[0], encode([0], dtype)[0]))
    for value, passed in ((most, True), (after(most, dtype), False)):
        output = np.zeros(1000)
        output[500] = value
        result = judged(pair(output, np.zeros(1000), dtype), dtype, standard="pypto")

        assert (result.verdict == "pass", codes(result)) == (passed, [] if passed else ["max-abs"])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_scheme_a_wants_integers_equal(pair, dtype):
    golden = np.ones(1000)
    output = golden.copy()
    output[999] = 0

    assert judged(pair(golden, golden, dtype), dtype, standard="pypto").verdict == "pass"
    result = judged(pair(output, golden, dtype), dtype, standard="pypto")
    assert (result.verdict, codes(result), result.mismatches[0].index) == ("fail", ["not-equal"], 999)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_scheme_a_wants_nan_and_inf_where_the_golden_has_them(pair, dtype):
    golden = np.ones(1000)
    golden[[3, 5, 7]] = np.nan, np.inf, -np.inf

    def off(at, value):
        output = golden.copy()
        output[at] = value
        return judged(pair(output, golden, dtype), dtype, standard="pypto")

    same = judged(pair(golden, golden, dtype), dtype, standard="pypto")
    assert (same.verdict, same.metrics.within, same.metrics.compared) == ("pass", 1000, 997)
    assert codes(off(3, 1)) == ["nan-positions"]
    assert codes(off(0, np.nan)) == ["nan-positions"]
    assert codes(off(5, -np.inf)) == ["inf-sign"]
    # Inf on one side only is compared as the largest number there is.
    assert codes(off(0, np.inf)) == ["max-abs"]
    assert codes(off(5, 1)) == ["max-abs"]


def test_inf_against_the_largest_number_is_compared(pair):
    assert judged(pair([1, 65504], [1, np.inf], "float16"), "float16", standard="pypto").verdict == "pass"
    assert judged(pair([1, 60000], [1, np.inf], "float16"), "float16", standard="pypto").verdict == "fail"


def test_a_golden_without_a_number_judges_nothing(pair):
    result = judged(pair([np.nan] * 4, [np.nan] * 4, "float32"), "float32", standard="pypto")

    assert (result.verdict, codes(result)) == ("error", ["golden-nothing"])


def test_the_outputs_dtype_decides(pair):
    """0.003 off is too much for float32 and little for float16, whatever the golden is."""
    golden = np.ones(100)
    output = golden + 2**-9

    assert (
        judged(pair(output, golden, "float16", "float32"), "float16", golden_dtype="float32", standard="pypto").verdict
        == "pass"
    )
    assert judged(pair(output, golden, "float32"), "float32", standard="pypto").verdict == "fail"


def test_nothing_loosens_a_standard(pair):
    paths = pair([1.5], [1.0], "float16")

    assert codes(judged(paths, "float16", op_type="COMPUTE_FLOAT", rtol=1.0)) == ["looser"]
    assert judged(paths, "float16", op_type="COMPUTE_FLOAT", rtol=1.0).verdict == "error"
    assert (
        judged(pair([1 + 2**-9], [1.0], "float16"), "float16", op_type="COMPUTE_FLOAT", rtol=2**-10).verdict == "fail"
    )
    assert codes(judged(pair([1], [1], "float64"), "float64", op_type="COMPUTE_FLOAT")) == ["no-limit"]
