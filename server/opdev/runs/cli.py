"""``opdev run``, ``runs``, ``show``, ``tail``, ``stop``, ``doctor``: the command line, its errors, its exit status.

0 passed, 1 failed or waiting for a person, 2 usage, 3 a fault of opdev itself, 130 stopped.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from opdev.commandline import Refusals, begin, guarded
from opdev.config import ConfigError
from opdev.rules.errors import PageError
from opdev.rules.model import Lang
from opdev.runs import commanding, looking
from opdev.runs.errors import UsageError
from opdev.runs.texts import say

COMMANDS = ("run", "runs", "show", "tail", "stop", "doctor")
USAGE = 2


def main(command: str, argv: Sequence[str]) -> int:
    """Run one of ``COMMANDS``; the result is the exit status."""
    lang = begin(argv)
    return guarded(
        f"opdev {command}",
        lang,
        lambda: _CALLS[command](_parser(command, lang).parse_args(list(argv)), lang),
        refusals(lang),
    )


def refusals(lang: Lang) -> Refusals:
    """What these commands refuse, and how."""

    def bad(error: Exception) -> tuple[str, int]:
        return say("bad-config", lang, why=error), USAGE

    return {UsageError: lambda error: (say(error.key, lang, **error.values), USAGE), ConfigError: bad, PageError: bad}


_CALLS = {
    "run": commanding.run,
    "stop": commanding.stop,
    "doctor": commanding.doctor,
    "runs": looking.runs,
    "show": looking.show,
    "tail": looking.tail,
}


def _parser(command: str, lang: Lang) -> argparse.ArgumentParser:
    from opdev.phases.graph import NAMES, ORDER, phase_id
    from opdev.phases.pypto_graph import stage_id
    from opdev.runs.executors import NAMES as EXECUTORS
    from opdev.runs.pypto import NAMES as STAGE_NAMES

    def phase(text: str) -> str:
        # Which of the two workflows' words it is hangs on the operator, which is looked for later.
        if text != "all" and phase_id(text) is None and stage_id(text, "classic") is None and text not in STAGE_NAMES:
            raise argparse.ArgumentTypeError(
                say("no-phase", lang, text=text, phases=", ".join(("all", *ORDER, *NAMES)))
            )
        return text

    def pes(text: str) -> tuple[int, ...]:
        words = [word.strip() for word in text.split(",")]
        if not all(word.isascii() and word.isdigit() and len(word) < 6 and 1 <= int(word) <= 1024 for word in words):
            raise argparse.ArgumentTypeError(say("bad-pes", lang))
        return tuple(dict.fromkeys(map(int, words)))

    p = argparse.ArgumentParser(prog=f"opdev {command}", description=say(f"{command}-help", lang))
    formats = ("text", "json") if command in ("runs", "doctor") else ("text", "jsonl")
    if command == "run":
        p.add_argument(
            "phase",
            type=phase,
            metavar="PHASE",
            help=f"{say('phase', lang)}: {', '.join((*ORDER, 'all'))}; PyPTO: verify",
        )
        p.add_argument("--pes", type=pes, default=(), metavar="N[,N]", help=say("pes", lang))
        p.add_argument("--case", action="append", default=[], dest="cases", metavar="ID", help=say("case", lang))
        p.add_argument("--resume", action="store_true", help=say("resume", lang))
        p.add_argument("--keep-going", action="store_true", help=say("keep-going", lang))
        p.add_argument("--count", type=positive, default=0, metavar="N", help=say("count", lang))
        p.add_argument("--iters", type=positive, default=0, metavar="N", help=say("iters", lang))
        p.add_argument("--dtype", default="", help=say("dtype", lang))
        p.add_argument("--devices", default="", help=say("devices", lang))
        p.add_argument("--handover", action=argparse.BooleanOptionalAction, default=None, help=say("handover", lang))
        p.add_argument("--max-rounds", type=positive, default=0, metavar="N", help=say("max-rounds", lang))
        p.add_argument("--detach", action="store_true", help=say("detach", lang))
    if command in ("run", "doctor"):
        p.add_argument("--executor", choices=EXECUTORS, help=say("executor", lang))
        p.add_argument("--container", metavar="NAME", help=say("container", lang))
    if command in ("show", "tail"):
        p.add_argument("run", nargs="?" if command == "tail" else None, default="last", metavar="RUN", help=say("run-id", lang))  # fmt: skip
        p.add_argument("--print-schema", action="store_true", help=say("schema", lang))
    if command == "show":
        p.add_argument("--replay", action="store_true", help=say("replay", lang))
    if command == "stop":
        p.add_argument("run", nargs="?", metavar="RUN", help=say("run-id", lang))
        p.add_argument("--all", action="store_true", help=say("all", lang))
        p.add_argument("--now", action="store_true", help=say("now", lang))
    else:
        p.add_argument("--format", choices=formats, default="text", help=say("format", lang))
    p.add_argument("--op", metavar="DIR", help=say("op", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang", lang))
    return p


def positive(text: str) -> int:
    """A whole number above 0, for argparse."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} > 0 ?")
    return int(text)
