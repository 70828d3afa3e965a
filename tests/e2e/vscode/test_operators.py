"""The operators view: where each stands, and running a phase from it."""

from __future__ import annotations

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
    row.wait_for()
    row.click()
    view.locator(".monaco-list-row", has_text="Runs").first.wait_for()
    bench.picture("operators")
