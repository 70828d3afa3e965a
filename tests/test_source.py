"""Positions: every offset has one place in every unit, and line ends are the protocol's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opdev.source import Source, take_units, units

TEXTS = st.text(st.sampled_from("ab\t\n\r\f\v\u2028\u0085é中文😀\x00"), max_size=60)
UNITS = ("utf-8", "utf-16", "utf-32")


def test_line_ends_are_those_of_the_protocol():
    source = Source("a", "a\fb\nc\r\nd\re\u2028f\u0085g\vh".encode())

    lines = [source.line_bytes(i).decode() for i in range(len(source.line_starts))]

    assert lines == ["a\fb", "c", "d", "e\u2028f\u0085g\vh"]


@pytest.mark.parametrize(
    ("unit", "columns"),
    [("utf-8", [0, 3, 6, 10, 11]), ("utf-16", [0, 1, 2, 4, 5]), ("utf-32", [0, 1, 2, 3, 4])],
)
def test_columns_of_chinese_and_emoji(unit, columns):
    source = Source("a", "中文😀x".encode())

    assert [source.position(o, unit)[1] for o in (0, 3, 6, 10, 11)] == columns


@given(TEXTS, st.sampled_from(UNITS))
def test_position_and_offset_are_inverse(text, unit):
    source = Source("a", text.encode())
    offset = 0
    for ch in [*text, ""]:
        line, column = source.position(offset, unit)
        begin, end = source.line_range(line)
        if offset <= end:
            assert source.offset(line, column, unit) == offset
        assert source.line_starts[line] == begin <= offset
        offset += len(ch.encode())


@given(TEXTS, st.integers(-3, 80), st.integers(-3, 80), st.sampled_from(UNITS))
def test_any_position_is_clamped_into_the_file(text, line, column, unit):
    source = Source("a", text.encode())

    offset = source.offset(line, column, unit)

    assert 0 <= offset <= len(source.data)
    if 0 <= line < len(source.line_starts):
        begin, end = source.line_range(line)
        assert begin <= offset <= end


@given(TEXTS, st.sampled_from(UNITS))
def test_units_counts_what_take_units_takes(text, unit):
    data = text.encode()

    assert take_units(data, units(data, unit), unit) == len(data)


def test_half_a_character_counts_as_its_beginning():
    source = Source("a", "中".encode())

    assert source.position(1) == (0, 0)
    assert source.offset(0, 2, "utf-8") == 0


@pytest.mark.parametrize(
    ("raw", "encoding", "text"),
    [
        ("中文\n".encode(), "utf-8", "中文\n"),
        (b"\xef\xbb\xbf" + "中".encode(), "utf-8-sig", "中"),
        ("中文注释".encode("gbk"), "gb18030", "中文注释"),
        (b"\xff\xfe" + "中a".encode("utf-16-le"), "utf-16-le", "中a"),
        (b"\xfe\xff" + "中a".encode("utf-16-be"), "utf-16-be", "中a"),
    ],
)
def test_encodings_survive_a_round_trip(raw, encoding, text):
    source = Source.from_disk("a", raw)

    assert (source.encoding, source.data.decode()) == (encoding, text)
    assert source.to_disk(source.data) == raw


def test_bytes_of_no_encoding_are_kept():
    raw = b"ok\n\xff\xff\x81 \xc3\x28\n"

    source = Source.from_disk("a", raw)

    assert source.to_disk(source.data) == raw
    assert source.position(len(raw))[0] == 2


def test_disk_offset_counts_in_the_encoding_of_the_disk():
    source = Source.from_disk("a", "中文x".encode("gbk"))

    assert source.disk_offset(source.data.index(b"x")) == 4
    with_mark = Source.from_disk("a", b"\xef\xbb\xbfab")
    assert with_mark.disk_offset(1) == 4


def test_what_gbk_cannot_hold_is_refused_not_mangled():
    source = Source.from_disk("a", "中".encode("gbk"))

    assert source.to_disk("中😀".encode()).decode("gb18030") == "中😀"
    utf16 = Source.from_disk("a", b"\xff\xfea\x00")
    assert utf16.to_disk("中".encode()) == b"\xff\xfe" + "中".encode("utf-16-le")


def test_ten_megabytes_of_lines():
    source = Source("a", b"int x = 1;\n" * 1_000_000)

    assert len(source.line_starts) == 1_000_001
    assert source.position(len(source.data) - 1) == (999_999, 10)
    assert source.offset(500_000, 4) == 5_500_004


def test_newline_is_that_of_the_first_line():
    assert Source("a", b"a\r\nb\n").newline == "\r\n"
    assert Source("a", b"ab").newline == "\n"
