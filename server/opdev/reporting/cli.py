"""``opdev report``: the field's documents from run records, or all of it as one page.

Exit status: 0 written or up to date, 1 (``--check``) out of date, 2 usage, 3 a fault of opdev itself, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from opdev.commandline import begin, guarded
from opdev.config import ConfigError
from opdev.phases.evidence import Evidence
from opdev.reporting.texts import say
from opdev.rules.errors import PageError
from opdev.rules.model import Lang
from opdev.runs import finding
from opdev.runs.errors import UsageError
from opdev.runs.measured import named
from opdev.runs.target import look
from opdev.runs.texts import say as run_text

USAGE = 2


def main(argv: Sequence[str]) -> int:
    """Run ``opdev report``; the result is the exit status."""
    lang = begin(argv)
    refusals = {
        UsageError: lambda error: (run_text(error.key, lang, **error.values), USAGE),
        ConfigError: lambda error: (run_text("bad-config", lang, why=error), USAGE),
        PageError: lambda error: (run_text("bad-config", lang, why=error), USAGE),
    }
    return guarded("opdev report", lang, lambda: _run(_parser(lang).parse_args(list(argv)), lang), refusals)


def _parser(lang: Lang) -> argparse.ArgumentParser:
    from opdev.reporting.writing import NAMES

    p = argparse.ArgumentParser(prog="opdev report", description=say("help", lang), allow_abbrev=False)
    p.add_argument("only", nargs="*", metavar="|".join(NAMES), choices=[*NAMES, []], help=say("only", lang))
    p.add_argument("--op", metavar="DIR", help=run_text("op", lang))
    p.add_argument("--check", action="store_true", help=say("check", lang))
    p.add_argument("--html", metavar="FILE", help=say("html", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=run_text("lang", lang))
    return p


def _run(args: argparse.Namespace, lang: Lang) -> int:
    if args.html and (args.check or args.only):
        sys.stderr.write(f"opdev report: {say('html-and-check', lang)}\n")
        return USAGE
    evidence = look(finding.one(args.op).root)
    if args.html:
        return _page(evidence, args.html, lang)
    from opdev.reporting.gathering import gather
    from opdev.reporting.writing import NAMES, write

    found = gather(evidence)
    out = sys.stdout
    old = 0
    notes: dict[str, None] = {}
    for one in write(evidence, found, args.only or NAMES, check=args.check):
        path = named(evidence.path(one.path))
        if one.why in ("unmeasured", "no-matrix"):
            notes[one.why] = None
        elif one.why:
            out.write(say(one.why, lang, path=path, phase=one.phase) + "\n")
        if one.marked is None:
            continue
        for section in one.marked.kept:
            sys.stderr.write(f"opdev report: {say('kept', lang, path=path, section=section)}\n")
        old += one.marked.changed
        key = ("old" if args.check else "written") if one.marked.changed else "same"
        out.write(say(key, lang, path=path) + "\n")
    if found.results.rows and not found.results.ran:
        notes["no-runs"] = None
    if found.results.simulated:
        notes["simulated"] = None
    for note in notes:
        out.write(say(note, lang) + "\n")
    return 1 if args.check and old else 0


def _page(evidence: Evidence, path: str, lang: Lang) -> int:
    from opdev.atomic import write_bytes
    from opdev.reporting.page import page
    from opdev.reporting.picture import picture

    text = page(picture(evidence), lang)
    try:
        write_bytes(os.path.abspath(os.path.expanduser(path)), text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError("unwritable", path=path, why=error.strerror or error) from error
    sys.stdout.write(say("written", lang, path=path) + "\n")
    return 0
