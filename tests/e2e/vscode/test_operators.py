"""The operators view: where each stands, and running a phase from it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from code_server import CodeServer
    from workbench import Workbench


def test_operators_and_their_phases(code_server: CodeServer, window: Callable[..., Workbench], workspace: Path) -> None:
    bench = window(code_server, workspace)
    view = bench.view("opdev")
    row = view.locator(".monaco-list-row", has_text="allgather").first
    bench.expand(row)
    view.locator(".monaco-list-row", has_text="Runs").first.wait_for()
    bench.picture("operators", shown=True)


def test_a_phase_runs_and_the_compile_panel_fills(
    serve: Callable[..., CodeServer], window: Callable[..., Workbench], workspace: Path
) -> None:
    server = serve(machine={"opdev.python": sys.executable, "opdev.run.executor": "sim"})
    bench = window(server, workspace)
    view = bench.view("opdev")
    bench.expand(view.locator(".monaco-list-row", has_text="put_signal").first)
    phase = view.locator(".monaco-list-row", has_text="code and build").first
    phase.wait_for()
    phase.click()
    bench.palette("opdev: Show compile panel")
    bench.choose("put_signal")
    page = bench.webview("Compile · put_signal")
    page.get_by_text("Nothing was run here yet.").wait_for()
    bench.act(phase, "Run a phase")
    page.locator(".badge", has_text="running").wait_for()
    bench.picture("compile-running")
    page.locator(".badge.passed").wait_for(timeout=240_000)
    page.locator(".simulated").wait_for()
    page.locator(".log .line", has_text="02-smoke").first.wait_for()
    bench.picture("compile-passed")
    # What passed, without the paths of this machine.
    page.locator("input[type=search]").fill("PASS")
    page.locator(".log .line", has_text="CXX").first.wait_for(state="hidden")
    # What the mouse was over tells of itself, over everything.
    bench.page.mouse.move(640, 790)
    bench.page.locator(".monaco-hover:visible").first.wait_for(state="detached")
    bench.piece("green", bench.page.locator("iframe.webview.ready:visible"), most=300)
