"""From install to the first green run: a clean profile, the walkthrough in Chinese, and nothing typed in a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from code_server import CodeServer
    from playwright.sync_api import Locator
    from workbench import Workbench

RUN_MS = 300_000
"""Until a run that never ends is given up; never how long one takes."""


def test_the_walkthrough_leads_from_install_to_a_green_run(
    serve: Callable[..., CodeServer], window: Callable[..., Workbench], workspace: Path, tmp_path: Path
) -> None:
    # This machine's Python, without opdev; nothing is configured.
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python3").symlink_to(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}")
    began = time.monotonic()
    server = serve(machine={}, locale="zh-cn", env={"PATH": f"{programs}:/usr/bin:/bin"})
    bench = window(server, workspace)
    bench.palette("Welcome: Open Walkthrough")
    bench.pick("开始使用 opdev")

    def step(name: str) -> Locator:
        return bench.page.locator(f'.getting-started-step[data-step-id$="#{name}"]')

    def done(name: str) -> None:
        step(name).locator(".codicon-getting-started-step-checked").first.wait_for(timeout=RUN_MS)

    def push(name: str, button: str) -> None:
        """Open the step, and push one of its buttons."""
        wanted = step(name).locator(".monaco-button", has_text=button)
        bench.unfold(step(name), wanted)
        wanted.click()

    step("server").wait_for()
    push("server", "设置 opdev")
    done("server")
    installed = time.monotonic()
    # The corpus has operators, and some of them have their answers.
    done("operator")
    done("intake")
    push("run", "编译并冒烟")
    bench.pick("put_signal")
    done("run")
    done("green")
    green = time.monotonic()
    push("green", "打开编译面板")
    bench.pick("put_signal")
    page = bench.webview("编译 · put_signal")
    page.locator(".badge.passed").wait_for()
    page.locator(".simulated").wait_for()
    page.locator(".log .line", has_text="02-smoke").first.wait_for()
    bench.picture("begin-green-zh")
    # What passed, without the paths of this machine.
    page.locator("input[type=search]").fill("PASS")
    page.locator(".log .line", has_text="CXX").first.wait_for(state="hidden")
    bench.piece("green-zh", bench.page.locator("iframe.webview.ready:visible"), most=300)
    assert bench.page.locator(".terminal-wrapper, .integrated-terminal").count() == 0
    print(
        f"from install to a green run {green - began:.0f} s, the environment after {installed - began:.0f} s, load {os.getloadavg()[0]:.1f}"
    )
