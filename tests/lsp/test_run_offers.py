"""What can be run or asked for from an editor, by whom and where: refusals, lenses, actions, the questions, clangd."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from operators import make
from ready import until
from talking import SCHEMA, begun, checked, command, ended, run

import opdev.lsp


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"phase": "33"}, "phase"),
        ({"phase": "3", "pes": 0}, "pes"),
        ({"phase": "3", "pes": True}, "pes"),
        ({"phase": "3", "executor": "moon"}, "executor"),
        ({"phase": "3", "dtype": "a\nb"}, "dtype"),
        ({"phase": "3", "shell": "rm"}, "shell"),
    ],
)
def test_what_makes_no_sense_is_refused(edit, demo, given, part):
    client = edit(demo)
    error = command(client, "opdev.runPhase", root=str(demo.root), **given)

    assert error["code"] == -32602
    assert part in error["message"]
    assert not demo.runs()


def test_only_operators_of_the_workspace_are_run(edit, demo, tmp_path):
    other = make(tmp_path / "other")
    client = edit(demo)
    error = command(client, "opdev.runPhase", root=str(other.root), phase="3")

    assert error["code"] == -32803
    assert set(error["data"]) == {"zh", "en"}
    assert not other.runs()


def test_nothing_of_an_untrusted_workspace_is_run(edit, demo):
    client = edit(demo, options={"trusted": False}, locale="zh-CN")
    where = client.open(demo.kernel, demo.kernel.read_text(encoding="utf-8"), language="cpp")
    root = str(demo.root)
    for name, argument in (
        ("opdev.runPhase", {"phase": "3"}),
        ("opdev.resumeRun", {}),
        ("opdev.stopRun", {}),
        ("opdev.clangd", {}),
        ("opdev.intake", {"answers": {}}),
    ):
        error = command(client, name, root=root, **argument)
        assert (error["code"], "未受信任" in error["message"], set(error["data"])) == (-32803, True, {"zh", "en"}), name
    assert client.request("textDocument/codeLens", {"textDocument": {"uri": where}}) == []
    assert not (demo.root / ".opdev").exists()
    assert not (demo.root / ".clangd").exists()
    # What the workspace's own settings say does not open it.
    client.notify("workspace/didChangeConfiguration", {"settings": {"opdev": {"trusted": True}}})
    assert command(client, "opdev.runPhase", root=root, phase="3")["code"] == -32803
    client.notify("opdev/didChangeTrust", {"trusted": True})

    assert ended(client, run(client, demo)) in ("passed", "blocked")


def test_files_offer_the_phase_they_are_for(edit, demo):
    client = edit(demo, options={"run": {"executor": "host", "pes": 4}})

    def offered(path, language):
        where = client.open(path, path.read_text(encoding="utf-8"), language=language)
        lenses = client.request("textDocument/codeLens", {"textDocument": {"uri": where}})
        return [(x["range"]["start"]["line"], x["command"]["command"], x["command"]["arguments"][0]) for x in lenses]

    root = str(demo.root)
    three = (0, "opdev.runPhase", {"root": root, "phase": "3", "pes": 4, "executor": "host"})
    four = {"root": root, "phase": "4", "executor": "host"}
    assert offered(demo.kernel, "cpp") == [three]
    assert offered(demo.root / "scripts" / "run.sh", "shellscript") == [three]
    assert offered(demo.root / "CMakeLists.txt", "cmake") == [three]
    assert offered(demo.root / "scripts" / "cases.json", "json") == [
        (0, "opdev.runPhase", four),
        (1, "opdev.runPhase", {**four, "cases": ["小_2pe"]}),
        (2, "opdev.runPhase", {**four, "cases": ["odd_2pe"]}),
    ]
    design = demo.write("docs/design.md", "# 设计\n")
    (gate, phase) = offered(design, "markdown")
    assert (gate[1], phase[1]) == ("opdev.showGate", "opdev.runPhase")


def test_actions_start_runs_only_for_people(edit, held):
    client = edit(held)
    where = client.open(held.kernel, held.kernel.read_text(encoding="utf-8"), language="cpp")
    at = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}

    def offered(**context):
        params = {"textDocument": {"uri": where}, "range": at, "context": {"diagnostics": [], **context}}
        return [a for a in client.request("textDocument/codeAction", params) if a.get("command")]

    (action,) = offered()
    assert (action["kind"], action["command"]["command"]) == ("source.opdev.run", "opdev.runPhase")
    assert offered(only=["source"])
    assert not offered(only=["quickfix"])
    assert not offered(triggerKind=2)
    assert not offered(only=["source.fixAll"])
    run_id = run(client, held)
    begun(client, run_id, "-smoke")
    (action,) = offered()
    assert action["command"] == {**action["command"], "command": "opdev.stopRun", "arguments": [{"root": str(held.root), "run": run_id}]}  # fmt: skip
    held.write("go", "")
    ended(client, run_id)


def test_where_operators_stand(edit, demo):
    broken = demo.repo / "custom-ops" / "other" / "docs"
    broken.mkdir(parents=True)
    (broken / "design.md").write_bytes(b"\xff\xfe\x00```yaml\n\xf0")
    client = edit(demo, locale="zh-CN")

    def all_of_them():
        status = checked("opdev/phaseStatus", client.request("opdev/phaseStatus", {}))
        return status if status["complete"] else None

    found = {one["name"]: one for one in until(all_of_them)["operators"]}
    assert set(found) == {"demo", "other"}
    phases = {phase["id"]: phase for phase in found["demo"]["phases"]}
    assert found["demo"]["phase"] == "1"
    assert (phases["1"]["state"], phases["6"]["state"], phases["4"]["state"]) == ("closed", "skipped", "ahead")
    assert "performance_required" in phases["6"]["why"]
    assert phases["1"]["checks"][0]["title"]


def test_the_five_questions_are_asked_and_recorded_whole_or_not_at_all(edit, demo):
    record = demo.root / "docs" / "phase0_intake.yaml"
    record.unlink()
    client = edit(demo, locale="zh-CN")
    root = demo.root.as_uri()

    def intake(**given):
        checked("opdev/intake", {"root": root, **given}, "params")
        return checked("opdev/intake", client.request("opdev/intake", {"root": root, **given}))

    asked = intake()
    assert [q["id"] for q in asked["questions"]][:5] == ["cann", "build_mode", "torch", "perf", "perf_auto_optim"]
    assert (asked["state"], asked["record"], asked["title"][:7]) == ("questions", None, "Phase 0")
    assert "bisheng" in asked["probe"]
    judged = intake(answers={"cann": "CANN/set_env.sh"}, check="cann")
    assert (judged["state"], [one["text"] for one in judged["problems"]]) == (
        "checked",
        ["CANN/set_env.sh 不是绝对路径"],
    )
    assert intake(answers={"cann": "later"}, check="cann")["problems"] == []
    assert not record.exists()
    some = intake(answers={"cann": "later", "torch": False})
    assert (some["state"], some["missing"]) == ("needs-answers", ["build_mode", "perf", "perf_auto_optim"])
    answers = {
        "cann": "/opt/cann/set_env.sh",
        "build_mode": "in_tree",
        "torch": False,
        "perf": False,
        "perf_auto_optim": False,
    }
    refused = intake(answers=answers)
    assert refused["state"] == "refused"
    assert "custom-ops" in refused["problems"][0]["text"]
    assert not record.exists()
    done = intake(answers={**answers, "build_mode": "custom_ops"})
    assert (done["state"], done["complete"], record.exists()) == ("recorded", True, True)
    again = checked("opdev.intake", command(client, "opdev.intake", root=root, answers={**answers, "build_mode": "custom_ops", "torch": True}))  # fmt: skip
    assert again["state"] == "needs-reconfirm"
    assert [c["key"] for c in again["changes"]] == ["torch_required"]
    assert intake()["complete"] is True
    assert client.answer(client.send("opdev/intake", {"root": root, "name": "x"}))["error"]["code"] == -32602


def test_clangd_gets_what_it_needs(edit, demo):
    client = edit(demo)
    done = command(client, "opdev.clangd", root=str(demo.root))

    assert done["files"] == 1
    assert {Path(uri).name for uri in done["written"]} == {"compile_commands.json", ".clangd"}
    assert (demo.root / "compile_commands.json").exists()
    assert command(client, "opdev.clangd", root=str(demo.root))["written"] == []


def test_documentation_schema_and_server_name_the_same_messages():
    from opdev.lsp.capabilities import COMMANDS, RUN_REQUESTS, SHOW_GATE
    from opdev.lsp.running import asked, schema
    from opdev.lsp.running.messages import MESSAGES, RunPhaseArguments

    text = (Path(opdev.lsp.__file__).parent / "PROTOCOL.md").read_text(encoding="utf-8")
    served = {*RUN_REQUESTS, *COMMANDS, "opdev/runEvent", "opdev/didChangeTrust"} - {SHOW_GATE}
    assert served == set(MESSAGES) == set(SCHEMA["messages"])
    assert not [name for name in served if f"`{name}`" not in text]
    assert Path(schema.PATH).read_text(encoding="utf-8") == schema.text()
    assert set(RunPhaseArguments.__annotations__) == asked._KEYS
    # Every member of params and results is told of.
    members = {name for params, result in MESSAGES.values() for shape in (params, result) if shape for name in shape.__annotations__}  # fmt: skip
    assert not sorted(name for name in members if f"`{name}" not in text and f'"{name}"' not in text)


def test_nothing_of_runs_is_loaded_before_an_editor_has_its_first_findings(edit, tmp_path):
    code = (
        "import sys, opdev.lsp.server, opdev.lsp.typed, opdev.lsp.features;"
        "print([m for m in sys.modules if m.startswith(('opdev.lsp.running', 'opdev.runs', 'opdev.clangd', 'opdev.intake'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
