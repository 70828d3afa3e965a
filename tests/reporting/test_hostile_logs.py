"""Logs of a matrix and of checkers, cut off, mixed and in any encoding: read without a fault, and no failure becomes a pass."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.facts.logs import check_lines, matrix_lines

MATRIX = "".join(
    f"[CASE] id={case} category=functional scale=XS n_pes=8 dtype=float16 shape=64 result={result} maxae=0.5 maxre=0.5 seconds=1.0"
    f" log=data/logs/{case}.log backend=npu 用例\n"
    for case, result in (("a", "PASS"), ("b", "FAIL"), ("c", "PASS"), ("d", "TIMEOUT"))
)  # fmt: skip
FAILING = "".join(
    f"PE {pe}: dtype=float16 MaxAE=9.0 MaxRE=1.0 MeanRE=1.0 rtol=0.0078125 atol=0.0078125\nPE {pe}: FAIL (64 个元素)\n" for pe in range(8)
) + "FAIL: 8/8 PE outputs mismatched\n"  # fmt: skip


def passed(data: bytes) -> set[str | None]:
    return {line.case for line in matrix_lines(data) if (line.result or "").upper() == "PASS"}


def test_the_yardstick_itself():
    assert passed(MATRIX.encode()) == {"a", "c"}
    assert {line.result for line in check_lines(FAILING.encode())} == {None, "FAIL"}
    assert {line.result for line in check_lines(FAILING.replace("FAIL", "PASS").encode())} == {None, "PASS"}


def test_two_results_on_a_line_are_none():
    for line in (b"[CASE] id=b result=FAIL result=PASS\n", b"[CASE] id=b id=a result=PASS\n"):
        assert passed(line) == set()
        assert len(matrix_lines(line)) == 1
    assert passed(b"[CASE] id=b n_pes=2 [CASE] id=c result=PASS\n") == {"c"}


def test_a_chinese_case_is_the_same_in_gbk():
    for encoding in ("utf-8", "gb18030"):
        (line,) = matrix_lines("[CASE] id=尾块_2pe result=FAIL note=超时\n".encode(encoding))
        assert (line.case, line.texts["note"]) == ("尾块_2pe", "超时")
    (line,) = matrix_lines(b"[CASE] id=\xff\xff\x80 result=FAIL\n")
    assert line.result == "FAIL"


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from(["utf-8", "gb18030", "utf-16-le"]))
def test_a_failed_case_never_passes_however_its_log_is_damaged(data, encoding):
    raw = bytearray(MATRIX.encode(encoding))
    for _ in range(data.draw(st.integers(1, 4))):
        a, b = sorted(data.draw(st.tuples(st.integers(0, len(raw)), st.integers(0, len(raw)))))
        how = data.draw(st.sampled_from(("cut", "double", "noise", "insert")))
        if how == "cut":
            del raw[a:]
        elif how == "double":
            # Whole lines: a writer that is started again repeats what it said, from a line's beginning.
            a, b = raw.rfind(b"\n", 0, a) + 1, raw.rfind(b"\n", 0, b) + 1
            raw[a:a] = bytes(raw[a:b])
        elif how == "noise":
            size = min(b - a, 40)
            raw[a : a + size] = data.draw(st.binary(min_size=size, max_size=size))
        else:
            raw[a:a] = data.draw(st.sampled_from((b"\n", b"\r\n", b"\0", b"\x1b[31m", "PE 3: PASS (8 个元素)".encode("gb18030"), b"[CASE]", b"=")))  # fmt: skip

    assert not {"b", "d"} & passed(bytes(raw))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["utf-8", "gb18030"]))
def test_pes_that_write_one_pipe_in_pieces_never_pass(seed, encoding):
    """Eight checkers' failing lines, cut at any byte and mixed in any order that keeps each one's own."""
    chance = random.Random(seed)
    queues = [bytearray(FAILING.encode(encoding)) for _ in range(8)]
    most = chance.choice((1, 3, 20, 120, 400))
    out = bytearray()
    while left := [q for q in queues if q]:
        queue = chance.choice(left)
        size = chance.randint(1, most)
        out += queue[:size]
        del queue[:size]

    assert all(line.result != "PASS" for line in check_lines(bytes(out)))
    assert passed(bytes(out)) == set()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([b"[CASE]", b" id=", b" result=", b"[MATRIX] total=9" * 3, b"PE 1: ", b"9" * 40, b"\n"])), max_size=30))  # fmt: skip
def test_anything_is_read(pieces):
    for line in (*matrix_lines(b"".join(pieces)), *check_lines(b"PE " + b"".join(pieces))):
        assert 0 <= line.start <= line.end
