"""What a user does in VS Code, as calls: open, type, quick fix, palette, read what stands there."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator, Page

WAIT_MS = 60_000
SHOWN = Path(__file__).resolve().parents[3] / "client-vscode/images"
LARGEST = 150_000
"""Bytes of a picture the README shows."""


class Workbench:
    """One browser page with a window of VS Code; ``pictures`` is where it leaves what it looked like."""

    def __init__(self, page: Page, pictures: Path) -> None:
        self.page = page
        self.pictures = pictures
        page.set_default_timeout(WAIT_MS)

    def load(self, url: str) -> Workbench:
        self.page.goto(url)
        self.page.locator(".monaco-workbench .explorer-folders-view").wait_for()
        return self

    def reload(self) -> None:
        """Reload the window by VS Code's own command, which keeps what is open."""
        self.page.evaluate("() => { window.opdevBefore = true; }")
        self.palette("Developer: Reload Window")
        self.page.wait_for_function("() => !window.opdevBefore")
        self.page.locator(".monaco-workbench .statusbar").wait_for()

    def picture(self, name: str, *, shown: bool = False) -> Path:
        """What the window looks like; ``shown``: the extension's README shows it."""
        self.pictures.mkdir(parents=True, exist_ok=True)
        path = self.pictures / f"{name}.png"
        self.page.screenshot(path=str(path), animations="disabled")
        if shown and os.environ.get("OPDEV_PICTURES") == "write":
            assert path.stat().st_size <= LARGEST, f"{name}.png is too large for a README"
            SHOWN.mkdir(exist_ok=True)
            shutil.copy(path, SHOWN)
        return path

    def palette(self, text: str) -> None:
        """Run a command by the words its entry has."""
        self.page.keyboard.press("F1")
        box = self.page.locator(".quick-input-widget .quick-input-box input")
        box.wait_for()
        box.fill(f">{text}")
        self.page.locator(".quick-input-widget .quick-input-list .monaco-list-row", has_text=text).first.click()

    def commands(self, text: str) -> list[str]:
        """What the palette offers for a text."""
        self.page.keyboard.press("F1")
        box = self.page.locator(".quick-input-widget .quick-input-box input")
        box.wait_for()
        box.fill(f">{text}")
        rows = self.page.locator(".quick-input-widget .quick-input-list .monaco-list-row")
        rows.first.wait_for()
        found = rows.locator(".label-name").all_inner_texts()
        self.page.keyboard.press("Escape")
        box.wait_for(state="hidden")
        return [one.replace("\u00a0", " ") for one in found]

    def choose(self, text: str) -> None:
        """Take the entry of a quick pick that is already open."""
        self.page.locator(".quick-input-widget .quick-input-list .monaco-list-row", has_text=text).first.click()

    def pick(self, text: str) -> None:
        """Take an entry of a quick pick by typing its name: a long list may move under the mouse."""
        box = self.page.locator(".quick-input-widget .quick-input-box input")
        rows = self.page.locator(".quick-input-widget .quick-input-list .monaco-list-row")
        rows.filter(has_text=text).first.wait_for()
        box.fill(text)
        rows.filter(has_not_text=text).first.wait_for(state="hidden")
        self.page.locator(".quick-input-widget .monaco-list-row.focused", has_text=text).wait_for()
        self.page.keyboard.press("Enter")
        box.wait_for(state="hidden")

    def open(self, relative: str) -> None:
        """Open a file of the workspace by its path."""
        self.page.keyboard.press("Control+P")
        box = self.page.locator(".quick-input-widget .quick-input-box input")
        box.wait_for()
        box.fill(relative)
        name = relative.rpartition("/")[2]
        self.page.locator(".quick-input-widget .quick-input-list .monaco-list-row", has_text=name).first.click()
        self.page.locator(".tab.active", has_text=name).wait_for()
        self.page.locator(".editor-instance .monaco-editor .view-line").first.wait_for()

    def go_to(self, line: int, column: int = 1) -> None:
        self.page.keyboard.press("Control+G")
        box = self.page.locator(".quick-input-widget .quick-input-box input")
        box.wait_for()
        box.fill(f":{line}:{column}")
        self.page.keyboard.press("Enter")
        box.wait_for(state="hidden")

    def squiggles(self, severity: str = "error") -> Locator:
        return self.page.locator(f".monaco-editor .squiggly-{severity}")

    def problems(self, text: str) -> Locator:
        """Rows of the Problems panel that hold a text; the panel is opened."""
        panel = self.page.locator(".markers-panel")
        if not panel.is_visible():
            self.page.keyboard.press("Control+Shift+M")
            panel.wait_for()
        return panel.locator(".monaco-list-row", has_text=text)

    def quick_fix(self, text: str) -> None:
        """Choose a quick fix at the cursor."""
        self.page.keyboard.press("Control+.")
        row = self.page.locator(".action-widget .monaco-list-row", has_text=text).first
        row.wait_for()
        row.click()

    def save(self) -> None:
        self.page.keyboard.press("Control+S")
        self.page.locator(".tab.active.dirty").wait_for(state="detached")

    def webview(self, title: str) -> FrameLocator:
        """The document inside a webview panel whose tab is called so."""
        self.page.locator(".tab.active", has_text=title).wait_for()
        return self.page.frame_locator("iframe.webview.ready").frame_locator("#active-frame")

    def view(self, title: str) -> Locator:
        """A view container of the activity bar, opened."""
        tab = self.page.locator(f'.activitybar .action-label[aria-label^="{title}"]')
        tab.wait_for()
        if "checked" not in (tab.locator("xpath=..").get_attribute("class") or ""):
            # The one in front would be closed by it.
            tab.click()
        return self.page.locator(".sidebar .composite.viewlet")

    def notification(self, text: str) -> Locator:
        """A message in the corner."""
        return self.page.locator(".notification-list-item", has_text=text).first

    def answer(self, text: str, button: str) -> None:
        """Push a button of a message in the corner."""
        self.notification(text).locator(".monaco-button", has_text=button).click()

    def line(self, text: str) -> Locator:
        """A line of the editor; its blanks are no-break ones on the screen."""
        return self.page.locator(".view-line", has_text=re.compile(re.escape(text).replace(r"\ ", ".")))

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something outside the page."""
        for _ in range(WAIT_MS // 50):
            if condition():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never happened: {what}")
