"""Code actions: applied as a client applies them, to the text a client has."""

from __future__ import annotations

import pytest

from opdev.source import Source

ENDPOINT = "hardcoded-endpoint"
BAD = 'IPPORT="tcp://127.0.0.1:27010"'
FIXED = 'IPPORT="${IPPORT:-tcp://127.0.0.1:27010}"'


def apply(text, edits, unit="utf-16"):
    """The text after protocol edits, as an editor makes them."""
    source = Source("x", text.encode())
    spans = []
    for edit in edits:
        where = edit["range"]
        start = source.offset(where["start"]["line"], where["start"]["character"], unit)
        end = source.offset(where["end"]["line"], where["end"]["character"], unit)
        spans.append((start, end, edit["newText"]))
    for start, end, new in sorted(spans, reverse=True):
        source = source.spliced(start, end, new.encode())
    return source.data.decode()


def actions(client, where, line, only=None, column=0, end=None):
    at = {"line": line, "character": column}
    context = {"diagnostics": [], **({"only": only} if only else {})}
    params = {"textDocument": {"uri": where}, "range": {"start": at, "end": end or at}, "context": context}
    # Those that run a phase are test_runs's.
    return [a for a in client.request("textDocument/codeAction", params) if a["kind"] != "source.opdev.run"]


def titled(found, word):
    return next(a for a in found if word in a["title"])


def edits_of(action):
    edit = action["edit"]
    if "documentChanges" in edit:
        (one,) = edit["documentChanges"]
        return one["edits"]
    ((_, listed),) = edit["changes"].items()
    return listed


LITERALS = {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}}


@pytest.fixture
def server(start, work):
    client = start()
    client.initialize(work, capabilities={"textDocument": LITERALS})
    return client


@pytest.mark.parametrize("unit", ["utf-8", "utf-16", "utf-32"])
def test_a_fix_beside_chinese_and_emoji_changes_what_it_should(start, work, run_sh, unit):
    """agnix #1121."""
    client = start()
    client.initialize(work, capabilities={"textDocument": LITERALS, "general": {"positionEncodings": [unit]}})
    text = f': "中文😀"; {BAD}  # 端点 😀\n'
    where = client.open(run_sh, text)

    fix = titled(actions(client, where, 0), "IPPORT win")
    assert fix["kind"] == "quickfix"
    assert fix["isPreferred"] is True
    assert fix["diagnostics"][0]["code"] == ENDPOINT
    assert apply(text, edits_of(fix), unit) == text.replace(BAD, FIXED)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_stay_what_they_are(server, run_sh, newline):
    """pygls #224."""
    text = newline.join(["# 一", BAD, "echo", ""])
    where = server.open(run_sh, text)
    found = actions(server, where, 1)

    assert apply(text, edits_of(titled(found, "IPPORT win"))) == text.replace(BAD, FIXED)
    suppressed = apply(text, edits_of(titled(found, "in this file")))
    assert suppressed == newline.join([f"# opdev: ignore-file[{ENDPOINT}]", ""]) + text


def test_the_last_line_without_an_end_is_fixed_whole(server, run_sh):
    where = server.open(run_sh, BAD)

    assert apply(BAD, edits_of(titled(actions(server, where, 0), "IPPORT win"))) == FIXED


def test_all_of_a_rule_are_fixed_at_once(server, run_sh):
    text = f"if true; then\n  {BAD}\nelse\n  {BAD}\nfi\n"
    where = server.open(run_sh, text)

    found = titled(actions(server, where, 1), "Fix all 2")
    assert apply(text, edits_of(found)) == text.replace(BAD, FIXED)


def test_everything_safe_is_fixed_for_a_save(server, run_sh):
    text = f"{BAD}\necho 好\n"
    where = server.open(run_sh, text)

    for only in ("source.fixAll.opdev", "source.fixAll", "source"):
        (action,) = actions(server, where, 0, only=[only])
        assert action["kind"] == "source.fixAll.opdev"
        assert apply(text, edits_of(action)) == text.replace(BAD, FIXED)
    assert actions(server, where, 0, only=["source.organizeImports"]) == []
    assert all(a["kind"] == "quickfix" for a in actions(server, where, 0))


def test_the_edit_of_fix_all_is_made_when_it_is_chosen(start, work, run_sh, capabilities):
    client = start()
    client.initialize(work, capabilities=capabilities("vscode-1.9x"))
    text = f"{BAD}\n"
    where = client.open(run_sh, text, version=7)
    (action,) = actions(client, where, 0, only=["source.fixAll.opdev"])
    assert "edit" not in action

    resolved = client.request("codeAction/resolve", action)
    assert apply(text, edits_of(resolved)) == f"{FIXED}\n"
    assert resolved["edit"]["documentChanges"][0]["textDocument"] == {"uri": where, "version": 7}


def test_a_clean_file_has_no_fix_all(server, run_sh):
    where = server.open(run_sh, "echo\n")

    assert actions(server, where, 0, only=["source.fixAll.opdev"]) == []


def test_actions_are_of_the_newest_text(server, run_sh):
    where = server.open(run_sh, BAD + "\n")
    server.change(where, 2, ((0, 0), (0, 0), "\n\n"))

    assert titled(actions(server, where, 2), "IPPORT win")
    assert actions(server, where, 0) == []


def test_a_range_takes_in_all_findings_it_touches(server, run_sh):
    where = server.open(run_sh, f"{BAD}\necho\n{BAD}\n")

    found = actions(server, where, 0, end={"line": 2, "character": 999})
    assert sum("IPPORT win" in a["title"] for a in found) >= 1
    assert sum("on this line" in a["title"] for a in found) == 1


@pytest.mark.parametrize("open_first", [False, True])
def test_a_fix_in_another_file_leaves_its_bytes_alone(start, faulty, work, run_sh, open_first):
    """pygls #224: a CRLF file in GBK that nobody has open, read as it is."""
    other = run_sh.with_name("other.sh")
    text = "# 注释\r\necho MATE  # 说明\r\n"
    other.write_bytes(text.encode("gb18030"))
    client = start(script=faulty, env={"FAULTY": "mends-mate"})
    related = {"relatedInformation": True, "versionSupport": True}
    client.initialize(work, capabilities={"textDocument": {**LITERALS, "publishDiagnostics": related}})
    if open_first:
        client.open(other, text, version=5)
    where = client.open(run_sh, "echo\n")
    (found,) = client.diagnostics(where, len)
    assert found["relatedInformation"][0]["location"]["uri"] == other.as_uri()
    assert found["relatedInformation"][0]["location"]["range"]["start"] == {"line": 1, "character": 5}

    ((target, edits),) = titled(actions(client, where, 0), "Mend")["edit"]["changes"].items()
    assert target == other.as_uri()
    assert apply(text, edits) == text.replace("MATE", "one\r\ntwo")


SUPPRESSED = [
    ("scripts/run.sh", "shellscript", f"{BAD}\n", 0, f"{BAD}  # opdev: ignore[{ENDPOINT}]\n"),
    ("scripts/run.sh", "shellscript", f"{BAD}   \n", 0, f"{BAD}  # opdev: ignore[{ENDPOINT}]   \n"),
    ("scripts/run.sh", "shellscript", f"{BAD} # 说明\n", 0, f"{BAD} # 说明  # opdev: ignore[{ENDPOINT}]\n"),
    ("scripts/run.sh", "shellscript", f"{BAD} # opdev: ignore[other] 因为\n", 0, f"{BAD} # opdev: ignore[other, {ENDPOINT}] 因为\n"),
    ("scripts/run.sh", "shellscript", f"  {BAD} \\\n  run\n", 0, f"  # opdev: ignore[{ENDPOINT}]\n  {BAD} \\\n  run\n"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "language", "text", "line", "expected"), SUPPRESSED)
def test_a_finding_is_ignored_on_its_line_in_the_right_comment(server, work, path, language, text, line, expected):
    where = server.open(work / "custom-ops" / "demo" / path, text, language=language)
    found = actions(server, where, line)

    after = apply(text, edits_of(titled(found, "on this line")))
    assert after == expected
    server.change(where, 2, after)
    assert not [a for a in actions(server, where, line) if ENDPOINT in a["title"]]


def test_a_finding_in_a_fence_is_ignored_in_the_fences_language(start, work):
    client = start()
    client.initialize(work, capabilities={"textDocument": LITERALS}, options={"select": ["all"]})
    text = f"# 说明\n\n```bash\n{BAD}\n```\n"
    where = client.open(work / "custom-ops" / "demo" / "README.md", text, language="markdown")
    found = [a for a in actions(client, where, 3) if "on this line" in a["title"]]

    for action in found:
        assert "# opdev: ignore[" in apply(text, edits_of(action)).splitlines()[3]


def test_a_shebang_and_a_coding_line_stay_first(start, work):
    from opdev.kinds import Kind, Place
    from opdev.lsp import suppressing
    from opdev.rules.model import Rule
    from opdev.syntax.file import File

    rule = Rule("T1", "no-such", "error", frozenset(), frozenset(), {}, {})
    heads = {
        "python": "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n",
        "bash": "#!/bin/bash\n",
        "markdown": "---\na: 1\n---\n",
        "cmake": "",
        "cpp": "",
        "yaml": "",
    }
    for language, head in heads.items():
        text = head + "x\n"
        file = File(Source("/w/f", text.encode()), Kind(language, frozenset({"x"})), Place())
        edit = suppressing.in_file(file, rule)
        assert edit is not None, language
        assert (edit.start, edit.end) == (len(head), len(head)), language
    assert (
        suppressing.in_file(File(Source("/w/f.json", b"{}\n"), Kind("yaml", frozenset({"x"})), Place()), rule) is None
    )


def test_no_comment_is_offered_where_it_would_become_code():
    from opdev.kinds import Kind, Place
    from opdev.lsp import suppressing
    from opdev.rules.model import Finding, Rule
    from opdev.syntax.file import File

    rule = Rule("T1", "no-such", "error", frozenset(), frozenset(), {}, {})

    def offered(language, text, at):
        source = Source("/w/f", text.encode())
        file = File(source, Kind(language, frozenset({"x"})), Place())
        return suppressing.on_line(file, Finding(rule, source, text.index(at), text.index(at) + 1, "error"))

    assert offered("cpp", "#define M(a) \\\n  f(a); \\\n  g(a)\n", "f(a)") is None
    assert offered("cpp", 'auto s = R"(\n  x\n)";\n', "x") is None
    assert offered("python", 's = """\n  x\n"""\n', "x") is None
    assert offered("python", "x = 1\n", "x").text == "  # opdev: ignore[no-such]"
