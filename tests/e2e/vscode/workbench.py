"""What a user does in VS Code, as calls: open, type, quick fix, palette, read what stands there."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator, Page

WAIT_MS = 60_000
SOON_MS = 5_000
"""Until what was done is done again, because nobody heard it."""
STILL_MS = 250
"""How long a list is given to draw itself."""
LONGEST_LIST = 60
SHOWN = Path(__file__).resolve().parents[3] / "client-vscode/images"
LARGEST = 150_000
"""Bytes of a picture the README shows."""


WALKTHROUGH = SHOWN.parent / "media/walkthrough"


def keep(path: Path, folder: Path, name: str, largest: int) -> None:
    """What the extension shows of itself is written by the tests, when they are asked to."""
    if os.environ.get("OPDEV_PICTURES") == "write":
        assert path.stat().st_size <= largest, f"{name}.png is too large to be shown"
        folder.mkdir(exist_ok=True)
        shutil.copy(path, folder / f"{name}.png")


def _too_late() -> type[Exception]:
    from playwright.sync_api import TimeoutError as TooLate

    return TooLate


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
        if shown:
            keep(path, SHOWN, name, LARGEST)
        return path

    def piece(self, name: str, of: Locator, most: int = 400) -> Path:
        """A part of the window as the walkthrough shows it, at most ``most`` pixels high."""
        self.pictures.mkdir(parents=True, exist_ok=True)
        path = self.pictures / f"walkthrough-{name}.png"
        box = of.bounding_box()
        assert box is not None
        clip = {"x": box["x"], "y": box["y"], "width": box["width"], "height": min(box["height"], most)}
        self.page.screenshot(path=str(path), animations="disabled", clip=clip)  # type: ignore[arg-type]
        keep(path, WALKTHROUGH, name, LARGEST // 3)
        return path

    def unfold(self, head: Locator, inside: Locator) -> None:
        """Open what is folded, if it is: a click on what is open would close it, or do nothing."""
        if not inside.is_visible():
            head.click()
        inside.wait_for()

    def palette(self, text: str) -> None:
        """Run a command by the words its entry has."""
        self.asked("F1").fill(f">{text}")
        self.choose(text)

    def asked(self, keys: str) -> Locator:
        """The box of the quick input that keys open; a window that is still being made does not hear them."""
        box = self.page.locator(".quick-input-widget .quick-input-box input")
        self.again(lambda: self.page.keyboard.press(keys), box, f"{keys} opens a box")
        return box

    def again(self, act: Callable[[], object], then: Locator, what: str) -> None:
        """Do something until what it leads to is there: what is drawn anew at that moment swallows it."""
        for _ in range(WAIT_MS // SOON_MS):
            act()
            with contextlib.suppress(_too_late()):
                then.wait_for(timeout=SOON_MS)
                return
        raise AssertionError(f"never happened: {what}")

    def commands(self, text: str) -> list[str]:
        """What the palette offers for a text."""
        box = self.asked("F1")
        box.fill(f">{text}")
        rows = self.page.locator(".quick-input-widget .quick-input-list .monaco-list-row")
        rows.first.wait_for()
        found = rows.locator(".label-name").all_inner_texts()
        self.page.keyboard.press("Escape")
        box.wait_for(state="hidden")
        return [one.replace("\u00a0", " ") for one in found]

    def choose(self, text: str) -> None:
        """Take the entry of a quick pick that is already open; with keys, for a list may move under the mouse."""
        rows = self.page.locator(".quick-input-widget .quick-input-list .monaco-list-row")
        rows.filter(has_text=text).first.wait_for()
        taken = self.page.locator(".quick-input-widget .monaco-list-row.focused", has_text=text)
        for _ in range(LONGEST_LIST):
            with contextlib.suppress(_too_late()):
                taken.first.wait_for(timeout=STILL_MS)
                self.page.keyboard.press("Enter")
                return
            self.page.keyboard.press("ArrowDown")
        raise AssertionError(f"no entry with {text!r} can be reached")

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

    def answered(self, ask: Callable[[], object], text: str) -> None:
        """Ask for a list and take an entry by its name; a list closes when something else takes the focus meanwhile."""
        box = self.page.locator(".quick-input-widget .quick-input-box input")
        rows = self.page.locator(".quick-input-widget .quick-input-list .monaco-list-row")
        for _ in range(WAIT_MS // SOON_MS):
            ask()
            with contextlib.suppress(_too_late()):
                rows.filter(has_text=text).first.wait_for(timeout=SOON_MS)
                box.fill(text, timeout=SOON_MS)
                rows.filter(has_not_text=text).first.wait_for(state="hidden", timeout=SOON_MS)
                focused = self.page.locator(".quick-input-widget .monaco-list-row.focused", has_text=text)
                focused.wait_for(timeout=SOON_MS)
                self.page.keyboard.press("Enter")
                box.wait_for(state="hidden")
                return
        raise AssertionError(f"no list with {text!r} stays open")

    def written(self, ask: Callable[[], object], place: Path) -> None:
        """Ask for a file to be written, say where, and wait for it.

        The dialog takes a name when it lists the folder that was typed; that folder has another in it.
        """
        beside = min(one.name for one in place.parent.iterdir() if one.is_dir() and not one.name.startswith("."))
        box = self.page.locator(".quick-input-widget .quick-input-box input")
        listed = self.page.locator(".quick-input-widget .monaco-list-row", has_text=beside)
        for _ in range(WAIT_MS // SOON_MS):
            if not box.is_visible():
                ask()
            with contextlib.suppress(_too_late()):
                box.fill(str(place), timeout=SOON_MS)
                listed.first.wait_for(timeout=SOON_MS)
                self.page.locator(".quick-input-widget .monaco-button", has_text="OK").first.click(timeout=SOON_MS)
                box.wait_for(state="hidden", timeout=SOON_MS)
                self.until(lambda: place.is_file() and place.stat().st_size > 0, f"{place.name} is written")
                return
        raise AssertionError(f"never happened: a dialog takes {place.name}")

    def open(self, relative: str) -> None:
        """Open a file of the workspace by its path."""
        folder, _, name = relative.rpartition("/")
        self.asked("Control+P").fill(relative)
        # What was open before comes first, until the search has found it.
        found = self.page.locator(".quick-input-widget .monaco-list-row.focused", has_text=name)
        found.filter(has_text=folder).first.wait_for()
        self.page.keyboard.press("Enter")
        self.page.locator(".tab.active", has_text=name).wait_for()
        self.page.locator(".editor-instance .monaco-editor .view-line").first.wait_for()

    def go_to(self, line: int, column: int = 1) -> None:
        box = self.asked("Control+G")
        box.fill(f":{line}:{column}")
        self.page.locator(".quick-input-widget .monaco-list-row", has_text=str(line)).first.wait_for()
        self.page.keyboard.press("Enter")
        box.wait_for(state="hidden")

    def squiggles(self, severity: str = "error") -> Locator:
        return self.page.locator(f".monaco-editor .squiggly-{severity}")

    def problems(self, text: str) -> Locator:
        """Rows of the Problems panel that hold a text; the panel is opened."""
        panel = self.page.locator(".markers-panel")
        if not panel.is_visible():
            self.again(lambda: self.page.keyboard.press("Control+Shift+M"), panel, "the Problems panel")
        return panel.locator(".monaco-list-row", has_text=text)

    def quick_fix(self, text: str) -> None:
        """Choose a quick fix at the cursor; there is none before the server has looked."""
        row = self.page.locator(".action-widget .monaco-list-row", has_text=text).first

        def ask() -> None:
            self.page.keyboard.press("Escape")
            self.page.keyboard.press("Control+.")

        self.again(ask, row, f"the quick fix {text!r} is offered")
        row.click()

    def act(self, row: Locator, label: str) -> None:
        """Push a button of a row, which is there only while the mouse is over it and the row is not drawn anew."""
        button = row.locator(f".action-label[aria-label^='{label}']").first
        for _ in range(WAIT_MS // SOON_MS):
            with contextlib.suppress(_too_late()):
                row.hover()
                button.click(timeout=SOON_MS)
                return
        raise AssertionError(f"{label!r} could not be pushed")

    def expand(self, row: Locator) -> None:
        """Open a row of a tree, if it is closed."""
        row.wait_for()
        for _ in range(WAIT_MS // SOON_MS):
            if row.get_attribute("aria-expanded") == "true":
                return
            row.locator(".monaco-tl-twistie").click()
            self.page.wait_for_timeout(STILL_MS)
        raise AssertionError("the row stays closed")

    def save(self) -> None:
        self.page.keyboard.press("Control+S")
        self.page.locator(".tab.active.dirty").wait_for(state="detached")

    def webview(self, title: str) -> FrameLocator:
        """The document inside a webview panel whose tab is called so."""
        self.page.locator(".tab.active", has_text=title).wait_for()
        # Others keep their pages while they are behind it.
        return self.page.frame_locator("iframe.webview.ready:visible").frame_locator("#active-frame")

    def view(self, title: str) -> Locator:
        """A view container of the activity bar, opened."""
        tab = self.page.locator(f'.activitybar .action-label[aria-label^="{title}"]')
        tab.wait_for()
        front = self.page.locator(f'.activitybar .action-item.checked .action-label[aria-label^="{title}"]')
        if not front.is_visible():
            # The one in front would be closed by it.
            self.again(lambda: front.is_visible() or tab.click(), front, f"{title} is in front")
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
