"""What the extension lives through: no Python, a server that dies, a window that is reloaded, floods, trust."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from keystrokes import typed
from walkthrough import bare_python

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests/lsp"))

from operators import HELD, Operator, make  # noqa: E402 - found by the line above

if TYPE_CHECKING:
    from code_server import CodeServer
    from playwright.sync_api import Locator
    from workbench import Workbench

LINES = 200_000
FLOOD = f"""\
go=$(dirname "$0")/../go
python3 - "$go" <<'END'
import os, sys, time
part = 0
# At least so many, and as long as somebody types.
while part < {LINES} // 2000 or (not os.path.exists(sys.argv[1]) and part < 1000):
    sys.stdout.write("".join(f"kernel output line {{part * 2000 + i}}\\n" for i in range(2000)))
    sys.stdout.flush()
    time.sleep(0.1)
    part += 1
print("the flood ends after", part * 2000)
END
mkdir -p output
echo 'PE 0: PASS (8 elements)'
"""
MOST_DRAWN = 200


@pytest.fixture(scope="module")
def server(serve: Callable[..., CodeServer]) -> CodeServer:
    """One editor for all that runs phases here, on this machine itself."""
    return serve(machine={"opdev.python": sys.executable, "opdev.run.executor": "host"})


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Callable[..., Operator]]:
    """Makes an operator with a run.sh; nothing of it is left running."""
    made: list[Operator] = []

    def build(run: str) -> Operator:
        made.append(make(tmp_path / "repo", run=run))
        return made[-1]

    yield build
    for one in made:
        one.write("go", "")
        one.end()


def begin(bench: Workbench) -> Locator:
    """Start phase 3 of the only operator; the line of the operator in the view."""
    view = bench.view("opdev")
    row = view.locator(".monaco-list-row", has_text="demo").first
    row.wait_for()
    bench.palette("opdev: Run a phase")
    bench.pick("code and build")
    return row


def test_a_clean_profile_makes_its_own_environment_and_trust_comes_later(
    serve: Callable[..., CodeServer], window: Callable[..., Workbench], tmp_path: Path
) -> None:
    # Two folders, one with an environment that would tell if anybody ran it.
    for name in ("one", "two"):
        made = make(tmp_path / name, run=f"IPPORT='tcp://127.0.0.1:27010'\necho {name}\n")
        made.root.rename(made.root.with_name(name))
    marker = tmp_path / "one/ran"
    python = tmp_path / "one/.venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\ntouch {marker}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    both = tmp_path / "both.code-workspace"
    both.write_text(json.dumps({"folders": [{"path": "one"}, {"path": "two"}]}))
    server = serve(machine={}, trusted=False, env=bare_python(tmp_path / "bin"))

    bench = window(server, both)
    bench.page.locator(".statusbar-item", has_text="Restricted Mode").wait_for()
    bench.open("custom-ops/two/scripts/run.sh")
    bench.notification("No Python with opdev was found.").wait_for()
    bench.picture("setup-offered", shown=True)
    bench.answer("No Python with opdev was found.", "Set up opdev")
    bench.notification("making a Python environment").wait_for()
    bench.picture("setup-making")
    bench.squiggles("warning").or_(bench.squiggles()).first.wait_for()
    bench.picture("setup-done")
    # Nothing was run, and nothing that would run anything is offered.
    assert not marker.exists()
    assert bench.page.locator(".codelens-decoration").count() == 0
    assert "opdev: Run a phase…" not in bench.commands("opdev: Run")

    bench.page.locator(".statusbar-item", has_text="Restricted Mode").click()
    bench.page.locator(".workspace-trust-editor .monaco-button", has_text="Trust").first.click()
    bench.page.locator(".statusbar-item", has_text="Restricted Mode").wait_for(state="detached")
    bench.until(marker.exists, "the workspace's own environment is looked at")
    bench.open("custom-ops/two/scripts/run.sh")
    bench.page.locator(".codelens-decoration").first.wait_for()
    assert "opdev: Run a phase…" in bench.commands("opdev: Run")
    view = bench.view("opdev")
    for name in ("one", "two"):
        view.locator(".monaco-list-row", has_text=name).first.wait_for()
    bench.picture("trust-granted")


def test_a_server_that_dies_comes_back_and_one_that_keeps_dying_is_left_alone(
    server: CodeServer, window: Callable[..., Workbench], operator: Callable[..., Operator], tmp_path: Path
) -> None:
    demo = operator("IPPORT='tcp://127.0.0.1:27010'\necho\n")
    bench = window(server, demo.repo)
    bench.open("demo/scripts/run.sh")
    found = bench.squiggles("warning").or_(bench.squiggles())
    found.first.wait_for()

    def starts() -> int:
        return server.our_log().count("] starting /")

    def alone(besides: int) -> Callable[[], bool]:
        return lambda: len(server.language_servers()) == 1 and besides not in server.language_servers()

    # The same interpreter by another name is no reason to start; two changes at once are one.
    before, (pid,) = starts(), server.language_servers()
    server.configure(**{"opdev.python": str(Path(sys.executable).with_name("python3"))})
    bench.until(lambda: "is what runs already" in server.our_log(), "the change was looked at")
    assert server.language_servers() == [pid]
    others = [environment(tmp_path / name) for name in ("first", "second")]
    for other in others:
        server.configure(**{"opdev.python": other})
    bench.until(lambda: f"starting {others[1]}" in server.our_log(), "the new interpreter is used")
    bench.until(alone(pid), "the old server is gone")
    server.configure()
    bench.until(lambda: starts() == before + 2, "it is back")
    found.first.wait_for()

    # Findings stay while there is no server.
    bench.until(lambda: len(server.language_servers()) == 1, "one server")
    (pid,) = server.language_servers()
    bench.page.evaluate(
        """() => { window.opdevFewest = 99; setInterval(() => { window.opdevFewest = Math.min(
        window.opdevFewest, document.querySelectorAll('.monaco-editor [class*=squiggly-]').length); }, 20); }"""
    )
    before = starts()
    os.kill(pid, signal.SIGKILL)
    bench.until(lambda: starts() == before + 1, "another server is started")
    bench.until(alone(pid), "it runs")
    bench.go_to(2, 1)
    bench.page.keyboard.type("pkill -f shmem\n")
    # Not in Problems: a list that long shows some of its rows only.
    bench.squiggles().nth(1).wait_for()
    assert bench.page.evaluate("window.opdevFewest") >= 1
    assert starts() == before + 1
    bench.picture("server-back")

    for _ in range(3):
        (pid,) = server.language_servers()
        os.kill(pid, signal.SIGKILL)
        bench.until(lambda pid=pid: pid not in server.language_servers(), "it is dead")
        bench.until(
            lambda: bool(server.language_servers()) or "left alone" in server.our_log(), "it is back, or left alone"
        )
    bench.notification("ended four times within three minutes").wait_for()
    assert server.language_servers() == []
    bench.picture("server-left-alone")
    bench.answer("ended four times within three minutes", "Restart the server")
    bench.until(lambda: len(server.language_servers()) == 1, "it runs again")
    found.first.wait_for()


def environment(folder: Path) -> str:
    """An environment that sees the packages of the one the tests run in."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (place,) = folder.glob("lib/python3*/site-packages")
    here = [path for path in sys.path if path.endswith("site-packages")]
    (place / "here.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in here))
    return str(folder / "bin/python")


def test_a_window_reloaded_mid_run_shows_all_of_it_and_stops_it(
    server: CodeServer, window: Callable[..., Workbench], operator: Callable[..., Operator]
) -> None:
    demo = operator("echo 'before the reload'\n" + HELD)
    bench = window(server, demo.repo)
    row = begin(bench)
    bench.palette("opdev: Show compile panel")
    page = bench.webview("Compile · demo")
    page.locator(".log .line", has_text="before the reload").wait_for()
    page.locator(".badge", has_text="running").wait_for()

    bench.reload()
    page = bench.webview("Compile · demo")
    page.locator(".log .line", has_text="before the reload").wait_for()
    page.locator(".badge", has_text="running").wait_for()
    view = bench.view("opdev")
    row = view.locator(".monaco-list-row", has_text="demo").first
    row.locator(".codicon-sync").first.wait_for()
    bench.picture("reloaded")
    demo.write("go", "")
    page.locator(".log .line", has_text="PE 0: PASS").wait_for()
    page.locator(".badge", has_text="running").wait_for(state="detached")

    # Once more, and stopped from the view.
    (demo.root / "go").unlink()
    begin(bench)
    page.locator(".badge", has_text="running").wait_for()
    page.locator(".log .line", has_text="held").wait_for()
    bench.act(row, "Stop")
    page.locator(".badge", has_text="stopped").wait_for()
    bench.picture("stopped")


def test_200_000_lines_do_not_freeze_the_editor(
    server: CodeServer, window: Callable[..., Workbench], operator: Callable[..., Operator]
) -> None:
    demo = operator(FLOOD)
    bench = window(server, demo.repo)
    bench.open("demo/src/demo_kernel.cpp")
    begin(bench)
    bench.palette("opdev: Show compile panel")
    page = bench.webview("Compile · demo")
    page.locator(".log .line", has_text="kernel output line").first.wait_for()
    # What is typed meanwhile arrives; how soon is measured by tests/bench, where nothing else runs.
    bench.page.locator(".editor-instance .monaco-editor .view-line").first.click()
    times = typed(bench.page, "// and while two hundred thousand lines come in by the thousand")
    bench.picture("flood-running")
    assert "two hundred thousand lines" in bench.page.locator(".editor-instance .view-lines").inner_text().replace(
        "\xa0", " "
    )
    # However much came in, only what is in sight is drawn.
    assert page.locator(".log .line").count() < MOST_DRAWN
    assert page.locator(".log .line", has_text="the flood ends").count() == 0, "nothing came in any more"
    demo.write("go", "")
    last = page.locator(".log .line", has_text="the flood ends after")
    last.wait_for()
    lines = int(last.inner_text().split()[-1])
    assert lines >= LINES
    page.locator(".badge", has_text="running").wait_for(state="detached")
    # Nothing is lost: each line is counted, and those of the other logs.
    assert lines < int(page.locator(".bar > .muted", has_text=" lines").inner_text().split()[0]) < lines + 100
    bench.picture("flood")
    print(times)
