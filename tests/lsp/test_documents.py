"""Documents and edits: the text an editor has is the text we have, in any encoding."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.lsp.client import Client
from opdev.lsp.documents import Document, Documents, plain_range
from opdev.lsp.fields import FieldError
from opdev.lsp.moving import changed, moved
from opdev.rules.model import Edit, Finding, Fix, Rule
from opdev.source import Source

UNITS = ("utf-8", "utf-16", "utf-32")
TEXT = st.text(st.sampled_from("ab;😀中°\t\f\v\u2028\u0085\r\n\n\r"), max_size=40)


def document(text):
    return Document("file:///w/a.cpp", "cpp", 1, text)


def partial(start, end, text):
    return {
        "range": {
            "start": {"line": start[0], "character": start[1]},
            "end": {"line": end[0], "character": end[1]},
        },
        "text": text,
    }


def test_a_range_past_the_end_is_the_end():
    one = document("abc")
    one.change([partial((0, 0), (0, 9999), "X")], 2, "utf-16")
    assert one.source.data == b"X"

    one.change([partial((5, 0), (9, 9), "!")], 3, "utf-16")
    assert one.source.data == b"X!"


def test_form_feed_and_its_like_end_no_line():
    """fortls #444."""
    one = document("a\fb\vc\u2028d\u0085e\nsecond\n")
    one.change([partial((1, 0), (1, 6), "2nd")], 2, "utf-16")

    assert one.source.data.decode() == "a\fb\vc\u2028d\u0085e\n2nd\n"


def test_changes_of_one_message_follow_one_another():
    one = document("ab")
    one.change(
        [partial((0, 1), (0, 1), "\n"), partial((1, 0), (1, 1), "X"), {"text": "new"}, partial((0, 3), (0, 3), "!")],
        2,
        "utf-16",
    )

    assert one.source.data == b"new!"
    assert one.version == 2


def test_a_broken_change_leaves_the_document_alone():
    one = document("ab")
    with pytest.raises(FieldError, match=r"range.end"):
        one.change(
            [partial((0, 0), (0, 0), "x"), {"range": {"start": {"line": 0, "character": 0}}, "text": "y"}], 2, "utf-16"
        )

    assert (one.source.data, one.version) == (b"ab", 1)


@settings(deadline=None)
@given(text=TEXT, insert=TEXT, data=st.data(), unit=st.sampled_from(UNITS))
def test_any_edit_gives_the_text_and_the_lines_a_fresh_document_has(text, insert, data, unit):
    one = document(text)
    source = one.source
    low = data.draw(st.integers(0, len(text)))
    high = data.draw(st.integers(low, len(text)))
    start = source.position(len(text[:low].encode()), unit)
    end = source.position(len(text[:high].encode()), unit)
    one.change([partial(start, end, insert)], 2, unit)

    # A position inside a pair of \r\n is the end of its line.
    begin, stop = source.offset(*start, unit), source.offset(*end, unit)
    expected = source.data[:begin] + insert.encode() + source.data[stop:]
    assert one.source.data == expected
    assert one.source.line_starts == Source("x", expected).line_starts


@settings(deadline=None)
@given(text=TEXT, unit=st.sampled_from(UNITS))
def test_positions_are_there_and_back(text, unit):
    """agnix #1121."""
    source = Source("x", text.encode())
    offset = 0
    for index, ch in enumerate(text):
        inside_pair = ch == "\n" and index and text[index - 1] == "\r"
        if not inside_pair:
            assert source.offset(*source.position(offset, unit), unit) == offset
        offset += len(ch.encode())


@settings(deadline=None)
@given(before=TEXT, after=TEXT)
def test_the_smallest_edit_makes_one_text_of_the_other(before, after):
    one, other = before.encode(), after.encode()
    start, old_end, new_end = changed(one, other)

    assert one[:start] + other[start:new_end] + one[old_end:] == other
    other[start:new_end].decode()
    one[start:old_end].decode()


@pytest.mark.parametrize(("unit", "column"), [("utf-8", 11), ("utf-16", 6), ("utf-32", 5)])
def test_a_comment_before_a_finding_moves_it_by_the_right_number(unit, column):
    """slang-server #509."""
    source = Source("x", "°中😀x; y".encode())

    assert plain_range(source, source.data.index(b" y"), len(source.data), unit)["start"]["character"] == column


def test_documents_are_found_by_any_spelling_of_their_uri():
    documents = Documents(Client())
    documents.put({"textDocument": {"uri": "file:///w/a%20b%2B.sh", "languageId": "x", "version": 1, "text": ""}})

    assert documents.find("file:///w/a%20b+.sh").uri == "file:///w/a%20b%2B.sh"
    assert documents.at_path("/w/a b+.sh") is not None


RULE = Rule("T1", "t", "error", frozenset(), frozenset(), {"default": {"en": "x"}}, {"en": "x"})


def test_findings_move_with_the_text_and_those_an_edit_touches_go():
    before, after = Source("x", b"aa bb cc"), Source("x", b"aa XXX cc")
    found = [Finding(RULE, before, s, s + 2, "error", fix=Fix((Edit(s, s + 2, "z"),))) for s in (0, 3, 6)]

    left = moved(found, before, after)
    assert [(f.start, f.end, f.fix.edits[0].start) for f in left] == [(0, 2, 0), (7, 9, 7)]
    assert all(f.source is after for f in left)
