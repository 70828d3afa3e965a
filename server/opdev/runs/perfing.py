"""``opdev perf show``, ``compare`` and ``report``: the command line, its errors, its exit status.

0 shown or met; 1 a pass line is missed, cannot be told, or there is nothing to judge; 2 usage; 3 a fault of opdev itself.
``show`` and ``report`` only tell: they end with 0 whatever the figures are.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opdev.atomic import write_bytes
from opdev.commandline import begin, guarded
from opdev.perf import export, texts
from opdev.perf.compare import compare
from opdev.perf.compare import schema as compare_schema
from opdev.perf.document import Aim, document, schema
from opdev.perf.model import Log
from opdev.perf.reader import read_file
from opdev.perf.tables import Tables
from opdev.rules.model import Lang
from opdev.runs import finding
from opdev.runs.cli import refusals
from opdev.runs.errors import UsageError
from opdev.runs.looking import coloured
from opdev.runs.measured import aim_of, kind_of, latest, logs_of, named
from opdev.runs.perf_report import report, rounds
from opdev.runs.target import look
from opdev.runs.texts import say

USAGE = 2
_GOOD = frozenset({"pass", "better", "same"})


@dataclass(frozen=True, slots=True)
class _Found:
    """Logs, whose they are, and what its design asks for."""

    logs: list[Log]
    operator: str
    aim: Aim


class _WrongError(ValueError):
    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.text = texts.both(key, **values)


def main(argv: Sequence[str]) -> int:
    """Run ``opdev perf``; the result is the exit status."""
    lang = begin(argv)

    def work() -> int:
        args = _parser(lang).parse_args(list(argv))
        call: Callable[[argparse.Namespace, Lang], int] = args.call
        return call(args, lang)

    return guarded("opdev perf", lang, work, {_WrongError: lambda error: (error.text[lang], USAGE), **refusals(lang)})


def _parser(lang: Lang) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="opdev perf", description=texts.say("perf-help", lang))
    commands = p.add_subparsers(dest="command", required=True, metavar="show|compare|report|rounds")

    def command(name: str, call: Callable[[argparse.Namespace, Lang], int]) -> argparse.ArgumentParser:
        text = texts.say(f"{name}-help", lang)
        made = commands.add_parser(name, help=text, description=text)
        made.set_defaults(call=call)
        made.add_argument("--op", metavar="DIR", help=say("op", lang))
        made.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang", lang))
        return made

    shown = command("show", _show)
    shown.add_argument("source", nargs="*", metavar="RUN|LOG", help=texts.say("source", lang))
    shown.add_argument("--csv", metavar="FILE", help=texts.say("csv", lang))
    shown.add_argument("--json", metavar="FILE", help=texts.say("json", lang))
    shown.add_argument("--trace", metavar="FILE", help=texts.say("trace", lang))
    compared = command("compare", _compare)
    compared.add_argument("a", nargs="?", metavar="A", help=texts.say("side-a", lang))
    compared.add_argument("b", nargs="?", metavar="B", help=texts.say("side-b", lang))
    for one in (shown, compared):
        one.add_argument("--format", choices=("text", "json"), default="text", help=say("format", lang))
        one.add_argument("--print-schema", action="store_true", help=texts.say("schema", lang))
    reported = command("report", _report)
    reported.add_argument("--output", metavar="FILE", help=texts.say("output", lang))
    reported.add_argument("--check", action="store_true", help=texts.say("check", lang))
    listed = command("rounds", _rounds)
    listed.add_argument("--format", choices=("text", "json"), default="text", help=say("format", lang))
    listed.add_argument("--print-schema", action="store_true", help=texts.say("schema", lang))
    return p


def _gather(sources: Sequence[str], op: str | None) -> _Found:
    """What the words name: logs by path, runs by id; without any, the newest of everything the operator measured."""
    logs: list[Log] = []
    folder = next((word for word in sources if os.path.isdir(word)), None)
    if folder is not None:
        raise _WrongError("folder", path=folder)
    runs = [word for word in sources if not os.path.exists(word)]
    for word in sources:
        if word not in runs:
            try:
                log = read_file(word, named(word))
            except OSError as error:
                raise _WrongError("unreadable-log", path=word, why=error.strerror or error) from error
            if not (log.measurements or log.tables or log.problems):
                raise _WrongError("no-figures", path=word)
            logs.append(log)
    missing = next((w for w in runs if "/" in w or w.endswith((".log", ".txt"))), None)
    if missing is not None:
        raise _WrongError("no-log", path=missing)
    if sources and not runs:
        return _Found(logs, "", _aim_of_logs(op))
    if not sources:
        operator = finding.one(op)
        evidence = look(operator.root)
        return _Found(latest(operator.root, kind_of(evidence)), evidence.name, aim_of(evidence))
    found = [finding.run(op, word) for word in runs]
    evidence = look(os.path.dirname(os.path.dirname(os.path.dirname(found[0].folder))))
    for run in found:
        logs += logs_of(run, kind_of(evidence))
    return _Found(logs, evidence.name, aim_of(evidence))


def _aim_of_logs(op: str | None) -> Aim:
    """What is asked of logs by path: the design of the operator that was named, else the standard's lines."""
    return aim_of(look(finding.one(op).root)) if op else Aim()


def _show(args: argparse.Namespace, lang: Lang) -> int:
    if args.print_schema:
        return _put(schema())
    found = _gather(args.source, args.op)
    value = document(found.logs, found.operator, found.aim)
    if args.csv:
        _write(args.csv, export.to_csv(value))
    if args.json:
        _write(args.json, json.dumps(value, ensure_ascii=False, indent=1) + "\n")
    if args.trace:
        _write(args.trace, json.dumps(export.to_trace(found.logs, found.operator), ensure_ascii=False) + "\n")
    written = bool(args.csv or args.json or args.trace)
    if args.trace and not any(log.tables for log in found.logs):
        sys.stderr.write(f"opdev perf: {texts.say('no-frames', lang)}\n")
    if args.format == "json":
        return _put(value)
    if not written:
        tables = Tables(lang, bold=coloured())
        sys.stdout.write(tables.text(value))
        if not args.source:
            sys.stdout.write(tables.rounds(list(rounds(finding.one(args.op).root))))
    return 0


def _compare(args: argparse.Namespace, lang: Lang) -> int:
    if args.print_schema:
        return _put(compare_schema())
    if args.a is None or args.b is None:
        raise _WrongError("two-sides")
    a, b = _gather([args.a], args.op), _gather([args.b], args.op)
    value = compare(a.logs, b.logs, a.operator or b.operator, a.aim if a.operator else b.aim)
    if args.format == "json":
        _put(value)
    else:
        sys.stdout.write(Tables(lang, bold=coloured()).comparison(value, (args.a, args.b)))
    rows = value["rows"]
    return 0 if rows and all(row["verdict"] in _GOOD for row in rows) else 1


def _report(args: argparse.Namespace, lang: Lang) -> int:
    return report(args.op, args.output, check=args.check, lang=lang)


def _rounds(args: argparse.Namespace, lang: Lang) -> int:
    from opdev.runs.rounds import main as rounds_main

    words = ["--format", args.format, "--lang", lang]
    words += ["--op", args.op] if args.op else []
    return rounds_main([*words, "--print-schema"] if args.print_schema else words)


def _put(value: object) -> int:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")
    return 0


def _write(path: str, text: str) -> None:
    try:
        write_bytes(path, text.encode("utf-8"))
    except OSError as error:
        raise UsageError("unwritable", path=path, why=error.strerror or error) from error
