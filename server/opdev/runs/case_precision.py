"""``opdev precision --run RUN``: what was judged of the cases of a run when they ended; their outputs may be gone by now.

Exit status: 0 every case passes, 1 one does not, 2 usage or a case that could not be judged.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from opdev.columns import grid
from opdev.commandline import begin, guarded
from opdev.phases.model import said
from opdev.precision.brief import MARKS, largest, wrong_in
from opdev.precision.texts import PrecisionError
from opdev.precision.texts import said as said_both
from opdev.precision.texts import say as say_precision
from opdev.rules.model import Lang
from opdev.runs import finding
from opdev.runs.cli import refusals
from opdev.runs.errors import UsageError
from opdev.runs.events import Event
from opdev.runs.judging import counted
from opdev.runs.looking import coloured
from opdev.runs.reader import replay
from opdev.runs.texts import say

_PASS, _FAIL, _USAGE = 0, 1, 2


def main(argv: Sequence[str]) -> int:
    """Run ``opdev precision --run``; the result is the exit status."""
    lang = begin(argv)
    refused = {**refusals(lang), PrecisionError: lambda error: (said_both(error.text, lang), _USAGE)}
    return guarded("opdev precision", lang, lambda: _run(_parser(lang).parse_args(list(argv)), lang), refused)


def _parser(lang: Lang) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="opdev precision", description=say("case-precision-help", lang), allow_abbrev=False
    )
    p.add_argument("--run", required=True, metavar="RUN", help=say("run-id", lang))
    p.add_argument("--case", metavar="ID", help=say("case-precision-case", lang))
    p.add_argument("--op", metavar="DIR", help=say("op", lang))
    p.add_argument("--format", choices=("text", "json", "html"), default="text", help=say("format", lang))
    p.add_argument("--write", metavar="FILE", help=say_precision("h-write", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang", lang))
    return p


def _run(args: argparse.Namespace, lang: Lang) -> int:
    run = finding.run(args.op, args.run)
    cases = cases_of(replay(run))
    if not cases:
        raise UsageError("no-cases", run=run.id)
    if args.case is None:
        if args.format == "html":
            raise UsageError("html-case")
        if args.format == "json":
            shown = ("case", "said", "verdict", "agrees", "why", "kept", "backend", "document")
            text = (
                json.dumps([{key: one.get(key) for key in shown} for one in cases], ensure_ascii=False, indent=1) + "\n"
            )
        else:
            text = "\n".join(_table(cases, lang)) + "\n"
    else:
        one = next((e for e in cases if e["case"] == args.case), None)
        if one is None:
            raise UsageError("no-case", run=run.id, case=args.case, known=", ".join(e["case"] for e in cases))
        cases = [one]
        if one["document"] is None:
            raise UsageError("not-judged", case=args.case, why=said(one["why"], lang))
        text = _whole(one["document"], args.format, lang)
    _put(text, args.write)
    verdicts = [one["verdict"] for one in cases]
    return _FAIL if "fail" in verdicts else _PASS if all(v == "pass" for v in verdicts) else _USAGE


def cases_of(events: Sequence[Event]) -> list[Event]:
    """What the last judgement of each case said, in the order in which they ran."""
    found: dict[str, Event] = {}
    for event in events:
        if event["type"] == "case-precision":
            found.pop(event["case"], None)
            found[event["case"]] = event
    return list(found.values())


def _table(cases: Sequence[Event], lang: Lang) -> list[str]:
    head = [say(key, lang) for key in ("c-case", "c-checker", "c-engine", "c-outputs")] + [
        "MaxAE",
        "MaxRE",
        say("c-first", lang),
    ]
    rows = grid(head, [_row(one, lang) for one in cases], left=3)
    simulated = [say("sim", lang)] if cases[0].get("backend") == "sim" else []
    found = counted({one["case"]: one["verdict"] for one in cases})
    total = say(
        "precision-cases", lang, all=found["total"], passed=found["passed"], failed=found["failed"],
        unjudged=len(found["unjudged"]), names="",
    )  # fmt: skip
    return [*simulated, *rows, total]


def _row(one: Event, lang: Lang) -> list[str]:
    document = one["document"]
    if document is None:
        return [
            one["case"],
            one["said"] or "-",
            f"! {say_precision('t-error', lang)}",
            "-",
            "-",
            "-",
            said(one["why"] or {}, lang),
        ]
    results = document["results"]
    passed = sum(r["verdict"] == "pass" for r in results)
    verdict = f"{MARKS[one['verdict']]} {say_precision('t-' + one['verdict'], lang)}"
    return [
        one["case"], one["said"] or "-", verdict, f"{passed}/{len(results)}", largest(results, "max_abs"), largest(results, "max_rel"),
        next((f"{r['name']}: {wrong_in(r, lang)}" for r in results if r["verdict"] != "pass"), ""),
    ]  # fmt: skip


def _whole(document: dict[str, Any], form: str, lang: Lang) -> str:
    """One case's document as ``opdev precision`` shows it."""
    if form == "json":
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    from opdev.precision.schema import from_json

    report = from_json(document)
    if form == "html":
        from opdev.precision.page import page

        return page(report, lang)
    from opdev.precision.text import render

    return render(report, lang, colour=coloured())


def _put(text: str, path: str | None) -> None:
    if path is None:
        sys.stdout.write(text)
        return
    from opdev.atomic import write_bytes

    try:
        write_bytes(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError("unwritable", path=path, why=error.strerror or error) from error
