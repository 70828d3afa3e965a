"""What commands ask and show, in Chinese and dark, with pictures: what is asked is asked in Chinese."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from code_server import ROOT

sys.path.append(str(ROOT / "tests/lsp"))

from operators import make

if TYPE_CHECKING:
    from code_server import CodeServer
    from playwright.sync_api import Locator
    from workbench import Workbench

LOOKS = {
    "zh-dark": ("zh-cn", "Default Dark Modern"),
}
WORDS = {
    "zh-cn": {
        "clangd": "让 clangd", "doctor": "检查环境", "rounds": "查看优化轮次", "start": "开始一轮优化", "empty": "可以留空", "restore": "放回之前的状态", "put": "放回", "back": "已放回 0 的状态",
        "update": "按模板更新", "move": "推进状态", "new": "建状态文件", "state": "查看状态文件", "offer": "clangd", "open": "Round 1 开始", "begun": "init",
        "debug": "收集调试信息", "base": "Round 0：起点", "environment": "softmax 环境.txt",
    },
}  # fmt: skip
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("look", LOOKS)
def test_what_commands_ask_and_show(
    serve: Callable[..., CodeServer], window: Callable[..., Workbench], tmp_path: Path, look: str
) -> None:
    locale, theme = LOOKS[look]
    words = WORDS[locale]
    demo = make(tmp_path / "repo")
    staged = tmp_path / "repo/custom/softmax"
    staged.mkdir(parents=True)
    (staged / "SPEC.md").write_text("# softmax\n")
    (staged / "softmax_impl.py").write_text("import pypto\n")
    machine = {"opdev.python": sys.executable, "opdev.run.executor": "host"}
    bench = window(serve(machine=machine, locale=locale, settings={"workbench.colorTheme": theme}), demo.repo)
    view = bench.view("opdev")
    bench.expand(view.locator(".monaco-list-row", has_text="softmax").first)
    bench.open("demo/src/demo_kernel.cpp")
    bench.notification(words["offer"]).wait_for()
    spoken(bench.notification(words["offer"]), locale)
    bench.picture(f"cmd-clangd-{look}")
    bench.palette("Notifications: Clear All Notifications")

    bench.palette(f"opdev: {words['start']}")
    box = bench.page.locator(".quick-input-widget .quick-input-box input")
    box.fill("x")
    bench.page.keyboard.press("Enter")
    hypothesis = bench.page.locator(".quick-input-widget", has_text=words["empty"])
    hypothesis.wait_for()
    spoken(hypothesis, locale)
    bench.picture(f"cmd-hypothesis-{look}")
    bench.page.keyboard.press("Enter")
    bench.notification(words["open"]).wait_for()
    bench.palette(f"opdev: {words['restore']}")
    # What was asked before is still there for a moment.
    bench.page.locator(".quick-input-widget .monaco-list-row", has_text=words["base"]).wait_for()
    spoken(bench.page.locator(".quick-input-widget"), locale)
    bench.picture(f"cmd-states-{look}")
    bench.page.keyboard.press("Enter")
    dialog = bench.page.locator(".monaco-dialog-box")
    dialog.wait_for()
    spoken(dialog.locator(".dialog-message-row"), locale)
    bench.picture(f"cmd-restore-{look}")
    dialog.get_by_role("button", name=words["put"]).click()
    bench.notification(words["back"]).wait_for()
    bench.palette("Notifications: Clear All Notifications")
    bench.palette(f"opdev: {words['rounds']}")
    bench.page.locator(".tab.active", has_text="demo").filter(has_text=".txt").wait_for()
    bench.picture(f"cmd-rounds-{look}")
    # Not made from templates: what opdev says of it, and nothing is asked.
    bench.palette(f"opdev: {words['update']}")
    bench.page.locator(".notification-list-item .codicon-error").first.wait_for()
    bench.picture(f"cmd-update-{look}")
    bench.palette("Notifications: Clear All Notifications")

    bench.open("softmax/softmax_impl.py")
    bench.palette(f"opdev: {words['move']}")
    bench.page.locator(".quick-input-widget .monaco-list-row", has_text=words["new"]).wait_for()
    spoken(bench.page.locator(".quick-input-widget"), locale)
    bench.page.keyboard.press("Enter")
    bench.notification(words["begun"]).wait_for()
    bench.palette(f"opdev: {words['move']}")
    bench.page.locator(".quick-input-widget .monaco-list-row", has_text="opdev state complete-stage 1").wait_for()
    spoken(bench.page.locator(".quick-input-widget"), locale)
    bench.picture(f"cmd-moves-{look}")
    bench.page.keyboard.press("Escape")
    bench.palette(f"opdev: {words['state']}")
    bench.line("in_progress").first.wait_for()
    bench.picture(f"cmd-state-{look}")
    bench.open("softmax/softmax_impl.py")
    bench.palette(f"opdev: {words['doctor']}")
    bench.page.locator(".tab.active", has_text=words["environment"]).wait_for()
    bench.line("interpreter").first.wait_for()
    bench.picture(f"cmd-environment-{look}")
    bench.palette(f"opdev: {words['debug']}")
    bench.line('"server": "running"').first.wait_for()
    bench.line('"crashes": []').first.wait_for()
    bench.picture(f"cmd-debug-{look}")


def spoken(where: Locator, locale: str) -> None:
    """What stands there is Chinese, or has none of it."""
    text = where.inner_text()
    assert bool(CHINESE.search(text)) == (locale == "zh-cn"), text
