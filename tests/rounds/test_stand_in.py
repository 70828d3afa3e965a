"""Rounds of a real operator on the CPU stand-in: a fault is seen and taken back, a right change is kept, speed is not judged."""

from __future__ import annotations

import json

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
    tuned.go("4", **SIM)
    tuned.go("6", **SIM)
    return tuned


def change(op, old, new):
    path = op.root / "src/tuned_kernel.cpp"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


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
    assert work.keep(store)[0].state == "kept"
    rows = overview(store.root)
    assert [r.round.state for r in rows] == ["base", "reverted", "kept"]
    assert all(r.vs_first is None and r.vs_kept is None for r in rows)
    assert "32 * 1024" in (op.root / "src/tuned_kernel.cpp").read_text(encoding="utf-8")
