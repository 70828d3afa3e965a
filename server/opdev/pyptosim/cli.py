"""Running a test in simulation and telling of it, in lines that a run's parsers read.

Exit status: 0 pass, 1 fail, 4 nothing was checked, 5 the environment is not complete, 2 usage, 3 a fault of opdev itself.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from opdev.commandline import begin, guarded
from opdev.pyptosim import wheels
from opdev.pyptosim.judging import Judged, judge, lacks
from opdev.pyptosim.layout import Layout, alone, layout
from opdev.pyptosim.running import Ended, run, spec_of
from opdev.pyptosim.texts import say
from opdev.rules.model import Lang

STATUS = {"pass": 0, "fail": 1, "unchecked": 4, "skipped": 4, "environment": 5}
_WORDS = {"pass": "PASS", "fail": "FAIL", "unchecked": "BLOCKED", "skipped": "SKIP"}
_NAMED = 6


class _UsageError(ValueError):
    pass


def main(argv: Sequence[str]) -> int:
    """Run; the result is the exit status."""
    lang = begin(argv)
    return guarded(
        "opdev",
        lang,
        lambda: _run(_parser(lang).parse_args(list(argv)), lang),
        {_UsageError: lambda error: (str(error), 2)},
    )


def _parser(lang: Lang) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="python -m opdev.pyptosim", description=say("help", lang))
    which = p.add_mutually_exclusive_group(required=True)
    which.add_argument("--op", metavar="DIR", help=say("h-op", lang))
    which.add_argument("--test", metavar="FILE", help=say("h-test", lang))
    which.add_argument("--look", action="store_true", help=say("h-look", lang))
    p.add_argument("--out", metavar="DIR", help=say("h-out", lang))
    p.add_argument("--python", default="", help=say("h-python", lang))
    p.add_argument("--case", action="append", default=[], dest="cases", metavar="NAME", help=say("h-case", lang))
    p.add_argument("--timeout", type=float, default=1800.0, metavar="S", help=say("h-timeout", lang))
    p.add_argument("--memory", type=int, default=wheels.memory_megabytes(), metavar="MB", help=say("h-memory", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("h-lang", lang))
    return p


def _run(args: argparse.Namespace, lang: Lang) -> int:
    from opdev.rules.store import cache_folder

    cache = cache_folder().absolute() / "pypto-sim"
    if args.look:
        from opdev.pyptosim.looking import probes

        _put(json.dumps(probes(args.python, os.environ, cache), ensure_ascii=False))
        return 0
    found = layout(args.op) if args.op else alone(args.test)
    if not found.test or not os.path.isfile(found.test):
        raise _UsageError(_no_test(found, lang))
    out = os.path.abspath(args.out) if args.out else tempfile.mkdtemp(prefix="opdev-pypto-")
    os.makedirs(out, exist_ok=True)
    python = wheels.python_with_pypto(args.python, os.environ)
    _put(f"[SIM] {say('backend', lang)}")
    _put(f"[SIM] {say('python', lang, python=python, test=found.test)}")
    try:
        import numpy as np
    except ImportError as error:
        return _environment({"problem": "no-numpy", "why": str(error)}, lang)
    del np
    texts = {"building": say("building", lang)}
    ended = run(spec_of(found, out, str(cache), texts, args.memory, args.cases), python, args.timeout)
    return _told(found, ended, out, python, args, lang)


def _told(found: Layout, ended: Ended, out: str, python: str, args: argparse.Namespace, lang: Lang) -> int:
    if ended.stopped:
        return 128 + ended.stopped
    if ended.failed:
        return _environment({"problem": "start", "python": python, "why": ended.failed}, lang)
    for record in ended.records:
        if record["kind"] == "environment":
            return _environment(record, lang)
    for place in lacks(ended.records):
        key = "lacking-jit" if place["name"] == "pypto.jit" else "lacking"
        _put(f"{place['path']}:{place['line']}:{place['column']}: warning: {say(key, lang, name=place['name'])}")
    whole = any(record["kind"] == "end" for record in ended.records)
    judged = judge(ended.records, out, name=found.name, root=found.root, whole=whole)
    _cases(judged, found, lang)
    _reports(judged, out, lang)
    verdict = judged.verdict
    why = "" if judged.cases else say("no-cases", lang)
    if not whole:
        verdict, why = "fail", _why_cut(ended, args, lang)
    if why:
        _put(f"[PYPTO-SIM] {why}")
    model = f"{out}/cost-model-not-measured.log"
    if os.path.exists(model):
        _put(f"[SIM] {say('model', lang, path=model)}")
    first = next((f"  {c.id}: {c.why[lang]}" for c in judged.cases if c.verdict == verdict != "pass"), "")
    _put(f"[PYPTO-SIM] verdict={verdict} {say(f'v-{verdict}', lang)}{first}")
    return STATUS[verdict]


def _cases(judged: Judged, found: Layout, lang: Lang) -> None:
    for case in judged.cases:
        why = case.why[lang]
        if case.verdict != "pass":
            severity = "error" if case.verdict == "fail" else "warning"
            _put(f"{case.path or found.test}:{case.line or 1}:1: {severity}: {case.id}: {why}")
        share = f" matched={case.matched:.6f}" if case.matched is not None else ""
        errors = "".join(f" {k}={v if isinstance(v, str) else f'{v:.6e}'}" for k, v in case.errors.items())
        _put(f"[CASE] id={case.id} result={_WORDS[case.verdict]} compared={case.compared}{share}{errors} backend=sim")
    counts = {"passed": "pass", "failed": "fail", "blocked": "unchecked", "skipped": "skipped"}
    told = " ".join(f"{name}={sum(c.verdict == v for c in judged.cases)}" for name, v in counts.items())
    _put(f"[MATRIX] total={len(judged.cases)} {told}")


def _reports(judged: Judged, out: str, lang: Lang) -> None:
    if not judged.reports:
        return
    from opdev.atomic import write_bytes
    from opdev.precision.schema import to_json
    from opdev.precision.text import render

    for report in judged.reports:
        sys.stdout.write(render(report, lang))
    path = f"{out}/precision.json"
    write_bytes(
        path, ("[\n" + ",\n".join(to_json(report).rstrip() for report in judged.reports) + "\n]\n").encode("utf-8")
    )
    _put(say("report", lang, path=path))


def _why_cut(ended: Ended, args: argparse.Namespace, lang: Lang) -> str:
    if ended.timed_out:
        return say("timed-out", lang, seconds=args.timeout)
    if ended.signal is not None:
        return say("killed", lang, signal=ended.signal, memory=args.memory)
    return say("crashed", lang, exit=ended.exit)


def _environment(record: Mapping[str, Any], lang: Lang) -> int:
    values = {key: value for key, value in record.items() if key not in ("kind", "problem")}
    text = say(f"e-{record['problem']}", lang, **values)
    _put(f"[PYPTO-SIM] verdict=environment {text}")
    return STATUS["environment"]


def _no_test(found: Layout, lang: Lang) -> str:
    if len(found.tests) > 1:
        names = ", ".join(os.path.relpath(path, found.root) for path in found.tests[:_NAMED])
        return say("many-tests", lang, root=found.root, name=found.name, count=len(found.tests), names=names)
    return say("no-test", lang, root=found.root, name=found.name)


def _put(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
