"""The quiet end of a command whose reader went away (`opdev … | head`)."""

from __future__ import annotations

import os
import sys

BROKEN_PIPE = 128 + 13
"""What a shell sees of a program that SIGPIPE ended."""


def quiet_end() -> int:
    """What is still in the buffer goes nowhere, also at the interpreter's end; the exit status."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
