"""Findings that rest on files outside the operator follow these, on disk and in other editors' buffers alike."""

from __future__ import annotations

import json
import shutil

import pytest

from opdev.contracts.anchors import digest

RULES = ["invalid-kb-selection", "invalid-design-bindings", "missing-dtype-branch", "missing-operator-file", "opdev"]
FIRST, SECOND = "# 向量\n\n## 32 字节对齐\n", "# 向量\n\n## 尾块\n"
WATCHES = {
    "textDocument": {"publishDiagnostics": {"versionSupport": True}},
    "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}},
}


def selection(text):
    chosen = [{"path": "constraints/vec.md", "reason": "对齐", "sha256": digest(text.encode())}]
    return json.dumps(
        {"schema_version": 1, "op": "demo", "class_id": ".", "topologies": [], "properties": {}, "optional_patterns": [],
         "required_constraints": chosen, "no_matching_pattern": True}, ensure_ascii=False)  # fmt: skip


BINDINGS = json.dumps({"schema_version": 1, "bindings": [
    {"class_id": ".", "selection_field": "required_constraints", "reference": "constraints/vec.md", "selection_reason": "对齐",
     "requirements": [{"req_id": "R1", "kind": "precondition", "source_anchors": ["32 字节对齐"], "status": "met", "class_evidence": "一行一核"}]}]},
    ensure_ascii=False)  # fmt: skip


@pytest.fixture
def demo(tmp_path):
    """An operator with a selection, and the document of the knowledge base that it took over."""
    root = tmp_path / "work" / "custom" / "demo"
    root.mkdir(parents=True)
    kb = tmp_path / "work" / ".agents/skills/pypto-pro-op-kb/constraints/vec.md"
    kb.parent.mkdir(parents=True)
    kb.write_text(FIRST, encoding="utf-8")
    (root / ".orchestrator_state.json").write_text('{"operator_name": "demo", "max_stage": 5}', encoding="utf-8")
    for name, text in (("KB_SELECTION.json", selection(FIRST)), ("DESIGN_BINDINGS.json", BINDINGS)):
        (root / name).write_text(text, encoding="utf-8")
    return root, kb


def told(client, *paths, kind=2):
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": p.as_uri(), "type": kind} for p in paths]})


def stale(items):
    return [i for i in items if "stale" in json.dumps(i) or "改过" in i["message"] or "changed after" in i["message"]]


def test_open_contracts_follow_a_document_of_the_knowledge_base_on_disk(start, demo):
    root, kb = demo
    client = start()
    client.initialize(root.parents[1], capabilities=WATCHES, options={"select": RULES})
    chosen = client.open(root / "KB_SELECTION.json", selection(FIRST), language="json")
    bound = client.open(root / "DESIGN_BINDINGS.json", BINDINGS, language="json")
    assert client.diagnostics(chosen, lambda items: not items) == []

    since = client.mark
    kb.write_text(SECOND, encoding="utf-8")
    told(client, kb)
    assert client.diagnostics(chosen, stale, since)
    assert [i["code"] for i in client.diagnostics(bound, len, since)] == ["invalid-design-bindings"]

    since = client.mark
    kb.write_text(FIRST, encoding="utf-8")
    told(client, kb)
    assert client.diagnostics(chosen, lambda items: not items, since) == []
    assert client.diagnostics(bound, lambda items: not items, since) == []

    since = client.mark
    shutil.move(kb.parents[1], kb.parents[1].with_name("gone"))
    told(client, kb.parents[1], kind=3)
    told(client, root / "KB_USAGE.json")
    shutil.move(kb.parents[1].with_name("gone"), kb.parents[1])
    kb.write_text(SECOND, encoding="utf-8")
    told(client, kb, kind=1)
    assert client.diagnostics(chosen, stale, since)


def test_open_contracts_follow_the_document_as_another_editor_has_it(start, demo):
    """Unsaved text wins over the disk, and is forgotten when it is closed; those nobody has open follow too."""
    root, kb = demo
    client = start()
    client.initialize(root.parents[1], capabilities=WATCHES, options={"select": RULES})
    chosen = client.open(root / "KB_SELECTION.json", selection(FIRST), language="json")
    document = client.open(kb, FIRST, language="markdown")
    assert client.diagnostics(chosen, lambda items: not items) == []

    since = client.mark
    client.change(document, 2, SECOND)
    assert client.diagnostics(chosen, stale, since)
    assert client.diagnostics((root / "DESIGN_BINDINGS.json").as_uri(), len, since)

    since = client.mark
    client.close(document)
    assert client.diagnostics(chosen, lambda items: not items, since) == []
    assert client.diagnostics((root / "DESIGN_BINDINGS.json").as_uri(), lambda items: not items, since) == []


def test_a_knowledge_base_outside_the_workspace_is_watched_all_the_same(start, demo):
    root, kb = demo
    client = start("--log-level", "info")
    client.initialize(root, capabilities=WATCHES, options={"select": RULES})
    chosen = client.open(root / "KB_SELECTION.json", selection(FIRST), language="json")
    client.diagnostics(chosen, lambda items: not items)
    client.logged(f"watching {kb.parent}")

    since = client.mark
    kb.write_text(SECOND, encoding="utf-8")
    assert client.diagnostics(chosen, stale, since)


def test_a_document_that_gets_a_place_is_judged_by_it(start, work):
    """An example of SHMEM's own is judged as such until a design says that it was delivered there."""
    (work / "include").mkdir()
    (work / "include/shmem.h").write_text("", encoding="utf-8")
    (work / "version.info").write_text("", encoding="utf-8")
    script = work / "examples/made/scripts/run.sh"
    script.parent.mkdir(parents=True)
    text = 'IPPORT="tcp://127.0.0.1:27010"\n'
    script.write_text(text, encoding="utf-8")
    client = start()
    client.initialize(work, capabilities=WATCHES)
    where = client.open(script, text)
    assert client.diagnostics(where) == []

    since = client.mark
    design = work / "examples/made/docs/design.md"
    design.parent.mkdir()
    design.write_text("# made\n", encoding="utf-8")
    told(client, design, kind=1)
    assert [i["code"] for i in client.diagnostics(where, len, since)] == ["hardcoded-endpoint"]

    since = client.mark
    design.unlink()
    told(client, design, kind=3)
    assert client.diagnostics(where, lambda items: not items, since) == []
