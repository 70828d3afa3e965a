"""``opdev bench report`` and ``opdev bench monitor``.

Exit status of ``report``: 0 every case is a success and proven, 1 not (with ``--check``: whether all agrees with its
evidence).  Of ``monitor``: 0, or 1 where the batch is dead.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from opdev.bench.model import BenchError
from opdev.bench.texts import say
from opdev.rules.model import Lang

GOOD, BAD = 0, 1


def options(action: str, parser: argparse.ArgumentParser, lang: Lang) -> None:
    """The options of one of the two."""
    parser.add_argument("dir", nargs="?", metavar="DIR", help=say("r-h-dir", lang))
    parser.epilog = say(f"r-h-exit-{action}", lang)
    if action == "monitor":
        parser.add_argument("--once", action="store_true", help=say("r-h-once", lang))
        parser.add_argument("--format", choices=("text", "json"), default="text", help=say("r-h-format", lang))
        parser.add_argument(
            "--interval", type=_interval(lang), default=2.0, metavar="S", help=say("r-h-interval", lang)
        )
        return
    parser.add_argument(
        "--format", choices=("text", "json", "md", "html"), default="text", help=say("r-h-format", lang)
    )
    parser.add_argument("--output", metavar="FILE", help=say("r-h-output", lang))
    parser.add_argument("--check", action="store_true", help=say("r-h-check", lang))
    parser.add_argument("--against", metavar="DIR", help=say("r-h-against", lang))
    parser.add_argument("--print-schema", choices=("result", "summary"), help=say("r-h-schema", lang))


def act(args: argparse.Namespace, lang: Lang) -> int:
    """Do it; the exit status."""
    if args.action == "report" and args.print_schema:
        from opdev.bench import schemas

        _out(schemas.text(args.print_schema), args.output, lang)
        return GOOD
    if args.dir is None:
        raise BenchError("r-no-dir")
    return _monitor(args, lang) if args.action == "monitor" else _report(args, lang)


def _interval(lang: Lang) -> Any:
    def seconds(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0.1 <= value <= 3600:
            raise argparse.ArgumentTypeError(say("r-interval", lang, text=text))
        return value

    return seconds


def _report(args: argparse.Namespace, lang: Lang) -> int:
    from opdev.bench import audit, comparing, summary

    if args.check:
        if args.format not in ("text", "json"):
            raise BenchError("r-check-format")
        if args.against is not None:
            raise BenchError("r-check-against")
        return _check(args, lang)
    cases = summary.gathered(args.dir)
    made = summary.of(cases, args.dir, audit.written(cases, args.dir))
    against = None
    if args.against is not None:
        against = {"path": args.against, **comparing.compare(made, summary.build(args.against))}
    _out(_form(made, against, args.format, lang), args.output, lang)
    good = made["totals"]["success"] == made["totals"]["total"] and not made["unproven"]
    return GOOD if good else BAD


def _form(made: dict[str, Any], against: dict[str, Any] | None, form: str, lang: Lang) -> str:
    if form == "json":
        value = {**made, "against": against} if against is not None else made
        return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    if form == "html":
        from opdev.bench.page import html

        return html(made, lang, against)
    if form == "md":
        from opdev.bench.report import markdown

        return markdown(made, lang, against)
    from opdev.bench.showing import text

    return text(made, lang, against)


def _check(args: argparse.Namespace, lang: Lang) -> int:
    from opdev.bench import audit, showing, summary

    cases = summary.gathered(args.dir, deep=True)
    written = audit.written(cases, args.dir)
    # Said once where nothing has evidence, as the summary says it.
    problems = summary.of(cases, args.dir, written)["unproven"]
    count = sum(one.verdict is not None for one in cases)
    if args.format == "json":
        value = {"root": args.dir, "cases": len(cases), "verified": count, "problems": problems}
        _out(json.dumps(value, ensure_ascii=False, indent=1) + "\n", args.output, lang)
    else:
        _out(showing.problems(problems, count, lang), args.output, lang)
    return BAD if problems else GOOD


def _out(text: str, path: str | None, lang: Lang) -> None:
    if path is None or path == "-":
        sys.stdout.write(text)
        return
    from opdev.atomic import write_bytes

    write_bytes(path, text.encode("utf-8", "backslashreplace"))
    sys.stdout.write(say("r-t-written", lang, path=path) + "\n")


def _monitor(args: argparse.Namespace, lang: Lang) -> int:
    from opdev.bench import monitor, screen, watching

    watched = watching.Watched(args.dir)
    state = watched.now()
    if args.format == "json":
        sys.stdout.write(json.dumps(watching.told(state, time.time()), ensure_ascii=False, indent=1) + "\n")
    elif args.once or not sys.stdout.isatty():
        columns = screen.Screen().size()[0]
        sys.stdout.write("\n".join(monitor.frame(state, columns, time.time(), lang)) + "\n")
    else:

        def frames(size: screen.Size) -> tuple[list[str], bool]:
            nonlocal state
            state = watched.now()
            over = state.get("main_status") in monitor.OVER
            return monitor.frame(state, size[0], time.time(), lang, size[1]), over

        try:
            screen.watch(frames, args.interval)
        except KeyboardInterrupt:
            sys.stderr.write(say("r-m-end", lang))
            raise
    return BAD if state.get("main_status") == monitor.INTERRUPTED else GOOD
