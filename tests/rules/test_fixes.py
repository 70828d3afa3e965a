"""Fixing: original offsets, rounds to a fixpoint, nothing broken, fights named."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opdev.kinds import classify
from opdev.rules.fixes import MOST_ROUNDS, apply_edits, choose, fix_to_the_end
from opdev.rules.model import Edit, Finding, Fix, Rule
from opdev.source import Source
from opdev.syntax.file import File

TEXT = {"zh": "错", "en": "wrong"}


def rule(name, level="safe"):
    return Rule("SH001", name, "error", frozenset({"shell"}), frozenset({"bash"}), {"default": TEXT}, TEXT, fix=level,
                fixes={"default": TEXT})  # fmt: skip


def finding(source, start, end, text, name="one", level="safe"):
    return Finding(rule(name, level), source, start, end, "error", fix=Fix((Edit(start, end, text),)))


def parse(source):
    return File(source, classify("custom-ops/x/run.sh", source.data, in_operator=True))


def replacing(table):
    """A linter that reports every occurrence of the words of ``table``: word -> (replacement, rule)."""

    def lint(source):
        found = []
        for word, (new, name) in table.items():
            at = source.data.find(word)
            while at >= 0:
                found.append(finding(source, at, at + len(word), new, name))
                at = source.data.find(word, at + len(word))
        return found

    return lint


def test_edits_are_on_original_offsets():
    edits = [Edit(4, 5, "LONG"), Edit(0, 1, ""), Edit(2, 2, "ins")]

    assert apply_edits(b"a b c d", edits) == b" insb LONG d"


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=8))
def test_chosen_fixes_never_overlap(ranges):
    source = Source("a", b"x" * 30)
    chosen = choose([finding(source, s, s + n, "y", f"r{i}") for i, (s, n) in enumerate(ranges)])

    spans = sorted((f.start, f.end) for f in chosen)
    assert all(a[1] <= b[0] and a != b for a, b in pairwise(spans))
    assert bool(chosen) == bool(ranges)


def test_a_cascade_comes_to_its_end():
    source = Source("run.sh", b"one one\n")
    lint = replacing({b"one": ("two", "first"), b"two": ("three", "second")})

    fixed = fix_to_the_end(source, lint, parse, ["safe"])

    assert fixed.data == b"three three\n"
    assert not fixed.fighting


def test_two_rules_that_undo_each_other_are_named():
    source = Source("run.sh", b"one\n")
    lint = replacing({b"one": ("two", "first"), b"two": ("one", "second")})

    assert fix_to_the_end(source, lint, parse, ["safe"]).fighting == ("first", "second")


def test_a_fix_that_never_ends_is_named():
    source = Source("run.sh", b"a\n")

    fixed = fix_to_the_end(source, replacing({b"a": ("aa", "grows")}), parse, ["safe"])

    assert fixed.fighting == ("grows",)
    assert len(fixed.applied) <= 2**MOST_ROUNDS


def test_a_fix_that_breaks_the_syntax_is_put_back_and_the_others_kept():
    source = Source("run.sh", b"if true; then bad; good; fi\n")
    lint = replacing({b"bad;": ("fi (", "breaks"), b"good": ("better", "helps")})

    fixed = fix_to_the_end(source, lint, parse, ["safe"])

    assert fixed.data == b"if true; then bad; better; fi\n"
    assert [f.rule.name for f in fixed.broke] == ["breaks"]
    assert [f.rule.name for f in fixed.applied] == ["helps"]


def test_levels_are_asked_for():
    source = Source("run.sh", b"x\n")

    def lint(here):
        return [finding(here, 0, 1, "y", level="unsafe")] if here.data.startswith(b"x") else []

    assert fix_to_the_end(source, lint, parse, ["safe"]).data == b"x\n"
    assert fix_to_the_end(source, lint, parse, ["safe", "unsafe"]).data == b"y\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_new_lines_end_as_the_file_does(newline):
    source = Source("run.sh", f"one{newline}b{newline}".encode())

    fixed = fix_to_the_end(source, replacing({b"one": ("1\n2", "x")}), parse, ["safe"])

    assert fixed.data == f"1{newline}2{newline}b{newline}".encode()


def test_new_text_is_written_in_the_encoding_of_the_file():
    source = Source("run.sh", "中 one\n".encode(), "gb18030")

    fixed = fix_to_the_end(source, replacing({b"one": ("中", "x")}), parse, ["safe"])

    assert source.to_disk(fixed.data).decode("gb18030") == "中 中\n"
