"""No text makes reading a design fail, and every range lies inside the document."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from opdev.design.document import document_of
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
def test_any_text_is_read(frame, data):
    doc = of(frame + data)

    for start, end in ranges(doc):
        assert 0 <= start <= end <= len(doc.data)
    for offset in range(0, len(doc.data), 7):
        doc.at(offset)
    if doc.root:
        doc.root.data()
        for node in doc.nodes():
            assert isinstance(node.path, str)
            assert node.parent is not None
