"""A keystroke: didChange to diagnostics, over the wire, against ruff and pylsp in turn."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

from generate import design, kernel, python
from measure import Row, cpu, percentile, program
from wire import Client

EDITS = 150


class Editor:
    """One server with one open document, typed into and deleted from in turn."""

    def __init__(self, command: list[str], folder: Path, path: str, text: str, language: str, *, pull: bool) -> None:
        self.uri = f"file://{folder / path}"
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
        self.pull = pull
        self.client = Client(command, str(folder))
        self.start = self.client.initialize(pull=pull)
        self.version = 1
        item = {"uri": self.uri, "languageId": language, "version": 1, "text": text}
        self.client.send("textDocument/didOpen", {"textDocument": item})
        self._diagnostics()
        self.first = time.perf_counter() - self.client.began

    def edit(self, line: int, column: int, typed: bool) -> float:
        """Seconds from sending a one-character edit to having its diagnostics."""
        self.version += 1
        end = column if typed else column + 1
        change = {
            "range": {"start": {"line": line, "character": column}, "end": {"line": line, "character": end}},
            "text": "x" if typed else "",
        }
        began = time.perf_counter()
        document = {"uri": self.uri, "version": self.version}
        self.client.send("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        self._diagnostics()
        return time.perf_counter() - began

    def _diagnostics(self) -> None:
        if self.pull:
            self.client.call("textDocument/diagnostic", {"textDocument": {"uri": self.uri}})
            return
        self.client.wait(
            lambda m: (
                m.get("method") == "textDocument/publishDiagnostics"
                and m["params"]["uri"] == self.uri
                and m["params"].get("version", self.version) == self.version
            )
        )


def places(text: str, count: int) -> Iterator[tuple[int, int]]:
    """Ends of identifiers, where people type; columns in the negotiated UTF-8 (lines chosen are ASCII)."""
    rng = random.Random(7)
    lines = text.split("\n")
    found = [
        (number, match.end())
        for number, line in enumerate(lines)
        if line.isascii() and not line.startswith("#")
        for match in re.finditer(r"[a-z_]{4,}", line)
    ]
    for _ in range(count):
        yield rng.choice(found)


def measure(folder: Path) -> list[Row]:
    """p95 of each server, all typed into in turn."""
    rows: list[Row] = []
    cpp, py, md = kernel(2000), python(2000), design(3000)
    opdev = [program("opdev-lsp") or "opdev-lsp"]
    server = program("ruff")
    pylsp = program("pylsp")
    editors = {
        "kernel": (Editor(opdev, folder, "custom-ops/demo/src/demo_kernel.cpp", cpp, "cpp", pull=True), cpp),
        "PyPTO": (Editor(opdev, folder, "custom/demo/test_demo.py", py, "python", pull=True), py),
        "design": (Editor(opdev, folder, "custom-ops/allgather/docs/design.md", md, "markdown", pull=True), md),
    }
    if server:
        editors["ruff"] = (Editor([server, "server"], folder, "custom/demo/test_ruff.py", py, "python", pull=True), py)
    if pylsp:
        editors["pylsp"] = (Editor([pylsp], folder, "custom/demo/test_pylsp.py", py, "python", pull=False), py)
    times: dict[str, list[float]] = {name: [] for name in editors}
    used = dict.fromkeys(editors, 0.0)
    spots = {name: list(places(text, EDITS)) for name, (_, text) in editors.items()}
    for turn in range(EDITS):
        for name, (editor, _) in editors.items():
            if name == "pylsp" and turn >= 20:
                continue
            line, column = spots[name][turn]
            before = cpu(editor.client.process.pid)
            times[name].append(editor.edit(line, column, typed=True))
            times[name].append(editor.edit(line, column, typed=False))
            used[name] += cpu(editor.client.process.pid) - before
    p95 = {name: percentile(values, 0.95) * 1000 for name, values in times.items()}
    ruff = p95.get("ruff")
    for name, lines in (("kernel", "2,000"), ("PyPTO", "2,000"), ("design", "3,000")):
        ratio = p95[name] / ruff if ruff else None
        rows.append(
            Row(f"edit -> diagnostics, {lines}-line {name} file, p95", p95[name], "ms", 6, ratio, 3, "ruff server")
        )
    for name in ("ruff", "pylsp"):
        if name in p95:
            rows.append(Row(f"  {name}, the same in Python, p95", p95[name], "ms"))
    for name in ("kernel", "PyPTO", "design", "ruff"):
        if name in used:
            rows.append(Row(f"  {name}: processor time an edit", used[name] / len(times[name]) * 1000, "ms"))
    rows.append(Row("opdev-lsp: spawn -> initialize answered", editors["kernel"][0].start, "s", 0.5))
    rows.append(Row("opdev-lsp: spawn -> first diagnostics (2,000 lines)", editors["kernel"][0].first, "s", 0.8))
    for editor, _ in editors.values():
        editor.client.close()
    return rows
