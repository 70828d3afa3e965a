"""`opdev/operators`: the workspace's operators, kept current by file events."""

from __future__ import annotations


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
