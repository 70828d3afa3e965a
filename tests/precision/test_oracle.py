"""Whole verdicts against both standards written out once more, a number at a time, in plain Python.

Nothing is shared with the engine: elements are taken from bytes by ``struct``, compared as Python's floats and whole numbers, sums are
``Fraction``.  Where a figure lies on a limit is ``test_boundaries``' business; here any bytes at all are judged.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from opdev.precision.judge import Ask, Pair, judge_pairs

SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
         "int64": 8, "uint64": 8, "bool": 1}  # fmt: skip
CODES = {"float16": "<e", "float32": "<f", "float64": "<d", "int8": "<b", "uint8": "<B", "int16": "<h", "uint16": "<H", "int32": "<i",
         "uint32": "<I", "int64": "<q", "uint64": "<Q", "bool": "<B"}  # fmt: skip
LARGEST = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}
# Of each dtype: 0, -0, the smallest and the largest subnormal, the smallest normal, 1 and both neighbours, the largest, Inf, -Inf, NaNs.
ODD = {
    "float16": (0, 0x8000, 1, 0x8001, 0x03FF, 0x0400, 0x3BFF, 0x3C00, 0x3C01, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFFFF, 0x7C01),
    "bfloat16": (0, 0x8000, 1, 0x8001, 0x007F, 0x0080, 0x3F7F, 0x3F80, 0x3F81, 0xBF80, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0xFFFF, 0x7F81),
    "float32": (0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF,
                0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 0x7F800001),
    "float64": (0, 1 << 63, 1, 0x3FF0 << 48, (0x3FF0 << 48) + 1, 0x7FEFFFFFFFFFFFFF, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48, (1 << 64) - 1),
}  # fmt: skip
NEAR = {"float16": 0x3C00, "bfloat16": 0x3F80, "float32": 0x3F800000, "float64": 0x3FF0 << 48}
FLOATS = tuple(ODD)
WHOLE = tuple(d for d in SIZES if d not in ODD)
RTOL = {"float16": 2**-7, "bfloat16": 2**-6, "float32": 2**-10}
EB = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-14}
SCHEME = {
    "float16": (2**-9, 2**-9, 0.1),
    "bfloat16": (2**-6, 2**-6, 1.0),
    "float32": (2**-10, 2**-16, 0.01),
    "float64": (2**-10, 2**-16, 0.01),
}


def number(bits, dtype):
    """What a bit pattern says."""
    raw = bits.to_bytes(SIZES[dtype], "little")
    if dtype == "bfloat16":
        return struct.unpack("<f", b"\0\0" + raw)[0]
    return struct.unpack(CODES[dtype], raw)[0]


def patterns(dtype):
    top = (1 << 8 * SIZES[dtype]) - 1 if dtype != "bool" else 1
    anything = st.integers(0, top)
    if dtype in WHOLE:
        return anything | st.sampled_from([0, 1, top, top // 2, top // 2 + 1])
    near = st.integers(-40, 40).map(lambda step: NEAR[dtype] + step)
    return st.sampled_from(ODD[dtype]) | near | near | anything


def shmem(outputs, goldens, dtype, rtol, equal_inf=False):
    """(verdict, sure): ``sure`` is False where a sum lies so near its limit that rounding decides."""
    finite = [math.isfinite(g) for g in goldens]
    if not all(f or (equal_inf and not math.isnan(g)) for f, g in zip(finite, goldens, strict=True)):
        return "error", True
    if not any(finite):
        return "error", True
    basic = True
    total, largest, compared = Fraction(0), 0.0, 0
    for a, g in zip(outputs, goldens, strict=True):
        if math.isnan(a) or (math.isinf(a) and not (equal_inf and a == g)):
            basic = False
        elif math.isinf(g) or rtol == 0:
            basic = basic and a == g
        elif not abs(a - g) <= rtol * max(abs(g), 1):
            basic = False
        if math.isfinite(a) and math.isfinite(g):
            total += Fraction(a) - Fraction(g)
            largest = max(largest, abs(g))
            compared += 1
    limit = Fraction(EB.get(dtype, 0)) * Fraction(largest) * compared
    sure = not basic or abs(abs(total) - limit) > abs(limit) / 10**9 or rtol == 0
    return "pass" if basic and abs(total) <= limit else "fail", sure


def pypto(outputs, goldens, dtype):
    if not any(math.isfinite(g) for g in goldens):
        return "error"
    if dtype in WHOLE:
        return "pass" if outputs == goldens else "fail"
    rtol, atol, most = SCHEME[dtype]
    top = LARGEST[dtype]
    good, worst = 0, 0.0
    for a, g in zip(outputs, goldens, strict=True):
        if math.isnan(a) or math.isnan(g):
            if math.isnan(a) != math.isnan(g):
                return "fail"
            good += 1
            continue
        if math.isinf(a) and math.isinf(g):
            if a != g:
                return "fail"
            good += 1
            continue
        a, g = (min(max(v, -top), top) for v in (a, g))
        good += abs(a - g) <= atol + rtol * abs(g)
        worst = max(worst, abs(a - g))
    return "pass" if 100 * good >= 99 * len(goldens) and worst <= most else "fail"


def judged(tmp, outputs, goldens, dtype, **ask):
    for name, bits in (("output", outputs), ("golden", goldens)):
        (tmp / f"{name}.bin").write_bytes(b"".join(b.to_bytes(SIZES[dtype], "little") for b in bits))
    pair = Pair("out", str(tmp / "output.bin"), str(tmp / "golden.bin"))
    return judge_pairs([pair], Ask(dtype=dtype, **ask)).results[0]


@st.composite
def tensors(draw, dtypes):
    """(dtype, bits of an output, bits of its golden): mostly near each other, and often equal."""
    dtype = draw(st.sampled_from(dtypes))
    size = draw(st.sampled_from([1, 2, 3, 7, 99, 100, 101, 130]))
    one = patterns(dtype)
    goldens = draw(st.lists(one, min_size=min(size, 7), max_size=min(size, 7)))
    goldens = (goldens * (size // len(goldens) + 1))[:size]
    outputs = list(goldens)
    top = (1 << 8 * SIZES[dtype]) - 1 if dtype != "bool" else 1
    for at in draw(st.lists(st.integers(0, size - 1), max_size=4)):
        how = draw(st.sampled_from(["step", "step", "other"]))
        outputs[at] = draw(one) if how == "other" else min(max(outputs[at] + draw(st.integers(-20, 20)), 0), top)
    return dtype, outputs, goldens


QUIET = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@QUIET
@given(tensors(FLOATS[:3]), st.booleans())
@example(("float16", [0x8000, 0x3C00], [0, 0x3C00]), False)
@example(("float16", [1, 0x0400], [0x8001, 0x03FF]), False)
@example(("float16", [0x7C00, 0x3C00], [0x7C00, 0x3C00]), True)
@example(("bfloat16", [0xFFFF] * 3, [0x3F80] * 3), False)
def test_shmem_says_what_the_standard_says(tmp_path_factory, made, equal_inf):
    dtype, outputs, goldens = made
    assume(not equal_inf or dtype == "float16")
    expected, sure = shmem(
        [number(b, dtype) for b in outputs], [number(b, dtype) for b in goldens], dtype, RTOL[dtype], equal_inf
    )
    assume(sure)
    found = judged(
        tmp_path_factory.getbasetemp(), outputs, goldens, dtype, op_type="COMPUTE_FLOAT", equal_inf=equal_inf
    )

    assert found.verdict == expected


@QUIET
@given(tensors(tuple(SIZES)), st.sampled_from(["MOVE", "COMPUTE_INTEGER"]))
@example(("float32", [0x80000000], [0]), "MOVE")
@example(("int64", [(1 << 62) + 1], [1 << 62]), "MOVE")
def test_moved_data_are_equal_or_they_are_not(tmp_path_factory, made, kind):
    dtype, outputs, goldens = made
    expected, _ = shmem([number(b, dtype) for b in outputs], [number(b, dtype) for b in goldens], dtype, 0)
    found = judged(tmp_path_factory.getbasetemp(), outputs, goldens, dtype, op_type=kind)

    assert found.verdict == expected


@QUIET
@given(tensors(tuple(SIZES)))
@example(("float16", [0x7BFF], [0x7C00]))
@example(("float16", [0x7E00, 0x3C00], [0xFFFF, 0x3C00]))
@example(("float32", [0x7F800000] + [0x3F800000] * 99, [0x7F7FFFFF] + [0x3F800000] * 99))
@example(("bool", [1], [1]))
def test_scheme_a_says_what_pypto_says(tmp_path_factory, made):
    dtype, outputs, goldens = made
    expected = pypto([number(b, dtype) for b in outputs], [number(b, dtype) for b in goldens], dtype)
    found = judged(tmp_path_factory.getbasetemp(), outputs, goldens, dtype, standard="pypto")

    assert found.verdict == expected


@pytest.mark.parametrize("dtype", SIZES)
@pytest.mark.parametrize("standard", ["shmem", "pypto"])
def test_half_an_element_and_nothing_are_told(tmp_path, dtype, standard):
    whole = b"\0" * SIZES[dtype] * 3
    (tmp_path / "golden.bin").write_bytes(whole)
    pair = Pair("out", str(tmp_path / "output.bin"), str(tmp_path / "golden.bin"))
    for data in (b"", whole[:-1] if SIZES[dtype] > 1 else b"", whole + whole[:1]):
        (tmp_path / "output.bin").write_bytes(data)
        report = judge_pairs([pair], Ask(dtype=dtype, standard=standard, op_kind="transport"))
        assert report.verdict in ("error", "fail")
        assert report.results[0].reasons
