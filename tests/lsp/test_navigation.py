"""From the design to the code and back: definition, references, links, rename, the lens, over the real server."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

CUSTOM = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops"


def position(text, what, offset=0):
    before = text[: text.index(what) + offset]
    column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
    return {"line": before.count("\n"), "character": column}


def ask(client, where, method, at=None, **more):
    at = {} if at is None else {"position": at}
    return client.request(f"textDocument/{method}", {"textDocument": {"uri": where}, **at, **more})


def names(found):
    """(file name, 0-based line) of locations or links."""
    return [
        (
            Path(unquote(one.get("uri") or one["targetUri"])).name,
            (one.get("range") or one["targetSelectionRange"])["start"]["line"],
        )
        for one in found or ()
    ]


def copy(folder):
    """A workspace ``中文 work`` with one operator and the Torch bindings beside it."""
    for name in ("reduce_scatter", "torch_binding"):
        shutil.copytree(CUSTOM / name, folder / name)
    return folder / "reduce_scatter"


@pytest.fixture(scope="module")
def shared(raw, capabilities, tmp_path_factory):
    """One server for all that only ask."""
    folder = tmp_path_factory.mktemp("shared") / "中文 work" / "custom-ops"
    operator = copy(folder)
    client = raw()
    client.initialize(folder.parent, capabilities=capabilities("vscode-1.9x"))
    yield client, operator
    client.kill()


@pytest.fixture
def server(shared):
    return shared[0]


@pytest.fixture
def read(server, shared):
    """Open a file of the operator: its URI and its text."""
    opened = []

    def begin(relative, change=lambda text: text):
        path = shared[1] / relative
        text = change(path.read_text(encoding="utf-8"))
        opened.append(server.open(path, text, language={".md": "markdown", ".cpp": "cpp"}.get(path.suffix, "json")))
        return opened[-1], text

    yield begin
    for where in opened:
        server.close(where)


def lines_of(text, *needles):
    return [next(i for i, line in enumerate(text.split("\n")) if needle in line) for needle in needles]


def test_a_buffer_leads_to_the_parameters_and_variables_of_that_name(server, shared, read):
    where, text = read("docs/design.md")
    found = ask(server, where, "definition", position(text, "{name: output, type", 8))
    kernel = (shared[1] / "src" / "reduce_scatter_kernel.cpp").read_text(encoding="utf-8")

    assert ("reduce_scatter_kernel.cpp", lines_of(kernel, "void init(GM_ADDR input")[0]) in names(found)
    assert names(found)[-1][0] == "design.md", "the other place of that name in the design comes last"
    assert found[0]["originSelectionRange"]["start"] == position(text, "{name: output, type", 7)


def test_a_parameter_leads_back_to_the_design(server, read):
    _, design = read("docs/design.md")
    where, text = read("src/reduce_scatter_kernel.cpp")
    found = ask(server, where, "definition", position(text, "GM_ADDR output", 9))

    assert names(found) == [("design.md", n) for n in lines_of(design, "{name: output, dtype", "{name: output, type")]


def test_a_call_in_the_dsl_leads_to_its_calls_and_back(server, read):
    design, text = read("docs/design.md")
    kernel, code = read("src/reduce_scatter_kernel.cpp")
    there = ask(server, design, "definition", position(text, "data_interface: acl", 18))
    back = ask(server, kernel, "definition", position(code, "aclshmemx_mte_put_nbi", 4))

    assert names(there)[0] == ("reduce_scatter_kernel.cpp", lines_of(code, "aclshmemx_mte_put_nbi(")[0])
    assert names(back) == [("design.md", n) for n in lines_of(text, "data_interface: acl", "cross_pe_dataplane:")]


def test_op_name_leads_to_kernel_and_targets(server, read):
    where, text = read("docs/design.md")
    found = names(ask(server, where, "definition", position(text, "op_name: reduce", 10)))

    assert {name for name, _ in found} == {"CMakeLists.txt", "reduce_scatter_kernel.cpp"}


def test_a_case_is_found_in_all_its_places(server, read):
    where, text = read("docs/design.md")
    at = position(text, "case: tail_pe_8pe_fp16}", 8)
    cases = position(
        (CUSTOM / "reduce_scatter" / "scripts" / "cases.json").read_text(encoding="utf-8"), "tail_pe_8pe_fp16"
    )

    assert names(ask(server, where, "definition", at)) == [
        ("cases.json", cases["line"]),
        ("design.md", position(text, "{case: tail_pe_8pe_fp16")["line"]),
    ]
    every = ask(server, where, "references", at, context={"includeDeclaration": True})
    assert sorted(names(every)) == sorted(
        [
            ("cases.json", cases["line"]),
            *(("design.md", n) for n in lines_of(text, "case: tail_pe_8pe_fp16}", "{case: tail_pe_8pe_fp16")),
        ]
    )


def test_a_row_of_a_report_leads_to_the_case(server, shared, read):
    report = shared[1] / "docs" / "correctness_report.md"
    text = "# 正确性报告\n\n| Case ID | 结果 |\n|---|---|\n| `smoke_2pe_fp32` | PASS 😀 |\n"
    report.write_text(text, encoding="utf-8")
    where = server.open(report, text, language="markdown")
    found = names(ask(server, where, "definition", position(text, "smoke_2pe", 2)))
    design, whole = read("docs/design.md")
    back = names(
        ask(
            server,
            design,
            "references",
            position(whole, "{case: smoke_2pe_fp32", 9),
            context={"includeDeclaration": False},
        )
    )
    server.close(where)
    report.unlink()

    assert [name for name, _ in found] == ["design.md"]
    assert ("correctness_report.md", 4) in back


def test_unsaved_text_counts(server, read):
    _kernel, code = read(
        "src/reduce_scatter_kernel.cpp",
        lambda text: text.replace("GM_ADDR output, int64_t elements)", "GM_ADDR outcome, int64_t elements)"),
    )
    where, text = read(
        "docs/design.md", lambda text: text.replace("{name: output, type: symmetric", "{name: outcome, type: symmetric")
    )
    found = names(ask(server, where, "definition", position(text, "name: outcome", 8)))

    assert ("reduce_scatter_kernel.cpp", position(code, "GM_ADDR outcome")["line"]) in found


def test_what_is_nobodys_name_leads_nowhere(server, read):
    where, text = read("docs/design.md")
    kernel, code = read("src/reduce_scatter_kernel.cpp")

    assert ask(server, where, "definition", position(text, "op_kind", 2)) is None
    assert ask(server, kernel, "definition", position(code, "GetBlockNum", 2)) is None
    assert (
        ask(server, kernel, "references", {"line": 99999, "character": 9}, context={"includeDeclaration": True}) is None
    )


def test_navigation_survives_yaml_that_does_not_parse(server, read):
    where, text = read(
        "docs/design.md", lambda text: text.replace("schedule:\n", 'schedule: ["没写完\n').replace("\n", "\r\n")
    )
    plain = text.replace("\r\n", "\n")
    found = names(ask(server, where, "definition", position(plain, "{name: input", 8)))

    assert any(name == "reduce_scatter_kernel.cpp" for name, _ in found)


def test_paths_are_links_to_what_exists(server, shared, read):
    where, text = read(
        "docs/design.md",
        lambda text: text + "\n见 `docs/no_such_report.md`、`../src/main.cpp`、`examples/nowhere` 😀 src/main.cpp\n",
    )
    found = ask(server, where, "documentLink")
    by_text = {}
    lines = text.split("\n")
    for link in found:
        start, end = link["range"]["start"], link["range"]["end"]
        line = lines[start["line"]].encode("utf-16-le")
        by_text[line[start["character"] * 2 : end["character"] * 2].decode("utf-16-le")] = unquote(
            urlsplit(link["target"]).path
        )

    assert by_text["src/main.cpp"] == str(shared[1] / "src" / "main.cpp")
    assert by_text["../src/main.cpp"] == str(shared[1] / "src" / "main.cpp")
    assert by_text["${SHMEM_REPO}/custom-ops/reduce_scatter/scripts/run.sh"] == str(shared[1] / "scripts" / "run.sh")
    assert not any("no_such" in t or "nowhere" in t for t in by_text)


def test_the_lens_says_where_the_operator_stands(server, read):
    where, _ = read("docs/design.md")
    (lens, run) = ask(server, where, "codeLens")

    assert (run["command"]["command"], run["command"]["arguments"][0]["phase"]) == ("opdev.runPhase", "4")
    assert lens["range"]["start"] == {"line": 0, "character": 0}
    assert lens["command"]["command"] == "opdev.showGate"
    assert lens["command"]["title"].startswith("✗ Phase 4")
    mark = server.mark
    result = server.request(
        "workspace/executeCommand", {"command": "opdev.showGate", "arguments": lens["command"]["arguments"]}
    )
    assert result["phase"] == "4"
    shown = server.wait(lambda m: m.get("method") == "window/showMessage", "message", mark)
    assert "reduce_scatter" in shown["params"]["message"]
    answer = server.answer(server.send("workspace/executeCommand", {"command": "opdev.nothing"}))
    assert answer["error"]["code"] == -32602


def test_a_lens_is_asked_for_anew_when_another_file_changes_it(start, capabilities, tmp_path):
    operator = copy(tmp_path / "custom-ops")
    client = start()
    client.initialize(tmp_path, capabilities=capabilities("vscode-1.9x"))
    text = (operator / "docs" / "design.md").read_text(encoding="utf-8")
    where = client.open(operator / "docs" / "design.md", text, language="markdown")
    (before, _) = ask(client, where, "codeLens")
    mark = client.mark
    run = operator / "scripts" / "run.sh"
    run.unlink()
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": run.as_uri(), "type": 3}]})
    client.wait(lambda m: m.get("method") == "workspace/codeLens/refresh", "refresh after run.sh went", mark)
    (after, _) = ask(client, where, "codeLens")

    assert before["command"]["title"].startswith("✗ Phase 4")
    assert after["command"]["title"].startswith("✗ Phase 2")


def test_hints_of_the_cases_are_asked_for_anew_when_the_design_changes(start, capabilities, tmp_path):
    operator = copy(tmp_path / "custom-ops")
    client = start()
    client.initialize(tmp_path, capabilities=capabilities("vscode-1.9x"))
    text = (operator / "docs" / "design.md").read_text(encoding="utf-8")
    design = client.open(operator / "docs" / "design.md", text, language="markdown")
    cases = client.open(
        operator / "scripts" / "cases.json",
        (operator / "scripts" / "cases.json").read_text(encoding="utf-8"),
        language="json",
    )
    top = {"start": {"line": 0, "character": 0}, "end": {"line": 2, "character": 0}}
    before = ask(client, cases, "inlayHint", range=top)
    mark = client.mark
    client.change(design, 2, text.replace("op_name: reduce_scatter", "op_name: all_reduce"))
    client.wait(lambda m: m.get("method") == "workspace/inlayHint/refresh", "refresh", mark)

    assert "bus 0.5 " in before[0]["label"]
    assert "bus 1 " in ask(client, cases, "inlayHint", range=top)[0]["label"]


# Renaming.


@pytest.fixture
def operator(tmp_path):
    return copy(tmp_path / "中文 work" / "custom-ops")


def begin(start, capabilities, operator, client="vscode-1.9x", locale="en", **more):
    server = start()
    server.initialize(
        operator.parents[1],
        capabilities=capabilities(client) if isinstance(client, str) else client,
        locale=locale,
        **more,
    )
    path = operator / "docs" / "design.md"
    text = path.read_text(encoding="utf-8")
    return server, server.open(path, text, language="markdown"), text


def to_path(uri):
    return Path(unquote(urlsplit(uri).path))


def apply(edit, unsaved=None):
    """A WorkspaceEdit applied to the disk, as an editor does it that saves everything."""
    unsaved = unsaved or {}
    for step in edit["documentChanges"]:
        if step.get("kind") == "rename":
            assert step["options"] == {"overwrite": False, "ignoreIfExists": False}
            assert not to_path(step["newUri"]).exists()
            to_path(step["oldUri"]).rename(to_path(step["newUri"]))
            continue
        path = to_path(step["textDocument"]["uri"])
        lines = unsaved.get(path.name, path.read_text(encoding="utf-8")).split("\n")
        for change in sorted(
            step["edits"], key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True
        ):
            start, end = change["range"]["start"], change["range"]["end"]
            assert start["line"] == end["line"]
            line = lines[start["line"]].encode("utf-16-le")
            lines[start["line"]] = (
                line[: start["character"] * 2] + change["newText"].encode("utf-16-le") + line[end["character"] * 2 :]
            ).decode("utf-16-le")
        path.write_text("\n".join(lines), encoding="utf-8")


def test_renaming_moves_the_whole_operator(start, capabilities, operator):
    server, where, text = begin(start, capabilities, operator)
    at = position(text, "op_name: reduce_scatter", 12)
    assert ask(server, where, "prepareRename", at) == {
        "range": {
            "start": position(text, "op_name: reduce_scatter", 9),
            "end": position(text, "op_name: reduce_scatter", 23),
        },
        "placeholder": "reduce_scatter",
    }
    apply(ask(server, where, "rename", at, newName="ring_sum"))
    moved = operator.parent / "ring_sum"

    assert not operator.exists()
    assert (moved / "src" / "ring_sum_kernel.cpp").exists()
    assert (moved / "src" / "ring_sum_kernel.h").exists()
    assert (operator.parent / "torch_binding" / "src" / "torch_bind_ring_sum.cpp").exists()
    kernel = (moved / "src" / "ring_sum_kernel.cpp").read_text(encoding="utf-8")
    assert '#include "ring_sum_kernel.h"' in kernel
    assert "class RingSum" in kernel
    assert "RING_SUM_KERNEL(fp16, half)" in kernel
    assert "ring_sum_fp16<<<" in kernel
    design = (moved / "docs" / "design.md").read_text(encoding="utf-8")
    assert "op_name: ring_sum" in design
    assert "op_root: custom-ops/ring_sum" in design
    assert "HcclReduceScatter" in design, "HCCL's name is not the operator's"
    left = [p.name for p in moved.rglob("*") if p.is_file() and "reduce_scatter" in p.read_text(encoding="utf-8")]
    assert left == []


def test_unsaved_buffers_are_what_is_renamed(start, capabilities, operator):
    server, where, text = begin(start, capabilities, operator)
    path = operator / "src" / "main.cpp"
    unsaved = "// 😀 尚未保存\n" + path.read_text(encoding="utf-8")
    main = server.open(path, unsaved, language="cpp", version=7)
    edit = ask(server, where, "rename", position(text, "op_name: reduce_scatter", 12), newName="ring_sum")
    (step,) = [s for s in edit["documentChanges"] if s.get("textDocument", {}).get("uri") == main]

    assert step["textDocument"]["version"] == 7
    apply(edit, {"main.cpp": unsaved})
    assert "launch_ring_sum(" in (operator.parent / "ring_sum" / "src" / "main.cpp").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "locale", "said"),
    [
        ("RingSum", "en", "no operator name"),
        ("1st", "zh-cn", "不能作算子名"),
        ("a" * 65, "en", "64 at most"),
        ("环", "zh-cn", "小写字母"),
        ("double", "zh-cn", "保留字"),
        ("reduce_scatter", "en", "already"),
        ("taken", "zh-cn", "已经存在"),
        ("input", "en", "become one"),
    ],
)
def test_names_that_will_not_do_are_refused_with_the_reason(start, capabilities, operator, name, locale, said):
    (operator.parent / "taken").mkdir()
    if name == "input":
        path = operator / "src" / "main.cpp"
        path.write_text(path.read_text(encoding="utf-8") + "void launch_input(int x);\n", encoding="utf-8")
    server, where, text = begin(start, capabilities, operator, locale=locale)
    answer = server.answer(
        server.send(
            "textDocument/rename",
            {"textDocument": {"uri": where}, "position": position(text, "op_name: reduce", 12), "newName": name},
        )
    )

    assert answer["error"]["code"] == -32803
    assert said in answer["error"]["message"]


def test_only_the_operators_name_is_renamed(start, capabilities, operator):
    server, where, text = begin(start, capabilities, operator)
    at = position(text, "op_kind", 2)

    assert ask(server, where, "prepareRename", at) is None
    answer = server.answer(
        server.send("textDocument/rename", {"textDocument": {"uri": where}, "position": at, "newName": "x"})
    )
    assert "op_name" in answer["error"]["message"]


def test_a_placeholder_is_no_name_to_rename(start, capabilities, operator):
    path = operator / "docs" / "design.md"
    path.write_text(
        path.read_text(encoding="utf-8").replace("op_name: reduce_scatter", "op_name: replace_me"), encoding="utf-8"
    )
    server, where, text = begin(start, capabilities, operator)
    answer = server.answer(
        server.send(
            "textDocument/prepareRename",
            {"textDocument": {"uri": where}, "position": position(text, "op_name: replace", 12)},
        )
    )

    assert "not filled in" in answer["error"]["message"]


def test_a_client_that_moves_no_files_gets_text_and_a_word_about_the_rest(start, capabilities, operator):
    client = {"textDocument": {"rename": {}}}
    server, where, text = begin(start, capabilities, operator, client=client)
    edit = ask(server, where, "rename", position(text, "op_name: reduce_scatter", 12), newName="ring_sum")
    shown = server.wait(lambda m: m.get("method") == "window/showMessage", "message")

    assert set(edit) == {"changes"}
    assert where in edit["changes"]
    assert "ring_sum_kernel.cpp" in shown["params"]["message"]


def test_what_is_offered_follows_the_client(start, work):
    can = {
        "textDocument": {"rename": {"prepareSupport": True}, "codeLens": {}},
        "workspace": {"executeCommand": {}},
    }
    offered = start().initialize(work, capabilities=can)

    assert offered["renameProvider"] == {"prepareProvider": True}
    assert offered["codeLensProvider"] == {"resolveProvider": False}
    assert offered["executeCommandProvider"]["commands"][0] == "opdev.showGate"
    assert not {"definitionProvider", "referencesProvider", "documentLinkProvider"} & set(offered)
    every = offered["executeCommandProvider"]["commands"]
    own = start().initialize(work, capabilities=can, options={"commands": ["opdev.showGate"]})
    assert own["executeCommandProvider"]["commands"] == every[1:]
    assert "executeCommandProvider" not in start().initialize(work, capabilities=can, options={"commands": every})
