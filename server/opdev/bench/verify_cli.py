"""``opdev bench verify`` and ``opdev bench check``: one implementation, judged or only looked at.

Exit status: ``verify`` 0 only for pass, 1 for anything else; ``check`` 0 for pass and suspicious, 1 for a cheat; 2 usage.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from opdev.bench.model import BenchError, CheatReport, Check, Host, Slot, Verified, VerifierSettings
from opdev.bench.texts import say
from opdev.rules.model import Lang

_MARKS = {"pass": "✓", "fatal": "✗", "warn": "!"}
_PLACES = 8
_INTERRUPTED = 130


def options(action: str, parser: argparse.ArgumentParser, lang: Lang) -> None:
    """The options of ``verify`` and ``check``."""
    p = parser
    # `--print-schema` needs neither a folder nor a case.
    p.add_argument(
        "folder", metavar="OP_DIR", nargs="?" if action == "verify" else None, default="", help=say("v-h-op", lang)
    )
    p.add_argument("--op-name", default="", metavar="N", help=say("v-h-name", lang))
    p.add_argument("--format", choices=("text", "json"), default="text", help=say("v-h-format", lang))
    if action == "check":
        return
    p.add_argument("--case", default="", metavar="FILE", help=say("v-h-case", lang))
    p.add_argument(
        "--mode", choices=("correctness", "performance", "full"), default="performance", help=say("v-h-mode", lang)
    )
    p.add_argument("--backend", choices=("auto", "ascend", "sim"), default="auto", help=say("v-h-backend", lang))
    p.add_argument("--python", default="", metavar="P", help=say("v-h-python", lang))
    p.add_argument("--device", type=int, default=0, metavar="N", help=say("v-h-device", lang))
    p.add_argument("--timeout", type=float, default=900.0, metavar="S", help=say("v-h-timeout", lang))
    p.add_argument("--memory", type=int, default=0, metavar="MB", help=say("v-h-memory", lang))
    p.add_argument("--rtol", type=float, metavar="R", help=say("v-h-rtol", lang))
    p.add_argument("--atol", type=float, metavar="A", help=say("v-h-atol", lang))
    p.add_argument("--seeds", type=int, default=2, metavar="N", help=say("v-h-seeds", lang))
    p.add_argument("--out", default="", metavar="DIR", help=say("v-h-out", lang))
    p.add_argument("--keep", action="store_true", help=say("v-h-keep", lang))
    p.add_argument("--print-schema", action="store_true", help=say("v-h-schema", lang))


def act(args: argparse.Namespace, lang: Lang) -> int:
    """Run ``args.action``; the result is the exit status."""
    return _check(args, lang) if args.action == "check" else _verify(args, lang)


def _check(args: argparse.Namespace, lang: Lang) -> int:
    from opdev.bench.cheats import look, operator_name

    name = operator_name(args.folder, args.op_name)
    report = look(name, args.folder)
    if args.format == "json":
        _put(json.dumps(as_json(report, lang), ensure_ascii=False, indent=1))
    else:
        for line in lines_of(report, lang):
            _put(line)
    return 1 if report.verdict == "cheat" else 0


def as_json(report: CheatReport, lang: Lang) -> dict[str, Any]:
    """A report in the field's own fields; ``extra`` has the places and both languages."""
    failed = [check.name for check in report.checks if check.status == "fail"]
    return {
        "op_name": report.op, "op_dir": report.folder, "verdict": report.verdict,
        "checks": [
            {
                "name": check.name, "status": check.status, "level": check.level, "detail": check.detail.get(lang, ""),
                "extra": {"message": dict(check.detail), "places": [{"path": p, "line": n} for p, n in check.places]},
            }
            for check in report.checks
        ],
        "summary": f"{report.verdict}: {', '.join(failed) or '-'}",
    }  # fmt: skip


def lines_of(report: CheatReport, lang: Lang) -> Iterator[str]:
    """A report as text: every check that fails with its places, then the verdict."""
    for check in report.checks:
        yield from _lines(check, report.folder, lang)
    yield say("v-t-static", lang, verdict=say(f"v-t-{report.verdict}", lang))


def _lines(check: Check, folder: str, lang: Lang) -> Iterator[str]:
    mark = _MARKS["pass" if check.status == "pass" else check.level]
    yield f"{mark} {check.name}: {check.detail.get(lang, '')}"
    if check.status == "pass":
        return
    for path, line in check.places[:_PLACES]:
        yield f"    {os.path.relpath(path, folder)}:{line}"
    if len(check.places) > _PLACES:
        yield f"    {say('v-t-more', lang, count=len(check.places) - _PLACES)}"


def _verify(args: argparse.Namespace, lang: Lang) -> int:
    if args.print_schema:
        from opdev.bench.evidence import schema

        _put(json.dumps(schema(), ensure_ascii=False, indent=1))
        return 0
    from opdev.bench.cheats import operator_name
    from opdev.bench.verifying import verify
    from opdev.runs.execute import Stop

    for what, value in (("OP_DIR", args.folder), ("--case", args.case)):
        if not value:
            raise BenchError("v-missing", what=what)
    name = operator_name(args.folder, args.op_name)
    if not os.path.isfile(args.case):
        raise BenchError("v-no-case", path=args.case)
    settings = _settings(args, lang)
    folder = os.path.abspath(args.folder)
    out = os.path.abspath(args.out or f"{folder}/.opdev/verify")
    stop = Stop()
    before = {
        number: signal.signal(number, lambda n, _: stop.ask(signal.Signals(n).name))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        found = verify(name, folder, os.path.abspath(args.case), out, settings, Slot(Host(), args.device), stop)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if args.format == "json":
        from opdev.bench.evidence import NAME

        with open(f"{out}/{NAME}", encoding="utf-8") as stream:
            sys.stdout.write(stream.read())
    else:
        for line in told(found, name, os.path.abspath(args.case), lang):
            _put(line)
    if stop.asked:
        return _INTERRUPTED
    return 0 if found.status == "passed" and found.correctness is True else 1


def _settings(args: argparse.Namespace, lang: Lang) -> VerifierSettings:
    for option, value, good, need in (
        ("--timeout", args.timeout, args.timeout > 0, "v-need-positive"), ("--device", args.device, args.device >= 0, "v-need-natural"),
        ("--memory", args.memory, args.memory >= 0, "v-need-natural"), ("--seeds", args.seeds, args.seeds >= 1, "v-need-seed"),
        ("--rtol", args.rtol, args.rtol is None or args.rtol >= 0, "v-need-natural"),
        ("--atol", args.atol, args.atol is None or args.atol >= 0, "v-need-natural"),
    ):  # fmt: skip
        if not good:
            raise BenchError("v-bad-number", option=option, value=value, need=say(need, lang))
    return VerifierSettings(
        args.backend,
        args.mode,
        args.python,
        args.timeout,
        args.rtol,
        args.atol,
        args.seeds,
        args.memory,
        keep=args.keep,
    )


def told(found: Verified, name: str, case: str, lang: Lang) -> Iterator[str]:
    """The verdict as text: what was found, where it is wrong, and where the evidence is."""
    yield f"{name}  {say('v-t-case', lang)} {case}"
    yield f"{say('v-t-backend', lang)}: {found.backend}"
    for note in found.details.get("notes", ()):
        yield f"  {note.get(lang, '')}"
    if found.cheat is not None:
        for check in found.cheat.checks:
            if check.status == "fail":
                yield from _lines(check, found.cheat.folder, lang)
    for seed in found.details.get("seeds", ()):
        yield from _seed(seed, lang)
    yield f"{say('v-t-performance', lang)}: {found.performance.message.get(lang, '')}"
    yield f"{say('v-t-evidence', lang)}: {found.evidence}/verification.json"
    if found.status != "passed" and found.log:
        yield f"{say('v-t-log', lang)}: {found.log}"
    category = f" [{found.category}]" if found.category else ""
    yield f"{say('v-t-verdict', lang)}: {say(f'v-t-{found.status}', lang)}{category}  {found.message.get(lang, '')}"


def _seed(seed: Mapping[str, Any], lang: Lang) -> Iterator[str]:
    drawn = say("v-t-drawn", lang) if seed["drawn"] else ""
    kernels = ", ".join(f"{one['kernel']} {one['path']}:{one['line']}" for one in seed["launches"]) or say(
        "v-t-nothing", lang
    )
    yield f"{say('v-t-seed', lang, seed=seed['seed'])}{drawn}  {say('v-t-launches', lang, names=kernels)}"
    for output in seed["outputs"]:
        mark = _MARKS["pass"] if output["verdict"] == "pass" else _MARKS["fatal"]
        metrics = output["metrics"]
        numbers = f"  max_abs {_number(metrics['max_abs'])}  matched {metrics['matched_ratio']:.6f}" if metrics else ""
        yield f"  {mark} {output['name']}{numbers}" + (
            "" if output["verdict"] == "pass" else f"  {output['message'].get(lang, '')}"
        )


def _number(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def _put(text: str) -> None:
    sys.stdout.write(text + "\n")
