"""The precision and the performance panel: live, the same when opened again, and what the command line says."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recorded import recorded, runs

if TYPE_CHECKING:
    from code_server import CodeServer
    from playwright.sync_api import FrameLocator
    from workbench import Workbench

CASES = ("smoke_2pe_fp16", "smoke_2pe_fp32")
LONG = 240_000
BUS = "kernel_bus_bandwidth_GBps"


def cli(root: Path, *words: str) -> Any:
    """What a command prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "opdev.cli", *words, "--op", str(root), "--format", "json"],
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    return json.loads(done.stdout)


def cells(page: FrameLocator, table: str) -> list[list[str]]:
    """A table as it stands on the screen, row by row; a heading by the name the command line has for it."""
    found = page.locator(f"{table} tr")
    rows = [[" ".join(text.split()) for text in row.locator("th, td").all_inner_texts()] for row in found.all()]
    fields = page.locator(f"{table} thead th").evaluate_all("all => all.map((one) => one.dataset.field ?? '')")
    return [[field or text for field, text in zip(fields, rows[0], strict=True)], *rows[1:]] if rows else []


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


def told(root: Path, run: str) -> list[dict[str, Any]]:
    """What `opdev show` prints of a run for programs."""
    done = subprocess.run(
        [sys.executable, "-m", "opdev.cli", "show", run, "--op", str(root), "--format", "jsonl"],
        capture_output=True, text=True, check=True, cwd="/",
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def judged(root: Path, run: str) -> list[list[object]]:
    """Each case of a run, its verdict, and each PE's verdict and MaxAE, from what `opdev show` prints of the run."""
    found: list[list[object]] = []
    pes: dict[int, dict[str, Any]] = {}
    for event in told(root, run):
        if event["type"] == "check" and event["pe"] is not None:
            pe = pes.setdefault(event["pe"], {})
            pe.update(event["values"], **({"verdict": event["verdict"]} if event["verdict"] else {}))
        elif event["type"] == "case":
            found.append(
                [event["case"], event["verdict"], *((pes[pe]["verdict"], pes[pe]["MaxAE"]) for pe in sorted(pes))]
            )
            pes = {}
    return found


def error(value: float | str | None) -> str:
    """As the panels write errors: two digits and a power of ten, words where JSON has no number."""
    if value is None or isinstance(value, str):
        return value or "–"
    return "0" if value == 0 else re.sub(r"e([+-])0?(\d)", r"e\1\2", f"{value:.2e}")


def detailed(page: FrameLocator, result: dict[str, Any]) -> None:
    """Every number of the chosen PE's details is `opdev precision`'s."""
    found = page.locator(".details .verdict dl > div").all_inner_texts()
    shown = [" ".join(text.split()).rpartition(" ")[2] for text in found]
    m = result["metrics"]
    wanted = [error(m[name]) for name in ("max_abs", "max_rel", "mean_rel", "rmse", "eb")]
    assert " ".join(found[0].split()).endswith(f"{m['within']} / {m['elements']}")
    assert shown[1 : 1 + len(wanted)] == wanted


def compiled(bench: Workbench, page: FrameLocator, root: Path, run: str, out: Path) -> None:
    """State, errors and every line of the log in the compile panel are those of `opdev runs`, `opdev show` and the logs."""
    (record,) = [one for one in cli(root, "runs") if one["id"] == run]
    assert page.locator(f".badge.{record['state']}").count() == 1
    assert (page.locator(".simulated").count() > 0) == (record["backend"] == "sim")
    found = [e for e in told(root, run) if e["type"] == "diagnostic" and e["severity"] != "note"]
    assert page.locator(".errors .found").count() == len(found)
    for row, event in zip(page.locator(".errors .found").all(), found, strict=True):
        where = f"{event['path'].rpartition('/')[2]}:{event['line']} " if event["path"] else ""
        assert " ".join(row.inner_text().split()) == " ".join(f"{where}{event['message']}".split())
    bench.written(page.get_by_role("button", name=re.compile("Export the log|导出日志")).click, out)
    lines: dict[str, list[str]] = {}
    part: list[str] = []
    for line in out.read_text(encoding="utf-8").rstrip("\n").split("\n"):
        if line.startswith("━━ "):
            part = lines.setdefault(line[3:], [])
        else:
            part.append(line)
    logs = {path.name: path.read_text(encoding="utf-8") for path in Path(record["folder"], "logs").glob("*.log")}
    assert lines == {name: text.rstrip("\n").split("\n") for name, text in logs.items() if text}


def on_screen(page: FrameLocator) -> list[list[object]]:
    """The same from the table of cases and PEs."""
    verdicts = {"✓": "PASS", "✗": "FAIL"}
    rows = cells(page, ".cases")
    first = rows[0].index("PE 0")
    return [
        [row[0], verdicts[row[1][0]], *((verdicts[cell[0]], float(cell.split()[1])) for cell in row[first:])]
        for row in rows[1:]
    ]


def close(bench: Workbench) -> None:
    """Close the panel in front."""
    tab = bench.page.locator(".tab.active").filter(has_text=re.compile("编译|精度|性能|Compile|Precision|Performance"))
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
    bench.expand(view.locator(".monaco-list-row", has_text="allgather").first)

    def start(phase: str) -> None:
        bench.act(view.locator(".monaco-list-row", has_text=phase).first, "运行")

    page = panel(bench, "打开精度面板", "精度", "allgather", choose=True)
    page.get_by_text("这里还没有运行过").wait_for()
    start("正确性")
    # A case is there while the others still run.
    page.locator(f"#app:has(.badge.running) tr[data-case={CASES[0]}] td.pass").first.wait_for(timeout=LONG)
    bench.picture("precision-live-zh-dark")
    page.locator(".badge.blocked").wait_for(timeout=LONG)
    page.locator(".details .verdict").wait_for()
    ran = runs(root)[-1]
    assert on_screen(page) == judged(root, ran)
    chosen = page.locator(".details h2").first.inner_text()
    (mine,) = [r for r in cli(root, "precision")["results"] if chosen.startswith(f"PE {r['pe']} ")]
    detailed(page, mine)
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
    page = panel(bench, "打开编译面板", "编译", "allgather", choose=True)
    page.locator(".log .line", has_text="[MATRIX]").first.wait_for()
    compiled(bench, page, root, ran, workspace / "compile.log")
    # Folded, a log is its heading, for mouse and keyboard.
    matrix = page.locator(".log .title[aria-expanded]", has_text="-matrix.stdout.log").last
    matrix.focus()
    bench.page.keyboard.press("Enter")
    page.locator(".log .line", has_text="[MATRIX]").first.wait_for(state="detached")
    bench.picture("compile-folded-zh-dark")
    page.get_by_role("button", name="全部展开").click()
    follow = page.get_by_label("跟随末尾")
    # A list that grows or shrinks under the mouse changes whether it follows.
    bench.again(
        lambda: follow.is_checked() or follow.click(), page.locator(".log .line", has_text="[MATRIX]").first, "the end"
    )
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
    assert on_screen(page) == judged(op.root, runs(op.root)[-1])
    said = cli(op.root, "precision")["results"][1]
    detailed(page, said)
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
    assert columns(rows, ("Target GB/s",))[0] == ["80.00"]
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
    bench.written(page.get_by_role("button", name="Export CSV").click, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as stream:
        assert [line[BUS] for line in csv.DictReader(stream)] == ["90", "90"]
