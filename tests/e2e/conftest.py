"""The browser of all tests that look at a page: Playwright takes one a process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

sys.path.insert(0, str(Path(__file__).parent))

from chromium import chromium, launched


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            # A real editor on a busy machine may miss a beat; what is broken fails every time.
            browser = "vscode" in item.path.parts
            item.add_marker(pytest.mark.flaky(reruns=2 if browser else 4))
            if not browser and "report" not in item.path.name:
                # What a terminal shows is compared frame by frame: not two at once.
                item.add_marker(pytest.mark.xdist_group("neovim"))


# Not for the session: as long as Playwright runs, its event loop does, and no other can in this process.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if chromium() is None:
        pytest.fail("Chromium is not installed (apt-get install chromium)")
    with launched() as found:
        yield found
