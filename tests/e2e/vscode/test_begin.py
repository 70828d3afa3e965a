"""From install to the first green run: a clean profile, the walkthrough in Chinese, and nothing typed in a terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from walkthrough import Walkthrough, bare_python

if TYPE_CHECKING:
    from code_server import CodeServer
    from workbench import Workbench


def test_the_walkthrough_leads_from_install_to_a_green_run(
    serve: Callable[..., CodeServer], window: Callable[..., Workbench], workspace: Path, tmp_path: Path
) -> None:
    # Nothing is configured.  How long it takes is measured by tests/bench.
    server = serve(machine={}, locale="zh-cn", env=bare_python(tmp_path / "bin"))
    bench = window(server, workspace)
    walkthrough = Walkthrough(bench)
    walkthrough.follow("put_signal")
    bench.answered(lambda: walkthrough.push("green", "打开编译面板"), "put_signal")
    page = bench.webview("编译 · put_signal")
    page.locator(".badge.passed").wait_for()
    page.locator(".simulated").wait_for()
    page.locator(".log .line", has_text="02-smoke").first.wait_for()
    bench.picture("begin-green-zh")
    # What passed, without the paths of this machine.
    page.locator("input[type=search]").fill("PASS")
    page.locator(".log .line", has_text="CXX").first.wait_for(state="hidden")
    # What the mouse was over tells of itself, over everything.
    bench.page.mouse.move(640, 790)
    bench.page.locator(".monaco-hover:visible").first.wait_for(state="detached")
    bench.piece("green-zh", bench.page.locator("iframe.webview.ready:visible"), most=300)
    assert bench.page.locator(".terminal-wrapper, .integrated-terminal").count() == 0
