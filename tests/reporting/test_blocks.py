"""A report people edit between two runs: no line of theirs is lost, and no figure of an older run stays as if it were of this one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.blocks import Section, intact, merge

TITLE = "# 报告"


def made(number):
    return [
        Section("1", "## 1. 信息", f"信息 {number}"), Section("3", "## 3. 数据"), Section("3.1", "### 3.1 性能", f"| 值 |\n|---|\n| {number} |"),
        Section("7", "## 7. 结论", f"结论 {number}", "写在这里"),
    ]  # fmt: skip


OLD = merge("", TITLE, made(1)).text
BLOCK = re.search(r"<!-- opdev:perf 3\.1 .*?<!-- /opdev:perf 3\.1 -->", OLD, re.DOTALL)[0]


def current(text):
    """The untouched blocks of a report."""
    data = text.replace("\r\n", "\n").encode()
    return [data[a:b].decode().strip("\n") for a, b in intact(data)]


def test_a_heading_that_was_deleted_comes_back_above_its_block():
    text = merge(OLD.replace("### 3.1 性能\n", "我们的一句话。\n"), TITLE, made(2)).text

    assert text.count("### 3.1 性能") == text.count("<!-- opdev:perf 3.1") == 1
    assert text.index("我们的一句话。") < text.index("### 3.1 性能") < text.index("| 2 |") < text.index("## 7.")
    assert "| 1 |" not in text


@pytest.mark.parametrize("own", ["### 性能数据", "### 3.9 我们的测量", "## 八、性能"])
def test_a_heading_that_was_renamed_stays_and_the_block_moves_on(own):
    text = merge(OLD.replace("### 3.1 性能", own), TITLE, made(2)).text

    assert own in text.split("\n")
    assert "| 1 |" not in text
    assert text.count("<!-- opdev:perf 3.1") == 1


def test_a_section_that_was_deleted_whole_is_written_again():
    start, end = OLD.index("### 3.1"), OLD.index("## 7.")
    text = merge(OLD[:start] + OLD[end:], TITLE, made(2)).text

    assert current(text) == [s.body for s in made(2) if s.body]


def test_a_block_that_was_copied_moves_on_with_the_first():
    text = merge(f"{OLD}\n复制到附录：\n\n{BLOCK}\n", TITLE, made(2)).text

    assert text.count("| 2 |") == 2
    assert "| 1 |" not in text
    edited = merge(f"{OLD}\n复制到附录：\n\n{BLOCK.replace('| 1 |', '| 1（改） |')}\n", TITLE, made(2))
    assert edited.kept == ("3.1",)
    assert "| 1（改） |" in edited.text
    assert "| 2 |" in edited.text


def test_a_block_in_a_fence_is_an_example():
    text = f"{TITLE}\n\n```\n{BLOCK}\n```\n"
    new = merge(text, TITLE, made(2)).text

    assert f"```\n{BLOCK}\n```" in new
    assert new.count("| 2 |") == 1
    assert merge(new, TITLE, made(2)).text == new


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["delete heading", "own line", "own heading", "copy", "delete block", "blank", "fence"]), st.integers(0, 40)
    ), max_size=6,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(EDITS, st.booleans())
def test_however_it_was_edited(edits, crlf):
    lines = OLD.split("\n")
    mine = []
    for number, (how, at) in enumerate(edits):
        at = min(at, len(lines))
        if how == "delete heading":
            headings = [i for i, line in enumerate(lines) if line.startswith("#") and i and "我的" not in line]
            if headings:
                del lines[headings[at % len(headings)]]
        elif how in ("own line", "own heading"):
            mine.append(f"{'## ' if how == 'own heading' else ''}我的第 {number} 句")
            lines.insert(at, mine[-1])
        elif how == "copy":
            lines[at:at] = ["", *BLOCK.split("\n"), ""]
        elif how == "delete block":
            text = "\n".join(lines).replace(BLOCK, "", 1)
            lines = text.split("\n")
        elif how == "blank":
            lines.insert(at, "")
        else:
            lines[at:at] = ["```", "x", "```"]
    old = ("\r\n" if crlf else "\n").join(lines)
    found = merge(old, TITLE, made(2))

    for line in mine:
        assert line in found.text.replace("\r\n", "\n").split("\n")
    assert ("\r\n" in found.text) == ("\r\n" in old)
    fresh = {s.body for s in made(2)}
    stale = [body for body in current(found.text) if body not in fresh]
    # A copy put into another block, or into a fence, is nobody's to replace: it is told, or it is an example.
    assert not stale or found.kept or any(how in ("fence", "copy") for how, _ in edits)
    if not any(how in ("fence", "copy") for how, _ in edits):
        assert {body for body in fresh if body} - set(current(found.text)) <= {
            s.body for s in made(2) if s.id in found.kept
        }
    again = merge(found.text, TITLE, made(2))
    assert (again.text, again.kept) == (found.text, found.kept)
