"""Starting a program below a keeper, and talking to the keeper."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from opdev.keeping import keeper

Input = Literal["null", "hold", "own"]


@dataclass(slots=True)
class Kept:
    """A program that was started.  ``process`` is its guard, which ends last; ``report`` is to be read and closed."""

    process: subprocess.Popen[bytes]
    control: int
    report: int

    def say(self, word: bytes) -> None:
        """``T``: end it, with its grace period; ``K``: kill it."""
        with suppress(OSError):
            os.write(self.control, word)

    def let_go(self) -> None:
        """Close the control pipe: a keeper that still runs ends what it keeps."""
        if self.control >= 0:
            os.close(self.control)
            self.control = -1


def start(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], *, grace: float, source: Input = "null",
    stdout: int | None = None, stderr: int | None = None,
) -> Kept:  # fmt: skip
    """Start ``argv`` below a keeper; OSError where nothing can be started.

    Its input is empty (``null``), open until it shall end (``hold``) or this process's (``own``).  Output goes to the
    file descriptors, or where this process's goes.
    """
    report, report_w = os.pipe()
    control, control_w = os.pipe()
    words = [sys.executable, "-I", "-S", keeper.__file__, str(control), str(report_w), str(grace)]
    try:
        child = subprocess.Popen(
            [*words, source, *argv], cwd=cwd, env=dict(env), stdin=None if source == "own" else subprocess.DEVNULL,
            stdout=stdout, stderr=stderr, pass_fds=(control, report_w),
        )  # fmt: skip
    except BaseException:
        os.close(report)
        os.close(control_w)
        raise
    finally:
        os.close(report_w)
        os.close(control)
    return Kept(child, control_w, report)
