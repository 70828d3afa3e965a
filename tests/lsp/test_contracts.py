"""Contracts of PyPTO operators in the editor, over the real server."""

from __future__ import annotations

import json

import pytest

SNIPPETS = {
    "textDocument": {
        "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}},
        "hover": {"contentFormat": ["markdown"]},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}},
        "publishDiagnostics": {"versionSupport": True},
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}
RULES = [
    "invalid-kb-selection",
    "invalid-design-bindings",
    "invalid-machine-contract",
    "invalid-pypto-state",
    "invalid-performance-cases",
]


@pytest.fixture
def server(start, tmp_path):
    root = tmp_path / "custom" / "demo"
    root.mkdir(parents=True)
    (root / ".orchestrator_state.json").write_text('{"operator_name": "demo", "max_stage": 5}', encoding="utf-8")
    client = start()
    client.initialize(tmp_path, capabilities=SNIPPETS, locale="zh-CN", options={"select": RULES})
    return client, root


def opened(server, name, text, language="json"):
    client, root = server
    before = text[: text.index("‸")]
    where = client.open(root / name, text.replace("‸", ""), language=language)
    column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
    return where, {"line": before.count("\n"), "character": column}


def test_an_enum_is_completed_and_explained(server):
    client, _ = server
    text = '{"bindings": [{"selection_reason": "😀", "selection_field": "req‸"}]}'
    where, at = opened(server, "DESIGN_BINDINGS.json", text)

    found = client.request("textDocument/completion", {"textDocument": {"uri": where}, "position": at})
    item = next(i for i in found["items"] if i["label"] == "required_constraints")
    hover = client.request("textDocument/hover", {"textDocument": {"uri": where}, "position": {**at, "character": at["character"] - 8}})  # fmt: skip

    edit = item["textEdit"]
    assert edit["newText"] == '"required_constraints"'
    assert edit["range"]["start"]["character"] == at["character"] - 4
    assert edit["range"]["end"]["character"] == at["character"] + 1
    assert "选择里的键" in item["documentation"]["value"]
    assert "`optional_patterns`" in hover["contents"]["value"]


def test_a_missing_key_comes_as_a_snippet(server):
    client, _ = server
    where, at = opened(server, "KB_SELECTION.json", '{\n  "op": "demo",\n  "no‸\n}\n')

    found = client.request("textDocument/completion", {"textDocument": {"uri": where}, "position": at})
    item = next(i for i in found["items"] if i["label"] == "no_matching_pattern")

    assert item["insertTextFormat"] == 2
    assert item["textEdit"]["newText"] == '"no_matching_pattern": ${1|true,false|}'
    assert item["filterText"] == '"no_matching_pattern"'


def test_other_json_is_nobodys_business(server):
    client, _ = server
    where, at = opened(server, "cases.json", '{"‸"}')

    assert client.request("textDocument/completion", {"textDocument": {"uri": where}, "position": at}) is None


def mended(server, name, text, word, language="json"):
    """The text after the first quick fix of the finding at ``word``."""
    client, _ = server
    at, before = text.index(word), client.mark
    where, position = opened(server, name, text[:at] + "‸" + text[at:], language)
    # Of this text, not of one that was opened under its name before.
    client.diagnostics(where, bool, since=before)
    actions = client.request(
        "textDocument/codeAction",
        {"textDocument": {"uri": where}, "range": {"start": position, "end": position}, "context": {"diagnostics": []}},
    )
    edits = actions[0]["edit"]["documentChanges"][0]["edits"]
    lines = text.splitlines(keepends=True)
    for edit in sorted(
        edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True
    ):
        (a, b), new = (
            ((edit["range"][k]["line"], edit["range"][k]["character"]) for k in ("start", "end")),
            edit["newText"],
        )
        start = sum(map(len, lines[: a[0]])) + a[1]
        end = sum(map(len, lines[: b[0]])) + b[1]
        text = text[:start] + new + text[end:]
        lines = text.splitlines(keepends=True)
    return text, actions[0]["title"]


def test_a_misspelt_value_is_mended(server):
    text = '{"operator_name": "demo", "max_stage": 5, "current_stage": 1, "stage_status": {"1": "in-progres"}}'

    after, title = mended(server, ".orchestrator_state.json", text, "in-progres")

    assert json.loads(after)["stage_status"] == {"1": "in_progress"}
    assert "in_progress" in title


def test_performance_cases_are_completed_explained_and_mended(server):
    client, root = server
    (root / "test_demo.py").write_text(
        "import pypto_pro.language as pl\n\n\ndef test_tail():\n    pass\n", encoding="utf-8"
    )
    where, at = opened(server, "PERFORMANCE_CASES.json", '{"cases": [{"id": "😀", "test_function": "te‸"}]}')
    place = {"textDocument": {"uri": where}, "position": at}

    found = client.request("textDocument/completion", place)
    assert [i["label"] for i in found["items"]] == ["test_tail"]
    hover = client.request("textDocument/hover", {**place, "position": {"line": 0, "character": at["character"] - 8}})
    assert "测试函数" in hover["contents"]["value"]
    client.close(where)

    text = '{"schema_version": 1, "cases": [{"id": "a", "shape": [1, 32], "dtype": "fp16"}],\n "optimization_target": {"case_ids": ["a"], "selection_mode": "single_p0"}}'
    after, title = mended(server, "PERFORMANCE_CASES.json", text, "[1, 32]")
    assert json.loads(after)["cases"][0]["shape"] == "[1,32]"
    assert "[1,32]" in title


def test_missing_keys_are_inserted(server):
    text = '{\n  "schema_version": 1\n}\n'

    after, title = mended(server, "DESIGN_BINDINGS.json", text, '"schema_version"')

    assert after == '{\n  "schema_version": 1,\n  "bindings": []\n}\n'
    assert "bindings" in title


def test_a_stale_hash_is_recomputed_where_the_file_is(server):
    _, root = server
    kb = root.parents[1] / ".agents" / "skills" / "pypto-pro-op-kb" / "patterns"
    kb.mkdir(parents=True)
    (kb / "row.md").write_bytes(b"# row\n")
    stale = "sha256:" + "0" * 64
    text = json.dumps({
        "schema_version": 1, "op": "demo", "class_id": ".", "topologies": [], "properties": {},
        "optional_patterns": [{"path": "patterns/row.md", "reason": "r", "sha256": stale}], "required_constraints": [], "no_matching_pattern": False,
    })  # fmt: skip

    after, _ = mended(server, "KB_SELECTION.json", text, stale)

    assert json.loads(after)["optional_patterns"][0]["sha256"] == _hash(b"# row\n")


def _hash(data):
    import hashlib

    return "sha256:" + hashlib.sha256(data).hexdigest()
