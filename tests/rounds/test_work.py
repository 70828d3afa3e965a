"""Rounds from their start to a decision: what is kept, refused, proposed, and how figures compare."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace

import jsonschema
import pytest
from trees import described, write

from opdev.rounds import ledger as ledgers
from opdev.rounds import work
from opdev.rounds.errors import Refused
from opdev.rounds.ledger import Ledger, Retest, interrupted
from opdev.rounds.measured import BUS, Measured
from opdev.rounds.overview import overview
from opdev.rounds.store import Store
from opdev.rounds.verdict import judge
from opdev.runs.lock import Lock
from opdev.runs.rounds import main, schema

PAYLOAD = 134217728.0


def measured(*bus, backend="npu", payload=PAYLOAD, n_pes=8, dtype="float16"):
    samples = tuple({BUS: b, "e2e_us": 1000.0 / b, "kernel_us": 900.0 / b} for b in bus)
    return Measured(backend, n_pes, dtype, "8388608", payload, samples, "run")


def retest(store, correctness="pass", figures=None):
    """A retest of the open round as the runner notes one."""
    one = ledgers.read(store.root).open
    tree = store.take(f"{one.number}/step-99").tree
    backend = figures.backend if figures is not None else "npu"
    test = Retest(len(one.retests) + 1, time.time(), "run", backend, tree.code, correctness, measured=figures)
    return work.add(store, one, test, tree)[1].retests[-1].verdict


def started(op, figures, idea="double buffer"):
    """A store with Round 0 measured and Round 1 open, its code changed."""
    store = Store(str(op))
    work.observed(store, figures, measured(100.0), "run")
    work.start(store, idea, work.Limit())
    write(op, {"src/main.cpp": "int faster;\n", "src/new.h": "added\n"})
    return store


@pytest.mark.parametrize(("correctness", "new", "old", "expected"), [
    ("fail", measured(200.0), measured(100.0), ("revert", "red")),
    ("none", measured(200.0), measured(100.0), ("none", "untested")),
    ("pass", None, measured(100.0), ("none", "unmeasured")),
    ("pass", measured(110.0), measured(100.0), ("keep", "gain")),
    ("pass", measured(100.9), measured(100.0), ("revert", "noise")),
    ("pass", measured(105.0, 105.0), measured(97.0, 100.0, 103.0), ("revert", "noise")),
    ("pass", measured(102.0, 108.0, 105.0), measured(100.0), ("revert", "noise")),
    ("pass", measured(107.0, 107.5, 107.2), measured(97.0, 100.0, 103.0), ("keep", "gain")),
    ("pass", measured(90.0), measured(100.0), ("revert", "slower")),
    ("pass", measured(200.0, payload=PAYLOAD / 2), measured(100.0), ("none", "payload")),
    ("pass", measured(200.0, payload=1.34218e8), measured(100.0), ("keep", "gain")),
    ("pass", measured(200.0, n_pes=2), measured(100.0), ("none", "parameters")),
    ("pass", measured(200.0, dtype="float32"), measured(100.0), ("none", "parameters")),
    ("pass", measured(200.0, backend="sim"), measured(100.0), ("none", "simulated")),
    ("pass", measured(200.0, backend="sim"), measured(100.0, backend="sim"), ("none", "simulated")),
    ("pass", measured(200.0, backend="sim", payload=1.0), measured(100.0, backend="sim"), ("none", "payload")),
    ("pass", measured(200.0), measured(100.0, backend="sim"), ("none", "no-reference")),
    ("pass", measured(200.0), None, ("none", "no-reference")),
    ("fail", measured(200.0, backend="sim"), None, ("revert", "red")),
])  # fmt: skip
def test_the_rule(correctness, new, old, expected):
    found = judge(correctness, new, old)

    assert (found.what, found.code) == expected


def test_keep(op):
    store = started(op, measured(100.0))
    assert retest(store, "pass", measured(120.0, 121.0, 122.0)).what == "keep"

    done, _ = work.keep(store)

    assert (done.state, done.against, dict(done.changed)) == (
        "kept",
        False,
        {"src/main.cpp": "modified", "src/new.h": "added"},
    )
    base, row = overview(store.root)
    assert (base.round.state, base.measured.value(BUS)) == ("base", 100.0)
    assert [round(x, 3) for x in (row.vs_first, row.vs_kept, row.vs_baseline)] == [0.21, 0.21, 0.21]
    work.start(store, "second", work.Limit())
    write(op, {"src/main.cpp": "int slower;\n"})
    assert retest(store, "pass", measured(110.0)).code == "slower"
    last = overview(store.root)[-1]
    assert (round(last.vs_first, 3), round(last.vs_kept, 4)) == (0.1, -0.0909)
    done, _ = work.keep(store)
    assert done.against


def test_revert_restores_everything_and_keeps_what_it_replaces(op):
    store = started(op, measured(100.0))
    for name in ("src/main.cpp", "src/new.h"):
        (op / name).chmod(0o755)
    retest(store, "fail")
    edited = described(op)

    done, made = work.revert(store, "red")

    assert (op / "src/main.cpp").read_text() == "int b;\n"
    assert not (op / "src/new.h").exists()
    assert (done.state, done.against, done.saved) == ("reverted", False, made.saved)
    assert ledgers.read(store.root).open is None
    work.restore_to(store, made.saved.removeprefix("saved/"))
    assert described(op) == edited
    work.restore_to(store, "0")
    assert (op / "src/main.cpp").read_text() == "int b;\n"
    work.restore_to(store, "1.1")
    assert described(op) == edited


def test_what_is_never_kept(op):
    store = started(op, measured(100.0), idea="")
    for idea, figures, key in (
        ("", None, "no-idea"), ("x", None, "not-retested"), ("x", ("fail", None), "keep-red"),
        ("x", ("pass", measured(120.0, payload=1.0)), "keep-payload"), ("x", ("pass", measured(120.0, n_pes=2)), "keep-parameters"),
        ("x", ("none", measured(120.0)), "keep-untested"),
    ):  # fmt: skip
        if figures is not None:
            retest(store, *figures)
        with pytest.raises(Refused) as refused:
            work.keep(store, idea)
        assert refused.value.key == key
    retest(store, "pass", measured(120.0))
    write(op, {"src/main.cpp": "int untested;\n"})
    with pytest.raises(Refused, match="not-retested"):
        work.keep(store, "x")
    write(op, {"src/main.cpp": "int b;\n"})
    (op / "src/new.h").unlink()
    with pytest.raises(Refused, match="unchanged"):
        work.keep(store, "x")
    assert ledgers.read(store.root).open is not None


def test_simulated_figures_decide_nothing_and_compare_with_nothing(op):
    store = started(op, measured(1.0, backend="sim"))

    assert retest(store, "pass", measured(9.0, backend="sim")).code == "simulated"
    row = overview(store.root)[-1]
    assert (row.vs_first, row.vs_kept, row.vs_baseline) == (None, None, None)
    assert row.measured.simulated
    assert work.keep(store)[0].against is False


def test_one_round_at_a_time_and_five_of_them(op):
    store = Store(str(op))
    limit = work.limit(Ledger(), None)
    for number in range(1, 6):
        assert work.start(store, f"idea {number}", limit)[1].number == number
        with pytest.raises(Refused, match="open-already"):
            work.start(store, "another", limit)
        work.revert(store)
    with pytest.raises(Refused, match="limit-default"):
        work.start(store, "sixth", limit)
    assert [r.number for r in ledgers.read(store.root).rounds] == [0, 1, 2, 3, 4, 5]
    asked = work.limit(ledgers.read(store.root), None, 6)
    assert work.start(store, "sixth", asked)[1].number == 6
    work.revert(store)
    again = work.limit(ledgers.read(store.root), 3)
    with pytest.raises(Refused, match="limit-asked"):
        work.start(store, "seventh", again)


def test_the_design_may_lower_the_limit_never_raise_it():
    assert work.limit(Ledger(), 3) == work.Limit(3, "design")
    assert work.limit(Ledger(), 9) == work.limit(Ledger(), 0) == work.limit(Ledger(), None) == work.Limit(5, "default")
    assert work.limit(Ledger(), 3, 7) == work.Limit(7, "asked")


def test_an_unnamed_round_gets_its_idea_later(op):
    store = Store(str(op))
    work.start(store, "", work.Limit())

    assert work.start(store, "  ping\npong ", work.Limit())[1].idea == "ping pong"
    with pytest.raises(Refused, match="open-already"):
        work.start(store, "another", work.Limit())


def test_round_0_is_the_state_that_was_measured_first(op):
    store = Store(str(op))
    work.observed(store, measured(100.0), None, "a")
    work.observed(store, measured(102.0), None, "b")
    work.observed(store, measured(1.0, backend="sim"), None, "c")
    base = ledgers.read(store.root).base
    assert [len(r.measured.samples) for r in base.retests] == [2, 1]
    write(op, {"src/main.cpp": "int other;\n"})
    assert work.observed(store, measured(50.0), None, "d").number == 0
    assert [r.run for r in ledgers.read(store.root).base.retests] == ["d"]
    work.start(store, "idea", work.Limit())
    write(op, {"src/main.cpp": "int third;\n"})
    assert work.observed(store, measured(70.0), None, "e") is None
    retest(store, "pass", measured(70.0))
    assert work.observed(store, measured(72.0), None, "f").number == 1
    assert [len(r.measured.samples) for r in ledgers.read(store.root).open.retests] == [2]


def test_a_revert_killed_within_is_finished_with_its_decision(op):
    from test_snapshots import killed_at

    store = started(op, measured(100.0))
    before = described(op)
    moment = 0
    while True:
        moment += 1
        killed = killed_at(moment, lambda: work.revert(store))
        if interrupted(store.root):
            with pytest.raises(Refused, match="none-open"):
                work.keep(store)
            assert (op / "src/main.cpp").read_text() == "int b;\n"
            assert not (op / "src/new.h").exists()
            assert ledgers.read(store.root).rounds[-1].state == "reverted"
            break
        assert killed
        assert described(op) == before
        assert ledgers.read(store.root).open is not None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"rounds": 3}', '{"rounds": [{}], "baselines": [], "asked": 0}', "[" * 90000]
)
def test_a_damaged_ledger_is_refused_with_its_path_and_left_as_it_is(op, text):
    path = write(op, {".opdev/rounds/rounds.json": text}) / ".opdev/rounds/rounds.json"

    with pytest.raises(Refused) as refused:
        work.start(Store(str(op)), "x", work.Limit())
    assert (refused.value.key, refused.value.values["path"]) == ("damaged", str(path))
    assert path.read_text() == text


def test_the_ledger_survives_writing_and_reading(op):
    store = started(op, measured(100.0, 101.0))
    retest(store, "fail")
    found = ledgers.read(store.root)

    ledgers.write(store.root, found)
    assert ledgers.read(store.root) == found
    assert replace(found, asked=7) != found


@pytest.fixture
def cli(op, capsys, monkeypatch):
    """``cli(word, …)``: `opdev rounds` in the operator's folder; its status, output, errors."""
    monkeypatch.chdir(op)

    def cli(*argv, lang="en"):
        try:
            status = main([*argv, "--lang", lang])
        except SystemExit as end:
            status = end.code
        out, err = capsys.readouterr()
        return status, out, err

    return cli


def test_the_command_line(op, cli):
    write(op, {"README.md": "# demo\n"})
    assert cli()[0] == 0
    status, out, _ = cli("start", "double buffer")
    assert (status, "round 1 is open: double buffer" in out, "Round 0 was not measured" in out) == (0, True, True)
    status, _, err = cli("start", "again")
    assert (status, "round 1 is open (double buffer)" in err) == (1, True)
    write(op, {"src/main.cpp": "int 新;\n", "src/new.h": "x\n"})
    status, out, _ = cli("diff")
    assert (status, "-int b;\n+int 新;\n" in out, "+++ b/src/new.h" in out) == (0, True, True)
    status, out, _ = cli("--format", "json")
    value = json.loads(out)
    jsonschema.Draft202012Validator(schema()).validate(value)
    assert (value["open"], value["limit"], len(value["rounds"])) == (1, 5, 2)
    assert cli("keep")[0] == 1
    status, out, _ = cli("revert", lang="zh")
    assert (status, "Round 1 已撤回，2 个文件放回" in out) == (0, True)
    value = json.loads(cli("--format", "json")[1])
    jsonschema.Draft202012Validator(schema()).validate(value)
    saved = value["saved"][-1]
    # Every state that is listed can be put back, the newest first, and says what it is.
    assert [one["state"] for one in value["states"]] == [saved, "1", "0"]
    assert value["states"][1]["text"]["en"] == "round 1 (reverted): double buffer"
    assert value["states"][2]["text"]["zh"] == "Round 0：起点"
    for one in reversed(value["states"]):
        assert cli("restore", one["state"])[0] == 0
    assert (op / "src/main.cpp").read_text() == "int 新;\n"
    assert cli("restore", "7")[0] == 1
    assert cli("nonsense")[0] == 2
    assert json.loads(cli("--print-schema")[1]) == schema()
    assert not (op / ".git/index").exists()
    done = subprocess.run([sys.executable, "-m", "opdev.cli", "rounds", "--lang", "en"], cwd=op, capture_output=True, text=True, check=False)  # fmt: skip
    assert (done.returncode, "double buffer" in done.stdout) == (0, True)


def test_programs_read_what_was_done(op, cli):
    schema_of_actions = {**schema(), **schema()["$defs"]["action"]}
    for argv, state in ((("start", "x"), "open"), (("revert",), "reverted"), (("restore", "0"), None)):
        write(op, {"src/main.cpp": f"{argv}\n"})
        status, out, _ = cli(*argv, "--format", "json")
        value = json.loads(out)
        jsonschema.Draft202012Validator(schema_of_actions).validate(value)
        assert (status, value["action"], value["state"]) == (0, argv[0], state)
    assert value["restored"] == ["src/main.cpp"]
    assert cli("restore", value["saved"])[0] == 0


def test_nothing_is_touched_while_a_run_has_the_operator(op, cli):
    cli("start", "x")
    lock = Lock(str(op), "20260101-000000-000000-abcdef")
    assert lock.taken()

    status, _, err = cli("revert")

    assert (status, "20260101-000000-000000-abcdef" in err) == (1, True)
    lock.close()
    assert cli("revert")[0] == 0
