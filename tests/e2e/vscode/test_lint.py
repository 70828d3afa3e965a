"""From a squiggle to a saved file, and what a workspace nobody trusts gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import opdev

if TYPE_CHECKING:
    from code_server import CodeServer
    from workbench import Workbench


def hurried(workspace: Path) -> Path:
    """run.sh that ends everybody's processes in its second line."""
    script = workspace / "custom-ops/allgather/scripts/run.sh"
    first, _, rest = script.read_text().partition("\n")
    script.write_text(f"{first}\npkill -f shmem\n{rest}")
    return script


def test_a_squiggle_is_fixed_and_saved(
    code_server: CodeServer, window: Callable[..., Workbench], workspace: Path
) -> None:
    script = hurried(workspace)
    bench = window(code_server, workspace)
    bench.open("allgather/scripts/run.sh")
    bench.squiggles().first.wait_for()
    bench.problems("pkill").first.wait_for()
    bench.picture("squiggle")
    bench.line("pkill -f shmem").first.click()
    bench.go_to(2, 12)
    bench.quick_fix("Match this operator's binary only")
    bench.line("build/bin/allgather").first.wait_for()
    bench.squiggles().first.wait_for(state="detached")
    bench.save()
    bench.until(lambda: "pkill -f shmem" not in script.read_text(), "the fix is on the disk")
    bench.picture("fixed")

    # Both at once, by the editor's own command.
    bench.go_to(3)
    bench.page.keyboard.type("IPPORT=tcp://127.0.0.1:27010\nSHMEM_IPPORT=tcp://127.0.0.1:27011\n")
    bench.squiggles().nth(1).wait_for()
    bench.palette("Fix All")
    bench.squiggles().first.wait_for(state="detached")
    bench.save()
    bench.until(lambda: 'SHMEM_IPPORT="${' in script.read_text(), "both fixes are on the disk")
    assert "=tcp://127.0.0.1:2701" not in script.read_text()


def test_where_it_says_what_a_rule_is_and_how_the_server_does(
    code_server: CodeServer, window: Callable[..., Workbench], workspace: Path
) -> None:
    hurried(workspace)
    bench = window(code_server, workspace)
    bench.open("allgather/scripts/run.sh")
    bench.page.locator("#status\\.languageStatus, [id='status.languageStatus']").first.hover()
    told = bench.page.locator(".hover-language-status", has_text=f"opdev {opdev.__version__}")
    told.wait_for()
    bench.picture("language-status")
    link = bench.problems("pkill").locator("a.monaco-link").first
    name = link.inner_text()
    link.click()
    page = bench.page.locator(".tab", has_text=f"{name}.md")
    page.wait_for()
    bench.line("id: SH").first.wait_for()
    bench.picture("rule-page")


def test_an_untrusted_workspace_gets_diagnostics_and_runs_nothing(
    serve: Callable[..., CodeServer], window: Callable[..., Workbench], workspace: Path
) -> None:
    hurried(workspace)
    # An environment that would tell if anybody ran it.
    marker = workspace / "ran"
    python = workspace / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\ntouch {marker}\n")
    python.chmod(0o755)
    bench = window(serve(trusted=False), workspace)
    bench.page.locator(".statusbar-item", has_text="Restricted Mode").wait_for()
    bench.open("allgather/scripts/run.sh")
    bench.squiggles().first.wait_for()
    bench.picture("untrusted")
    assert not marker.exists()
