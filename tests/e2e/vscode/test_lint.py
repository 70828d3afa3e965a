"""From a squiggle to a saved file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from code_server import CodeServer
from workbench import Workbench


def test_a_squiggle_is_fixed_and_saved(
    code_server: CodeServer, window: Callable[..., Workbench], workspace: Path
) -> None:
    script = workspace / "custom-ops/allgather/scripts/run.sh"
    script.write_text(script.read_text() + "\npkill -f shmem\n")
    bench = window(code_server, workspace)
    bench.open("allgather/scripts/run.sh")
    bench.squiggles().first.wait_for()
    bench.problems("pkill").first.wait_for()
    bench.picture("squiggle")
