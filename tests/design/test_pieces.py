"""A design read piece by piece is the design read as a whole, and an edit reads its piece alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from opdev.design import judged, pieces
from opdev.design.compose import Composer
from opdev.design.document import document_of
from opdev.design.model import validate
from opdev.design.recover import read
from opdev.design.text import FenceText
from opdev.kinds import Place, classify
from opdev.source import Source
from opdev.syntax.file import File

CORPUS = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops"
DESIGNS = sorted(CORPUS.glob("*/docs/design.md"))


def _full():
    spec = importlib.util.spec_from_file_location("design_full", Path(__file__).with_name("full.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.YAML


YAML = _full()
# What makes a piece read otherwise inside the whole, or not by itself.
BITS = [
    "", "x", "  x\n", "\n", "\n\n", "# 注释\n", "  # c\n", '"', "'", "[", "]", "{", "}", ": ", ":", "- ", "-\n", "  - a\n", "    - {case: a}\n",
    "? a\n", ": b\n", "---\n", "...\n", "%YAML 1.1\n", "&a ", "*a", "<<: *a\n", "|\n", "|+\n\n\n", ">-\n", "\t", "\r\n", "\r", "中", "🚀", "\x00", "!!str ",
    "meta:\n", "  op_name: b\n", "schedule:\n  phases:\n  - a\n  - b\n", 'q: "a\nb: c"\n', "f: [1,\n2]\n", "k: # c\n  l: 1\n", "\u2028", "\x85",
]  # fmt: skip


def document(yaml):
    data = f"## 2. Canonical DSL\n\n```yaml\n{yaml}```\n\n## 3. x\n".encode()
    return document_of(
        File(Source("docs/design.md", data), classify("docs/design.md", data, in_operator=True), Place())
    )


def shape(doc, *, whole):
    fence = doc.dsl
    composer = Composer(FenceText(fence.file, fence.stop), whole=whole)
    root = read(composer)
    nodes = [
        (n.path, n.kind, n.start, n.end, n.tag, n.value, n.style, n.key, n.key_start, n.key_end, n.alias)
        for n in (root.walk() if root is not None else ())
    ]
    faults = sorted((f.start, f.end, f.reason, f.related or ()) for f in composer.faults)
    return nodes, faults, root.data() if root is not None else None


@pytest.fixture(autouse=True)
def finely(monkeypatch):
    monkeypatch.setattr(pieces, "SMALL", 40)


@settings(max_examples=500, deadline=None)
@given(st.integers(0, len(YAML)), st.integers(0, 30), st.lists(st.sampled_from(BITS), max_size=3).map("".join))
@example(1, 18, "中")
@example(YAML.index(" /opt/shmem/.agents"), 0, "\n- ")
@example(YAML.index("interface:"), 0, 'q: "a\nb: c"\n')
@example(YAML.index("  outputs:"), 0, "   - a\n")
@example(YAML.index("meta:"), 0, "meta: &a {b: 1}\nx: *a\n")
def test_pieces_make_the_whole(at, cut, bit):
    doc = document(YAML[:at] + bit + YAML[at + cut :])
    if doc.dsl is not None:
        once = shape(doc, whole=False)

        assert once == shape(doc, whole=True)
        assert once == shape(doc, whole=False)  # from what was kept


@pytest.mark.parametrize("path", DESIGNS, ids=lambda p: p.parts[-3])
def test_the_corpus_is_read_by_pieces(path):
    text = path.read_bytes()
    doc = document_of(File(Source(str(path), text), classify(str(path), text, in_operator=True), Place()))
    fence = doc.dsl
    composer = Composer(FenceText(fence.file, fence.stop))

    assert composer.by_pieces(0, len(composer.text.text)) is not None
    assert shape(doc, whole=False) == shape(doc, whole=True)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(YAML)), st.integers(0, 9), st.sampled_from(BITS)), max_size=4))
def test_what_was_found_sound_before_changes_no_verdict(edits):
    text = YAML
    for at, cut, bit in edits:
        text = text[:at] + bit + text[at + cut :]
        warm = validate(document(text))
        pieces.forget()
        judged.forget()

        assert warm == validate(document(text))


def test_an_edit_reads_its_piece_alone(monkeypatch):
    cases = "".join(
        f"    - case: c{n}\n      shape: '[{n}]'\n      category: functional\n      n_pes: 2\n" for n in range(500)
    )
    text = YAML.replace("  case_matrix:\n", f"  case_matrix:\n{cases}")
    validate(document(text))
    read_now, judged_now = [], []
    compose = Composer.compose
    monkeypatch.setattr(Composer, "compose", lambda self, a, b: read_now.append(b - a) or compose(self, a, b))
    case = judged._models(judged._models(judged.Design)["correctness"])["case_matrix"][0]
    validator = case.model_validate
    monkeypatch.setattr(case, "model_validate", lambda data: judged_now.append(data["case"]) or validator(data))
    for typed in ("c250x", "c250xy"):
        validate(document(text.replace("case: c250\n", f"case: {typed}\n")))

    assert sum(read_now) < 400
    assert judged_now == ["c250x", "c250xy"]
