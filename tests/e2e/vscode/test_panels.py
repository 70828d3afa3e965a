"""The precision and the performance panel: live, the same when opened again, and what the command line says."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from code_server import ROOT

sys.path.insert(0, str(ROOT / "tests" / "lsp"))

from operators import Operator, make

if TYPE_CHECKING:
    from code_server import CodeServer
    from playwright.sync_api import FrameLocator
    from workbench import Workbench

CASES = ("smoke_2pe_fp16", "smoke_2pe_fp32")
PAYLOAD = 1 << 20
ELEMENTS = 4096
LONG = 240_000
BUS = "kernel_bus_bandwidth_GBps"
# A matrix of two cases on two PEs; PE 1 is wrong in the last one where a file says so.
MATRIX = """\
import glob, os, sys
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for path in glob.glob(root + "/output/*.bin"):
    os.utime(path)
wrong = os.path.exists(root + "/wrong")
open(root + "/docs/case_matrix_report.md", "w").write("# x\\n")
for case, bad in (("小_2pe", False), ("odd_2pe", wrong)):
    for pe in (0, 1):
        off = 1.0 if bad and pe else 0.0
        print(f"PE {pe}: dtype=float16 MaxAE={off:.6e} MaxRE={off:.6e} MeanRE={off / 16:.6e} rtol=0.0 atol=0.0")
        print(f"PE {pe}: {'FAIL (256 of 4096)' if off else 'PASS (4096 elements)'}")
    if bad:
        print("  first mismatch idx=3840 actual=0 expected=15")
    print(f"[CASE] id={case} result={'FAIL' if bad else 'PASS'} seconds=0.1", flush=True)
print(f"[MATRIX] total=2 passed={2 - wrong} failed={int(wrong)} blocked=0")
sys.exit(int(wrong))
"""


def cli(root: Path, *words: str) -> Any:
    """What a command prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "opdev.cli", *words, "--op", str(root), "--format", "json"],
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    return json.loads(done.stdout)


def runs(root: Path) -> list[str]:
    return sorted(path.name for path in (root / ".opdev/runs").iterdir())


def cells(page: FrameLocator, table: str) -> list[list[str]]:
    """A table as it stands on the screen, row by row."""
    found = page.locator(f"{table} tr")
    return [[" ".join(text.split()) for text in row.locator("th, td").all_inner_texts()] for row in found.all()]


def figure(value: float | None) -> str:
    """As `opdev perf show` writes it."""
    if value is None:
        return "–"
    return f"{value:.2f}" if abs(value) >= 0.01 or value == 0 else f"{value:.2g}"


def columns(rows: list[list[str]], names: Iterable[str]) -> list[list[str]]:
    at = [rows[0].index(name) for name in names]
    return [[row[index] for index in at] for row in rows[1:]]


def agree(page: FrameLocator, document: dict[str, Any], backend: str) -> None:
    """Every figure of both tables is one of the document's."""
    groups = [g for g in document["groups"] if g["backend"] == backend and g["used"]]
    assert groups
    for table, names in (
        ("bandwidth", (BUS, "algo_bandwidth_GBps", "e2e_bus_bandwidth_GBps")),
        ("latency", ("e2e_us", "kernel_us")),
    ):
        rows = cells(page, f"[data-table={table}][data-backend={backend}]")
        shown = columns(rows, names)
        assert shown == [[figure((g["metrics"][n] or {}).get("median")) for n in names] for g in groups]
        assert [row[1].split(" ")[0] for row in rows[1:]] == [g["case"] for g in groups]


def close(bench: Workbench) -> None:
    """Close the panel in front."""
    tab = bench.page.locator(".tab.active").filter(has_text=re.compile("精度|性能|Precision|Performance"))
    tab.hover()
    tab.locator(".tab-actions .action-label").click()
    bench.page.locator("iframe.webview").wait_for(state="detached")


def panel(bench: Workbench, command: str, title: str, operator: str, *, choose: bool = False) -> FrameLocator:
    """Open a panel from the palette; ``choose`` where there is more than one operator."""
    bench.palette(command)
    if choose:
        bench.choose(operator)
    return bench.webview(f"{title} · {operator}")


def test_both_panels_fill_live_and_are_the_same_when_opened_again(
    serve: Callable[..., CodeServer], window: Callable[..., Workbench], workspace: Path
) -> None:
    root = workspace / "custom-ops/allgather"
    cases = root / "scripts/cases.json"
    cases.write_text(json.dumps([c for c in json.loads(cases.read_text()) if c["case_id"] in CASES]))
    machine = {"opdev.python": sys.executable, "opdev.run.executor": "sim"}
    server = serve(machine=machine, locale="zh-cn", settings={"workbench.colorTheme": "Default Dark Modern"})
    bench = window(server, workspace)
    view = bench.view("opdev")
    view.locator(".monaco-list-row", has_text="allgather").first.click()

    def start(phase: str) -> None:
        row = view.locator(".monaco-list-row", has_text=phase).first
        row.hover()
        row.locator(".action-label[aria-label^='运行']").click()

    page = panel(bench, "打开精度面板", "精度", "allgather", choose=True)
    page.get_by_text("这里还没有运行过").wait_for()
    start("正确性")
    # A case is there while the others still run.
    page.locator(f"#app:has(.badge.running) tr[data-case={CASES[0]}] td.pass").wait_for(timeout=LONG)
    bench.picture("precision-live-zh-dark")
    page.locator(".badge.blocked").wait_for(timeout=LONG)
    page.locator(".details .verdict").wait_for()
    first = cells(page, ".cases")
    detail = page.locator(".details").inner_text()
    assert [row[0] for row in first[1:]] == list(CASES)
    assert first[0][-2:] == ["PE 0", "PE 1"]
    assert page.locator(".simulated").first.is_visible()
    bench.picture("precision-zh-dark")
    close(bench)
    page = panel(bench, "打开精度面板", "精度", "allgather", choose=True)
    page.locator(".details .verdict").wait_for()
    assert cells(page, ".cases") == first
    assert page.locator(".details").inner_text() == detail
    close(bench)

    page = panel(bench, "打开性能面板", "性能", "allgather", choose=True)
    page.get_by_text("还没有性能数据").wait_for()
    start("性能评估")
    page.locator("#app:has(.badge.running) [data-table=bandwidth] th .mark").first.wait_for(timeout=LONG)
    bench.picture("performance-live-zh-dark")
    page.locator(".badge.blocked").wait_for(timeout=LONG)
    page.locator(".plot canvas").first.wait_for()
    document = cli(root, "perf", "show", runs(root)[-1])
    bench.until(lambda: page.locator("[data-table=bandwidth] th .mark").count() == 0, "nothing is being measured")
    agree(page, document, "sim")
    # No line that hardware would have to reach.
    assert page.locator(".u-legend").get_by_text("目标").count() == 0
    tables = {name: cells(page, f"[data-table={name}]") for name in ("bandwidth", "latency")}
    bench.picture("performance-zh-dark")
    close(bench)
    page = panel(bench, "打开性能面板", "性能", "allgather", choose=True)
    page.locator(".plot canvas").first.wait_for()
    assert {name: cells(page, f"[data-table={name}]") for name in tables} == tables


def measured(op: Operator, bus: float, tag: str = "PERF") -> None:
    """A run on this machine whose program says it has so many GB/s."""
    kernel = PAYLOAD / bus / 1e3
    peak = "" if tag != "PERF" else f"bandwidth_utilization_pct={bus / 196 * 100:.6g} peak_bandwidth_GBps=196"
    api = "api=HcclAllGather" if tag != "PERF" else ""
    lines = "".join(
        f"echo '[{tag}] pe={pe} e2e_us={2 * kernel:.6g} kernel_us={kernel:.6g} algo_bandwidth_GBps={bus / 2:.6g} e2e_bus_bandwidth_GBps={bus / 2:.6g} "
        f"kernel_bus_bandwidth_GBps={bus:.6g} payload_bytes={PAYLOAD} bus_factor=1 {peak} {api}'\n"
        for pe in (0, 1)
    )  # fmt: skip
    ours, theirs = op.root / "scripts/perf.sh", op.root / "baseline/scripts/run_baseline.sh"
    for path in (ours, theirs):
        path.unlink(missing_ok=True)
    op.write(str((theirs if tag != "PERF" else ours).relative_to(op.root)), lines)
    op.opdev("run", "6", "--executor", "host", "--count", "524288")


def outputs(op: Operator) -> None:
    """The last sixteenth of PE 1 was never written."""
    golden = np.repeat(np.arange(1, 17, dtype=np.float16), ELEMENTS // 16)
    op.write("data/config.json", json.dumps({"n_pes": 2, "dtype": "float16", "expected_elems": ELEMENTS}))
    (op.root / "output").mkdir(exist_ok=True)
    for pe in (0, 1):
        output = golden.copy()
        output[ELEMENTS - ELEMENTS // 16 :] *= 1 - pe
        (op.root / f"data/golden_pe{pe}.bin").write_bytes(golden.tobytes())
        (op.root / f"output/output_pe{pe}.bin").write_bytes(output.tobytes())


def recorded(folder: Path) -> Operator:
    """Runs that passed and failed, measured ours and a baseline; the newest is the matrix."""
    op = make(folder)
    intake = op.root / "docs/phase0_intake.yaml"
    intake.write_text(intake.read_text().replace("performance_required: false", "performance_required: true"))
    op.write("scripts/run_case_matrix.py", MATRIX)
    measured(op, 100.0, "BASELINE_PERF")
    measured(op, 70.0)
    measured(op, 90.0)
    op.opdev("run", "4", "--executor", "host")
    op.write("wrong", "")
    outputs(op)
    op.opdev("run", "4", "--executor", "host")
    return op


def test_why_an_output_is_wrong_and_how_two_runs_compare(
    code_server: CodeServer, window: Callable[..., Workbench], tmp_path: Path
) -> None:
    op = recorded(tmp_path / "repo")
    _, slow, fast, good, _ = runs(op.root)
    bench = window(code_server, op.repo)
    bench.view("opdev").locator(".monaco-list-row", has_text="demo").first.wait_for()

    page = panel(bench, "opdev: Show precision panel", "Precision", "demo")
    # The PE that is wrong is chosen by itself.
    page.locator(".details h2", has_text="PE 1 · odd_2pe").wait_for()
    page.locator(".hypotheses").first.wait_for()
    said = cli(op.root, "precision")["results"][1]
    rows = cells(page, ".details .mismatches")[1:]
    assert [[row[0], row[1]] for row in rows] == [
        [str(m["index"]), f"[{', '.join(map(str, m['coordinates']))}]"] for m in said["mismatches"]
    ]
    assert page.locator(".details .cell.bad").count() == sum(
        bool(n) for line in said["heat"]["mismatches"] for n in line
    )
    assert page.locator(".details .chart .bar").count() >= 1
    bench.picture("precision-wrong", shown=True)
    page.get_by_role("button", name=re.compile("^PE 0, odd_2pe")).click()
    page.get_by_text("elements are exact").first.wait_for()
    page.get_by_role("button", name=re.compile("^PE 1, 小_2pe")).click()
    page.get_by_text("have overwritten the outputs of this one; what follows is of odd_2pe").wait_for()
    page.get_by_label("Compare with").select_option(good)
    changed = page.locator(".comparison tr.changed")
    changed.wait_for()
    assert changed.locator("th, td").all_inner_texts()[:3] == ["odd_2pe", "✗ fail", "✓ pass"]
    bench.picture("precision-compared")
    close(bench)

    page = panel(bench, "opdev: Show performance panel", "Performance", "demo")
    page.get_by_text("the run above measured nothing").wait_for()
    agree(page, cli(op.root, "perf", "show"), "hardware")
    page.locator(".u-legend").get_by_text("Target").wait_for()
    rows = cells(page, "[data-table=bandwidth]")
    assert columns(rows, ("Target",))[0] == ["80.00"]
    assert columns(rows, ("Verdict",))[0] == ["met 90.00 % of the baseline"]
    bench.picture("performance-target", shown=True)
    page.get_by_label("Run", exact=True).select_option(fast)
    page.get_by_text("the run above measured nothing").wait_for(state="hidden")
    page.get_by_label("Compare with").select_option(slow)
    page.locator("[data-table=comparison]").wait_for()
    row = cli(op.root, "perf", "compare", fast, slow)["rows"][0]
    assert [line[2:4] for line in cells(page, "[data-table=comparison]")[1:]] == [
        [figure(f["a"]), figure(f["b"])] for f in row["figures"].values()
    ]
    bench.picture("performance-compared")
    page.get_by_role("button", name="Export CSV").click()
    box = bench.page.locator(".quick-input-widget .quick-input-box input")
    box.wait_for()
    box.fill(str(tmp_path / "out.csv"))
    # The dialog lists the folder that was typed before it takes the name.
    bench.page.locator(".quick-input-widget .monaco-list-row", has_text="repo").wait_for()
    bench.page.locator(".quick-input-widget .monaco-button", has_text="OK").click()
    bench.until((tmp_path / "out.csv").exists, "the file")
    bench.until(lambda: os.path.getsize(tmp_path / "out.csv") > 0, "its text")
    with (tmp_path / "out.csv").open(newline="") as stream:
        assert [line[BUS] for line in csv.DictReader(stream)] == ["90", "90"]
