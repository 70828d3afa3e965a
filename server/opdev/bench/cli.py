"""``opdev bench``: a batch of cases generated and verified, watched and summed up.

Exit status: 0 everything holds, 1 something does not, 2 usage, 3 a fault of opdev itself, 130 interrupted.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from opdev.bench.model import BenchError
from opdev.bench.texts import say
from opdev.commandline import begin, guarded
from opdev.rules.model import Lang

USAGE = 2
# Each in its own module: reading a summary imports nothing that runs one.
_ACTIONS = {
    "cases": "case_cli", "run": "batch_cli", "stop": "batch_cli", "verify": "verify_cli", "check": "verify_cli",
    "monitor": "report_cli", "report": "report_cli",
}  # fmt: skip


def main(argv: Sequence[str]) -> int:
    """Run a subcommand; the result is the exit status."""
    lang = begin(argv)
    return guarded(
        "opdev bench",
        lang,
        lambda: _act(_parser(lang, argv).parse_args(list(argv)), lang),
        {
            BenchError: lambda error: (say(error.key, lang, **error.values), USAGE),
            OSError: lambda error: (say("os", lang, path=error.filename or "?", why=error.strerror), USAGE),
        },
    )


def _act(args: argparse.Namespace, lang: Lang) -> int:
    status: int = _module(args.action).act(args, lang)
    return status


def _parser(lang: Lang, argv: Sequence[str]) -> argparse.ArgumentParser:
    """Every action by name; only the one asked for has its options loaded."""
    p = argparse.ArgumentParser(prog="opdev bench", description=say("help", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("h-lang", lang))
    actions = p.add_subparsers(dest="action", required=True, metavar="ACTION")
    asked = {word for word in argv if word in _ACTIONS}
    for name in _ACTIONS:
        one = actions.add_parser(name, help=say(f"h-{name}", lang), description=say(f"h-{name}", lang))
        one.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("h-lang", lang))
        if name in asked:
            _module(name).options(name, one, lang)
    return p


def _module(action: str) -> Any:
    return import_module(f"opdev.bench.{_ACTIONS[action]}")
