"""Runs over the real server: started, followed, stopped, gone on with, whoever started them and whatever dies meanwhile."""

from __future__ import annotations

from pathlib import Path

from ready import until
from talking import CAN, EVENT, begun, checked, command, ended, found, progress, run, told


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
