"""PyPTO operators in the editor: their stages, what keeps a gate closed, their state file, and a verification in simulation."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from code_server import ROOT

sys.path.append(str(ROOT / "tests/pyptosim"))

from scaled import GOLDEN, HEAD, IMPL, Operator, wheels

if TYPE_CHECKING:
    from code_server import CodeServer
    from workbench import Workbench

RUN_MS = 600_000
"""Until a run that never ends is given up: the first one builds pypto's interpreter."""
CASES = """def test_small():
    actual, golden = _run(32)
    assert_allclose(actual.float().numpy(), golden.float().numpy(), rtol=2e-3, atol=2e-3)


def test_loose():
    actual, golden = _run(32)
    golden[3, 5] += 1.5
    assert_allclose(actual.float().numpy(), golden.float().numpy(), rtol=2, atol=2)
"""


def test_stages_state_doctor_and_a_simulated_verification(
    serve: Callable[..., CodeServer], window: Callable[..., Workbench], tmp_path: Path
) -> None:
    python = wheels()
    op = Operator(tmp_path / "repo/custom/scale", python, Path(python).parents[1] / "share" / "opdev-cache")
    for name, text in (("scale_impl.py", IMPL), ("scale_golden.py", GOLDEN), ("test_scale.py", HEAD + CASES)):
        op.write(name, text)
    op.write("SPEC.md", "# scale\n")
    # A setting for the phases of others: what PyPTO's operators are run by is no matter of choice.
    machine = {"opdev.python": sys.executable, "opdev.run.executor": "host"}
    server = serve(machine=machine, env={name: op.env[name] for name in ("PYTHON_CMD", "OPDEV_CACHE_DIR")})
    bench = window(server, tmp_path / "repo")
    view = bench.view("opdev")
    operator = view.locator(".monaco-list-row", has_text="scale").first
    bench.expand(operator)
    view.locator(".monaco-list-row", has_text="module interfaces").first.wait_for()
    bench.picture("pypto-stages")

    bench.palette("opdev: Check the environment")
    bench.page.locator(".tab.active", has_text="scale environment.txt").wait_for()
    bench.line("✓ pypto          0.2.0").first.wait_for()
    bench.picture("pypto-environment")
    bench.palette("opdev: Move the state on")
    bench.picture("pypto-moves")
    bench.choose("make a state file (classic seven-stage)")
    bench.notification("scale  classic seven-stage").wait_for()
    bench.palette("opdev: Move the state on")
    bench.choose("complete stage 1")
    # The gate is closed, and what closes it is said.
    bench.notification("the gate is closed by").wait_for()
    bench.picture("pypto-gate-refuses")
    bench.palette("opdev: Show the state file")
    bench.page.locator(".tab.active", has_text="scale state.txt").wait_for()
    bench.line("1  in_progress").first.wait_for()
    bench.palette("Notifications: Clear All Notifications")

    # All but stage 6 is a person's work: one line can be run.
    bench.open("scale/test_scale.py")
    bench.page.locator(".codelens-decoration", has_text="run test_loose (simulated)").wait_for()
    bench.act(operator, "Verify in simulation")
    bench.palette("opdev: Show compile panel")
    page = bench.webview("Compile · scale")
    page.locator(".badge.failed").wait_for(timeout=RUN_MS)
    page.locator(".simulated").first.wait_for()
    page.locator(".found.error", has_text="test_loose: out does not hold").first.wait_for()
    bench.picture("pypto-compile")
    bench.palette("opdev: Show precision panel")
    page = bench.webview("Precision · scale")
    row = page.locator("tr[data-case=test_loose]")
    row.locator("td.fail").first.wait_for()
    page.locator("tr[data-case=test_small] td.pass").first.wait_for()
    bench.picture("pypto-precision")
    # Once, at the line the test compares in, whatever else tells of it.
    found = bench.problems("test_loose")
    found.first.wait_for()
    assert found.count() == 1
    assert "opdev run" in found.first.inner_text()
    bench.picture("pypto-problems")
