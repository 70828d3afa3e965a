"""Every rule on text that nobody meant to write: half-typed, pasted twice, cut off, mixed up.

An editor asks at every keystroke, so no rule may crash on what stands there in between, and no
range or edit may reach beyond the text.  The inputs are the examples of all pages, mutated by a
seeded generator: the same on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from opdev.kinds import classify
from opdev.lint.pagetest import absolute, strip_marks
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules.engine import Linter
from opdev.rules.fixes import fix_to_the_end
from opdev.rules.model import Finding, Rule
from opdev.rules.page import Example, read_page
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

ROOT = Path(__file__).parents[2] / "rules"
PAGES = [read_page(path, ROOT) for path in sorted(ROOT.rglob("*.md"))]
RULES: list[Rule] = [page.rule for page in PAGES]
FAMILIES = sorted({rule.family for rule in RULES})
SELECTION = Selection(tuple(RULES))

Mutation = Callable[[random.Random, bytes], bytes]


def truncated(rnd: random.Random, data: bytes) -> bytes:
    return data[: rnd.randrange(len(data) + 1)]


def beheaded(rnd: random.Random, data: bytes) -> bytes:
    return data[rnd.randrange(len(data) + 1) :]


def chunk_deleted(rnd: random.Random, data: bytes) -> bytes:
    at = rnd.randrange(len(data) + 1)
    return data[:at] + data[at + rnd.randrange(1, 30) :]


def chunk_doubled(rnd: random.Random, data: bytes) -> bytes:
    at = rnd.randrange(len(data) + 1)
    piece = data[at : at + rnd.randrange(1, 60)]
    to = rnd.randrange(len(data) + 1)
    return data[:to] + piece + data[to:]


def line_moved(rnd: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        lines.insert(rnd.randrange(len(lines)), lines.pop(rnd.randrange(len(lines))))
    return b"".join(lines)


def quotes_swapped(rnd: random.Random, data: bytes) -> bytes:
    return data.translate(bytes.maketrans(b"\"'", b"'\"" if rnd.random() < 0.5 else b'""'))


def odd_text(rnd: random.Random, data: bytes) -> bytes:
    at = rnd.randrange(len(data) + 1)
    text = rnd.choice([b"\0", "🙂".encode(), b"\xff\xfe", "，".encode(), b"\t\t", b"\\", b"${", b"$((", b"<<EOF\n",
                       b"/*", b"#if 0\n", b"((((((((", b"}}}}", b'"', b"'", b"`", b"\\\n", b"\x0c"])  # fmt: skip
    return data[:at] + text + data[at:]


def windows(_: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


def old_mac(_: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", b"\r")


def one_line(_: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", b" ")


def brackets_lost(rnd: random.Random, data: bytes) -> bytes:
    return data.translate(None, rnd.choice([b"()", b"{}", b"[]", b";", b",", b"=", b"<>"]))


MUTATIONS: list[Mutation] = [
    truncated, beheaded, chunk_deleted, chunk_doubled, line_moved, quotes_swapped, odd_text, windows, old_mac,
    one_line, brackets_lost,
]  # fmt: skip
MARKERS = {"/w/include/shmem.h", "/w/version.info"}


class Trial:
    """One example's files, linted by all rules that apply."""

    def __init__(self, example: Example) -> None:
        self.path = absolute(example.path)
        self.data = strip_marks(example.text)[0].encode()
        self.files = {self.path: self.data, **{absolute(p): t.encode() for p, t in example.aux}}
        self.places = Places(lambda path: path in MARKERS or path in self.files)
        self.linter = Linter(known=RULES)

    def file(self, source: Source) -> File:
        place = self.places.of(source.path)
        # Rules that are off in the tree have to stand this too.
        place = replace(place, profile="custom-ops")
        return File(source, classify(source.path, source.data, in_operator=place.operator is not None), place)

    def lint(self, source: Source) -> list[Finding]:
        file = self.file(source)
        files = {**self.files, source.path: source.data}
        project = Operator(file.place.root or "/w/custom-ops/demo", self.places, files.get, files)
        return self.linter.lint(file, SELECTION, project).findings


def examples(family: str) -> list[Example]:
    found = [e for page in PAGES if page.rule.family == family for e in page.examples if e.role != "fixed"]
    return list({(e.path, e.text): e for e in found}.values())


def judge(finding: Finding, size: int) -> str | None:
    """What is wrong with a finding whatever the text says; None when nothing is."""
    if finding.rule.name == "internal-error":
        return finding.message("en")
    name = finding.rule.name
    if not 0 <= finding.start <= finding.end <= size:
        return f"{name} reports {finding.start}-{finding.end} of {size}"
    for note in finding.related:
        if note.path is None and not 0 <= note.start <= note.end <= size:
            return f"{name} relates to {note.start}-{note.end} of {size}"
    edits = (
        sorted((e for e in finding.fix.edits if e.path is None), key=lambda e: (e.start, e.end)) if finding.fix else []
    )
    at = 0
    for edit in edits:
        if not at <= edit.start <= edit.end <= size:
            return f"{name} edits {edit.start}-{edit.end} of {size} after {at}"
        at = edit.end
    for unit in ("utf-8", "utf-16", "utf-32"):
        finding.span(unit)  # type: ignore[arg-type]  # one of the three
    for lang in ("zh", "en"):
        if (shown := finding.message(lang) + finding.fix_title(lang)).startswith("["):  # type: ignore[arg-type]  # as above
            return f"{name} has no text: {shown}"
    return None


@pytest.mark.parametrize("family", FAMILIES)
def test_rules_stand_broken_text(family: str) -> None:
    rnd = random.Random(f"fuzz {family}")
    for example in examples(family):
        trial = Trial(example)
        for mutation in rnd.sample(MUTATIONS, 3):
            data = mutation(rnd, trial.data)
            if rnd.random() < 0.3:
                data = rnd.choice(MUTATIONS)(rnd, data)
            source = Source.from_disk(trial.path, data)
            for finding in trial.lint(source):
                wrong = judge(finding, len(source.data))
                assert wrong is None, f"{example.path} ({mutation.__name__}): {wrong}\n{data!r}"


@pytest.mark.parametrize("family", FAMILIES)
def test_all_fixes_together_come_to_an_end(family: str) -> None:
    """On every page's bad example, with the fixes of all rules at once: no fight, no broken text."""
    for example in examples(family):
        if example.role != "bad" or example.options.get("parse") == "broken":
            continue
        trial = Trial(example)
        outcome = fix_to_the_end(
            Source.from_disk(trial.path, trial.data), trial.lint, trial.file, ("safe", "unsafe", "suggestion")
        )
        assert not outcome.fighting, f"{example.path}: {outcome.fighting}\n{example.text}"
        broke = [f.rule.name for f in outcome.broke]
        assert not broke, f"{example.path}: {broke} leave text that does not parse\n{example.text}"
