"""``opdev bench cases``: the cases selected, what each asks for, and what is wrong with any.

Exit status: 0 every case can be read, 1 one cannot, 2 usage.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from opdev.bench import reading
from opdev.bench.config import settings_of
from opdev.bench.model import BenchError, Case, CaseSpec, Settings, Tensor
from opdev.bench.selecting import levels, select
from opdev.bench.texts import both, say
from opdev.columns import grid
from opdev.rules.model import Lang, Text
from opdev.runs.execute import Stop

GOOD, BAD = 0, 1
_AT_ONCE = 4
_NAMED = 4


@dataclass(frozen=True, slots=True)
class Row:
    """A case and what it says, or why it is none."""

    case: Case
    spec: CaseSpec | None
    error: Text | None = None


def options(action: str, parser: argparse.ArgumentParser, lang: Lang) -> None:
    """The options of the action."""
    del action
    word = parser.add_argument
    word("--config", metavar="FILE", default="", help=say("c-h-config", lang))
    word("--bench-dir", metavar="DIR", help=say("c-h-bench-dir", lang))
    word("--cases", metavar="SEL", help=say("c-h-cases", lang))
    word("--limit", metavar="N", type=int, help=say("c-h-limit", lang))
    word("--probe", action="store_true", help=say("c-h-probe", lang))
    word("--python", metavar="P", help=say("c-h-python", lang))
    word("--format", choices=("text", "json"), default="text", help=say("c-h-format", lang))
    word("--print-schema", action="store_true", help=say("c-h-schema", lang))


def act(args: argparse.Namespace, lang: Lang) -> int:
    """Do it; the exit status."""
    if args.print_schema:
        from opdev.bench.keys import text

        sys.stdout.write(text())
        return GOOD
    given = {"bench_dir": args.bench_dir, "cases": args.cases, "limit": args.limit, "verifier": {"python": args.python}}
    if not args.config and args.cases is None and args.bench_dir:
        given["cases"] = ";".join(f"{level}=" for level in levels(args.bench_dir)) or None
    settings = settings_of(args.config, given, os.environ)
    for warning in settings.warnings:
        sys.stderr.write(f"opdev bench: {warning[lang]}\n")
    rows = _rows(select(settings.bench_dir, settings.cases, settings.limit), settings, args.probe, lang)
    if args.format == "json":
        json.dump(_data(settings, rows, args.probe), sys.stdout, ensure_ascii=False, indent=1)
        sys.stdout.write("\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _text(rows, args.probe, lang))
    return BAD if any(row.error is not None for row in rows) else GOOD


def _rows(cases: Sequence[Case], settings: Settings, probe: bool, lang: Lang) -> list[Row]:
    if not probe:
        return [_row(case, lambda case=case: reading.read(case)) for case in cases]  # type: ignore[misc]  # bound now
    from opdev.pyptosim.wheels import python_with_pypto

    python = python_with_pypto(settings.verifier.python, os.environ)
    # One for each that runs: what is asked of one reaches one.
    running: set[Stop] = set()
    pool = ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1))
    rows: list[Row] = []
    try:
        for number, row in enumerate(pool.map(lambda case: _probed(case, python, running), cases), 1):
            rows.append(row)
            _progress(number, len(cases), lang)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for stop in tuple(running):
            stop.ask("interrupted")
        raise
    finally:
        pool.shutdown()
    return rows


def _probed(case: Case, python: str, running: set[Stop]) -> Row:
    stop = Stop()
    running.add(stop)
    try:
        return _row(case, lambda: reading.spec_of(case, python, None, stop))
    finally:
        running.discard(stop)
        stop.close()


def _row(case: Case, work: Callable[[], CaseSpec]) -> Row:
    try:
        return Row(case, work())
    except BenchError as error:
        return Row(case, None, both(error.key, **error.values))


def _progress(number: int, count: int, lang: Lang) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(
            f"\r{say('c-probing', lang, number=number, count=count)}\x1b[K" if number < count else "\r\x1b[K"
        )
        sys.stderr.flush()


def _text(rows: Sequence[Row], probe: bool, lang: Lang) -> Iterator[str]:
    header = [say(f"c-col-{name}", lang) for name in ("case", "op", "inputs", "outputs", "p1")]
    yield from grid(header[: None if probe else 2], [_cells(row, probe, lang) for row in rows], 5)
    broken = [row for row in rows if row.error is not None]
    if any(row.error or (row.spec and row.spec.warnings) for row in rows):
        yield ""
    for row in rows:
        if row.error is not None:
            yield say("c-error", lang, case=row.case.key, what=row.error[lang])
        for warning in row.spec.warnings if row.spec is not None else ():
            yield say("c-warning", lang, case=row.case.key, what=warning[lang])
    yield ""
    yield say("c-total", lang, count=len(rows), broken=len(broken))
    if probe:
        known = sum(row.spec is not None and bool(row.spec.p0_shapes) for row in rows)
        given = sum(row.spec is not None and bool(row.spec.outputs) for row in rows)
        yield say("c-known", lang, inputs=known, outputs=given)
    else:
        yield say("c-unprobed", lang)


def _cells(row: Row, probe: bool, lang: Lang) -> list[str]:
    found = [row.case.key, row.case.op]
    if not probe:
        return found
    spec = row.spec
    if spec is None:
        return [*found, say("c-broken", lang), "", ""]
    unknown = say("c-unknown-shapes", lang)
    inputs = _tensors(spec.inputs, lang) if spec.p0_shapes else unknown
    return [*found, inputs, _tensors(spec.outputs, lang) if spec.outputs else unknown, str(len(spec.p1_shapes) or "")]


def _tensors(tensors: Sequence[Tensor], lang: Lang) -> str:
    told = [f"{one.dtype}[{','.join(map(str, one.shape))}]" for one in tensors[:_NAMED]]
    rest = len(tensors) - _NAMED
    return " ".join(told) + (f" {say('c-more', lang, count=rest)}" if rest > 0 else "") if told else say("c-none", lang)


def _data(settings: Settings, rows: Sequence[Row], probe: bool) -> dict[str, Any]:
    return {
        "bench_dir": settings.bench_dir,
        "selection": settings.cases,
        "probed": probe,
        "total": len(rows),
        "broken": sum(row.error is not None for row in rows),
        "cases": [_case(row) for row in rows],
    }


def _case(row: Row) -> dict[str, Any]:
    """A case in the field's own words; what is not known is null."""
    case, spec = row.case, row.spec
    made: dict[str, Any] = {
        "case_id": case.id, "level": case.level, "op_name": case.op, "source_file": case.path,
        "status": "ok" if spec is not None else "broken", "error": row.error,
    }  # fmt: skip
    if spec is None:
        return made
    known = bool(spec.p0_shapes)
    return {
        **made,
        "framework_module": spec.framework,
        "inputs": [_tensor(one) for one in spec.inputs] if known else None,
        "outputs": [_tensor(one) for one in spec.outputs] or None,
        "supported_dtypes": list(spec.dtypes) if known else None,
        "p0_shapes": spec.p0_shapes if known else None,
        "p1_shapes": spec.p1_shapes,
        "tolerance": {"rtol": spec.tolerance, "atol": spec.tolerance} if known else None,
        "dynamic_axis": spec.dynamic_axis,
        "formula": spec.formula,
        "init_args_repr": spec.init_args or None,
        "warnings": spec.warnings,
    }


def _tensor(one: Tensor) -> Mapping[str, Any]:
    return {"name": one.name, "shape": one.shape, "dtype": one.dtype}
