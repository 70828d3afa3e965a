"""``opdev intake``: the five questions in a terminal, or all answers at once by options and ``--answers``.

Exit status: 0 recorded or unchanged, 1 not recorded, 2 usage or a record that cannot be written, 3 a fault of opdev
itself, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from opdev.commandline import begin, guarded
from opdev.config import ConfigError, Configs
from opdev.intake.model import FIVE, IDS, UsageError
from opdev.intake.questions import questions
from opdev.intake.texts import say
from opdev.rules.errors import PageError
from opdev.rules.model import Lang

DONE, REFUSED, USAGE = 0, 1, 2
_NAMED = 8


def main(argv: Sequence[str]) -> int:
    """Run ``opdev intake``; the result is the exit status."""
    lang = begin(argv)

    def bad(error: Exception) -> tuple[str, int]:
        return say("bad-config", lang, why=error), USAGE

    return guarded(
        "opdev intake", lang, lambda: _run(_parser(lang).parse_args(list(argv)), lang),
        {UsageError: lambda error: (str(error), USAGE), ConfigError: bad, PageError: bad}, say("interrupted", lang),
    )  # fmt: skip


def option_of(question: str) -> str:
    """``--perf-auto-optim`` for ``perf_auto_optim``."""
    return f"--{question.replace('_', '-')}"


def _parser(lang: Lang) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="opdev intake", description=say("help", lang), allow_abbrev=False)
    p.add_argument("--op", metavar="DIR", help=say("op", lang))
    p.add_argument("--name", metavar="OP", help=say("name", lang))
    asked = {one.id: one for one in questions(lang)}
    for question in IDS:
        if question == "op_name":
            continue
        one = asked.get(question)
        words = "|".join((*(o.id for o in one.options), *(one.text and [one.text]))) if one is not None else ""
        text = f"{one.prompt} {words}" if one is not None else say("answer-to", lang, q=question)
        p.add_argument(option_of(question), dest=question, metavar=question.rpartition("_")[2].upper(), help=text.replace("%", "%%"))  # fmt: skip
    p.add_argument("--answers", metavar="FILE", help=say("answers", lang))
    p.add_argument("--print-answers", action="store_true", help=say("print-answers", lang))
    p.add_argument("--reconfirm", action="store_true", help=say("reconfirm", lang))
    p.add_argument("--format", choices=("text", "json"), default="text", help=say("format", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang", lang))
    return p


def _run(args: argparse.Namespace, lang: Lang) -> int:
    from opdev.intake.answers import template
    from opdev.intake.probes import probe
    from opdev.intake.session import Session

    if args.print_answers:
        sys.stdout.write(template(lang, questions(lang, probe())))
        return DONE
    session = Session(lang, root=_root(args, lang), name=args.name or "", form=args.format, reconfirm=args.reconfirm)
    flags = {question: text for question in IDS if (text := getattr(args, question, None)) is not None}
    if args.answers is None and not any(question in flags for question in FIVE) and session.interactive:
        return session.ask(flags)
    return session.take(flags, _answers(args.answers, lang))


def _answers(path: str | None, lang: Lang) -> tuple[str, bytes] | None:
    """(name, bytes) of the answers file."""
    if path is None:
        return None
    from opdev.intake.answers import LARGEST

    try:
        if path == "-":
            return "-", sys.stdin.buffer.read(LARGEST + 1)
        with open(path, "rb") as stream:
            return path, stream.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(say("no-file", lang, path=path, why=error.strerror or error)) from error


def _root(args: argparse.Namespace, lang: Lang) -> str:
    """The operator's folder; empty for one that ``--name`` will make."""
    from opdev.phases.find import operators

    if args.op is not None and args.name is not None:
        raise UsageError(say("both-targets", lang))
    if args.name is not None:
        return ""
    folder = args.op or "."
    path = os.path.abspath(os.path.expanduser(folder)).replace("\\", "/")
    if not os.path.isdir(path):
        raise UsageError(say("no-folder", lang, path=folder))
    found = operators(path)
    if not found:
        raise UsageError(say("no-operator", lang, path=folder))
    if len(found) > 1:
        names = ", ".join(op.name for op in found[:_NAMED]) + (" …" if len(found) > _NAMED else "")
        raise UsageError(say("several", lang, path=folder, count=len(found), names=names))
    Configs().for_folder(found[0].root)
    return found[0].root
