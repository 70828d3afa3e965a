"""``opdev runs``, ``opdev show``, ``opdev tail``: what only reads."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from opdev.rules.model import Lang
from opdev.runs import events, finding, store
from opdev.runs.reader import Reader, follow, replay
from opdev.runs.render import Renderer
from opdev.runs.store import Run
from opdev.runs.texts import say, state

_KEPT = (
    "run-started", "phase-started", "phase-ended", "phase-skipped", "prepared", "note", "step-ended", "diagnosis", "case-precision", "precision-summary", "perf-summary", "gate", "round", "manual", "run-ended",
)  # fmt: skip
"""What a run's summary shows of its events."""


def coloured() -> bool:
    """Whether text may have colours."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def watch(run: Run, form: str, lang: Lang, *, colour: bool, gone: Callable[[], bool] | None = None) -> None:
    """Show a run while it goes on, and to its end."""
    renderer = Renderer(Reader(run), lang, colour=colour)
    ended = False
    for event in follow(run, until=gone):
        _put(event, renderer, form)
        ended = event["type"] == "run-ended"
    found = run.status
    if not ended and found is not None and found.now == "lost" and form == "text":
        sys.stdout.write(say("lost", lang) + "\n")


def _put(event: events.Event, renderer: Renderer, form: str) -> None:
    text = json.dumps(event, ensure_ascii=False) + "\n" if form == "jsonl" else renderer.text(event)
    if text:
        sys.stdout.write(text)
        sys.stdout.flush()


def exit_status(run: Run) -> int:
    """0 passed, 1 failed or blocked, 130 stopped; 3 for a run that was lost."""
    found = run.status
    return {"passed": 0, "stopped": 130, "lost": 3}.get(found.now, 1) if found is not None else 3


def runs(args: argparse.Namespace, lang: Lang) -> int:
    """The runs of the operators of a folder, newest last."""
    rows: list[dict[str, Any]] = []
    for operator in finding.every(args.op, pypto=True):
        for run in store.runs(operator.root):
            store.mend(run)
            found = run.status
            if found is not None:
                rows.append({
                    "id": run.id, "operator": found.operator, "root": found.root, "state": found.now, "request": found.request,
                    "phase": found.phase, "executor": found.executor, "backend": found.backend, "n_pes": found.n_pes,
                    "started": found.started, "ended": found.ended, "message": found.message, "folder": run.folder,
                })  # fmt: skip
    rows.sort(key=lambda row: row["id"])
    if args.format == "json":
        sys.stdout.write(json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
        return 0
    if not rows:
        sys.stdout.write(say("no-runs", lang) + "\n")
    for row in rows:
        took = (row["ended"] or time.time()) - row["started"]
        phase = row["phase"] or "-"
        sim = " sim" if row["backend"] == "sim" else ""
        sys.stdout.write(
            f"{row['id']}  {state(row['state'], lang):<8} {row['operator']}  {row['request']} @{phase}  {row['executor']}{sim}"
            f"  {took:.1f}s  {row['message'][:100]}\n"
        )  # fmt: skip
    return 0


def show(args: argparse.Namespace, lang: Lang) -> int:
    """A run's summary, or all of it again."""
    if args.print_schema:
        return _schema()
    run = finding.run(args.op, args.run)
    reader = Reader(run)
    renderer = Renderer(reader, lang, colour=coloured(), output=args.replay)
    for event in replay(run):
        if args.replay or args.format == "jsonl" or event["type"] in _KEPT:
            _put(event, renderer, args.format)
    if args.format == "jsonl":
        return 0
    found = run.status
    if found is not None and found.now == "lost":
        sys.stdout.write(say("lost", lang) + "\n")
    if not args.replay:
        sys.stdout.write(f"{say('logs', lang)}: {run.folder}/{store.LOGS}\n")
    return 0


def tail(args: argparse.Namespace, lang: Lang) -> int:
    """Follow a run to its end; the exit status is the run's."""
    if args.print_schema:
        return _schema()
    run = finding.run(args.op, args.run)
    watch(run, args.format, lang, colour=coloured())
    return exit_status(run)


def _schema() -> int:
    sys.stdout.write(json.dumps(events.schema(), ensure_ascii=False, indent=1) + "\n")
    return 0
