"""No text makes reading a design fail, and every range lies inside the document."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from opdev.design.complete import complete
from opdev.design.document import document_of
from opdev.design.model import validate
from opdev.design.problems import CODES
from opdev.kinds import Place, classify
from opdev.source import Source
from opdev.syntax.file import File

PIECES = [
    "meta:", "  op_name: allgather\n", "interface:\n", "  inputs:\n", "    - {name: x, dtype: fp16}\n", "- ", "[", "]", "{", "}",
    ": ", ":", ",", "\n", "\n\n", "\r\n", "\r", "  ", "    ", "\t", "#", " # 注释\n", "'", '"', "|", ">-\n", "&a ", "*a", "<<: ", "? ",
    "---\n", "...\n", "%YAML 1.1\n", "!!str ", "!x ", "```\n", "```yaml\n", "> ", "## 3. x\n", "## 2. Canonical DSL\n", "| a | b |\n",
    "|---|---|\n", "`", "\\", "中文", "🚀", "\u2028", "\x85", "\ufeff", "\x00", "\x07", "replace_me", "0.3", "dsl_version: ", "[]\n", "yes", "1:30", "0x",
    "schedule:\n", "  core_partition:\n", "    mode: ", "correctness:\n", "  tolerance:\n", "    rtol: ", "2^-8", "1e-3", "@", "%", "-", "a",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
anything = st.one_of(texts.map(str.encode), st.binary(max_size=200), st.text(max_size=200).map(str.encode))
frames = st.sampled_from(
    [b"", b"## 2. Canonical DSL\n\n```yaml\ndsl_version: '0.3'\n", b"> ```yaml\n> meta:\n> source:\n> "]
)


def of(data):
    return document_of(
        File(Source("docs/design.md", data), classify("docs/design.md", data, in_operator=True), Place())
    )


def ranges(doc):
    for fence in doc.fences:
        yield fence.opening
        yield fence.start, fence.end
        for fault in fence.faults:
            yield fault.start, fault.end
            if fault.related:
                yield fault.related
        for node in fence.root.walk() if fence.root else ():
            yield node.start, node.end
            if node.key is not None:
                yield node.key_start, node.key_end
    for heading in doc.headings:
        yield heading.start, heading.end
    for table in doc.tables:
        yield from ((c.start, c.end) for row in [table.header, *table.rows] for c in row)


@settings(max_examples=400, deadline=None)
@given(frames, anything)
@example(b"", b"```yaml\nmeta: [\n```")
@example(b"", b"```yaml\ndsl_version: x\n\xff: \xfe\n")
@example(b"> ```yaml\n> meta:\n> source:\n> ", b"\x00" * 14 + b"\x80" * 16)
def test_any_text_is_read(frame, data):
    doc = of(frame + data)

    for start, end in ranges(doc):
        assert 0 <= start <= end <= len(doc.data)
    for problem in validate(doc):
        assert set(problem.args) <= set(CODES[problem.code]), problem
        assert 0 <= problem.start <= problem.end <= len(doc.data)
        assert problem.related is None or 0 <= problem.related[0] <= problem.related[1] <= len(doc.data)
    for offset in range(0, len(doc.data) + 1, 5):
        doc.at(offset)
        completion = complete(doc, offset)
        assert completion is None or 0 <= completion.start <= offset <= completion.end <= len(doc.data)
    if doc.root:
        doc.root.data()
        for node in doc.nodes():
            assert isinstance(node.path, str)
            assert node.parent is not None


def _whole():
    spec = importlib.util.spec_from_file_location("design_full", Path(__file__).with_name("full.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return f"## 2. Canonical DSL\n\n```yaml\n{module.YAML}```\n\n## 3. x\n".encode()


WHOLE = _whole()


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(WHOLE)), st.integers(0, 40), st.sampled_from(PIECES))
def test_a_whole_design_may_be_broken_anywhere(at, cut, piece):
    doc = of(WHOLE[:at] + piece.encode() + WHOLE[at + cut :])

    for start, end in [*ranges(doc), *((p.start, p.end) for p in validate(doc))]:
        assert 0 <= start <= end <= len(doc.data)
    offset = at + len(piece.encode())
    completion = complete(doc, offset)
    assert completion is None or completion.start <= offset <= completion.end
    if len(piece) <= 2 and cut == 0 and piece.strip():
        # One character more leaves nearly all of it known.
        assert doc.dsl is None or sum(1 for _ in doc.nodes()) > 60
