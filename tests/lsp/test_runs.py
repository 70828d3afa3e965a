"""Runs over the real server: started, followed, stopped, told, whoever started them and whatever dies meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from needed import package

sys.path.insert(0, str(Path(__file__).parent))

from operators import HELD, Operator, make, until

import opdev.lsp
from opdev.lsp.running.records import _Index
from opdev.runs import events

CAN = {
    "experimental": {"opdev": {"runEvents": True}},
    "window": {"workDoneProgress": True},
    "workspace": {"executeCommand": {}, "codeLens": {"refreshSupport": True}},
    "textDocument": {
        "codeLens": {},
        "codeAction": {"codeActionLiteralSupport": {}},
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
    },
}
OURS = "opdev run"
SCHEMA = json.loads((Path(opdev.lsp.__file__).parent / "protocol.schema.json").read_text(encoding="utf-8"))
EVENT = jsonschema.Draft202012Validator(events.schema())


def checked(name, value, part="result"):
    """A value held against what is shipped."""
    schema = {"$ref": SCHEMA["messages"][name][part]["$ref"], "$defs": SCHEMA["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(value)
    return value


@pytest.fixture
def demo(tmp_path):
    op = make(tmp_path / "repo 仓")
    yield op
    op.end()


@pytest.fixture
def held(tmp_path):
    """An operator whose smoke run waits for the file ``go``."""
    op = make(tmp_path / "repo", run=HELD)
    yield op
    op.end()


@pytest.fixture
def edit(start):
    """``edit(op)``: an editor on an operator's repository."""

    def edit(op, can=CAN, **more):
        client = start("--log-level", "info", **more.pop("server", {}))
        client.initialize(op.repo, capabilities=can, **more)
        return client

    return edit


def command(client, name, **argument):
    answer = client.answer(client.send("workspace/executeCommand", {"command": name, "arguments": [argument]}))
    if "error" in answer:
        return answer["error"]
    return checked(name, answer["result"])


def run(client, op, phase="3", **more):
    given = {"root": str(op.root), "phase": phase, "executor": "host", **more}
    checked("opdev.runPhase", given, "params")
    return command(client, "opdev.runPhase", **given)["run"]


def told(client, since=0):
    """Events the client was told, by run, each message held against the schema."""
    found = {}
    for message in client.received[since:]:
        if message.get("method") == "opdev/runEvent":
            params = checked("opdev/runEvent", message["params"], "params")
            found.setdefault(params["run"], []).extend(params["events"])
    return found


def ended(client, run, since=0):
    """Wait for a run's last message; its state."""
    over = ("passed", "failed", "blocked", "stopped", "lost")
    last = client.wait(
        lambda m: m.get("method") == "opdev/runEvent" and m["params"]["run"] == run and m["params"]["state"] in over,
        f"end of {run}",
        since,
    )
    return last["params"]["state"]


def begun(client, run, task, since=0):
    """Wait until a step has begun."""
    client.wait(
        lambda m: (
            m.get("method") == "opdev/runEvent"
            and m["params"]["run"] == run
            and any(e["type"] == "step-started" and e["task"].endswith(task) for e in m["params"]["events"])
        ),
        f"start of {task}",
        since,
    )


def ours(items):
    return [item for item in items if item["source"] == OURS]


def found(client, where, count=1, since=0, version=None):
    """The diagnostics of runs in a file, once there are so many (in a version of it)."""
    return ours(client.diagnostics(where, lambda items: len(ours(items)) == count, since, version))


def progress(client):
    """Progress of runs; the linter's own may come between."""
    every = [m["params"] for m in client.received if m.get("method") == "$/progress"]
    tokens = {p["token"] for p in every if "demo" in p["value"].get("title", "")}
    return [p for p in every if p["token"] in tokens]


def test_a_run_is_started_followed_and_told_once(edit, demo):
    client = edit(demo)
    run_id = run(client, demo)
    state = ended(client, run_id)

    got = told(client)[run_id]
    assert got == demo.events(run_id)
    for event in got:
        EVENT.validate(event)
    assert state == next(e["outcome"] for e in got if e["type"] == "run-ended")
    shown = progress(client)
    assert [p["value"]["kind"] for p in shown][:1] == ["begin"]
    assert shown[0]["value"]["cancellable"] is True
    assert "phase 3" in shown[0]["value"]["title"]
    client.wait(
        lambda m: m.get("method") == "$/progress" and "demo phase 3" in m["params"]["value"].get("message", ""), "end"
    )
    assert progress(client)[-1]["value"]["kind"] == "end"
    assert client.wait(lambda m: m.get("method") == "workspace/codeLens/refresh", "refresh")


def test_the_progress_says_step_and_parser_and_its_cancel_stops_the_run(edit, held):
    client = edit(held)
    run_id = run(client, held)
    report = client.wait(
        lambda m: m.get("method") == "$/progress" and "smoke run" in m["params"]["value"].get("message", ""), "report"
    )
    client.notify("window/workDoneProgress/cancel", {"token": report["params"]["token"]})

    assert ended(client, run_id) == "stopped"
    assert [e["type"] for e in told(client)[run_id]].count("stopping") == 1


def test_a_run_is_stopped_by_command_and_gone_on_with(edit, held):
    client = edit(held)
    run_id = run(client, held, pes=4)
    begun(client, run_id, "-smoke")
    status = checked("opdev/phaseStatus", client.request("opdev/phaseStatus", {"root": held.root.as_uri()}))
    (going,) = status["operators"][0]["running"]
    assert (going["run"], going["pes"], going["text"]) == (run_id, 4, "smoke run on 4 PEs")
    stopped = command(client, "opdev.stopRun", root=held.root.as_uri(), run=run_id)
    assert stopped["runs"] == [run_id]
    assert ended(client, run_id) == "stopped"
    assert command(client, "opdev.stopRun", root=str(held.root))["code"] == -32803

    held.write("go", "")
    since = client.mark
    again = command(client, "opdev.resumeRun", root=str(held.root))["run"]
    ended(client, again, since)
    (record, before) = checked("opdev/runHistory", client.request("opdev/runHistory", {}))["runs"]
    assert (record["run"], record["resumeOf"], record["pes"]) == (again, run_id, 4)
    assert (before["state"], before["phase"], before["step"]) == ("stopped", "3", "smoke")


def test_compile_errors_come_move_and_go(edit, demo):
    demo.write("broken", "")
    client = edit(demo)
    where = client.open(demo.kernel, demo.kernel.read_text(encoding="utf-8"), language="cpp")
    first = run(client, demo)
    (error,) = found(client, where)
    assert error["range"] == {"start": {"line": 3, "character": 4}, "end": {"line": 3, "character": 8}}
    assert (error["severity"], error["data"]["run"], error["data"]["step"]) == (1, first, "build")
    assert ended(client, first) == "failed"
    (error,) = ours(client.diagnostics(where, lambda items: ours(items) and "cause: " in ours(items)[0]["message"]))
    assert "use of undeclared identifier 'wait'" in error["message"]
    assert "compile-error" in error["message"]

    since = client.mark
    client.change(where, 2, ((0, 0), (0, 0), "// 😀\n"))
    assert found(client, where, since=since, version=2)[0]["range"]["start"] == {"line": 4, "character": 4}
    since = client.mark
    client.change(where, 3, ((4, 8), (4, 8), "x"))
    assert found(client, where, 0, since, version=3) == []
    client.change(where, 4, ((4, 8), (4, 9), ""))

    since = client.mark
    second = run(client, demo)
    assert found(client, where, since=since)[0]["data"]["run"] == second
    ended(client, second)
    (demo.root / "broken").unlink()
    since = client.mark
    third = run(client, demo)
    assert found(client, where, 0, since) == []
    ended(client, third)


def test_a_client_that_pulls_is_pushed_what_runs_found(edit, demo):
    demo.write("broken", "")
    client = edit(demo, can={**CAN, "textDocument": {**CAN["textDocument"], "diagnostic": {}}})
    where = client.open(demo.kernel, demo.kernel.read_text(encoding="utf-8"), language="cpp")
    ended(client, run(client, demo))
    assert len(found(client, where)) == 1
    assert not ours(client.pull(where)["items"])
    since = client.mark
    client.change(where, 2, ((0, 0), (0, 0), "\n"))

    # What is pushed to a client that pulls has no version.
    client.diagnostics(where, lambda items: [i["range"]["start"]["line"] for i in ours(items)] == [4], since)


def test_a_failed_case_stands_on_its_line_with_what_was_expected(edit, demo):
    demo.write("wrong", "")
    client = edit(demo)
    where = (demo.root / "scripts" / "cases.json").as_uri()
    first = run(client, demo, "4")
    assert ended(client, first) == "failed"
    (case,) = ours(client.diagnostics(where, lambda items: len(ours(items)) == 1))
    assert case["range"]["start"] == {"line": 2, "character": 13}
    assert (case["code"], case["data"]["case"]) == ("case-failed", "odd_2pe")
    assert "expected errors within rtol=0.001 atol=0.001" in case["message"]
    assert "idx=3 actual=0.5 golden=1.0" in case["message"]
    (demo.root / "wrong").unlink()
    since = client.mark
    second = run(client, demo, "4")

    assert found(client, where, 0, since) == []
    ended(client, second)


def test_a_step_that_fails_without_a_place_is_told_where_it_was_started(edit, tmp_path):
    op = make(tmp_path / "repo", run="echo 'bind: Address already in use' >&2\nexit 3\n")
    client = edit(op, locale="zh-CN")
    run_id = run(client, op)
    ended(client, run_id)
    (said,) = found(client, (op.root / "scripts" / "run.sh").as_uri())

    assert said["range"]["start"]["line"] == 0
    assert "没有通过" in said["message"]
    assert "下一步" in said["message"]
    assert "Address already in use" in said["message"]


def test_runs_started_in_a_terminal_are_followed(edit, demo):
    demo.write("broken", "")
    client = edit(demo)
    where = client.open(demo.kernel, demo.kernel.read_text(encoding="utf-8"), language="cpp")
    done = demo.opdev("run", "3", "--executor", "host")
    assert done.returncode == 1, done.stderr
    (record,) = demo.runs()

    assert ended(client, record.id) == "failed"
    assert told(client)[record.id] == demo.events(record.id)
    assert len(found(client, where)) == 1


def test_a_run_that_ended_before_its_operator_was_met_is_told_if_the_server_was_there(start, demo, tmp_path):
    demo.write("broken", "")
    (tmp_path / "empty").mkdir()
    client = start("--log-level", "info")
    client.initialize(tmp_path / "empty", capabilities=CAN)
    assert demo.opdev("run", "3", "--executor", "host").returncode == 1
    (record,) = demo.runs()
    added = {"uri": Path(demo.repo).as_uri(), "name": "repo"}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [added], "removed": []}})

    assert ended(client, record.id) == "failed"
    assert told(client)[record.id] == demo.events(record.id)


def test_a_server_that_is_killed_loses_nothing_and_doubles_nothing(edit, held):
    client = edit(held)
    run_id = run(client, held)
    begun(client, run_id, "-smoke")
    client.kill()
    before = told(client)[run_id]
    (record,) = held.runs()
    assert record.status.now == "running"

    after = {run_id: before[-1]["seq"]}
    second = edit(held, can={**CAN, "experimental": {"opdev": {"runEvents": {"after": after}}}})
    second.wait(
        lambda m: m.get("method") == "$/progress" and "phase 3" in m["params"]["value"].get("title", ""), "progress"
    )
    held.write("go", "")
    ended(second, run_id)

    assert before + told(second)[run_id] == held.events(run_id)


def test_what_ended_while_no_server_was_there_is_told_by_the_next(edit, held):
    client = edit(held)
    run_id = run(client, held)
    begun(client, run_id, "-smoke")
    client.kill()
    before = told(client)[run_id]
    held.write("go", "")
    (record,) = held.runs()
    until(lambda: record.status.state not in ("starting", "running"), what="the end of the run")

    after = {run_id: before[-1]["seq"]}
    second = edit(held, can={**CAN, "experimental": {"opdev": {"runEvents": {"after": after}}}})
    ended(second, run_id)

    assert before + told(second)[run_id] == held.events(run_id)
    page = checked(
        "opdev/runEvents",
        second.request("opdev/runEvents", {"root": str(held.root), "run": run_id, "after": 2, "limit": 3}),
    )
    assert ([e["seq"] for e in page["events"]], page["more"]) == ([3, 4, 5], True)


def test_a_new_server_shows_what_the_last_run_found_unless_the_file_was_changed(edit, demo):
    demo.write("broken", "")
    first = edit(demo)
    ended(first, run(first, demo))
    first.kill()
    second = edit(demo)
    assert len(found(second, demo.kernel.as_uri())) == 1
    second.kill()
    demo.kernel.write_text("\n" + demo.kernel.read_text(encoding="utf-8"), encoding="utf-8")
    third = edit(demo)
    where = third.open(demo.kernel, demo.kernel.read_text(encoding="utf-8"), language="cpp")
    third.diagnostics(where)
    # By the end of a run that starts no step, what the last one found has been looked at.
    ended(third, run(third, demo, "7"))

    published = [m["params"] for m in third.received if m.get("method") == "textDocument/publishDiagnostics"]
    assert not [p for p in published if p["uri"] == where and ours(p["diagnostics"])]


def test_a_flood_is_told_in_few_messages_and_typing_goes_on(edit, tmp_path):
    flood = "python3 - <<'END'\nfor i in range(200000):\n    print('line', i)\nEND\n" + HELD
    op = make(tmp_path / "repo", run=flood)
    client = edit(op)
    script = op.root / "scripts" / "run.sh"
    where = client.open(script, script.read_text(encoding="utf-8"))
    run_id = run(client, op)
    begun(client, run_id, "-smoke")
    client.change(where, 2, ((0, 0), (0, 0), 'IPPORT="tcp://127.0.0.1:27010"\n'))
    client.diagnostics(where, version=2)
    page = {}
    logs = client.request("opdev/runLog", {"root": str(op.root), "run": run_id})["logs"]
    (log,) = (entry["name"] for entry in logs if entry["name"].endswith("-smoke.stdout.log"))

    def full():
        given = {"root": str(op.root), "run": run_id, "log": log, "line": -2}
        page.update(client.request("opdev/runLog", given))
        return page["lines"][-1:] == ["held"]

    until(full, what="all of the log")
    checked("opdev/runLog", page)
    assert (page["lines"], page["line"], page["total"]) == (["line 199999", "held"], 199999, 200001)
    middle = client.request("opdev/runLog", {"root": str(op.root), "run": run_id, "log": log, "line": 123456, "count": 2})  # fmt: skip
    assert (middle["lines"], middle["line"]) == (["line 123456", "line 123457"], 123456)
    op.write("go", "")
    ended(client, run_id)
    output = next(e for e in told(client)[run_id] if e["type"] == "output" and e["log"] == log and e["start"])
    part = client.request("opdev/runLog", {"root": str(op.root), "run": run_id, "log": output["log"], "start": output["start"], "end": output["end"]})  # fmt: skip
    assert part["line"] > 0
    assert part["lines"][-1].startswith(("line", "held", "PE"))
    sent = [m for m in client.received if m.get("method") == "opdev/runEvent"]
    assert len(sent) < 200
    assert max(len(json.dumps(m)) for m in sent) < 200_000
    assert op.events(run_id) == told(client)[run_id]


def test_history_has_pages_and_logs_are_named(edit, demo):
    client = edit(demo)
    runs = [run(client, demo), run(client, demo)]
    ended(client, runs[1])
    ended(client, runs[0])

    page = checked("opdev/runHistory", client.request("opdev/runHistory", {"root": str(demo.root), "limit": 1}))
    assert ([r["run"] for r in page["runs"]], page["more"]) == ([runs[1]], True)
    page = client.request("opdev/runHistory", {"root": str(demo.root), "limit": 1, "before": runs[1]})
    assert ([r["run"] for r in page["runs"]], page["more"]) == ([runs[0]], False)
    logs = checked("opdev/runLog", client.request("opdev/runLog", {"root": str(demo.root), "run": runs[0]}))["logs"]
    assert {"build.stdout.log", "smoke.stdout.log"} <= {log["name"].partition("-")[2] for log in logs}
    for bad in ("../status.json", "no.log"):
        given = {"root": str(demo.root), "run": runs[0], "log": bad}
        assert client.answer(client.send("opdev/runLog", given))["error"]["code"] == -32803
    error = client.answer(client.send("opdev/runLog", {"root": str(demo.root), "run": "../.."}))["error"]
    assert error["code"] == -32803


def test_a_line_without_an_end_is_told_to_be_partial(edit, demo):
    client = edit(demo)
    run_id = run(client, demo)
    ended(client, run_id)
    given = {"root": str(demo.root), "run": run_id}
    log = next(e["name"] for e in client.request("opdev/runLog", given)["logs"] if e["name"].endswith("-smoke.stdout.log"))  # fmt: skip
    page = client.request("opdev/runLog", {**given, "log": log})
    total, size = page["total"], page["bytes"]
    assert not page["partial"]
    path = next(demo.root.glob(f".opdev/runs/*/logs/{log}"))
    # As a runner leaves it that was killed, then as one that goes on.
    for text, lines, partial in ((b"ha", ["ha"], True), ("lf 半".encode(), ["half 半"], True), (b"\r\nx\n", ["half 半", "x"], False)):  # fmt: skip
        with path.open("ab") as stream:
            stream.write(text)
        page = checked("opdev/runLog", client.request("opdev/runLog", {**given, "log": log, "line": total}))
        assert (page["lines"], page["partial"], page["total"]) == (lines, partial, total + len(lines))
        # A page that ends before it knows nothing of it.
        assert not client.request("opdev/runLog", {**given, "log": log, "line": 0, "count": total})["partial"]
    # Bytes that end within a line.
    for end, partial in ((size + 2, True), (size + 10, False)):
        part = client.request("opdev/runLog", {**given, "log": log, "start": size, "end": end})
        assert (part["line"], part["partial"]) == (total, partial)


def test_a_page_holds_nothing_that_is_not_counted(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(b"one\ntw")
    index = _Index(str(path))
    index.grow()
    with path.open("ab") as stream:
        stream.write(b"o\nthree\n")
    assert (index.lines(0, 9), index.total) == ([b"one\n", b"tw"], 2)
    index.grow()
    assert (index.lines(1, 9), index.total) == ([b"two\n", b"three\n"], 3)


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


def test_one_case_is_run_alone_and_is_no_evidence_of_all(edit, demo):
    demo.write("wrong", "")
    client = edit(demo)
    one = run(client, demo, "4", cases=["小_2pe"])
    assert ended(client, one) == "passed"
    got = told(client)[one]
    assert [(e["case"], e["verdict"]) for e in got if e["type"] == "case"] == [("小_2pe", "PASS")]
    assert not [e for e in got if e["type"] == "gate" or e.get("step") == "matrix"]
    error = command(client, "opdev.runPhase", root=str(demo.root), phase="3", cases=["小_2pe"])
    assert error["code"] == -32803
    assert "--case" in error["message"]


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


def changed(client, where, path, version, old, new):
    """Replace a text once in the editor and save it; its line, 0-based."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    client.change(where, version, text.replace(old, new, 1))
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    client.notify("textDocument/didSave", {"textDocument": {"uri": where}})
    return text[: text.index(old)].count("\n")


def test_a_real_operator_on_the_stand_in(edit, tmp_path):
    package("numpy")
    repo = tmp_path / "仓 repo"
    for folder in ("include", "src"):
        (repo / folder).mkdir(parents=True)
    made = subprocess.run(
        [sys.executable, "-m", "opdev.cli", "new", "mover", "--kind", "put-get", "--dtypes", "float16", "--dir", str(repo)],
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    op = Operator(repo / "custom-ops" / "mover")
    kernel = op.root / "src" / "mover_kernel.cpp"
    client = edit(op)
    answers = {"cann": "later", "build_mode": "custom_ops", "torch": False, "perf": False, "perf_auto_optim": False}
    answered = client.request("opdev/intake", {"root": str(op.root), "answers": answers})
    assert answered["state"] == "recorded", answered
    where = client.open(kernel, kernel.read_text(encoding="utf-8"), language="cpp")
    (lens,) = client.request("textDocument/codeLens", {"textDocument": {"uri": where}})
    assert "CPU stand-in" in lens["command"]["title"]
    cases = client.open(
        op.root / "scripts" / "cases.json", (op.root / "scripts" / "cases.json").read_text(), language="json"
    )
    lenses = client.request("textDocument/codeLens", {"textDocument": {"uri": cases}})
    one = next(x["command"] for x in lenses if x["command"]["arguments"][0].get("cases") == ["smoke_2pe_fp16"])

    def go():
        started = command(client, one["command"], **one["arguments"][0])
        return started["run"], ended(client, started["run"])

    first, state = go()
    assert state == "passed", told(client)[first][-4:]
    assert {e["backend"] for e in told(client)[first]} == {"sim"}

    quiet = changed(client, where, kernel, 2, "    aclshmemx_mte_quiet();\n", "    nothing_of_that_name();\n")
    _, state = go()
    assert state == "failed"
    errors = [d for d in found_any(client, where) if d["severity"] == 1]
    assert {d["range"]["start"]["line"] for d in errors} == {quiet}, errors
    assert "nothing_of_that_name" in errors[0]["message"]

    since = client.mark
    changed(client, where, kernel, 3, "    nothing_of_that_name();\n", "    aclshmemx_mte_quiet();\n")
    # The receiver waits for a signal that nobody sends.
    changed(
        client,
        where,
        kernel,
        4,
        "aclshmemx_signal_op(slot_of(flags, ARRIVED)",
        "// aclshmemx_signal_op(slot_of(flags, ARRIVED)",
    )
    _, state = go()
    assert state == "failed"
    assert found(client, where, 0, since) == []
    failed = found_any(client, cases)
    assert [d["data"]["case"] for d in failed] == ["smoke_2pe_fp16"]
    assert failed[0]["data"]["backend"] == "sim"
    assert "simulated" in failed[0]["message"]


def found_any(client, where):
    """The last diagnostics of runs in a file, once there are any."""
    client.diagnostics(where, lambda items: bool(ours(items)))
    every = [m["params"] for m in client.received if m.get("method") == "textDocument/publishDiagnostics"]
    return ours([p for p in every if p["uri"] == where][-1]["diagnostics"])
