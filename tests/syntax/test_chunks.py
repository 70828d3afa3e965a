"""Chunks of a text: they are always the whole of it, each ends with a line, and an edit makes few of them new."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opdev.kinds import Kind, Place
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.rules.store import load
from opdev.source import Source
from opdev.syntax.chunks import chunks_of, spliced
from opdev.syntax.file import File

LINES = st.lists(st.sampled_from([b"", b"a", "中文 key: v".encode(), b"x" * 900, b"y" * 5000]), max_size=40)


def whole(lines: list[bytes]) -> bytes:
    return b"\n".join(lines)


@given(LINES, st.data())
def test_chunks_of_an_edited_text_are_the_text(lines: list[bytes], data: st.DataObject) -> None:
    text = whole(lines)
    chunks = chunks_of(text)
    for _ in range(3):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 9000)))
        new = data.draw(st.sampled_from([b"", b"q", b"\n", b"w w\n", b"z" * 20_000]))
        text = text[:start] + new + text[end:]
        chunks = spliced(chunks, text, start, end, start + len(new))
        assert b"".join(chunk.data for chunk in chunks) == text
        assert all(chunk.data.endswith(b"\n") for chunk in chunks[:-1])
        assert all(chunk.data for chunk in chunks)


@given(LINES, st.data())
def test_the_words_of_the_chunks_are_those_of_the_text(lines: list[bytes], data: st.DataObject) -> None:
    text = whole(lines)
    start = data.draw(st.integers(0, len(text)))
    new = text[:start] + text[start + 1 :]
    chunks = spliced(chunks_of(text), new, start, min(start + 1, len(text)), start)
    words = frozenset().union(*(chunk.words for chunk in chunks))
    assert words == File(Source("a.md", new), Kind("markdown", frozenset())).words


def test_a_keystroke_makes_one_chunk_new() -> None:
    text = whole([b"line of some length, number %d" % i for i in range(3000)])
    chunks = chunks_of(text)
    after = spliced(chunks, text[:50_000] + b"x" + text[50_000:], 50_000, 50_000, 50_001)
    assert len([chunk for chunk in after if not any(chunk is old for old in chunks)]) == 1


def test_a_rule_whose_word_is_typed_wakes_up() -> None:
    """`pkill -f shmem` typed letter by letter into a script is found when it can be, as in a file read once."""
    rules = load()
    selection, linter = Selection(rules), Linter()
    place = Place("custom-ops", "demo", "/x/custom-ops/demo", None, "README.md")
    text = b"# demo: a process for each PE\n\n```bash\n \n```\n"
    at = text.index(b" \n```") + 1
    kind = Kind("markdown", frozenset({"readme", "doc"}))
    file = File(Source("/x/custom-ops/demo/README.md", text), kind, place)
    names: list[set[str]] = []
    for letter in b"pkill -f shmem":
        source = file.source.spliced(at, at, bytes([letter]))
        file = file.edited(source, at, at, at + 1)
        at += 1
        found = linter.lint(file, selection, None, scopes=("item", "file"), incremental=True).findings
        fresh = File(Source(source.path, source.data), kind, place)
        alone = Linter().lint(fresh, selection, None, scopes=("item", "file")).findings
        assert [(f.rule.name, f.start, f.end) for f in found] == [(f.rule.name, f.start, f.end) for f in alone]
        names.append({finding.rule.name for finding in found})
    assert names[0] == set()
    assert names[-1]
