"""Diagnostics as clients see them: pushed, pulled, after edits, reloads, closes and crashes."""

from __future__ import annotations

import time

import pytest

ENDPOINT = "hardcoded-endpoint"
GOOD = '#!/bin/bash\nset -euo pipefail\nIPPORT="${IPPORT:-tcp://127.0.0.1:27010}"\n'


def codes(items):
    return [item["code"] for item in items]


@pytest.fixture
def server(start, work):
    client = start()
    client.initialize(work)
    return client


def test_a_finding_is_pushed_and_taken_back(server, run_sh):
    where = server.open(run_sh, run_sh.read_text())
    (found,) = server.diagnostics(where, len)

    assert found["code"] == ENDPOINT
    assert found["source"] == "opdev"
    assert found["severity"] == 1
    assert found["range"] == {"start": {"line": 2, "character": 7}, "end": {"line": 2, "character": 30}}
    assert found["data"]["fix"]["edits"][0]["newText"].startswith('"${IPPORT:-')
    since = server.mark
    server.change(where, 2, ((2, 7), (2, 30), '"${IPPORT:-tcp://127.0.0.1:27010}"'))
    assert server.diagnostics(where, lambda items: not items, since) == []


@pytest.mark.parametrize(
    ("encodings", "column"), [(None, 17), (["utf-8"], 23), (["utf-32"], 16), (["utf-16", "utf-8"], 23), (["utf-7"], 17)]
)
def test_columns_are_in_the_negotiated_encoding(start, work, run_sh, encodings, column):
    """slang-server #509: Chinese and an emoji before the finding on its line."""
    client = start()
    offered = client.initialize(work, capabilities={"general": {"positionEncodings": encodings}} if encodings else {})
    where = client.open(run_sh, ': "注释😀"; IPPORT="tcp://127.0.0.1:27010"\n')

    (found,) = client.diagnostics(where, len)
    assert found["range"]["start"]["character"] == column
    assert offered["positionEncoding"] == (
        "utf-8"
        if encodings and "utf-8" in encodings
        else (encodings or ["utf-16"])[0]
        if encodings != ["utf-7"]
        else "utf-16"
    )


def test_lines_are_those_an_editor_shows(server, run_sh):
    """fortls #444: form feed, vertical tab, NEL and U+2028 end no line; \\r and \\r\\n do."""
    where = server.open(run_sh, '# a\fb\vc\x85d\u2028e\n#\r#\r\nIPPORT="tcp://127.0.0.1:27010"\n')
    (found,) = server.diagnostics(where, len)
    assert found["range"]["start"] == {"line": 3, "character": 7}

    server.change(where, 2, ((1, 0), (1, 1), "\f\n"))
    (found,) = server.diagnostics(where, len, version=2)
    assert found["range"]["start"] == {"line": 4, "character": 7}


def test_messages_are_in_the_users_language(start, work, run_sh):
    client = start()
    client.initialize(work, locale="zh-CN")
    where = client.open(run_sh, run_sh.read_text())

    (found,) = client.diagnostics(where, len)
    assert "写死" in found["message"]
    since = client.mark
    client.notify("workspace/didChangeConfiguration", {"settings": {"opdev": {"lang": "en"}}})
    (found,) = client.diagnostics(where, lambda items: items and "写死" not in items[0]["message"], since)
    assert found["message"].isascii()


def test_pulled_reports_are_unchanged_where_nothing_changed(start, work, run_sh, capabilities):
    client = start()
    offered = client.initialize(work, capabilities=capabilities("vscode-1.9x"))
    where = client.open(run_sh, run_sh.read_text())

    assert offered["diagnosticProvider"]["interFileDependencies"] is True
    first = client.pull(where)
    assert codes(first["items"]) == [ENDPOINT]
    assert first["items"][0]["codeDescription"]["href"].endswith("hardcoded-endpoint.md")
    again = client.pull(where, first["resultId"])
    assert again == {"kind": "unchanged", "resultId": first["resultId"]}
    client.change(where, 2, ((0, 0), (0, 0), "\n"))
    moved = client.pull(where, first["resultId"])
    assert moved["items"][0]["range"]["start"]["line"] == 3
    client.change(where, 3, ((0, 0), (1, 0), ""))
    assert client.pull(where, moved["resultId"])["resultId"] == first["resultId"]


def test_a_pull_is_of_the_newest_text_whatever_came_before(start, work, run_sh, capabilities):
    client = start()
    client.initialize(work, capabilities=capabilities("vscode-1.9x"))
    where = client.open(run_sh, run_sh.read_text())
    for version in range(2, 40):
        client.change(where, version, ((0, 0), (0, 0), "\n"))

    assert client.pull(where)["items"][0]["range"]["start"]["line"] == 2 + 38


def test_what_is_open_and_pulled_is_not_pushed_as_well(start, work, run_sh, capabilities):
    client = start()
    client.initialize(work, capabilities=capabilities("vscode-1.9x"))
    from_disk = client.diagnostics(run_sh.as_uri(), len)
    since = client.mark
    where = client.open(run_sh, run_sh.read_text())

    assert client.diagnostics(where, since=since) == []
    assert client.pull(where)["items"] == from_disk


def test_idle_polls_of_the_workspace_cost_nothing(start, work, run_sh, capabilities):
    """languageserver-node #1261, tombi #2176."""
    client = start()
    client.initialize(work, capabilities=capabilities("vscode-1.9x"))
    client.diagnostics(run_sh.as_uri(), len)
    (first,) = client.request("workspace/diagnostic", {"previousResultIds": []})["items"]
    assert codes(first["items"]) == [ENDPOINT]
    before = [{"uri": first["uri"], "value": first["resultId"]}]
    since = client.mark
    took = []
    for _ in range(20):
        began = time.perf_counter()
        (again,) = client.request("workspace/diagnostic", {"previousResultIds": before})["items"]
        took.append(time.perf_counter() - began)
        assert again["kind"] == "unchanged"

    assert sorted(took)[10] < 0.005
    assert all("method" not in m for m in client.received[since:])


def test_files_nobody_has_open_are_pushed_and_follow_the_disk(server, work, run_sh):
    where = run_sh.as_uri()
    assert codes(server.diagnostics(where, len)) == [ENDPOINT]
    since = server.mark
    run_sh.write_text(GOOD, encoding="utf-8")
    server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": where, "type": 2}]})

    assert server.diagnostics(where, since=since) == []


@pytest.mark.parametrize("how", ["close", "delete", "rename", "exclude", "gitignore"])
def test_nothing_stays_behind(start, work, run_sh, how):
    """languageserver-node #1039."""
    client = start()
    client.initialize(work, options={"lint": {"workspace": how != "close"}})
    where = client.open(run_sh, run_sh.read_text())
    client.diagnostics(where, len)
    since = client.mark
    gone = None
    if how in ("close", "delete", "rename"):
        if how == "delete":
            run_sh.unlink()
        if how == "rename":
            gone = run_sh.rename(run_sh.with_name("start.sh"))
        client.close(where)
        changes = [{"uri": where, "type": 3}, *([{"uri": gone.as_uri(), "type": 1}] if gone else [])]
        client.notify("workspace/didChangeWatchedFiles", {"changes": changes if how != "close" else []})
    else:
        name, text = ("opdev.toml", 'exclude = ["**/scripts/"]\n') if how == "exclude" else (".gitignore", "scripts/\n")
        (work / name).write_text(text, encoding="utf-8")
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": (work / name).as_uri(), "type": 1}]})

    assert client.diagnostics(where, lambda items: not items, since) == []
    if gone:
        assert codes(client.diagnostics(gone.as_uri(), len, since)) == [ENDPOINT]
    client.idle()
    last = [
        m
        for m in client.received
        if m.get("method") == "textDocument/publishDiagnostics" and m["params"]["uri"] == where
    ][-1]
    assert last["params"]["diagnostics"] == []


def test_a_document_keeps_its_own_spelling_of_the_uri(server, work, run_sh):
    """vscode-mypy #255, pylance #5189: a symlink is not resolved, an escape not undone."""
    link = work / "link"
    link.symlink_to(work / "custom-ops", target_is_directory=True)
    where = (link / "demo" / "scripts" / "run.sh").as_uri().replace("scripts", "%73cripts")
    server.open(None, run_sh.read_text(), name=where)

    assert server.diagnostics(where, len)


def test_an_unsaved_buffer_is_linted_by_its_language(server):
    server.open(None, 'IPPORT="tcp://127.0.0.1:27010"\n', name="untitled:Untitled-1")

    assert codes(server.diagnostics("untitled:Untitled-1", len)) == [ENDPOINT]


def test_a_gbk_file_on_disk_is_linted_and_one_in_the_editor_is_text(server, work, run_sh):
    other = run_sh.with_name("start.sh")
    other.write_bytes('# 注释\nIPPORT="tcp://127.0.0.1:27010"  # 端点\n'.encode("gbk"))
    server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": other.as_uri(), "type": 1}]})

    (found,) = server.diagnostics(other.as_uri(), len)
    assert found["range"]["start"] == {"line": 1, "character": 7}


def test_more_findings_than_an_editor_bears_are_cut_and_counted(start, faulty, work, run_sh):
    client = start(script=faulty, env={"FAULTY": "fires-much"})
    client.initialize(work)
    where = client.open(run_sh, "# x\n" * 1000)

    items = client.diagnostics(where, len)
    assert len(items) == 1001
    assert "1500" in items[-1]["message"]


# Cross-file rules.


@pytest.fixture
def mates(start, faulty, work, run_sh):
    """A server with a rule that fires where another script of the operator holds MATE."""
    other = run_sh.with_name("other.sh")
    other.write_text("# nothing\n", encoding="utf-8")
    client = start(script=faulty, env={"FAULTY": "has-mate"})
    client.initialize(work, options={"select": ["has-mate"]})
    return client, client.open(run_sh, "# one\n"), other


def test_an_unsaved_buffer_wins_over_the_disk_and_is_forgotten_when_closed(mates):
    """ESLint #21219, in the editor: a change of B alone updates what is said of A, and takes it back."""
    client, where, other = mates
    mate = client.open(other, "# nothing\n")
    client.change(mate, 2, ((0, 0), (0, 0), "# MATE\n"))
    (found,) = client.diagnostics(where, len)
    assert "other.sh" in found["message"]
    since = client.mark
    client.close(mate)

    assert client.diagnostics(where, lambda items: not items, since) == []


def test_a_mate_on_disk_counts_when_the_watcher_tells(mates):
    client, where, other = mates
    other.write_text("# MATE\n", encoding="utf-8")
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": other.as_uri(), "type": 2}]})
    assert client.diagnostics(where, len)
    since = client.mark
    other.unlink()
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": other.as_uri(), "type": 3}]})

    assert client.diagnostics(where, lambda items: not items, since) == []


def test_what_nobody_has_open_follows_an_unsaved_edit_beside_it(mates):
    """A alone is open and edited; what is said of B, on disk and closed, comes and goes with it."""
    client, where, other = mates
    client.change(where, 2, "# one MATE\n")
    (found,) = client.diagnostics(other.as_uri(), len)
    assert "run.sh" in found["message"]
    since = client.mark
    client.change(where, 3, "# one\n")

    assert client.diagnostics(other.as_uri(), lambda items: not items, since) == []


def test_what_nobody_has_open_follows_a_file_that_goes(mates):
    client, _where, other = mates
    third = other.with_name("third.sh")
    third.write_text("# MATE\n", encoding="utf-8")
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": third.as_uri(), "type": 1}]})
    assert client.diagnostics(other.as_uri(), len)
    since = client.mark
    third.rename(third.with_name("third.txt"))
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": third.as_uri(), "type": 3}]})

    assert client.diagnostics(other.as_uri(), lambda items: not items, since) == []


def test_a_folder_that_goes_takes_its_files_findings_with_it(start, faulty, work, run_sh):
    """Clients report the folder alone."""
    folder = run_sh.parents[1]
    client = start(script=faulty)
    client.initialize(work)
    assert client.diagnostics(run_sh.as_uri(), len)
    since = client.mark
    folder.rename(folder.with_name("renamed"))
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": folder.as_uri(), "type": 3}]})

    assert client.diagnostics(run_sh.as_uri(), lambda items: not items, since) == []
    moved = folder.with_name("renamed") / run_sh.relative_to(folder)
    assert client.diagnostics(moved.as_uri(), len)


def test_findings_on_the_shared_bindings_follow_the_design(start, work):
    """torch_binding is an operator's folder of its own: what is said there is held against the others' designs."""
    ops = work / "custom-ops"
    design, binding = ops / "demo/docs/design.md", ops / "torch_binding/src/torch_bind_demo.cpp"
    text = '# demo\n\n```yaml\ndsl_version: "0.3"\ninterface:\n  inputs:\n    - {name: x, dtype: "fp16, fp32", shape: "[n]"}\n```\n'
    bound = (
        "#include <torch/extension.h>\nint type_of(T type)\n{\n    switch (type) {\n        case at::kHalf:\n"
        '            return 0;\n        default:\n            TORCH_CHECK(false, "no");\n    }\n}\n'
    )
    for path, content in ((design, text), (binding, bound)):
        path.parent.mkdir(parents=True)
        path.write_text(content, encoding="utf-8")
    client = start()
    client.initialize(work, options={"select": ["missing-dtype-branch"]})

    def missing(items):
        return [item for item in items if item["code"] == "missing-dtype-branch"]

    assert client.diagnostics(binding.as_uri(), missing)
    where = client.open(design, text)
    since = client.mark
    client.change(where, 2, text.replace("fp16, fp32", "fp16"))
    assert client.diagnostics(binding.as_uri(), lambda items: not items, since) == []

    client.open(binding, bound)
    since = client.mark
    client.change(where, 3, text)
    assert client.diagnostics(binding.as_uri(), missing, since)


def test_a_client_that_pulls_is_asked_to_pull_again(start, faulty, work, run_sh, capabilities):
    other = run_sh.with_name("other.sh")
    client = start(script=faulty, env={"FAULTY": "has-mate"})
    client.initialize(work, capabilities=capabilities("vscode-1.9x"), options={"select": ["has-mate"]})
    where = client.open(run_sh, "# one\n")
    first = client.pull(where)
    assert first["items"] == []
    client.open(other, "# MATE\n")

    client.wait(lambda m: m.get("method") == "workspace/diagnostic/refresh", "refresh")
    assert codes(client.pull(where, first["resultId"])["items"]) == ["has-mate"]


# Rules that misbehave.


def test_a_rule_that_prints_disturbs_nothing(start, faulty, work, run_sh):
    """pygls #240, ansible-language-server #540."""
    client = start(script=faulty, env={"FAULTY": "prints-much"})
    client.initialize(work)
    where = client.open(run_sh, run_sh.read_text())

    assert sorted(codes(client.diagnostics(where, len))) == [ENDPOINT, "prints-much"]
    assert client.finish() == 0
    assert b"a rule prints" in client.stderr
    assert b"a child prints" in client.stderr


def test_a_rule_that_crashes_loses_itself_and_says_so(start, faulty, work, run_sh):
    client = start(script=faulty, env={"FAULTY": "crashes-often"})
    client.initialize(work)
    where = client.open(run_sh, run_sh.read_text() + "# CRASH\n")

    items = client.diagnostics(where, len)
    assert codes(items) == ["internal-error", ENDPOINT]
    assert "crashes-often" in items[0]["message"]
    client.change(where, 2, ((3, 0), (3, 7), "# fine"))
    assert codes(client.diagnostics(where, len, version=2)) == [ENDPOINT]


def test_a_rule_that_hangs_is_stopped_named_and_not_tried_again(start, faulty, work, run_sh):
    client = start(script=faulty, env={"FAULTY": "never-ends"})
    client.initialize(work, options={"lint": {"checkSeconds": 1, "workspace": False}})
    where = client.open(run_sh, run_sh.read_text() + "# HANG\n")
    items = client.diagnostics(where, len)
    assert codes(items) == ["internal-error", ENDPOINT]
    assert "never-ends" in items[0]["message"]

    began = time.monotonic()
    client.change(where, 2, ((0, 0), (0, 0), "\n"))
    assert codes(client.diagnostics(where, len, version=2)) == ["internal-error", ENDPOINT]
    assert time.monotonic() - began < 1
    client.logged("never-ends took too long")


def test_an_answer_does_not_wait_for_a_rule_that_hangs(start, faulty, work, run_sh):
    client = start(script=faulty, env={"FAULTY": "never-ends"})
    client.initialize(work, options={"lint": {"checkSeconds": 600}})
    where = client.open(run_sh, run_sh.read_text() + "# HANG\nfunction f() { :; }\n")

    (symbol,) = client.request("textDocument/documentSymbol", {"textDocument": {"uri": where}})
    assert symbol["name"] == "f"
