"""``opdev bench run`` and ``opdev bench stop``.

A batch stays in front unless it is told not to: then it has a session of its own and outlives the terminal.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TextIO

from opdev.bench import batch, config, detached, monitor
from opdev.bench.model import Settings
from opdev.bench.screen import Screen
from opdev.bench.texts import say
from opdev.rules.model import Lang
from opdev.runs.execute import Stop

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def options(action: str, parser: argparse.ArgumentParser, lang: Lang) -> None:
    """The options of an action."""
    if action == "stop":
        parser.add_argument("root", metavar="DIR", help=say("b-h-stop-dir", lang))
        return
    word = parser.add_argument
    word("--config", metavar="FILE", default="", help=say("b-h-config", lang))
    word("--bench-dir", metavar="DIR", help=say("b-h-bench-dir", lang))
    word("--cases", metavar="SEL", help=say("b-h-cases", lang))
    word("--limit", metavar="N", type=int, help=say("b-h-limit", lang))
    word("--devices", metavar="0,1", help=say("b-h-devices", lang))
    word("--concurrency", metavar="N", type=int, help=say("b-h-concurrency", lang))
    word("--output", metavar="DIR", help=say("b-h-output", lang))
    word("--backend", choices=("auto", "ascend", "sim"), help=say("b-h-backend", lang))
    word("--python", metavar="P", help=say("b-h-python", lang))
    word("--mode", choices=("correctness", "performance", "full"), help=say("b-h-mode", lang))
    word("--skip-generation", action="store_const", const=True, help=say("b-h-skip", lang))
    word("--force", action="store_const", const=True, help=say("b-h-force", lang))
    word("--dry-run", action="store_const", const=True, help=say("b-h-dry", lang))
    word("--detach", action="store_true", help=say("b-h-detach", lang))
    word("--format", choices=("text", "jsonl"), default="text", help=say("b-h-format", lang))


def act(args: argparse.Namespace, lang: Lang) -> int:
    """Do it; the exit status."""
    if args.action == "stop":
        return detached.stop(os.path.abspath(args.root), lang)
    settings = settings_of(args)
    for warning in settings.warnings:
        sys.stderr.write(f"opdev bench: {warning[lang]}\n")
    if args.detach and not settings.dry_run:
        return detached.start({**vars(args), "output": settings.root, "detach": False}, settings.root, lang)
    return in_front(settings, args.format, lang)


def settings_of(args: argparse.Namespace) -> Settings:
    """What the file and the command line say together; BenchError for what cannot be."""
    given: dict[str, Any] = {
        "bench_dir": args.bench_dir, "cases": args.cases, "limit": args.limit, "devices": args.devices,
        "concurrency": args.concurrency, "dry_run": args.dry_run, "output.root_dir": args.output,
        "pypto.skip_pypto_gen": args.skip_generation, "pypto.force_regen": args.force,
        "verifier.backend": args.backend, "verifier.python": args.python, "verifier.mode": args.mode,
    }  # fmt: skip
    settings = config.settings_of(
        args.config, {name: value for name, value in given.items() if value is not None}, os.environ
    )
    return replace(settings, root=os.path.abspath(settings.root))


def in_front(settings: Settings, form: str, lang: Lang) -> int:
    """Run a batch in this process, and show it: drawn on a terminal, in lines elsewhere."""
    stop = Stop()
    before = {number: signal.signal(number, lambda n, _: stop.ask(signal.Signals(n).name)) for number in _SIGNALS}
    drawn = form == "text" and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not settings.dry_run
    show: _Lines | _Drawn | _Json = (
        _Json(sys.stdout) if form == "jsonl" else _Drawn(lang) if drawn else _Lines(sys.stdout, lang)
    )
    try:
        return batch.run(settings, show.event, stop)
    finally:
        show.close()
        for number, handler in before.items():
            signal.signal(number, handler)


class _Json:
    """An event a line."""

    def __init__(self, out: TextIO) -> None:
        self.out = out

    def event(self, event: Mapping[str, Any]) -> None:
        if event["event"] != "state":
            _put(self.out, json.dumps(event, ensure_ascii=False))

    def close(self) -> None:
        """Nothing is held back."""


class _Lines:
    """What a log wants to have: a line for what begins and for what ends."""

    def __init__(self, out: TextIO, lang: Lang) -> None:
        self.out, self.lang = out, lang

    def event(self, event: Mapping[str, Any]) -> None:
        text = line(event, self.lang)
        if text:
            _put(self.out, text)

    def close(self) -> None:
        """Nothing is held back."""


class _Drawn:
    """The monitor's frame on a screen of its own; what must not be lost is written below it when that is left."""

    def __init__(self, lang: Lang) -> None:
        self.lang = lang
        self.screen = Screen()
        self.entered = False
        self.said: list[str] = []

    def event(self, event: Mapping[str, Any]) -> None:
        kind = event["event"]
        if kind == "state":
            self._draw(event["state"])
        elif kind not in ("phase", "batch-started", "slot"):
            text = line(event, self.lang)
            self.said += [text] if text else []

    def close(self) -> None:
        # A terminal that is gone cannot be put right.
        with suppress(OSError):
            if self.entered:
                self.screen.__exit__(None, None, None)
            self.entered = False
        for text in self.said:
            _put(sys.stdout, text)

    def _draw(self, state: Mapping[str, Any]) -> None:
        with suppress(OSError):
            if not self.entered:
                self.screen.__enter__()
                self.entered = True
            columns, rows = self.screen.size()
            self.screen.draw(monitor.frame(state, columns, time.time(), self.lang, rows), rows)


def _put(out: TextIO, text: str) -> None:
    """A line; a reader that is gone does not end a batch that others wait for."""
    try:
        out.write(f"{text}\n")
        out.flush()
    except OSError:
        return


def line(event: Mapping[str, Any], lang: Lang) -> str:
    """One line for a user; empty for what is none."""
    kind = event["event"]
    message = (event.get("message") or {}).get(lang, "")
    if kind == "phase":
        if event["status"] != "running" or event["phase"] == "done":
            return ""
        return say("b-e-phase", lang, case=event["case"], phase=say(f"b-e-{event['phase']}", lang))
    if kind == "case":
        saved = "" if event["saved"] else say("b-e-unsaved", lang)
        word = say(f"b-e-{event['overall']}", lang)
        why = f": {message}" if message and event["overall"] != "verifier_skipped" else ""
        return say("b-e-case", lang, case=event["case"], overall=word) + why + saved
    if kind == "kept":
        return say("b-e-kept", lang, case=event["case"], overall=say(f"b-e-{event['overall']}", lang))
    if kind == "slot":
        versions = ", ".join(f"{name} {value}" for name, value in event["versions"].items())
        return say(
            "b-e-slot", lang, slot=event["slot"], backend=say(f"b-e-{event['backend']}", lang), versions=versions
        )
    if kind == "slot-out":
        return say("b-e-slot-out", lang, slot=event["slot"], why=message)
    if kind == "plan":
        return say("b-e-plan", lang, root=event["root"], slots=", ".join(event["slots"]), cases=event["cases"])
    if kind == "planned":
        command = " ".join(event["command"]) or say("b-e-no-command", lang)
        return f"  {event['case']}  {event['folder']}\n    {command}"
    if kind == "batch-ended":
        ended = say(
            "b-e-stopped" if event["stopped"] else "b-e-ended", lang, success=event["success"], total=event["total"]
        )
        return f"{ended}\n{say('b-e-where', lang, root=event['root'])}"
    if kind in ("batch-started", "taken-over", "trouble", "fault"):
        return say(f"b-e-{kind}", lang, **{name: value for name, value in event.items() if name != "event"})
    return ""
