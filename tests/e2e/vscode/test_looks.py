"""Themes and widths: every panel, the view, the walkthrough and the intake in each of them, with pictures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from looks import cut, faint
from recorded import recorded

if TYPE_CHECKING:
    from code_server import CodeServer
    from playwright.sync_api import FrameLocator
    from workbench import Workbench

THEMES = {
    "light": ("Default Light Modern", "vs", "vscode-light", 4.5),
    "dark": ("Default Dark Modern", "vs-dark", "vscode-dark", 4.5),
    "hc-dark": ("Default High Contrast", "hc-black", "vscode-high-contrast", 7.0),
    "hc-light": ("Default High Contrast Light", "hc-light", "vscode-high-contrast-light", 7.0),
}
"""By the name in our pictures: VS Code's name, the class of its window, that of its pages, the contrast texts have."""
FREE = ".log, .log *, .found, .found *, .uplot *, select, option, caption, thead, thead *"
"""What may be wider than its place: lines of a log, and what is there for screen readers only."""
WORDS = {
    "en": (("Show compile panel", "Compile"), ("Show precision panel", "Precision"), ("Show performance panel", "Performance")),
    "zh-cn": (("打开编译面板", "编译"), ("打开精度面板", "精度"), ("打开性能面板", "性能")),
}  # fmt: skip
INTAKE = {"en": "Answer the five questions", "zh-cn": "回答启动五问"}
BEGIN = {"en": "Begin with opdev", "zh-cn": "开始使用 opdev"}


@pytest.mark.parametrize("locale", ["en", "zh-cn"])
def test_every_theme_shows_everything(
    serve: Callable[..., CodeServer], window: Callable[..., Workbench], tmp_path: Path, locale: str
) -> None:
    op = recorded(tmp_path / "repo")
    server = serve(locale=locale)
    bench = window(server, op.repo)
    view = bench.view("opdev")
    bench.expand(view.locator(".monaco-list-row", has_text="demo").first)
    tabs = []
    for number, (command, title) in enumerate(WORDS[locale]):
        bench.palette(f"opdev: {command}")
        page = bench.webview(f"{title} · demo")
        page.locator((".log .line", ".details .verdict", ".plot canvas")[number]).first.wait_for()
        tabs.append(f"{title} · demo")
    bench.palette("Welcome: Open Walkthrough")
    bench.choose(BEGIN[locale])
    bench.page.locator(".getting-started-step").first.wait_for()
    tabs.append("Welcome")
    wrong: list[str] = []
    suffix = "" if locale == "en" else "-zh"
    for name, (theme, window_class, page_class, least) in THEMES.items():
        wear(bench, op.repo, theme, window_class)
        for kind, tab in zip(("compile", "precision", "performance"), tabs, strict=False):
            page = front(bench, tab)
            page.locator(f"body.{page_class}").wait_for()
            body = page.locator("body")
            bench.picture(f"look-{kind}-{name}{suffix}")
            if (kind, name) == ("compile", "light"):
                bench.piece(f"operator{suffix}", view, most=310)
            wrong += [f"{kind} in {theme}: {one}" for one in (*faint(body, least), *cut(body, FREE))]
        bench.page.locator(".tab", has_text="Welcome").click()
        # The pictures of its steps want room.
        side = bench.page.locator(".sidebar .composite.viewlet")
        bench.page.keyboard.press("Control+B")
        side.wait_for(state="hidden")
        media = bench.page.frame_locator("iframe.webview.ready:visible").frame_locator("#active-frame")
        media.locator("img").wait_for()
        assert media.locator("img").evaluate("one => one.decode().then(() => one.naturalWidth > 0)")
        bench.picture(f"look-walkthrough-{name}{suffix}")
        bench.page.keyboard.press("Control+B")
        side.wait_for()
    if locale == "en":
        wrong += narrow(bench, tabs) + forced(bench, tabs)
    bench.palette(f"opdev: {INTAKE[locale]}")
    bench.page.locator(".quick-input-titlebar", has_text="1/5").wait_for()
    quick = bench.page.locator(".quick-input-widget")
    # No tooltip in the pictures.
    bench.page.mouse.move(640, 790)
    for name, (theme, window_class, _, _) in THEMES.items():
        wear(bench, op.repo, theme, window_class)
        bench.picture(f"look-intake-{name}{suffix}")
        if name == "light":
            bench.piece(f"intake{suffix}", quick)
    assert not wrong, "\n".join(wrong)


def wear(bench: Workbench, folder: Path, theme: str, window_class: str) -> None:
    """Put a theme on while the window is open."""
    settings = folder / ".vscode/settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"workbench.colorTheme": theme}))
    bench.page.locator(f".monaco-workbench.{window_class}").wait_for()


def front(bench: Workbench, tab: str) -> FrameLocator:
    """The panel with this tab, in front."""
    bench.page.locator(".tab", has_text=tab).click()
    return bench.webview(tab)


def narrow(bench: Workbench, tabs: list[str]) -> list[str]:
    """A small window: everything is there, one below the other."""
    wrong: list[str] = []
    bench.page.set_viewport_size({"width": 800, "height": 800})
    for kind, tab in zip(("compile", "precision", "performance"), tabs, strict=False):
        page = front(bench, tab)
        bench.until(lambda page=page: page.locator("body").evaluate("() => innerWidth") < 600, "the panel is narrow")
        bench.picture(f"narrow-{kind}")
        wrong += [f"{kind} at 800 px: {one}" for one in cut(page.locator("body"), FREE)]
    labels = bench.webview(tabs[2]).locator("[data-table=bandwidth] td").first
    assert labels.evaluate("cell => getComputedStyle(cell, '::before').content") == '"Scale "'
    bench.page.set_viewport_size({"width": 1280, "height": 800})
    return wrong


def forced(bench: Workbench, tabs: list[str]) -> list[str]:
    """A system of few colours."""
    wrong: list[str] = []
    bench.page.emulate_media(forced_colors="active")
    for kind, tab in zip(("compile", "precision", "performance"), tabs, strict=False):
        page = front(bench, tab)
        page.locator("#app").wait_for()
        bench.picture(f"forced-{kind}")
        wrong += [f"{kind} with forced colours: {one}" for one in faint(page.locator("body"))]
    bench.page.emulate_media(forced_colors="none")
    return wrong
