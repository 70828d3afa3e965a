"""Rounds of a real operator on the CPU stand-in: a fault is seen and taken back, a right change is kept, speed is not judged.

What its events say of cases and rounds is what commands and reports say, figure by figure.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from needed import needs
from trees import described, write
from tuned import INTAKE, Tuned, of

from opdev.rounds import work
from opdev.rounds.errors import Refused
from opdev.rounds.overview import overview
from opdev.rounds.store import Store
from opdev.scaffold.cli import main as scaffold

pytestmark = needs("g++", "cmake")
CASES = ("smoke_2pe_fp16", "tail_chunk_2pe_fp16")
SIM = {"executor": "sim", "count": 4096}


@pytest.fixture(scope="module")
def op(tmp_path_factory):
    """An operator of the templates with few cases, measured once."""
    repo = tmp_path_factory.mktemp("stand-in") / "repo"
    write(repo, {"include/x.h": "", "src/x.cpp": ""})
    assert scaffold("new", ["tuned", "--kind", "put-get", "--dtypes", "float16", "--dir", str(repo)]) == 0
    root = repo / "custom-ops/tuned"
    write(root, {"docs/phase0_intake.yaml": INTAKE})
    path = root / "scripts/cases.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    value["cases"] = [c for c in value["cases"] if c["case_id"] in CASES]
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    tuned = Tuned(root)
    cases_agree(tuned, tuned.go("4", **SIM)[1], "pass")
    tuned.go("6", **SIM)
    return tuned


def cli(op, *words):
    """What a command prints."""
    argv = [sys.executable, "-m", "opdev.cli", *words, "--op", str(op.root)]
    return subprocess.run(argv, capture_output=True, text=True, check=False, cwd="/").stdout


def cases_agree(op, found, verdict):
    """The cases of a run: its events, `opdev show`, `opdev precision --run`, the checker's log and the report say one thing."""
    run = found[0]["run"]
    shown = [json.loads(line) for line in cli(op, "show", run, "--format", "jsonl").splitlines()]
    assert shown == found
    told, judged, [matrix] = of(found, "case"), of(found, "case-precision"), of(found, "matrix")
    names = [case["case"] for case in told]
    word = {"pass": "PASS", "fail": "FAIL"}[verdict]
    assert sorted(names) == sorted(CASES)
    assert {case["verdict"] for case in told} == {word}
    assert (matrix["total"], matrix["passed"], matrix["failed"]) == (2, *((2, 0) if verdict == "pass" else (0, 2)))
    assert [(one["case"], one["said"], one["verdict"], one["agrees"]) for one in judged] == [
        (n, word, verdict, True) for n in names
    ]
    assert all(one["document"]["backend"] == "sim" for one in judged)
    listed = json.loads(cli(op, "precision", "--run", run, "--format", "json"))
    assert [(one["case"], one["document"]) for one in listed] == [(one["case"], one["document"]) for one in judged]
    cli(op, "report", "correctness")
    text = (op.root / "docs/correctness_report.md").read_text(encoding="utf-8")
    for case, one in zip(told, judged, strict=True):
        # The checker's line and the engine measured the same outputs by themselves.
        largest = [r["metrics"]["max_abs"] for r in one["document"]["results"]]
        if all(isinstance(value, float) for value in largest) and case["values"]["maxae"] != "nan":
            assert float(case["values"]["maxae"]) == pytest.approx(max(largest), rel=1e-6)
        rows = [row for row in text.splitlines() if row.startswith(f"| {case['case']} |")]
        assert f"| {word} |" in rows[0]
        engine = next(row for row in rows if "`data/logs/" in row or "| 精度引擎 |" in row)
        wrong = [r for r in one["document"]["results"] if r["verdict"] != "pass"]
        assert ("| 通过（2/2） |" in engine) == (not wrong)
        for result in wrong[:1]:
            assert f"不通过（{2 - len(wrong)}/2）：{result['name']}，" in engine
            if result["mismatches"]:
                assert str(result["mismatches"][0]["coordinates"]) in engine
        assert f"第 {one['seq'] + 1} 行" in engine
        assert run in text


def change(op, old, new):
    path = op.root / "src/tuned_kernel.cpp"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def rounds_agree(op, told):
    """A measured round: its event, `opdev show`, `opdev perf rounds` and the page say one thing."""
    run = told["run"]
    shown = [json.loads(line) for line in cli(op, "show", run, "--format", "jsonl").splitlines()]
    assert of(shown, "round") == [told]
    row = next(
        r for r in json.loads(cli(op, "perf", "rounds", "--format", "json"))["rounds"] if r["round"] == told["round"]
    )
    assert (row["idea"], row["measured"]["simulated"]) == (told["idea"], True)
    assert told["figures"] == {name: row["measured"]["figures"][name] for name in told["figures"]}
    assert told["figures"]
    page = op.root / "r.html"
    cli(op, "report", "--html", str(page), "--lang", "en")
    text = page.read_text(encoding="utf-8")
    page.unlink()
    assert told["idea"] in text
    bus = told["figures"]["kernel_bus_bandwidth_GBps"]
    assert f"{bus:.2f}" in re.sub(r"<[^>]+>", " ", text)


def test_a_fault_is_taken_back_and_a_right_change_is_kept(op):
    store = Store(str(op.root))
    base = overview(store.root)[0]
    assert (base.correctness, base.measured.simulated, base.measured.n_pes) == ("pass", True, 2)
    own = {p: described(op.root)[p.encode()] for p in store.present().tree.entries}

    work.start(store, "send one element less", work.Limit())
    change(op, "tiles.put(put_row, source, mine.length, next)", "tiles.put(put_row, source, mine.length - 1, next)")
    write(op.root, {"src/extra.h": "// new\n"})
    (op.root / "scripts/run.sh").chmod(0o700)
    status, found = op.go("6.5", **SIM)
    (told,) = of(found, "round")
    assert (status.state, told["correctness"], told["proposal"], told["code"]) == ("failed", "fail", "revert", "red")
    cases_agree(op, found, "fail")
    with pytest.raises(Refused, match="keep-red"):
        work.keep(store)
    work.revert(store)
    assert {p: described(op.root)[p.encode()] for p in store.present().tree.entries} == own

    work.start(store, "smaller tiles", work.Limit())
    change(op, "UB_TILE_BYTES = 64 * 1024", "UB_TILE_BYTES = 32 * 1024")
    status, found = op.go("6.5", **SIM)
    (told,) = of(found, "round")
    assert (status.state, told["correctness"], told["proposal"], told["code"]) == (
        "blocked",
        "pass",
        "none",
        "simulated",
    )
    assert all(e["backend"] == "sim" for e in found)
    rounds_agree(op, told)
    assert work.keep(store)[0].state == "kept"
    rows = overview(store.root)
    assert [r.round.state for r in rows] == ["base", "reverted", "kept"]
    assert all(r.vs_first is None and r.vs_kept is None for r in rows)
    assert "32 * 1024" in (op.root / "src/tuned_kernel.cpp").read_text(encoding="utf-8")
