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

RUN_MS = 300_000
"""Until a run that never ends is given up; never how long one takes."""


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
    bench.act(row, "Run Test")


def test_cases_are_tests(stand_in: CodeServer, window: Callable[..., Workbench], workspace: Path) -> None:
    operator = workspace / "custom-ops/put_signal"
    bench = window(stand_in, workspace)
    bench.view("Testing")
    bench.expand(test_row(bench, "put_signal"))
    run_test(bench, "tiny_2pe_fp32")
    test_row(bench, "tiny_2pe_fp32").locator(".codicon-testing-passed-icon").wait_for(timeout=RUN_MS)
    bench.picture("test-passed")

    kernel = operator / "src/put_signal_kernel.cpp"
    text = kernel.read_text()
    broken = text.replace(
        "PUT_SIGNAL_SLOT_BYTES, count, aclshmem_my_pe()", "PUT_SIGNAL_SLOT_BYTES, count - 1, aclshmem_my_pe()"
    )
    assert broken != text
    kernel.write_text(broken)
    run_test(bench, "odd_2pe_fp32")
    test_row(bench, "odd_2pe_fp32").locator(".codicon-testing-failed-icon").wait_for(timeout=RUN_MS)
    # What was expected and what came, in one view.
    bench.page.locator(".test-output-peek-tree .monaco-list-row", has_text="case odd_2pe_fp32: FAIL").first.click()
    bench.page.locator(".monaco-diff-editor .view-line", has_text="MaxAE=").first.wait_for()
    bench.page.locator(".monaco-diff-editor .view-line", has_text="rtol=0").first.wait_for()
    bench.picture("test-failed")


def test_a_new_operator_and_its_intake(stand_in: CodeServer, window: Callable[..., Workbench], tmp_path: Path) -> None:
    folder = tmp_path / "ops"
    folder.mkdir()
    bench = window(stand_in, folder)
    view = bench.view("opdev")
    view.get_by_text("No operator was found").wait_for()
    bench.picture("welcome")
    bench.palette("opdev: New operator")
    box = bench.page.locator(".quick-input-widget .quick-input-box input")
    box.fill("MyMover")
    bench.page.locator(".quick-input-message", has_text="my_mover would do").wait_for()
    bench.picture("new-operator-name")
    box.fill("mover")
    bench.page.locator(".quick-input-message", has_text="would do").wait_for(state="hidden")
    bench.page.keyboard.press("Enter")
    bench.choose("Put/get")
    title(bench).get_by_text("3/4").wait_for()
    bench.page.locator(".quick-input-widget .monaco-list-row", has_text="float16").first.wait_for()
    bench.picture("new-operator-dtypes")
    bench.page.keyboard.press("Enter")
    bench.choose("Without a Torch binding")
    bench.page.locator(".tab.active", has_text="design.md").wait_for()
    view.locator(".monaco-list-row", has_text="mover").first.wait_for()
    assert (folder / "custom-ops/mover/scripts/cases.json").is_file()
    bench.picture("new-operator")

    record = folder / "custom-ops/mover/docs/phase0_intake.yaml"
    toast = bench.page.locator(".notification-toast", has_text="five questions")
    toast.get_by_role("button", name="Answer the five questions").click()
    five(bench, "later", back=True)
    # Giving up in the middle leaves nothing.
    bench.page.keyboard.press("Escape")
    title(bench).wait_for(state="hidden")
    assert not record.exists()

    bench.palette("opdev: Answer the five questions")
    five(bench, "later")
    dialog = bench.page.locator(".monaco-dialog-box")
    while not dialog.is_visible():
        leave_open(bench, dialog)
    bench.picture("intake-answers")
    assert not record.exists()
    dialog.get_by_role("button", name="Record these answers").click()
    bench.until(record.exists, "the intake is recorded")
    bench.page.locator(".notification-toast", has_text="The intake is recorded").wait_for()
    bench.picture("intake-recorded")


def test_in_chinese(serve: Callable[..., CodeServer], window: Callable[..., Workbench], workspace: Path) -> None:
    server = serve(machine=MACHINE, locale="zh-cn", settings={"workbench.colorTheme": "Default Dark Modern"})
    bench = window(server, workspace)
    view = bench.view("opdev")
    bench.expand(view.locator(".monaco-list-row", has_text="put_signal").first)
    view.locator(".monaco-list-row", has_text="代码与编译").first.wait_for()
    bench.palette("opdev: 查看门禁为什么没开")
    bench.choose("put_signal")
    page = bench.webview("put_signal 门禁")
    page.get_by_role("heading", name="各阶段").wait_for()
    bench.picture("gate-zh-dark")

    bench.palette("Welcome: Open Walkthrough")
    bench.choose("开始使用 opdev")
    bench.page.locator(".getting-started-step", has_text="让 opdev 跑起来").first.wait_for()
    # Its condition holds already: the server runs.
    bench.page.locator(".getting-started-step .codicon-getting-started-step-checked").first.wait_for()
    bench.picture("walkthrough-zh-dark")


def title(bench: Workbench) -> Locator:
    return bench.page.locator(".quick-input-titlebar .quick-input-title")


def five(bench: Workbench, cann: str, *, back: bool = False) -> None:
    """Answer the five questions: where CANN is, then the first option of each."""
    rows = bench.page.locator(".quick-input-widget .quick-input-list .monaco-list-row")
    title(bench).get_by_text("1/5").wait_for()
    box = bench.page.locator(".quick-input-widget .quick-input-box input")
    if back:
        # A path that cannot be meant is told where it was written, and can be mended there.
        box.fill("CANN/set_env.sh")
        bench.choose("CANN/set_env.sh")
        bench.page.locator(".quick-input-message", has_text="CANN/set_env.sh is not an absolute path").wait_for()
        bench.picture("intake-refused")
        box.fill(cann)
        bench.page.locator(".quick-input-message", has_text="is not an absolute path").wait_for(state="hidden")
        bench.page.keyboard.press("Enter")
    else:
        box.fill(cann)
        bench.choose(cann)
    for number in range(2, 6):
        title(bench).get_by_text(f"{number}/5").wait_for()
        if back and number == 3:
            bench.page.locator(".quick-input-titlebar .action-label[aria-label^='Back']").click()
            title(bench).get_by_text("2/5").wait_for()
            rows.get_by_text("chosen before").wait_for()
            bench.picture("intake-back")
            rows.first.click()
            title(bench).get_by_text("3/5").wait_for()
            return
        rows.first.click()


def leave_open(bench: Workbench, dialog: Locator) -> None:
    """Take what a question offers when nothing is known, else its first option."""
    shown = title(bench)
    page = bench.page
    rows = page.locator(".quick-input-widget .quick-input-list .monaco-list-row")
    dialog.or_(rows.first).first.wait_for()
    if dialog.is_visible():
        return
    before = rows.first.inner_text()
    open_end = rows.filter(has_text="if nothing else is known")
    (open_end.first if open_end.count() else rows.first).click()
    bench.until(
        lambda: dialog.is_visible() or (shown.is_visible() and rows.count() > 0 and rows.first.inner_text() != before),
        "the next question",
    )
