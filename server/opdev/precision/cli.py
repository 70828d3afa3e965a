"""``opdev precision``: named files, or an operator's last outputs, by either standard.

Exit status: 0 pass, 1 fail, 2 usage or something that could not be judged, 3 a fault of opdev itself, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from opdev.commandline import begin, guarded
from opdev.precision.texts import PrecisionError, said, say
from opdev.rules.model import Lang

if TYPE_CHECKING:
    from opdev.precision.judge import Ask
    from opdev.precision.model import Report

PASS, FAIL, USAGE = 0, 1, 2
_ONLY_SHMEM = ("op_type", "op_kind", "op_name", "compute_times", "rtol", "equal_inf", "torch_output", "judge_dtype")


def main(argv: Sequence[str]) -> int:
    """Run ``opdev precision``; the result is the exit status."""
    lang = begin(argv)

    def work() -> int:
        args = _parser(lang).parse_args(list(argv))
        return _schema() if args.print_schema else _run(args, lang)

    return guarded("opdev precision", lang, work, {PrecisionError: lambda error: (said(error.text, lang), USAGE)})


def _parser(lang: Lang) -> argparse.ArgumentParser:
    from opdev.precision.standards import OP_TYPES

    def count(text: str) -> int:
        if not (text.isascii() and text.isdigit() and int(text) > 0):
            raise argparse.ArgumentTypeError(say("bad-number", lang, text=text))
        return int(text)

    def shape(text: str) -> tuple[int, ...]:
        parts = [p for p in text.strip("[]() ").replace("x", ",").split(",") if p.strip()]
        if not parts or not all(p.strip().isascii() and p.strip().isdigit() for p in parts):
            raise argparse.ArgumentTypeError(say("bad-shape-text", lang, text=text))
        return tuple(int(p) for p in parts)

    def rtol(text: str) -> float:
        from opdev.design.dtypes import number

        read = number(text)
        if not isinstance(read, (int, float)) or not math.isfinite(read) or read < 0:
            raise argparse.ArgumentTypeError(say("bad-rtol", lang, text=text))
        return float(read)

    p = argparse.ArgumentParser(prog="opdev precision", description=say("help", lang), allow_abbrev=False)
    p.add_argument("--golden", metavar="PATH", help=say("h-golden", lang))
    p.add_argument("--output", metavar="PATH", help=say("h-output", lang))
    p.add_argument("--op", metavar="DIR", help=say("h-op", lang))
    p.add_argument("--run", metavar="RUN", help=say("h-run", lang))
    p.add_argument("--data-dir", metavar="DIR", help=say("h-data", lang))
    p.add_argument("--output-dir", metavar="DIR", help=say("h-outputs", lang))
    p.add_argument("--standard", choices=("shmem", "pypto"), default="shmem", help=say("h-standard", lang))
    p.add_argument("--dtype", metavar="DTYPE|NAME=DTYPE,…", help=say("h-dtype", lang))
    p.add_argument("--golden-dtype", metavar="DTYPE", help=say("h-golden-dtype", lang))
    p.add_argument("--judge-dtype", metavar="DTYPE", help=say("h-judge-dtype", lang))
    p.add_argument("--shape", type=shape, metavar="N,M", help=say("h-shape", lang))
    p.add_argument("--pes", type=count, metavar="N", help=say("h-pes", lang))
    p.add_argument("--op-type", choices=OP_TYPES, type=str.upper, help=say("h-op-type", lang))
    p.add_argument(
        "--op-kind", choices=("transport", "collective", "compute", "fused_compute_comm"), help=say("h-op-kind", lang)
    )
    p.add_argument("--op-name", metavar="NAME", help=say("h-op-name", lang))
    p.add_argument("--compute-times", type=count, metavar="N", help=say("h-compute-times", lang))
    p.add_argument("--rtol", type=rtol, help=say("h-rtol", lang))
    p.add_argument("--equal-inf", action="store_true", help=say("h-equal-inf", lang))
    p.add_argument("--torch-output", metavar="PATH", help=say("h-torch-output", lang))
    p.add_argument("--mismatches", type=count, default=10, metavar="N", help=say("h-mismatches", lang))
    p.add_argument("--format", choices=("text", "json", "html"), default="text", help=say("h-format", lang))
    p.add_argument("--write", metavar="FILE", help=say("h-write", lang))
    p.add_argument("--torch-python", metavar="PYTHON", help=say("h-torch-python", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("h-lang", lang))
    p.add_argument("--print-schema", action="store_true", help=say("h-schema", lang))
    return p


def _schema() -> int:
    from opdev.precision.schema import schema

    sys.stdout.write(json.dumps(schema(), ensure_ascii=False, indent=1) + "\n")
    return PASS


def _run(args: argparse.Namespace, lang: Lang) -> int:
    if args.standard == "pypto":
        for name in _ONLY_SHMEM:
            if getattr(args, name):
                raise PrecisionError("not-with-pypto", option=f"--{name.replace('_', '-')}")
        if args.rtol is not None:
            raise PrecisionError("not-with-pypto", option="--rtol")
    try:
        import numpy as np
    except ImportError as error:
        raise PrecisionError("no-numpy", why=error) from error
    del np
    report = _report(args)
    _write(report, args, lang)
    return {"pass": PASS, "fail": FAIL}.get(report.verdict, USAGE)


def _report(args: argparse.Namespace) -> Report:
    from dataclasses import replace

    from opdev.precision.judge import judge_pairs
    from opdev.precision.operator import judge_operator, root_of
    from opdev.precision.pairs import pairs_of

    ask = _ask(args)
    if args.golden is None and args.output is None:
        return judge_operator(
            root_of(args.op or "."), data=args.data_dir, output=args.output_dir, torch_output=args.torch_output, ask=ask
        )
    if args.golden is None or args.output is None:
        raise PrecisionError("both-given")
    for option, given in (("--op", args.op), ("--data-dir", args.data_dir), ("--output-dir", args.output_dir)):
        if given is not None:
            raise PrecisionError("not-with-files", option=option)
    pairs = pairs_of(args.output, args.golden, args.torch_output, args.pes)
    known = {pair.which for pair in pairs}
    unknown = next((name for name in ask.dtypes if name not in known), None)
    if unknown is not None:
        raise PrecisionError("no-such-result", name=unknown, known=", ".join(sorted(known - {""})) or "-")
    return judge_pairs([replace(pair, dtype=ask.dtypes.get(pair.which)) for pair in pairs], ask)


def _ask(args: argparse.Namespace) -> Ask:
    from opdev.design.dtypes import SIZES, fold_dtype
    from opdev.precision.judge import Ask

    def folded(text: str | None) -> str | None:
        found = fold_dtype(text) if text is not None else None
        if text is not None and found is None:
            raise PrecisionError("bad-dtype", dtype=text, known=", ".join(SIZES))
        return found

    plain: str | None = None
    named: dict[str, str] = {}
    for word in (args.dtype or "").split(","):
        name, equals, text = word.partition("=")
        if equals:
            named[name.strip()] = folded(text.strip()) or ""
        elif word.strip() and plain is not None:
            raise PrecisionError("two-dtypes", first=plain, second=word.strip())
        elif word.strip():
            plain = word.strip()
    dtype, golden, judged = folded(plain), folded(args.golden_dtype), folded(args.judge_dtype)
    return Ask(
        standard=args.standard, dtype=dtype, golden_dtype=golden, judge_dtype=judged, shape=args.shape, op_type=args.op_type, op_kind=args.op_kind or "",
        op_name=args.op_name or "", compute_times=args.compute_times, rtol=args.rtol, equal_inf=args.equal_inf, pes=args.pes,
        mismatches=args.mismatches, dtypes=named, torch_python=args.torch_python,
    )  # fmt: skip


def _write(report: Report, args: argparse.Namespace, lang: Lang) -> None:
    from opdev.atomic import write_bytes

    if args.format == "json":
        from opdev.precision.schema import to_json

        text = to_json(report)
    elif args.format == "html":
        from opdev.precision.page import page

        text = page(report, lang)
    else:
        from opdev.precision.text import render

        text = render(report, lang, colour=args.write is None and _coloured())
    if args.write is None:
        sys.stdout.write(text)
        return
    try:
        write_bytes(args.write, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise PrecisionError("no-write", path=args.write, why=error.strerror or error) from error


def _coloured() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
