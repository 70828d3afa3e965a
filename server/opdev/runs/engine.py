"""The precision engine as a child of a runner: asked case by case, never waited for.

numpy is loaded there once for a whole matrix; a thread reads what it says, so the runner goes on reading its step.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from opdev import ourselves
from opdev.phases.model import both
from opdev.rules.model import Text
from opdev.runs import process

_NICE = 5
"""It gives way to the case that runs meanwhile."""
_SAID = 300


class Engine:
    """See the module.  One question at a time; OSError where it cannot be started."""

    def __init__(self, root: str, backend: str, run: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        self._child = subprocess.Popen(
            ourselves.argv("opdev.precision.percase", [root, backend]), cwd="/", env={**os.environ, process.TOKEN: run},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
        )  # fmt: skip
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._child.pid, _NICE)
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, data: str, output: str) -> None:
        """Put a question; one that nobody hears is answered by ``answer`` all the same."""
        stream = self._child.stdin
        with suppress(OSError):
            if stream is not None:
                stream.write(json.dumps({"data": data, "output": output}).encode() + b"\n")
                stream.flush()

    def answer(self, seconds: float) -> Mapping[str, Any] | None:
        """``document`` and ``why``, waiting for so long; None where there is none yet.

        A child that ended says why as its answer: with ``document`` null.
        """
        try:
            line = self._lines.get(timeout=seconds) if seconds else self._lines.get_nowait()
        except queue.Empty:
            return None
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if isinstance(found, dict) and {"document", "why"} <= found.keys():
            return found
        return {"document": None, "why": self._end()}

    @property
    def ended(self) -> bool:
        """Whether it answers nothing any more."""
        return self._child.poll() is not None

    def close(self) -> None:
        """End it."""
        self._child.kill()
        self._child.wait()
        for stream in (self._child.stdin, self._child.stdout, self._errors):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _read(self) -> None:
        stream = self._child.stdout
        with suppress(OSError, ValueError):
            for line in stream or ():
                self._lines.put(line)
        self._lines.put(b"")

    def _end(self) -> Text:
        status = self._child.wait()
        self._errors.seek(0)
        said = self._errors.read()[-_SAID * 4 :].decode("utf-8", "replace").strip().splitlines()
        why = said[-1][:_SAID] if said else f"exit {status}"
        return both(f"精度引擎中途结束：{why}", f"the precision engine ended: {why}")
