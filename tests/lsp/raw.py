"""A client of our own that writes the wire byte by byte, and waits for what happens, never for time."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

SELECT = [
    "hardcoded-endpoint",
    "opdev",
    "prints-much",
    "crashes-often",
    "never-ends",
    "has-mate",
    "fires-much",
    "mends-mate",
]
"""The rules these tests know; others come and go."""
VERSIONS = {"textDocument": {"publishDiagnostics": {"versionSupport": True}}}
WAIT = 60.0
"""Seconds until something that should have happened is said not to have; never how long a test takes."""


def uri(path) -> str:
    return Path(path).as_uri()


class Raw:
    """One server process and the conversation with it."""

    def __init__(self, *args, script=None, cwd=None, env=None, argv=None):
        program = argv or [sys.executable, *([str(script)] if script else ["-m", "opdev.lsp"]), *args]
        self.process = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
            env={**os.environ, **(env or {})},
        )  # fmt: skip
        self.received = []
        self.replies = {"workspace/configuration": lambda params: [None for _ in params["items"]]}
        self.mute = set()
        self.stderr = b""
        self._news = threading.Condition()
        self._ended = False
        self._count = 0
        self._threads = [threading.Thread(target=t, daemon=True) for t in (self._read, self._errors)]
        for thread in self._threads:
            thread.start()

    def _read(self):
        out = self.process.stdout
        while True:
            length = 0
            while (line := out.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not line:
                break
            body = out.read(length)
            if len(body) < length:
                break
            message = json.loads(body)
            method = message.get("method")
            if method and "id" in message and method not in self.mute:
                make = self.replies.get(method, lambda _: None)
                # The server may be gone by now.
                with contextlib.suppress(BrokenPipeError, ValueError):
                    self.write({"id": message["id"], "result": make(message.get("params"))})
            with self._news:
                self.received.append(message)
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _errors(self):
        for line in self.process.stderr:
            self.stderr += line

    def raw(self, data: bytes):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def write(self, *messages):
        """Several messages go out in one write."""
        whole = b""
        for message in messages:
            body = json.dumps({"jsonrpc": "2.0", **message}).encode()
            whole += b"Content-Length: %d\r\n\r\n" % len(body) + body
        try:
            self.raw(whole)
        except (BrokenPipeError, ValueError):
            if self.process.poll() is None:
                raise

    def wait(self, found, what="that", since=0):
        """The first message from number ``since`` on that ``found`` accepts."""
        until = time.monotonic() + WAIT
        with self._news:
            at = since
            while True:
                while at < len(self.received):
                    if found(self.received[at]):
                        return self.received[at]
                    at += 1
                left = until - time.monotonic()
                if left <= 0 or self._ended:
                    tail = json.dumps(self.received[-3:], ensure_ascii=False)[-1500:]
                    raise AssertionError(f"no {what}; last {tail}; stderr {self.stderr.decode()[-2000:]}")
                self._news.wait(left)

    def id(self):
        self._count += 1
        return self._count

    def send(self, method, params):
        """Send a request; its id."""
        identity = self.id()
        self.write({"id": identity, "method": method, "params": params})
        return identity

    def answer(self, identity):
        """The response to a request, error or not."""
        return self.wait(lambda m: m.get("id") == identity and "method" not in m, f"answer to {identity}")

    def request(self, method, params=None):
        """Send a request; its result."""
        answer = self.answer(self.send(method, params))
        assert "error" not in answer, answer
        return answer["result"]

    def notify(self, method, params):
        self.write({"method": method, "params": params})

    def initialize(self, *folders, capabilities=None, options=None, locale="en", process_id=None):
        options = {"select": SELECT, **(options or {})}
        result = self.request(
            "initialize",
            {
                "processId": process_id,
                "capabilities": VERSIONS if capabilities is None else capabilities,
                "workspaceFolders": [{"uri": uri(f), "name": Path(f).name} for f in folders],
                "initializationOptions": options,
                "locale": locale,
            },
        )
        self.notify("initialized", {})
        return result["capabilities"]

    def open(self, path, text, version=1, language="shellscript", name=None):
        where = name or uri(path)
        self.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": where, "languageId": language, "version": version, "text": text}},
        )
        return where

    def change(self, where, version, *changes):
        """Each change is a text, or ((line, character), (line, character), text)."""
        listed = [
            {"text": c}
            if isinstance(c, str)
            else {
                "range": {
                    "start": {"line": c[0][0], "character": c[0][1]},
                    "end": {"line": c[1][0], "character": c[1][1]},
                },
                "text": c[2],
            }
            for c in changes
        ]
        self.notify(
            "textDocument/didChange", {"textDocument": {"uri": where, "version": version}, "contentChanges": listed}
        )

    def close(self, where):
        self.notify("textDocument/didClose", {"textDocument": {"uri": where}})

    def diagnostics(self, where, accept=lambda _: True, since=0, version=None):
        """Published diagnostics of a URI that ``accept`` takes, waiting for them."""

        def found(message):
            if message.get("method") != "textDocument/publishDiagnostics" or message["params"]["uri"] != where:
                return False
            if version is not None and message["params"].get("version") != version:
                return False
            return accept(message["params"]["diagnostics"])

        return self.wait(found, f"diagnostics of {where}", since)["params"]["diagnostics"]

    def pull(self, where, previous=None):
        params = {"textDocument": {"uri": where}}
        if previous:
            params["previousResultId"] = previous
        return self.request("textDocument/diagnostic", params)

    @property
    def mark(self):
        """What has come so far; for ``since``."""
        return len(self.received)

    def idle(self):
        """Wait until everything sent so far has been handled."""
        answer = self.answer(self.send("opdev/nothing", {}))
        assert answer["error"]["code"] == -32601

    def logged(self, text, seconds=WAIT):
        """Wait until the log says something (``--log-level debug``)."""
        until = time.monotonic() + seconds
        while text not in self.stderr.decode():
            assert time.monotonic() < until, self.stderr.decode()[-2000:]
            time.sleep(0.01)

    def finish(self):
        """Shut down politely; the exit status."""
        self.answer(self.send("shutdown", None))
        self.notify("exit", None)
        return self.ended()

    def ended(self, seconds=WAIT):
        status = self.process.wait(seconds)
        self._threads[1].join(seconds)
        return status

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT)
        for thread in self._threads:
            thread.join(WAIT)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(BrokenPipeError, ValueError):
                stream.close()
