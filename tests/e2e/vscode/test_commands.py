"""What a person asks for: cases as tests, environment, gate, rounds, reports, clangd; and what an assistant may ask."""

from __future__ import annotations

import contextlib
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from code_server import ROOT
from workbench import SOON_MS

sys.path.append(str(ROOT / "tests/lsp"))

from operators import MATRIX, Operator, make

if TYPE_CHECKING:
    from code_server import CodeServer
    from playwright.sync_api import Locator
    from workbench import Workbench

# The second case waits as long as a file is there.
HELD = MATRIX.replace("import argparse,", "import argparse, time,").replace(
    "    bad = case",
    '    while case == "odd_2pe" and os.path.exists(here + "/hold"):\n        time.sleep(0.02)\n    bad = case',
)
# What a performance run of the operator prints.
FIGURES = "".join(
    f"echo '[PERF] pe={pe} e2e_us=23.3 kernel_us=11.65 algo_bandwidth_GBps=45 e2e_bus_bandwidth_GBps=45 "
    "kernel_bus_bandwidth_GBps=90 payload_bytes=1048576 bus_factor=1 bandwidth_utilization_pct=45.9 peak_bandwidth_GBps=196'\\n"
    for pe in (0, 1)
)
# What each tool of an assistant has to say.
TOOLS = {
    "opdev_lint": "run.sh:",
    "opdev_gate": "operator: demo",
    "opdev_explain": "missing-wait",
    "opdev_last_run": "of demo: 6.5",
}
PROBE = """\
const vscode = require('vscode');
const fs = require('node:fs');
const ASKED = {
  opdev_lint: { path: 'custom-ops/demo/scripts/run.sh' },
  opdev_gate: { operator: 'demo' },
  opdev_explain: { rule: 'missing-wait' },
  opdev_last_run: {},
};
exports.activate = (context) => {
  context.subscriptions.push(vscode.commands.registerCommand('probe.ask', async () => {
    const told = { tools: vscode.lm.tools.map((one) => one.name).filter((one) => one.startsWith('opdev')) };
    for (const [name, input] of Object.entries(ASKED)) {
      try {
        const result = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
        told[name] = result.content.map((part) => part.value).join('');
      } catch (error) {
        told[name] = `refused: ${error}`;
      }
    }
    const file = `${vscode.workspace.workspaceFolders[0].uri.fsPath}/told.json`;
    fs.writeFileSync(`${file}.draft`, JSON.stringify(told));
    fs.renameSync(`${file}.draft`, file);
  }));
};
"""


def packed(folder: Path, publisher: str, name: str, files: dict[str, str], **manifest: Any) -> Path:
    """A .vsix of so many files."""
    path = folder / f"{name}.vsix"
    what = {"publisher": publisher, "name": name, "version": "9.9.9", "engines": {"vscode": "^1.90.0"}, **manifest}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("extension/package.json", json.dumps(what))
        for file, text in files.items():
            archive.writestr(f"extension/{file}", text)
    return path


@pytest.fixture(scope="module")
def server(serve: Callable[..., CodeServer], tmp_path_factory: pytest.TempPathFactory) -> CodeServer:
    """Phases run on this machine itself; there are an assistant, and what clangd is known by."""
    folder = tmp_path_factory.mktemp("extensions")
    command = {"command": "probe.ask", "title": "Probe: ask every tool"}
    probe = packed(
        folder, "opdev", "probe", {"probe.js": PROBE}, main="./probe.js", contributes={"commands": [command]}
    )
    clangd = packed(folder, "llvm-vs-code-extensions", "vscode-clangd", {})
    machine = {"opdev.python": sys.executable, "opdev.run.executor": "host"}
    return serve(machine=machine, others=[probe, clangd])


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Operator]:
    op = make(tmp_path / "repo")
    op.write("scripts/run_case_matrix.py", HELD)
    yield op
    (op.root / "hold").unlink(missing_ok=True)
    op.end()


def row(bench: Workbench, text: str, icon: str = "") -> Locator:
    """A line of the test view, or its icon."""
    found = bench.page.locator(".test-explorer .monaco-list-row", has_text=text)
    return found.locator(f".codicon-testing-{icon}-icon") if icon else found.first


def open_cases(bench: Workbench, operator: str) -> None:
    """The cases of an operator are in sight, whatever the view shows by itself."""
    bench.view("Testing")
    bench.expand(row(bench, operator))


def test_cases_run_all_and_one_and_are_cancelled(
    server: CodeServer, window: Callable[..., Workbench], demo: Operator
) -> None:
    bench = window(server, demo.repo)
    open_cases(bench, "demo")
    row(bench, "odd_2pe").wait_for()
    bench.palette("Test: Run All Tests")
    for case in ("小_2pe", "odd_2pe"):
        row(bench, case, "passed").wait_for()
    bench.picture("tests-all")
    assert len(demo.runs()) == 1

    # One alone, and wrong: what was expected, what came, and where the case stands.
    demo.write("wrong", "")
    bench.act(row(bench, "odd_2pe"), "Run Test")
    row(bench, "odd_2pe", "failed").wait_for()
    assert row(bench, "小_2pe", "passed").count() == 1
    assert demo.runs()[-1].plan["cases"] == ["odd_2pe"]
    bench.page.locator(".test-output-peek-tree .monaco-list-row", has_text="case odd_2pe: FAIL").first.click()
    for text in ("rtol=0.001", "MaxAE=0.5 MaxRE=1", "PE 1 idx=3: 1.0"):
        bench.page.locator(".monaco-diff-editor .view-line", has_text=text).first.wait_for()
    bench.picture("tests-one-wrong")
    bench.page.keyboard.press("Escape")
    act(bench, row(bench, "odd_2pe"), "Go to Test")
    bench.page.locator(".tab.active", has_text="cases.json").wait_for()
    bench.page.locator(".statusbar-item", has_text="Ln 3, Col 1").wait_for()

    # Cancelled while the second case runs: the first has its verdict, the run is stopped.
    (demo.root / "wrong").unlink()
    demo.write("hold", "")
    bench.palette("Test: Run All Tests")
    row(bench, "小_2pe", "passed").wait_for()
    bench.page.locator(".test-explorer .monaco-list-row .codicon-modifier-spin").first.wait_for()
    bench.picture("tests-running")
    bench.palette("Test: Cancel Test Run")
    row(bench, "odd_2pe", "skipped").wait_for()
    row(bench, "小_2pe", "passed").wait_for()
    bench.until(lambda: demo.runs()[-1].status.now == "stopped", "the run is stopped")
    bench.picture("tests-cancelled")


def act(bench: Workbench, line: Locator, text: str) -> None:
    """Choose from the menu of a line of a view."""
    from playwright.sync_api import TimeoutError as TooLate

    entry = bench.page.locator(".context-view .monaco-menu .action-label", has_text=text)

    def ask() -> None:
        bench.page.keyboard.press("Escape")
        line.click(button="right")

    def take() -> bool:
        # A menu that has only just opened takes no click; one that has taken it is gone.
        if entry.first.is_visible():
            with contextlib.suppress(TooLate):
                entry.first.hover(timeout=SOON_MS)
                bench.page.keyboard.press("Enter")
        return not entry.first.is_visible()

    bench.again(ask, entry.first, f"{text!r} is in the menu")
    bench.until(take, f"{text!r} is taken")


def compared(bench: Workbench, demo: Operator) -> None:
    """The compile panel of a run that passed, laid beside one that did not compile."""
    from playwright.sync_api import TimeoutError as TooLate

    demo.write("broken", "")
    demo.opdev("run", "3", "--executor", "host")
    (demo.root / "broken").unlink()
    demo.opdev("run", "3", "--executor", "host")
    bench.palette("opdev: Show compile panel")
    page = bench.webview("Compile · demo")
    bad, good = (run.id for run in demo.runs()[-2:])
    page.get_by_label("Compare with").select_option(bad)
    page.locator(".found.gone", has_text="use of undeclared identifier").wait_for()
    bench.picture("compile-compared")
    page.get_by_label("Run", exact=True).select_option(bad)
    page.locator(".found.error", has_text="use of undeclared identifier").wait_for()
    page.get_by_label("Compare with").select_option(good)
    page.locator(".found .fresh").wait_for()
    page.get_by_role("button", name="Export the log").click()
    box = bench.page.locator(".quick-input-widget .quick-input-box input")
    box.wait_for()
    out = demo.repo / "out.log"

    def accepted() -> bool:
        # A dialog that is still listing the folder it began with takes no answer.
        with contextlib.suppress(TooLate):
            box.fill(str(out), timeout=SOON_MS)
            bench.page.locator(".quick-input-widget .monaco-list-row", has_text="custom-ops").wait_for(timeout=SOON_MS)
            bench.page.locator(".quick-input-widget .monaco-button", has_text="OK").click(timeout=SOON_MS)
            box.wait_for(state="hidden", timeout=SOON_MS)
        return not box.is_visible()

    bench.until(accepted, "the dialog took the name")
    bench.until(lambda: out.exists() and "use of undeclared identifier" in out.read_text(), "the log is exported")


def round_(bench: Workbench, idea: str, hypothesis: str) -> None:
    """Begin one: its idea, then the bottleneck it is meant to remove."""
    bench.palette("opdev: Start an optimisation round")
    box = bench.page.locator(".quick-input-widget .quick-input-box input")
    box.fill(idea)
    bench.page.keyboard.press("Enter")
    bench.page.locator(".quick-input-widget", has_text="may be left empty").wait_for()
    box.fill(hypothesis)
    bench.page.keyboard.press("Enter")


def yes(bench: Workbench, button: str) -> None:
    """Answer what is asked before anything is changed."""
    bench.page.locator(".monaco-dialog-box").get_by_role("button", name=button).click()


def test_environment_gate_rounds_reports_clangd_and_an_assistant(
    server: CodeServer, window: Callable[..., Workbench], demo: Operator
) -> None:
    intake = demo.root / "docs/phase0_intake.yaml"
    intake.write_text(intake.read_text().replace("performance_required: false", "performance_required: true"))
    demo.write("scripts/perf.sh", FIGURES)
    demo.opdev("run", "4", "--executor", "host")
    bench = window(server, demo.repo)
    operator = bench.view("opdev").locator(".monaco-list-row", has_text="demo").first
    operator.wait_for()

    # clangd is offered when a kernel is opened, and once.
    bench.open("src/demo_kernel.cpp")
    bench.notification("clangd does not know demo yet").wait_for()
    bench.picture("clangd-offered")
    bench.answer("clangd does not know demo yet", "Set up clangd")
    bench.notification("clangd is set up; sources it knows: 1.").wait_for()
    written = [demo.root / name for name in ("compile_commands.json", ".clangd")]
    assert all(path.is_file() for path in written)
    for path in written:
        path.unlink()
    bench.palette("Notifications: Clear All Notifications")
    bench.open("docs/phase0_intake.yaml")
    bench.open("src/demo_kernel.cpp")

    bench.palette("opdev: Check the environment")
    bench.page.locator(".tab.active", has_text="demo environment.txt").wait_for()
    bench.line("npu-smi").first.wait_for()
    bench.picture("environment")
    act(bench, operator, "Show what keeps the gate closed")
    bench.webview("demo gate").get_by_role("heading", name="What keeps the gate closed").wait_for()
    bench.picture("gate")

    # A round: begun by its idea, measured, kept; the next one taken back.
    round_(bench, "- wider tiles", "- UB is half empty")
    bench.notification("round 1 is open: - wider tiles").wait_for()
    before = demo.kernel.read_text()
    demo.kernel.write_text(f"{before}// wider\n")
    assert '"hypothesis": "- UB is half empty"' in (demo.root / ".opdev/rounds/rounds.json").read_text()
    demo.opdev("run", "6.5", "--executor", "host")
    act(bench, operator, "Keep the open round")
    bench.page.locator(".monaco-dialog-box").wait_for()
    bench.picture("round-asked")
    yes(bench, "Keep the round")
    bench.notification("round 1 is kept").wait_for()
    round_(bench, "narrower tiles", "")
    bench.notification("round 2 is open").wait_for()
    demo.kernel.write_text(f"{before}// narrower\n")
    act(bench, operator, "Show what the round changed")
    bench.page.locator(".tab.active", has_text="demo round.diff").wait_for()
    bench.line("+// narrower").first.wait_for()
    bench.picture("round-diff")
    bench.palette("opdev: Take the open round back")
    yes(bench, "Take the round back")
    bench.notification("round 2 is taken back").wait_for()
    assert demo.kernel.read_text() == f"{before}// wider\n"
    # What was taken back is put back, and then the round that was kept.
    bench.answer("round 2 is taken back", "Put something back")
    bench.page.locator(".quick-input-widget .monaco-list-row", has_text="round 1 (kept): - wider tiles").wait_for()
    bench.picture("round-states")
    bench.choose("before another state was put back")
    bench.page.locator(".monaco-dialog-box").wait_for()
    bench.picture("round-restore-asked")
    yes(bench, "Put it back")
    bench.notification("the state of before-").wait_for()
    assert demo.kernel.read_text() == f"{before}// narrower\n"
    act(bench, operator, "Put a state back")
    bench.choose("round 1 (kept)")
    yes(bench, "Put it back")
    bench.notification("the state of 1 is back").wait_for()
    assert demo.kernel.read_text() == f"{before}// wider\n"
    bench.palette("opdev: Show optimisation rounds")
    bench.page.locator(".tab.active", has_text="demo rounds.txt").wait_for()
    bench.line("kept").first.wait_for()
    bench.picture("rounds")

    bench.palette("Notifications: Clear All Notifications")
    act(bench, operator, "Write the reports")
    bench.notification("docs/correctness_report.md is written").wait_for()
    bench.picture("reports-written")
    bench.answer("docs/correctness_report.md is written", "Show a report")
    bench.choose("correctness_report.md")
    bench.webview("Preview correctness_report.md").get_by_role("heading").first.wait_for()
    act(bench, operator, "Show the report page")
    page = bench.webview("Report · demo")
    page.get_by_role("heading", name="Operator report").first.wait_for()
    assert page.get_by_text("小_2pe").first.is_visible()
    bench.picture("report-page")

    bench.palette("Probe: ask every tool")
    told = demo.repo / "told.json"
    bench.until(told.exists, "the tools have answered")
    said = json.loads(told.read_text())
    assert sorted(said.pop("tools")) == sorted(said) == sorted(TOOLS)
    for name, text in TOOLS.items():
        assert text in said[name], said
    # Of clangd nothing was said any more.
    assert bench.page.locator(".notification-list-item", has_text="clangd").count() == 0
    bench.reload()
    bench.webview("Report · demo").get_by_role("heading", name="Operator report").first.wait_for()
    bench.palette("View: Close All Editors")
    compared(bench, demo)
