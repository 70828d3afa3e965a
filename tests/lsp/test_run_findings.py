"""What runs found stands on its lines over the real server: errors, failed cases, steps without a place; till the next run."""

from __future__ import annotations

import subprocess
import sys

from needed import package
from operators import Operator, make
from talking import (
    CAN,
    changed,
    command,
    ended,
    found,
    found_any,
    ours,
    run,
    told,
)


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
