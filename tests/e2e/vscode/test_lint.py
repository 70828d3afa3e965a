"""From a squiggle to a saved file, and what a workspace nobody trusts gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

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
