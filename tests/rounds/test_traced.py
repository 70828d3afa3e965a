"""Every figure of a performance report, followed by hand: from its cell to the run and the lines it names, and computed again."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from trees import write
from tuned import PERF, made

from opdev.rounds import ledger as ledgers
from opdev.rounds import work
from opdev.rounds.store import Store
from opdev.runs import store
from opdev.runs.perf_report import write as report
from opdev.runs.target import look

SOURCE = re.compile(
    r"- 来源：(?P<name>[^：（\n]+)(?P<baseline>（基线）)?：(?P<places>.*?)，(?:采用 (?P<used>\d+) 次，)?取中位数"
)
PLACE = re.compile(r"run `(?P<run>[^`]+)` 的 `(?P<log>[^`]+)` 第 (?P<lines>[^ ]+) 行")
BLOCK = re.compile(r"<!-- opdev:perf (?P<id>[\d.]+) \w+ -->\n(?P<body>.*?)\n<!-- /opdev:perf (?P=id) -->", re.DOTALL)
LARGE = 67_108_864
BUS = "kernel_bus_bandwidth_GBps"


def launches(root, places):
    """The values of the lines a source names, a list of PEs' lines for each launch; read with nothing but a regex."""
    found = []
    for place in PLACE.finditer(places):
        lines = (root / ".opdev/runs" / place["run"] / place["log"]).read_text(encoding="utf-8").split("\n")
        for part in place["lines"].split("、"):
            first, _, last = part.partition("–")
            found += [dict(re.findall(r"(\w+)=(\S+)", lines[n - 1])) for n in range(int(first), int(last or first) + 1)]
    assert found
    assert [one["pe"] for one in found] == ["0", "1"] * (len(found) // 2)
    return [found[n : n + 2] for n in range(0, len(found), 2)]


def median(found, name):
    slow = name in ("e2e_us", "kernel_us")
    values = sorted((max if slow else lambda v: sum(v) / len(v))([float(pe[name]) for pe in one]) for one in found)
    return values[len(values) // 2 if slow else (len(values) - 1) // 2]


def holds(cell, value):
    digits = len(cell.partition(".")[2])
    return cell == f"{value:.{digits}f}"


@pytest.fixture
def op(tmp_path):
    """Round 0 against a baseline, two rounds, on a host without the stand-in: what scripts print counts as measured."""
    found = made(tmp_path)
    three = (
        PERF.replace("for pe in 0 1; do", "for add in 0 3 1; do for pe in 0 1; do")
        .replace("bus=$((BUS + pe", "bus=$((BUS + add + pe")
        .replace("done\necho", "done; done\necho")
    )
    base = three.replace("[PERF]", "[BASELINE_PERF]").replace(" bandwidth_utilization_pct=%.9g payload_bytes=%d bus_factor=1 peak_bandwidth_GBps=28", " payload_bytes=%d bus_factor=1 api=HcclAllGather").replace("bus, bus / 28 * 100, payload", "bus, payload").replace('. "$here/src/main.cpp"', "BUS=90")  # fmt: skip
    base = base.replace('here=$(cd "$(dirname "$0")/..', 'here=$(cd "$(dirname "$0")/../..')
    write(found.root, {"scripts/perf.sh": three})
    found.go("6", count=LARGE)
    # By itself: behind the operator's own measurement it would wait.
    (found.root / "scripts/perf.sh").unlink()
    write(found.root, {"baseline/scripts/run_baseline.sh": base})
    found.go("6", count=LARGE)
    # A minute ago, so that nothing has to wait for HCCL to let go.
    events = Path(store.runs(str(found.root))[-1].events)
    lines = [{**e, "time": e["time"] - 60} for e in map(json.loads, events.read_text(encoding="utf-8").splitlines())]
    events.write_text("".join(json.dumps(e, ensure_ascii=False) + "\n" for e in lines), encoding="utf-8")
    shutil.rmtree(found.root / "baseline")
    write(found.root, {"scripts/perf.sh": three})
    for idea, bus in (("double buffer", 120), ("more blocks", 118)):
        work.start(Store(str(found.root)), idea, work.Limit())
        found.source(f"BUS={bus}\n")
        found.go("6.5", count=LARGE)
        (work.keep if bus == 120 else work.revert)(Store(str(found.root)))
    return found


def test_every_figure_is_that_of_the_lines_it_names(op):
    path = op.root / "docs/performance_report.md"
    report(look(str(op.root)), str(path), check=False)
    blocks = {m["id"]: m["body"] for m in BLOCK.finditer(path.read_text(encoding="utf-8"))}
    followed = 0

    for id_ in ("3.1", "3.5", "4", "5", "6.1"):
        sources = (
            {(m["name"], bool(m["baseline"])): launches(op.root, m["places"]) for m in SOURCE.finditer(blocks[id_])}
            if id_ in blocks
            else {}
        )
        for line in blocks.get(id_, "").split("\n"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not line.startswith("|") or cells[0].startswith("---"):
                continue
            if cells[0] in ("case_id", "metric", "Step", "Round", "指标"):
                head = cells
                continue
            row = dict(zip(head, cells, strict=True))
            step = {"0": "0.1", "1": "1.1", "2": "2.1"}.get(
                row.get("Round", ""), row.get("Step", row.get("case_id", ""))
            )
            mine = sources.get((step, False)) or next(iter(v for (_, base), v in sources.items() if not base), None)
            theirs = next(iter(v for (_, base), v in sources.items() if base), None)
            for title, cell in row.items():
                name = {"algo_GBps": "algo_bandwidth_GBps", "最优 kernel_bus_bandwidth_GBps": BUS, "最优 e2e_us": "e2e_us", "utilization%": "bandwidth_utilization_pct",
                        "SHMEM kernel_bus_bandwidth_GBps": BUS, "SHMEM e2e": "e2e_us", "SHMEM kernel": "kernel_us"}.get(title, title)  # fmt: skip
                best = re.fullmatch(r"Round (\d) 最优", title)
                if title in ("SHMEM 最终", "HcclAllGather", "基线", "Baseline") or best:
                    name = {"e2e_latency_us": "e2e_us", "kernel_latency_us": "kernel_us"}.get(row["指标"], row["指标"])
                mine = sources.get((f"{best[1]}.1", False)) if best else mine
                theirs = sources.get(("Baseline", False)) if title == "Baseline" else theirs
                where = theirs if title in ("Baseline kernel_bus_bandwidth_GBps", "HcclAllGather", "Baseline") else mine
                name = BUS if title == "Baseline kernel_bus_bandwidth_GBps" else name
                if not re.fullmatch(r"\d+\.\d+", cell) or title in ("Step", "Round", "最优 Step"):
                    continue
                assert where, (id_, line)
                assert holds(cell, median(where, name)), (id_, title, cell, median(where, name))
                followed += 1
    assert followed >= 50
    assert blocks["4"].count("- 来源：Baseline：run ") == 2
    # Section 3 is Round 0's, and section 6 the code's that is there now: Round 1's, for Round 2 was taken back.
    zero, one, two = (r.retests[-1].run for r in ledgers.read(str(op.root)).rounds)
    for id_, wanted in (("3.1", zero), ("3.5", zero), ("5", zero), ("5", one), ("5", two)):
        assert wanted in blocks[id_], id_
    text = path.read_text(encoding="utf-8")
    assert not {one, two} & set(re.findall(r"run `([^`]+)`", text[text.index("## 3.") : text.index("## 4.")]))
    final = set(re.findall(r"run `([^`]+)`", text[text.index("## 6.") :]))
    assert one in final
    assert not {zero, two} & final
    # Ratios and distances are made of what was followed.
    assert re.search(r"\| 1 \| 优化 \| double buffer \| 1\.1 \| 12\d\.\d+ \| \+\d\d\.\d% \|", blocks["5"])
    assert blocks["5"].count("- 来源：") == 3


def test_the_runs_that_rounds_rest_on_outlive_the_others(op):
    root = str(op.root)
    named = {test.run for r in ledgers.read(root).rounds for test in r.retests}
    before = [run.id for run in store.runs(root)]

    gone = store.prune(root, store.Limits(runs=1, size=1, days=0))

    assert len(named) == 3
    assert {run.id for run in store.runs(root)} == named
    assert sorted(gone) == sorted(set(before) - named)


def test_figures_whose_run_was_removed_say_so(op):
    for run in (op.root / ".opdev/runs").iterdir():
        shutil.rmtree(run)
    path = op.root / "docs/performance_report.md"
    report(look(str(op.root)), str(path), check=False)

    assert "（日志已清理）" in path.read_text(encoding="utf-8")
