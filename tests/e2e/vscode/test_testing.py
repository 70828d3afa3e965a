"""The case matrix in the Test Explorer, a new operator from the palette, and its intake."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from code_server import CodeServer
    from playwright.sync_api import Locator
    from workbench import Workbench

MACHINE = {"opdev.python": sys.executable, "opdev.run.executor": "sim"}


@pytest.fixture(scope="module")
def stand_in(serve: Callable[..., CodeServer]) -> CodeServer:
    """A window in which phases run on the CPU stand-in."""
    return serve(machine=MACHINE)


def test_row(bench: Workbench, text: str) -> Locator:
    return bench.page.locator(".test-explorer .monaco-list-row", has_text=text).first


test_row.__test__ = False  # type: ignore[attr-defined]


def run_test(bench: Workbench, text: str) -> None:
    row = test_row(bench, text)
    row.click()
    row.hover()
    row.locator(".action-label[aria-label='Run Test']").click()


def test_cases_are_tests(stand_in: CodeServer, window: Callable[..., Workbench], workspace: Path) -> None:
    operator = workspace / "custom-ops/put_signal"
    bench = window(stand_in, workspace)
    bench.view("Testing")
    test_row(bench, "put_signal").wait_for()
    test_row(bench, "put_signal").locator(".monaco-tl-twistie").click()
    run_test(bench, "tiny_2pe_fp32")
    test_row(bench, "tiny_2pe_fp32").locator(".codicon-testing-passed-icon").wait_for()
    bench.picture("test-passed")

    kernel = operator / "src/put_signal_kernel.cpp"
    text = kernel.read_text()
    broken = text.replace("PUT_SIGNAL_SLOT_BYTES, count, aclshmem_my_pe()", "PUT_SIGNAL_SLOT_BYTES, count - 1, aclshmem_my_pe()")
    assert broken != text
    kernel.write_text(broken)
    run_test(bench, "odd_2pe_fp32")
    test_row(bench, "odd_2pe_fp32").locator(".codicon-testing-failed-icon").wait_for()
    bench.picture("test-failed")
