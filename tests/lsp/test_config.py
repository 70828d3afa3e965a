"""Configuration in the editor: several roots, live reload, mistakes that cost nothing but themselves."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

ENDPOINT = "hardcoded-endpoint"
IGNORE = f'ignore = ["{ENDPOINT}"]\n'


def codes(items):
    return [item["code"] for item in items]


def changed(client, path, kind=2):
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": kind}]})


@pytest.fixture(params=["bare", "vscode-1.9x"])
def client(request, start, capabilities):
    """A client that is pushed to, and one that pulls and has a watcher."""
    made = start()
    made.capabilities = capabilities(request.param)
    return made


def now(client, where, accept, since):
    """The diagnostics of an open document once ``accept`` takes them, pushed or pulled after a refresh."""
    if "textDocument" not in client.capabilities:
        return client.diagnostics(where, accept, since)
    client.wait(lambda m: m.get("method") == "workspace/diagnostic/refresh", "refresh", since)
    items = client.pull(where)["items"]
    assert accept(items)
    return items


@pytest.mark.parametrize("how", ["edit", "create", "delete", "rename", "extends"])
def test_a_changed_configuration_shows_at_once(client, work, run_sh, how):
    """ruff #11492."""
    toml, base = work / "opdev.toml", work / "base.toml"
    if how in ("delete", "rename"):
        toml.write_text(IGNORE, encoding="utf-8")
    if how in ("edit", "extends"):
        toml.write_text('extend = "base.toml"\n' if how == "extends" else "", encoding="utf-8")
        base.write_text("", encoding="utf-8")
    client.initialize(work, capabilities=client.capabilities)
    where = client.open(run_sh, run_sh.read_text())
    appears = how in ("delete", "rename")
    if "textDocument" in client.capabilities:
        assert codes(client.pull(where)["items"]) == ([] if appears else [ENDPOINT])
    else:
        client.diagnostics(where, lambda items: bool(items) != appears)
    since = client.mark
    if how == "edit":
        toml.write_text(IGNORE, encoding="utf-8")
        changed(client, toml)
    elif how == "create":
        toml.write_text(IGNORE, encoding="utf-8")
        changed(client, toml, 1)
    elif how == "delete":
        toml.unlink()
        changed(client, toml, 3)
    elif how == "rename":
        toml.rename(work / "other.toml")
        changed(client, toml, 3)
        changed(client, work / "other.toml", 1)
    else:
        base.write_text(IGNORE, encoding="utf-8")
        changed(client, base)

    now(client, where, lambda items: bool(items) == appears, since)


def test_without_a_watcher_of_the_client_the_disk_is_watched(start, work, run_sh):
    client = start("--log-level", "info")
    client.initialize(work)
    where = client.open(run_sh, run_sh.read_text())
    client.diagnostics(where, len)
    client.logged("watching")
    since = client.mark
    (work / "opdev.toml").write_text(IGNORE, encoding="utf-8")

    assert client.diagnostics(where, lambda items: not items, since) == []


def test_a_client_with_a_watcher_is_asked_to_watch(start, work, capabilities):
    client = start()
    client.initialize(work, capabilities=capabilities("vscode-1.9x"))
    asked = client.wait(lambda m: m.get("method") == "client/registerCapability", "registration")

    by_method = {r["method"]: r["registerOptions"] for r in asked["params"]["registrations"]}
    globs = [w["globPattern"] for w in by_method["workspace/didChangeWatchedFiles"]["watchers"]]
    assert any("opdev.toml" in glob and ".gitignore" in glob for glob in globs)
    assert by_method["workspace/didChangeConfiguration"] == {"section": "opdev"}


def test_a_mistake_is_shown_in_its_file_and_the_last_good_configuration_applies(start, work, run_sh):
    toml = work / "opdev.toml"
    toml.write_text(IGNORE, encoding="utf-8")
    client = start()
    client.initialize(work)
    where = client.open(run_sh, run_sh.read_text())
    client.diagnostics(where)
    since = client.mark
    toml.write_text(IGNORE + 'selct = ["all"]\n', encoding="utf-8")
    changed(client, toml)

    (problem,) = client.diagnostics(toml.as_uri(), len, since)
    assert problem["range"]["start"]["line"] == 1
    assert "selct" in problem["message"]
    assert client.diagnostics(where, since=since) == []
    since = client.mark
    toml.write_text("", encoding="utf-8")
    changed(client, toml)
    assert client.diagnostics(toml.as_uri(), since=since) == []
    assert codes(client.diagnostics(where, len, since)) == [ENDPOINT]


def test_each_root_has_its_own_configuration(start, tmp_path):
    roots = []
    for name, text in (("one", ""), ("two", IGNORE)):
        scripts = tmp_path / name / "custom-ops" / "demo" / "scripts"
        scripts.mkdir(parents=True)
        (tmp_path / name / "opdev.toml").write_text(text, encoding="utf-8")
        roots.append((tmp_path / name, scripts / "run.sh"))
    client = start()
    client.initialize(*(root for root, _ in roots))
    text = 'IPPORT="tcp://127.0.0.1:27010"\n'
    one, two = (client.open(path, text) for _, path in roots)

    assert codes(client.diagnostics(one, len)) == [ENDPOINT]
    assert client.diagnostics(two) == []


def test_folders_come_and_go(start, work, run_sh, tmp_path):
    client = start()
    client.initialize(tmp_path / "empty")
    folder = {"uri": work.as_uri(), "name": "work"}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
    assert codes(client.diagnostics(run_sh.as_uri(), len)) == [ENDPOINT]
    since = client.mark
    client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}})

    assert client.diagnostics(run_sh.as_uri(), since=since) == []


def test_settings_are_asked_for_and_applied(start, work, run_sh, capabilities):
    client = start()
    client.replies["workspace/configuration"] = lambda _: [{"ignore": [ENDPOINT]}]
    client.initialize(work, capabilities=capabilities("vscode-1.9x"))
    where = client.open(run_sh, run_sh.read_text())
    client.wait(lambda m: m.get("method") == "workspace/configuration", "question")
    client.idle()

    assert client.pull(where)["items"] == []


def test_settings_of_the_wrong_shape_count_as_none(start, work, run_sh):
    client = start()
    client.initialize(
        work, options={"lint": {"enable": "yes", "checkSeconds": "x", "ignore": 7}, "lang": "fr", "trace": 3}
    )
    where = client.open(run_sh, run_sh.read_text())

    assert codes(client.diagnostics(where, len)) == [ENDPOINT]
    client.logged("opdev.lint.enable is true or false")


def test_linting_can_be_switched_off_and_on(start, work, run_sh):
    client = start()
    client.initialize(work, options={"lint": {"enable": False}})
    where = client.open(run_sh, run_sh.read_text())
    assert client.diagnostics(where) == []
    since = client.mark
    client.notify("workspace/didChangeConfiguration", {"settings": {"opdev": {"lint": {"enable": True}}}})

    assert codes(client.diagnostics(where, len, since)) == [ENDPOINT]


QUIET_PAGE = """---
id: TM001
name: no-sleep
severity: warning
kinds: [shell]
messages:
  default: {zh: 不要睡, en: do not sleep}
profiles: {default: off}
since: 0.1.0
---
# 不要睡眠等待

睡眠等待既慢又不可靠，请改为等待条件成立。

# Sleeping

Sleeping to wait for something is slow and fails on a busy machine; wait for the condition.

```query bash
((command name: (command_name) @hit) (#eq? @hit "sleep"))
```
"""


def test_a_rule_folder_of_the_workspace_is_live(start, work, run_sh):
    folder = work / "rules" / "team"
    folder.mkdir(parents=True)
    page = folder / "no-sleep.md"
    text = QUIET_PAGE.replace("profiles: {default: off}\n", "").replace('"sleep"', '"WORD"')
    assert "WORD" in text
    assert "profiles" not in text
    page.write_text(text.replace("WORD", "snooze"), encoding="utf-8")
    (work / "opdev.toml").write_text('rules = ["rules"]\n', encoding="utf-8")
    client = start()
    client.initialize(work, options={"select": ["no-sleep"]})
    where = client.open(run_sh, "sleep 1\n")
    assert client.diagnostics(where) == []
    since = client.mark
    page.write_text(text.replace("WORD", "sleep"), encoding="utf-8")
    changed(client, page)
    assert codes(client.diagnostics(where, len, since)) == ["no-sleep"]
    since = client.mark
    page.write_text(text.replace("kinds: [shell]", "kinds: [shll]"), encoding="utf-8")
    changed(client, page)

    (problem,) = client.diagnostics(page.as_uri(), len, since)
    assert "shll" in problem["message"]


def test_the_editor_turns_on_a_rule_that_is_off_by_default(start, work, run_sh):
    page = work / "rules" / "team" / "no-sleep.md"
    page.parent.mkdir(parents=True)
    page.write_text(QUIET_PAGE, encoding="utf-8")
    (work / "opdev.toml").write_text('rules = ["rules"]\n', encoding="utf-8")
    client = start()
    client.initialize(work, options={"select": ["ports"]})
    where = client.open(run_sh, "sleep 1\n")
    assert client.diagnostics(where) == []
    since = client.mark
    lint = {"select": ["ports"], "extendSelect": ["no-sleep"]}
    client.notify("workspace/didChangeConfiguration", {"settings": {"opdev": {"lint": lint}}})

    assert codes(client.diagnostics(where, len, since)) == ["no-sleep"]


def test_a_workspace_with_a_loop_of_links_and_a_heap_of_ignored_files_is_walked_once(start, work, run_sh):
    """bash-language-server #661, #1390."""
    (work / "custom-ops" / "loop").symlink_to(work, target_is_directory=True)
    build = work / "build"
    build.mkdir()
    for number in range(2000):
        (build / f"{number}.sh").write_text('IPPORT="tcp://127.0.0.1:27010"\n', encoding="utf-8")
    (work / ".gitignore").write_text("build/\n", encoding="utf-8")
    client = start("--log-level", "info")
    client.initialize(work)
    client.diagnostics(run_sh.as_uri(), len)
    client.logged("workspace: 1 files looked at")

    shown = {m["params"]["uri"] for m in client.received if m.get("method") == "textDocument/publishDiagnostics"}
    assert shown == {run_sh.as_uri()}


def test_what_the_server_says_itself_leads_to_a_page_too(start, work):
    (work / "opdev.toml").write_text("select = 3\n", encoding="utf-8")
    client = start()
    client.initialize(work, capabilities={"textDocument": {"publishDiagnostics": {"codeDescriptionSupport": True}}})

    (found,) = client.diagnostics((work / "opdev.toml").as_uri(), len)

    assert found["code"] == "unusable-config"
    page = Path(url2pathname(urlsplit(found["codeDescription"]["href"]).path))
    assert page.read_text(encoding="utf-8").startswith("---\nid: OP906\n")
