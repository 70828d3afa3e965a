"""``opdev rounds``: the optimisation rounds of an operator, listed, opened, kept, taken back, compared, put back.

0 done, 1 not done (and why), 2 usage, 3 a fault of opdev itself.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from opdev.commandline import begin, guarded
from opdev.config import ConfigError
from opdev.phases.evidence import Evidence
from opdev.phases.perf import design_limit
from opdev.rounds import diff, overview, work
from opdev.rounds import ledger as ledgers
from opdev.rounds.errors import Refused
from opdev.rounds.ledger import Round, interrupted
from opdev.rounds.restore import Restored, settle
from opdev.rounds.store import Store
from opdev.rounds.texts import refusal
from opdev.rules.errors import PageError
from opdev.rules.model import Lang
from opdev.runs import finding, process, rounds_show
from opdev.runs.cli import positive
from opdev.runs.errors import UsageError
from opdev.runs.lock import Lock
from opdev.runs.rounds_limits import first_number, limits_of
from opdev.runs.rounds_texts import say
from opdev.runs.target import look
from opdev.runs.texts import say as said

NOT_DONE, USAGE, INTERNAL = 1, 2, 3


def main(argv: Sequence[str]) -> int:
    """Run a subcommand; the result is the exit status."""
    lang = begin(argv)

    def work() -> int:
        args = _parser(lang).parse_args(list(argv))
        if args.print_schema:
            sys.stdout.write(json.dumps(schema(), ensure_ascii=False, indent=1) + "\n")
            return 0
        return _act(args, lang)

    def bad(error: Exception) -> tuple[str, int]:
        return said("bad-config", lang, why=error), USAGE

    return guarded("opdev rounds", lang, work, {
        Refused: lambda error: (refusal(error)[lang], NOT_DONE),
        UsageError: lambda error: (said(error.key, lang, **error.values), USAGE),
        ConfigError: bad, PageError: bad,
        OSError: lambda error: (said("unwritable", lang, path=error.filename or "?", why=error.strerror), USAGE),
    })  # fmt: skip


def _act(args: argparse.Namespace, lang: Lang) -> int:
    if not process.supported():
        raise UsageError("not-linux")
    return _CALLS[args.action or "list"](_Place(args, lang), args)


def schema() -> dict[str, Any]:
    """The JSON Schema of ``--format json``."""
    with open(os.path.join(os.path.dirname(ledgers.__file__), "rounds.schema.json"), "rb") as stream:
        found: dict[str, Any] = json.load(stream)
    return found


class _Place:
    """The operator that is meant, and how to speak of it."""

    def __init__(self, args: argparse.Namespace, lang: Lang) -> None:
        self.lang = lang
        operator = finding.one(args.op)
        self.evidence: Evidence = look(operator.root)
        self.root = operator.root
        self.store = Store(operator.root, limits_of(finding.configs(operator).for_folder(operator.root).settings.run))

    @contextmanager
    def held(self) -> Iterator[Store]:
        """The operator's snapshots, while no run works on it; what was cut off is finished first."""
        self.store.prepare()
        lock = Lock(self.root, "opdev rounds")
        try:
            if not lock.taken():
                raise Refused("busy", run=lock.holder() or "?")
            self.mended(settle(self.store))
            yield self.store
        finally:
            lock.close()

    def mended(self, done: Restored | None) -> None:
        if done is not None:
            sys.stderr.write(say("mended", self.lang, saved=done.saved.removeprefix("saved/")) + "\n")
            self.left(done)

    def left(self, done: Restored) -> None:
        """Name what somebody changed meanwhile."""
        for path in done.left:
            sys.stderr.write(say("left", self.lang, path=rounds_show.shown(path)) + "\n")

    def told(self, args: argparse.Namespace, one: Round | None, made: Restored | None = None) -> bool:
        """Print what was done for a program, where that is asked for; whether it was."""
        if args.format != "json":
            return False
        value = {
            "action": args.action, "operator": self.evidence.name, "root": self.root, "round": one.number if one else None,
            "state": one.state if one else None, "idea": one.idea if one else None, "against_proposal": one.against if one else None,
            "restored": made.changed if made else [], "left": made.left if made else [], "saved": made.saved.removeprefix("saved/") if made else None,
        }  # fmt: skip
        sys.stdout.write(json.dumps(value, indent=1) + "\n")
        return True

    def put(self, key: str, **values: object) -> None:
        sys.stdout.write(say(key, self.lang, **values) + "\n")


def _list(place: _Place, args: argparse.Namespace) -> int:
    if interrupted(place.root):
        with place.held():
            pass
    rows = overview.overview(place.root)
    ledger = ledgers.read(place.root)
    limit = work.limit(ledger, design_limit(place.evidence))
    saved = place.store.saved()
    if args.format == "json":
        value = {
            "operator": place.evidence.name, "root": place.root, "open": ledger.open.number if ledger.open else None,
            "limit": limit.rounds, "limit_by": limit.by, "interrupted": interrupted(place.root), "saved": saved,
            "states": rounds_show.states(rows, saved, place.store.has),
            "rounds": [overview.row_data(row) for row in rows],
        }  # fmt: skip
        sys.stdout.write(json.dumps(value, indent=1) + "\n")
        return 0
    if not rows:
        sys.stdout.write(f"{refusal(Refused('no-rounds'))[place.lang]}\n")
        return 0
    sys.stdout.write(rounds_show.table(rows, ledger, limit, saved, place.lang))
    return 0


def _start(place: _Place, args: argparse.Namespace) -> int:
    with place.held() as store:
        based = ledgers.read(place.root).base is None
        limit = work.limit(ledgers.read(place.root), design_limit(place.evidence), args.max_rounds)
        _, made = work.start(store, args.idea, limit, first=first_number(place.evidence), hypothesis=args.hypothesis)
    if place.told(args, made):
        return 0
    if based:
        place.put("unmeasured")
    place.put("started", number=made.number, idea=made.idea)
    return 0


def _keep(place: _Place, args: argparse.Namespace) -> int:
    with place.held() as store:
        done, test = work.keep(store, args.idea, args.hypothesis)
    if place.told(args, done):
        return 0
    place.put("kept", number=done.number, idea=done.idea, count=len(done.changed))
    sys.stdout.write(rounds_show.verdict_line(test.verdict, place.lang) + "\n")
    if done.against:
        place.put("against-keep")
    return 0


def _revert(place: _Place, args: argparse.Namespace) -> int:
    with place.held() as store:
        done, made = work.revert(store, args.reason)
    if place.told(args, done, made):
        return 0
    place.put("reverted", number=done.number, count=len(made.changed), saved=made.saved.removeprefix("saved/"))
    if done.against:
        place.put("against-revert")
    place.left(made)
    return 0


def _restore(place: _Place, args: argparse.Namespace) -> int:
    with place.held() as store:
        made = work.restore_to(store, args.state)
    if place.told(args, None, made):
        return 0
    place.put("restored", state=args.state, count=len(made.changed), saved=made.saved.removeprefix("saved/"))
    place.left(made)
    return 0


def _diff(place: _Place, args: argparse.Namespace) -> int:
    one, before, after = diff.of_round(place.store, args.number)
    if args.format == "json":
        rows = [{"path": p, "change": c} for p, c in before.changes(after).items()]
        sys.stdout.write(json.dumps({"round": one.number, "state": one.state, "changed": rows}, indent=1) + "\n")
        return 0
    for line in diff.unified(place.store, before, after):
        sys.stdout.write(line)
    return 0


_CALLS = {"list": _list, "start": _start, "keep": _keep, "revert": _revert, "restore": _restore, "diff": _diff}


def _parser(lang: Lang) -> argparse.ArgumentParser:
    def number(text: str) -> int:
        if not (text.isascii() and text.isdigit()):
            raise argparse.ArgumentTypeError(f"{text!r}")
        return int(text)

    everywhere = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    everywhere.add_argument("--op", metavar="DIR", help=said("op", lang))
    everywhere.add_argument("--format", choices=("text", "json"), help=said("format", lang))
    everywhere.add_argument("--lang", choices=("auto", "zh", "en"), help=said("lang", lang))
    p = argparse.ArgumentParser(prog="opdev rounds", description=say("help", lang), parents=[everywhere])
    p.add_argument("--print-schema", action="store_true", help=say("schema-help", lang))
    p.set_defaults(op=None, format="text", lang="auto", action=None)
    actions = p.add_subparsers(dest="action", metavar="ACTION")
    start = actions.add_parser(
        "start", help=say("start-help", lang), description=say("start-help", lang), parents=[everywhere]
    )
    start.add_argument("idea", metavar="IDEA", help=say("idea-help", lang))
    start.add_argument("--hypothesis", default="", metavar="TEXT", help=say("hypothesis-help", lang))
    start.add_argument("--max-rounds", type=positive, default=0, metavar="N", help=say("max-help", lang))
    keep = actions.add_parser(
        "keep", help=say("keep-help", lang), description=say("keep-help", lang), parents=[everywhere]
    )
    keep.add_argument("--idea", default="", help=say("idea-help", lang))
    keep.add_argument("--hypothesis", default="", metavar="TEXT", help=say("hypothesis-help", lang))
    revert = actions.add_parser("revert", help=say("revert-help", lang), description=say("revert-help", lang), parents=[everywhere])  # fmt: skip
    revert.add_argument("--reason", default="", help=say("reason-help", lang))
    restore = actions.add_parser("restore", help=say("restore-help", lang), description=say("restore-help", lang), parents=[everywhere])  # fmt: skip
    restore.add_argument("state", metavar="STATE", help=say("state-help", lang))
    different = actions.add_parser("diff", help=say("diff-help", lang), description=say("diff-help", lang), parents=[everywhere])  # fmt: skip
    different.add_argument("number", nargs="?", type=number, metavar="N", help=say("number-help", lang))
    return p
