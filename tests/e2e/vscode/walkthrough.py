"""The walkthrough from install to the first green run, as a user follows it: what they push, and what is done when."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from code_server import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Locator
    from workbench import Workbench

RUN_MS = 300_000
"""Until a run that never ends is given up; never how long one takes."""


def copied_corpus(tree: Path) -> Path:
    """Our clean operators, as they are in a project: the code was written after its design."""
    shutil.copytree(ROOT / "tests/corpus/clean", tree)
    for design in tree.glob("custom-ops/*/docs/design.md"):
        os.utime(design, (1_700_000_000, 1_700_000_000))
    return tree


def bare_python(folder: Path) -> dict[str, str]:
    """Variables of an editor that finds this machine's Python, without opdev, and what the system has."""
    folder.mkdir()
    (folder / "python3").symlink_to(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}")
    return {"PATH": f"{folder}:/usr/bin:/bin"}


class Walkthrough:
    """The page “Begin with opdev” of a window in Chinese."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        bench.palette("Welcome: Open Walkthrough")
        bench.pick("开始使用 opdev")
        self.step("server").wait_for()

    def step(self, name: str) -> Locator:
        return self.bench.page.locator(f'.getting-started-step[data-step-id$="#{name}"]')

    def done(self, name: str) -> None:
        self.step(name).locator(".codicon-getting-started-step-checked").first.wait_for(timeout=RUN_MS)

    def push(self, name: str, button: str) -> None:
        """Open the step, and push one of its buttons."""
        wanted = self.step(name).locator(".monaco-button", has_text=button)
        self.bench.unfold(self.step(name), wanted)
        wanted.click()

    def follow(self, operator: str, reached: Callable[[], object] = lambda: None) -> None:
        """To the green run of ``operator``; ``reached`` is called after each step."""
        self.push("server", "设置 opdev")
        self.done("server")
        reached()
        # The corpus has operators, and some of them have their answers.
        self.done("operator")
        self.done("intake")
        self.bench.answered(lambda: self.push("run", "编译并冒烟"), operator)
        self.done("run")
        self.done("green")
        reached()
