"""What every command of opdev begins and ends with: its streams, its language, and how a failure is told."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opdev.config import language
from opdev.pipes import quiet_end
from opdev.rules.model import Lang

INTERNAL = 3
INTERRUPTED = 130
Refusals = Mapping[type[Exception], Callable[[Any], tuple[str, int]]]
"""What to say of an exception, and the exit status; the first kind that fits."""
_INTERNAL = {
    "zh": "opdev 内部错误（{error}）；请附上命令报告此问题",
    "en": "opdev failed ({error}); please report it with the command",
}


def begin(argv: Sequence[str]) -> Lang:
    """The streams in UTF-8 with one line end, whatever the terminal; the language asked for by ``--lang``."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            more = {} if stream is sys.stdin else {"newline": "\n"}
            reconfigure(encoding="utf-8", errors="backslashreplace", **more)
    return language(_asked(argv))


def guarded(prog: str, lang: Lang, work: Callable[[], int], refusals: Refusals, interrupted: str = "") -> int:
    """The status of ``work``; what it refuses is told on standard error, and what is our fault with a request.

    ``OPDEV_DEBUG`` shows the traceback of such a fault.
    """
    try:
        status = work()
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        return quiet_end()
    except KeyboardInterrupt:
        sys.stderr.write(f"\n{interrupted}\n" if interrupted else "")
        return INTERRUPTED
    except tuple(refusals) as error:
        text, status = next(tell for kind, tell in refusals.items() if isinstance(error, kind))(error)
        sys.stderr.write(f"{prog}: {text}\n")
        return status
    except Exception as error:
        sys.stderr.write(_INTERNAL[lang].format(error=f"{type(error).__name__}: {error}") + "\n")
        if os.environ.get("OPDEV_DEBUG"):
            raise
        return INTERNAL


def _asked(argv: Sequence[str]) -> str:
    for index, value in enumerate(argv):
        if value == "--lang" and index + 1 < len(argv):
            return argv[index + 1]
        if value.startswith("--lang="):
            return value.partition("=")[2]
    return "auto"
