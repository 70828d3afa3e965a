"""An editor's side of runs: what it can, asks for, and is told, each message held against what is shipped."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

import opdev.lsp
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


def found_any(client, where):
    """The last diagnostics of runs in a file, once there are any."""
    client.diagnostics(where, lambda items: bool(ours(items)))
    every = [m["params"] for m in client.received if m.get("method") == "textDocument/publishDiagnostics"]
    return ours([p for p in every if p["uri"] == where][-1]["diagnostics"])


def changed(client, where, path, version, old, new):
    """Replace a text once in the editor and save it; its line, 0-based."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    client.change(where, version, text.replace(old, new, 1))
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    client.notify("textDocument/didSave", {"textDocument": {"uri": where}})
    return text[: text.index(old)].count("\n")
