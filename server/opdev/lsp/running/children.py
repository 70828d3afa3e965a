"""Calling ``opdev …`` as a child: the same program as in CI, with pipes and a process group of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from opdev import ourselves


@dataclass(frozen=True, slots=True)
class Done:
    """How a child ended, and what it said."""

    status: int
    out: str
    err: str


async def call(words: Sequence[str], cwd: str, patience: float, said: bytes = b"") -> Done:
    """Run it to its end; TimeoutError after ``patience`` seconds.  Cancelled or late, its whole group is ended."""
    child = await asyncio.create_subprocess_exec(
        *ourselves.argv("opdev.cli", words), cwd=cwd, start_new_session=os.name == "posix",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        out, err = await asyncio.wait_for(child.communicate(said), patience)
    except asyncio.TimeoutError as error:
        _end(child)
        raise TimeoutError from error
    except asyncio.CancelledError:
        _end(child)
        raise
    return Done(child.returncode or 0, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def _end(child: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
