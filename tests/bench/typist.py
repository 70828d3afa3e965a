"""A typist in VS Code (code-server in Chromium): how long a letter takes to the screen, at rest and while a run floods.

The same letters are typed into plain text in an editor without the extension: what the harness itself costs, on a
machine without a graphics processor most of it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from measure import Row

TESTS = Path(__file__).parents[1]
for folder in ("e2e", "e2e/vscode", "lsp"):
    sys.path.insert(0, str(TESTS / folder))

TEXT = "// a comment as one types it, letter by letter, for all who read this. "
ROUNDS = 4
BUDGET = 50.0
"""Milliseconds within which 95 of 100 letters are on the screen."""
FLOOD = """\
go=$(dirname "$0")/../go
python3 - "$go" <<'END'
import os, sys, time
line = 0
while not os.path.exists(sys.argv[1]):
    sys.stdout.write("".join(f"kernel output line {line + i}\\n" for i in range(2000)))
    sys.stdout.flush()
    time.sleep(0.1)
    line += 2000
END
mkdir -p output
echo 'PE 0: PASS (8 elements)'
"""


def measure(work: Path) -> list[Row]:
    """The letters' p95 in plain text without us, in a kernel with us, and in it during a run of 20,000 lines a second."""
    from chromium import chromium, launched
    from code_server import CodeServer, vsix
    from operators import make
    from workbench import Workbench

    if chromium() is None or shutil.which("npm") is None:
        print("Chromium and npm are not here: the typist is not measured", flush=True)
        return []
    work.mkdir()
    operator = make(work / "repo", run=FLOOD)
    operator.repo.joinpath("notes.txt").write_text("\n" * 30)
    # Short: the names of sockets may not be long.
    with tempfile.TemporaryDirectory(prefix="odb-", ignore_cleanup_errors=True) as home, launched() as browser:
        us = {"opdev.python": sys.executable, "opdev.run.executor": "host"}
        server = CodeServer(Path(home), vsix(work), machine=us)
        server.start()
        try:
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            bench = Workbench(context.new_page(), work)
            bench.load(server.url(operator.repo))
            bench.open("demo/src/demo_kernel.cpp")
            bench.squiggles("warning").or_(bench.squiggles()).first.wait_for()
            rest = _rounds(bench)
            bench.view("opdev").locator(".monaco-list-row", has_text="demo").first.wait_for()
            bench.palette("opdev: Run a phase")
            bench.pick("code and build")
            bench.palette("opdev: Show compile panel")
            page = bench.webview("Compile · demo")
            page.locator(".log .line", has_text="kernel output line").first.wait_for()
            flood = _rounds(bench)
            lines = int(page.locator(".bar > .muted", has_text=" lines").inner_text().split()[0])
            operator.write("go", "")
            page.locator(".badge", has_text="running").wait_for(state="detached")
            bench.open("notes.txt")
            plain = _rounds(bench)
        finally:
            server.stop()
            operator.end()
    print(f"plain text: {plain}\nat rest: {rest}\nflood, {lines} lines: {flood}", flush=True)
    return [
        Row("VS Code: a letter in plain text, p95", plain.at(0.95), "ms"),
        Row("VS Code: a letter in a kernel, p95", rest.at(0.95), "ms", BUDGET),
        Row("VS Code: a letter in a kernel during 20,000 lines a second, p95", flood.at(0.95), "ms", BUDGET),
    ]


def _rounds(bench):
    """Some rounds of letters; the first ones, while the editor still compiles its own scripts, are not counted."""
    from keystrokes import Times, typed

    bench.page.locator(".editor-instance .monaco-editor .view-line").first.click()
    typed(bench.page, TEXT)
    found = [typed(bench.page, TEXT) for _ in range(ROUNDS)]
    busy = sum(one.busy for one in found) / ROUNDS
    return Times(tuple(ms for one in found for ms in one.each), busy)
