"""The history of runs and their logs over the real server: pages, floods, lines without an end."""

from __future__ import annotations

import json

from operators import HELD, make
from ready import until
from talking import begun, checked, ended, run, told

from opdev.lsp.running.records import _Index


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
