"""`opdev/operators`: the workspace's operators, kept current by file events."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import Future

from opdev.lsp.client import Client
from opdev.lsp.session import Session


def names(client):
    return [(o["name"], o["design"] is not None) for o in client.request("opdev/operators", {})["operators"]]


def test_operators_are_listed_and_follow_file_events(start, work, run_sh):
    client = start()
    client.initialize(work, capabilities={"experimental": {"opdev": {"operatorsChanged": True}}})
    client.wait(lambda m: m.get("method") == "opdev/operatorsChanged", "the first list")
    answer = client.request("opdev/operators", {})
    assert answer["complete"]
    (before,) = answer["operators"]
    assert before["profile"] == "custom-ops"
    root = run_sh.parents[1]
    assert before["uri"] == root.as_uri()

    design = root / "docs" / "design.md"
    design.parent.mkdir(exist_ok=True)
    design.write_text("# x\n", encoding="utf-8")
    since = client.mark
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": design.as_uri(), "type": 1}]})
    client.wait(lambda m: m.get("method") == "opdev/operatorsChanged", "word of the design", since)
    assert names(client) == [(root.name, True)]

    since = client.mark
    new = root.with_name("renamed")
    root.rename(new)
    client.notify(
        "workspace/didChangeWatchedFiles",
        {"changes": [{"uri": root.as_uri(), "type": 3}, {"uri": (new / "docs/design.md").as_uri(), "type": 1}]},
    )
    client.wait(lambda m: m.get("method") == "opdev/operatorsChanged", "word of the new name", since)
    assert names(client) == [("renamed", True)]


def test_a_client_that_does_not_ask_for_it_gets_no_word(start, work):
    client = start()
    client.initialize(work, options={"lint": {"workspace": False}})
    while not (answer := client.request("opdev/operators", {}))["complete"]:
        client.idle()

    assert len(answer["operators"]) == 1
    assert not [m for m in client.received if m.get("method") == "opdev/operatorsChanged"]


def test_the_list_and_the_linting_of_unopened_files_take_one_walk(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "plan.md").write_text("# plan\n", encoding="utf-8")
    script = tmp_path / "zz" / "custom-ops" / "put" / "scripts" / "run.sh"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/bash\npkill -9 python\n", encoding="utf-8")
    entered = []

    def hook(event, arguments):
        if event == "os.scandir" and str(arguments[0]).startswith(str(tmp_path)):
            entered.append(str(arguments[0]))

    sys.addaudithook(hook)

    async def run():
        linted = asyncio.Event()

        def notify(method, params):
            if (
                method == "textDocument/publishDiagnostics"
                and params["uri"] == script.as_uri()
                and params["diagnostics"]
            ):
                linted.set()

        client = Client.of({"workspaceFolders": [{"uri": tmp_path.as_uri(), "name": "w"}]})
        session = Session(client, asyncio.get_running_loop(), notify, lambda *_: Future())
        try:
            session.look_around()
            await asyncio.wait_for(linted.wait(), 60)
            return [(entry.name, session.listing.complete) for entry in session.listing.index.entries()]
        finally:
            session.runs.stop()
            session.worker.close()

    assert asyncio.run(run()) == [("put", True)]
    # Nothing but the walk has a reason to look into a folder of no operator.
    assert [entered.count(str(folder)) for folder in (tmp_path, tmp_path / "notes")] == [1, 1]
