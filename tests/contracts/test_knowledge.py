"""Contracts held against a knowledge base that is really there: hashes, documents, topologies, anchors."""

from __future__ import annotations

import hashlib
import json

import pytest

from opdev.contracts.anchors import bases, documents, has_anchor
from opdev.kinds import classify
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

ROW = "# 行内归约\n\n<a id='row-1'></a>\n\n## 1. 32 字节对齐\n\n按行归约。\n"
MAP = {
    "contract": {"contract_version": 3, "property_keys": ["is_list", "tail_blocks"]},
    "topologies": {"row-reduction": {"note": "", "patterns": [], "constraints": ["vec.md"]}, "scan": {"patterns": [], "constraints": []}},
}  # fmt: skip


@pytest.fixture(params=[".agents/skills/pypto-pro-op-kb", "kb", ".opencode/skills/pypto-pro-op-kb/references"])
def demo(request, tmp_path):
    """An operator below a knowledge base, wherever that is installed."""
    base = tmp_path / request.param
    for folder, name, text in (("patterns", "row.md", ROW), ("constraints", "vec.md", "# 向量\n")):
        (base / folder).mkdir(parents=True)
        (base / folder / name).write_text(text, encoding="utf-8")
    (base / "topology-map.json").write_text(json.dumps(MAP), encoding="utf-8")
    root = tmp_path / "custom" / "demo"
    root.mkdir(parents=True)
    (root / ".orchestrator_state.json").write_text('{"operator_name": "demo", "max_stage": 5}', encoding="utf-8")
    return root, base


def sha(text):
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def selection(**more):
    return {
        "schema_version": 3, "op": "demo", "class_id": ".", "topologies": ["row-reduction"], "properties": {"tail_blocks": True},
        "optional_patterns": [{"path": "patterns/row.md", "reason": "行", "sha256": sha(ROW)}],
        "required_constraints": [{"path": "constraints/vec.md", "reason": "向量", "sha256": sha("# 向量\n")}],
        "no_matching_pattern": False, **more,
    }  # fmt: skip


def judged(root, name, value):
    """(message key, the text it is at, what it would become) of every finding."""
    path = root / name
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    where = path.as_posix()
    source = Source.from_disk(where, path.read_bytes())
    places = Places()
    file = File(source, classify(where, source.data, in_operator=True), places.of(where))
    rules = tuple(r for r in store.load() if r.family == "pypto-contract")
    found = Linter().lint(file, Selection(rules, {}), Operator(root.as_posix(), places)).findings
    return [(f.message_key, source.data[f.start : f.end].decode(), f.fix.edits[0].text if f.fix else "") for f in found]


def test_a_selection_that_holds_is_let_be(demo):
    root, base = demo

    assert judged(root, "KB_SELECTION.json", selection()) == []
    assert next(bases(root.as_posix())) == base.as_posix()
    assert {p.rpartition("/")[2] for p in documents(root.as_posix())} == {"row.md", "vec.md", "topology-map.json"}


def test_a_stale_hash_is_told_with_the_right_one(demo):
    root, base = demo
    (base / "patterns" / "row.md").write_text(ROW + "又一条\n", encoding="utf-8")

    assert judged(root, "KB_SELECTION.json", selection()) == [
        ("stale", f'"{sha(ROW)}"', f'"{sha(ROW + "又一条" + chr(10))}"')
    ]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"topologies": ["row-reductoin"]}, [("topology", '"row-reductoin"', '"row-reduction"')]),
        ({"properties": {"tail_block": 1}}, [("property", '"tail_block"', '"tail_blocks"')]),
        ({"schema_version": 2}, [("version", "2", "3")]),
        ({"schema_version": True}, [("version", "true", "3")]),
        ({"required_constraints": []}, [("unselected", '"required_constraints"', "")]),
        (
            {"optional_patterns": [{"path": "patterns/gone.md", "reason": "x", "sha256": sha("")}]},
            [("no-document", '"patterns/gone.md"', "")],
        ),
        (
            {"optional_patterns": [{"path": "patterns/row.md", "reason": "x", "sha256": "deadbeef"}]},
            [("hash", '"deadbeef"', f'"{sha(ROW)}"')],
        ),
        (
            {"optional_patterns": [{"path": "patterns/../patterns/row.md", "reason": "x", "sha256": sha(ROW)}]},
            [("escapes", '"patterns/../patterns/row.md"', "")],
        ),
    ],
)
def test_what_the_knowledge_base_does_not_have_is_told_at_its_place(demo, change, found):
    assert judged(demo[0], "KB_SELECTION.json", selection(**change)) == found


def test_two_levels_of_selections_contradict_each_other(demo):
    root, _ = demo
    (root / "vector").mkdir()
    judged(root, "vector/KB_SELECTION.json", selection(class_id="vector"))

    assert judged(root, "KB_SELECTION.json", selection()) == [("both", '"schema_version"', "")]


def binding(*anchors):
    requirement = {"req_id": "R1", "kind": "precondition", "source_anchors": list(anchors), "status": "met"}
    return {"schema_version": 1, "bindings": [{
        "class_id": ".", "selection_field": "optional_patterns", "reference": "patterns/row.md", "selection_reason": "行", "requirements": [requirement]}]}  # fmt: skip


def test_anchors_are_places_of_the_document_that_is_named(demo):
    good = ["row-1", "#row-1", "1. 32 字节对齐", "1", "32 字节对齐", "按行归约"]

    assert judged(demo[0], "DESIGN_BINDINGS.json", binding(*good)) == []
    assert judged(demo[0], "DESIGN_BINDINGS.json", binding("行内规约")) == [("no-anchor", '"行内规约"', '"行内归约"')]
    assert judged(demo[0], "DESIGN_BINDINGS.json", binding("别的")) == [("no-anchor", '"别的"', "")]


def test_an_installed_knowledge_base_is_found_by_its_variable(tmp_path, monkeypatch):
    base = tmp_path / "installed" / "skills" / "pypto-pro-op-kb"
    (base / "constraints").mkdir(parents=True)
    monkeypatch.setenv("CANNBOT_CONFIG_ROOT", str(tmp_path / "installed"))

    assert base.as_posix() in list(bases((tmp_path / "deep" / "custom" / "demo").as_posix()))


@pytest.mark.parametrize("anchor", ["", "#", "  "])
def test_nothing_is_no_anchor(anchor):
    assert not has_anchor(ROW.encode(), anchor)
