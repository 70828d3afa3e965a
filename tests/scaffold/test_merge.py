"""Three-way merges: laws that hold of any texts, and the conflicts people meet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opdev.scaffold.merge import BASE, OURS, THEIRS, merge

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "共享\n", "d"]), max_size=12).map("".join)


@given(LINES, LINES)
def test_one_sided_changes_are_taken_whole(base, other):
    assert merge(base, base, other).text == other
    assert merge(base, other, base).text == other
    assert merge(base, other, other) == (same := merge(base, other, other))
    assert (same.text, same.conflicts) == (other, 0)


@given(LINES, LINES, LINES)
def test_nothing_of_either_side_is_lost(base, ours, theirs):
    merged = merge(base, ours, theirs)

    if merged.conflicts:
        assert merged.text.count(OURS) == merged.text.count(BASE) == merged.text.count(THEIRS) == merged.conflicts
    kept = set(merged.text.split("\n"))
    for line in {*ours.split("\n"), *theirs.split("\n")} - set(base.split("\n")):
        assert line in kept


def test_edits_apart_are_both_kept():
    base = "one\ntwo\nthree\nfour\nfive\n"

    merged = merge(base, base.replace("two", "TWO"), base.replace("five", "FIVE\nsix"))

    assert (merged.text, merged.conflicts) == ("one\nTWO\nthree\nfour\nFIVE\nsix\n", 0)


def test_edits_of_one_line_are_marked():
    merged = merge("a\nx\nb\n", "a\nmine\nb\n", "a\nnew\nb\n")

    assert merged.conflicts == 1
    assert merged.text == f"a\n{OURS}\nmine\n{BASE}\nx\n=======\nnew\n{THEIRS}\nb\n"


def test_the_users_line_ends_stay():
    merged = merge("a\nb\nc\nd\n", "A\r\nb\r\nc\r\nd\r\n", "a\nb\nc\nD\n")

    assert (merged.text, merged.conflicts) == ("A\r\nb\r\nc\r\nD\r\n", 0)


def test_a_missing_last_newline_is_no_conflict_elsewhere():
    merged = merge("a\nb\nc", "A\nb\nc", "a\nb\nc\n")

    assert (merged.text, merged.conflicts) == ("A\nb\nc\n", 0)
