"""Fenced blocks: where they begin and end, whatever stands before them, whoever asks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opdev.design.markdown import stretches
from opdev.kinds import Place, classify
from opdev.lsp.symbols import fenced
from opdev.source import Source
from opdev.syntax.fences import fences
from opdev.syntax.file import File


def texts(data):
    """(info, text, what follows up to the end) of each block."""
    return [(f.info, data[f.begin : f.stop], data[f.after :]) for f in fences(data)]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"a\n```bash x\necho\n```\nb\n", [(b"bash x", b"echo\n", b"b\n")]),
        (b"```\r\necho\r\n```\r\nb", [(b"", b"echo\r\n", b"b")]),
        (b"```sh\recho\r```\rb", [(b"sh", b"echo\r", b"b")]),
        (b"~~~~\n~~~\n```\n~~~~~ \nb", [(b"", b"~~~\n```\n", b"b")]),
        (b"1. ```sh\n   echo\n   ```\nb\n", [(b"sh", b"   echo\n", b"b\n")]),
        (b"- * 2) ```\n```\n", [(b"", b"", b"")]),
        (b"> ```sh\n> echo\n> ```\nb\n", [(b"sh", b"> echo\n", b"b\n")]),
        (b"> ```sh\n> echo\nb\n```\n", [(b"sh", b"> echo\n", b"b\n```\n"), (b"", b"", b"")]),
        (b"```sh\n> ```\n``` no end\necho", [(b"sh", b"> ```\n``` no end\necho", b"")]),
        (b"``` a`b\nx ```\n`` `\n", []),
        (b"```", [(b"", b"", b"")]),
    ],
)
def test_where_a_block_begins_and_ends(data, found):
    assert texts(data) == found


def test_a_block_nobody_closed_is_cut_where_it_is_said():
    data = b"```yaml\na: 1\n## next\n```sh\necho\n```\n"
    begin, cut = data.index(b"a:"), data.index(b"##")

    assert [data[f.begin : f.after] for f in fences(data, 0, {begin: cut})] == [b"a: 1\n", b"echo\n```\n"]


PARTS = [b"```", b"~~~~", b"> ", b"- ", b"1. ", b" ", b"sh", b"# a", "中".encode(), b"\n", b"\r\n", b"\r", b"`"]


@given(st.lists(st.sampled_from(PARTS), max_size=30).map(b"".join))
def test_inside_and_outside_are_the_whole_document(data):
    """Blocks and the stretches between them cover every byte once; the outline's blocks and embedded files are the same."""
    blocks = list(fences(data))
    spans = sorted([(f.line, f.after) for f in blocks] + list(stretches(data)))

    assert [a for a, _ in spans[1:]] == [b for _, b in spans[:-1]]
    assert not spans or (spans[0][0], spans[-1][1]) == (0, len(data))
    assert all(f.line <= f.begin <= f.stop <= f.after for f in blocks)
    assert [start for start, _ in fenced(data)] == [f.line for f in blocks]
    file = File(Source("a.md", data), classify("a.md", data, in_operator=True), Place())
    assert all(any(f.begin <= r.region.to_host(0) <= f.stop for f in blocks) for r in file.regions)
