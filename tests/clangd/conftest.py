"""A real clangd and real sessions with it."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest
from needed import lacking

from opdev.clangd.finding import program

CORPUS = Path(__file__).parents[1] / "corpus" / "clean"
_PATIENCE = 60


@pytest.fixture(scope="session")
def clangd() -> str:
    """The program; tests of what it says mean nothing without it."""
    found = program()
    if found is None:
        lacking("clangd")
    return found


@pytest.fixture
def corpus(tmp_path):
    """A copy of the clean operators; no CANN and no SHMEM in the environment."""
    target = tmp_path / "仓 库"
    shutil.copytree(CORPUS, target)
    return target


class Session:
    """An editor's session with clangd over its standard streams."""

    def __init__(self, program: str, root: Path) -> None:
        argv = [program, "--background-index=false", "--log=error", "--enable-config"]
        self.process = subprocess.Popen(
            argv, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.messages: Queue[dict[str, Any] | None] = Queue()
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        self.number = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": {}})
        self.tell("initialized", {})

    def _read(self) -> None:
        stream = self.process.stdout
        while line := stream.readline():
            length = int(line.split(b":")[1])
            while stream.readline().strip():
                pass
            self.messages.put(json.loads(stream.read(length)))
        self.messages.put(None)

    def tell(self, method, params, **more):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _next(self):
        try:
            message = self.messages.get(timeout=_PATIENCE)
        except Empty:
            pytest.fail("clangd does not answer")
        if message is None:
            pytest.fail(f"clangd ended with {self.process.wait()}")
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message

    def ask(self, method, params):
        self.number += 1
        self.tell(method, params, id=self.number)
        while True:
            message = self._next()
            if message.get("id") == self.number and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def open(self, path: Path, text: str | None = None) -> str:
        """Open a file and wait for its diagnostics; its URI."""
        text = path.read_text(encoding="utf-8") if text is None else text
        self.tell(
            "textDocument/didOpen",
            {"textDocument": {"uri": path.as_uri(), "languageId": "cpp", "version": 1, "text": text}},
        )
        uri = path.as_uri()
        while not any(_same(uri, known) for known in self.diagnostics):
            self._next()
        return uri

    def at(self, method, uri, text, word, offset=1):
        """Ask something about the place where ``word`` first stands in ``text``."""
        before = text[: text.index(word) + offset]
        line = before.count("\n")
        character = len(before) - before.rfind("\n") - 1
        return self.ask(method, {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})

    def errors(self, uri):
        found = [d for known, all_ in self.diagnostics.items() if _same(uri, known) for d in all_]
        return [(d["range"]["start"]["line"] + 1, d["message"].splitlines()[0]) for d in found if d["severity"] == 1]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=_PATIENCE)


def _same(one: str, other: str) -> bool:
    return one.lower() == other.lower()


@pytest.fixture
def session(clangd):
    """Begins sessions and ends them."""
    begun = []

    def begin(root: Path) -> Session:
        begun.append(Session(clangd, root))
        return begun[-1]

    yield begin
    for one in begun:
        one.close()
