"""A batch that outlives its terminal: started in a session of its own, found again by its state, ended by a signal.

``python -m opdev.bench.detached ARGUMENTS`` is that process; ARGUMENTS are those of ``opdev bench run`` as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from opdev import ourselves
from opdev.bench import state
from opdev.bench.model import BenchError
from opdev.bench.texts import say
from opdev.commandline import begin, guarded
from opdev.rules.model import Lang
from opdev.runs import process

OUT, ERR = "benchmark.out", "benchmark.err"
_BEGIN, _PREFLIGHT = 90.0, 10.0
_BEGUN = frozenset({state.RUNNING, state.FINISHED})
_END = 60.0
_TICK = 0.05
USAGE = 2


def start(arguments: Mapping[str, Any], root: str, lang: Lang) -> int:
    """Start a batch and wait until it says that it runs; 0 then, else how it ended."""
    os.makedirs(f"{root}/logs", exist_ok=True)
    words = json.dumps({**arguments, "lang": lang}, ensure_ascii=False)
    with open(f"{root}/logs/{OUT}", "ab") as out, open(f"{root}/logs/{ERR}", "ab") as err:
        begun = err.tell()
        child = subprocess.Popen(
            ourselves.argv("opdev.bench.detached", [words]), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            start_new_session=True, cwd=os.getcwd(),
        )  # fmt: skip
    deadline = time.monotonic() + _BEGIN
    while time.monotonic() < deadline:
        ended = child.poll()
        found = state.read(root) or {}
        mine = found.get("main_pid") == child.pid
        if ended is not None and not (mine and found.get("main_status") == state.FINISHED):
            sys.stderr.write(_since(f"{root}/logs/{ERR}", begun))
            return ended if ended > 0 else 1
        # Most of what goes wrong at once is found by the preflight: it is waited for, but not for long.
        slow = time.monotonic() > deadline - _BEGIN + _PREFLIGHT
        if mine and (found["main_status"] in _BEGUN or (slow and found["main_status"] == state.PREFLIGHT)):
            sys.stdout.write(say("b-detached", lang, root=root) + "\n")
            # It is the user's now: this process does not wait for it.
            child.returncode = 0
            return 0
        time.sleep(_TICK)
    child.terminate()
    raise BenchError("b-no-begin", seconds=f"{_BEGIN:g}", log=f"{root}/logs/{ERR}")


def stop(root: str, lang: Lang) -> int:
    """End the batch in a folder as Ctrl-C does; 0 when it is gone, 1 where none runs, BenchError where it cannot be reached."""
    found = state.read(root)
    if found is None:
        raise BenchError("b-no-batch", root=root)
    owner = state.owner(found)
    lives = process.alive(owner) if owner else False
    if owner is not None and lives is None:
        raise BenchError("b-elsewhere", where=f"{owner.host}:{owner.pid}")
    if owner is None or not lives or found.get("main_status") not in (state.RUNNING, state.PREFLIGHT):
        sys.stdout.write(say("b-not-running", lang, root=root) + "\n")
        return 1
    for _ in range(2):
        # The second one ends at once what would not end by itself.
        process.tell(owner, signal.SIGTERM)
        deadline = time.monotonic() + _END
        while time.monotonic() < deadline:
            if not process.alive(owner):
                sys.stdout.write(say("b-stopped", lang, root=root) + "\n")
                return 0
            time.sleep(_TICK)
    raise BenchError("b-stays", where=f"{owner.host}:{owner.pid}")


def _since(path: str, offset: int) -> str:
    try:
        with open(path, "rb") as stream:
            stream.seek(offset)
            return stream.read(20_000).decode("utf-8", "replace")
    except OSError:
        return ""


def main(argv: list[str]) -> int:
    """Run the batch in this process."""
    from opdev.bench import batch_cli

    args = argparse.Namespace(**json.loads(argv[0]))
    lang = begin(["--lang", args.lang])
    return guarded(
        "opdev bench",
        lang,
        lambda: batch_cli.act(args, lang),
        {
            BenchError: lambda error: (say(error.key, lang, **error.values), USAGE),
            OSError: lambda error: (say("os", lang, path=error.filename or "?", why=error.strerror), USAGE),
        },
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
