"""Everything that is known of some measurements as plain data: what terminal, reports, exports and panels draw.

``document.schema.json`` beside this module is the contract.  Every figure names the logs and lines it is made of.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opdev.perf import texts
from opdev.perf.consistency import agrees
from opdev.perf.formulas import FLOOR_PCT, TARGET_PCT, percent
from opdev.perf.frames import TAIL, frames_of, phase_of
from opdev.perf.model import MEANS, TIMES, Log, Problem, Series
from opdev.perf.series import Spread, series_of, spread_of
from opdev.perf.tiers import WANTED, tier_of
from opdev.perf.verdict import Verdict, judge
from opdev.rules.model import Text

VERSION = 1
Document = dict[str, Any]
_SHORT = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}
_MOST_PROBLEMS = 200


@dataclass(frozen=True, slots=True)
class Aim:
    """What a design asks for.  ``baseline`` None: not known whether there is to be one."""

    target_pct: float = TARGET_PCT
    floor_pct: float = FLOOR_PCT
    baseline: bool | None = None
    case_of: Callable[[int | None, str, int | None], tuple[str, str] | None] = field(default=lambda *_: None)
    """(case id, scale) of PEs, dtype and elements, where the case matrix has one."""


def document(logs: Iterable[Log], operator: str = "", aim: Aim | None = None) -> Document:
    """What some logs say together."""
    found, asked = list(logs), aim or Aim()
    series, told = series_of(found)
    problems = [p for log in found for p in log.problems] + told
    shown = sorted(
        (s for s in series if s.payload_bytes > 0),
        key=lambda s: (s.side != "shmem", s.backend, s.n_pes or 0, s.dtype, s.payload_bytes),
    )
    groups = [_group(s, asked) for s in shown]
    return {
        "version": VERSION,
        "operator": operator,
        "backend": _backend(found),
        "groups": groups,
        "comparisons": _comparisons(shown, groups, asked),
        "frames": _frames(found, series),
        "lacking": [dict(t) for t in {t["en"]: t for t in _lacking(shown, groups)}.values()],
        "problems": [_problem(p) for p in _sorted(problems)[:_MOST_PROBLEMS]],
        "problem_count": len(problems),
    }


def _backend(logs: Sequence[Log]) -> str:
    there = {log.backend for log in logs if log.measurements or log.tables}
    return "mixed" if len(there) > 1 else next(iter(there), "none")


def _sorted(problems: Iterable[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda p: (p.severity != "error", p.run, p.log, p.line))


def _problem(found: Problem) -> dict[str, Any]:
    return {
        "key": found.key, "severity": found.severity, "run": found.run or None, "log": found.log, "line": found.line,
        "text": dict(texts.problem(found)),
    }  # fmt: skip


def _group(series: Series, aim: Aim) -> dict[str, Any]:
    case = aim.case_of(series.n_pes, series.dtype, series.count)
    scale = case[1] if case is not None else tier_of(series.payload_bytes)
    fixed = (series.good or series.samples)[0]
    return {
        "side": series.side,
        "backend": series.backend,
        "tier": scale,
        "case": case[0] if case is not None else _name(series, scale),
        "n_pes": series.n_pes,
        "dtype": series.dtype,
        "count": series.count,
        "api": series.api,
        "payload_bytes": series.payload_bytes,
        "bus_factor": fixed.value("bus_factor"),
        "peak_bandwidth_GBps": fixed.value("peak_bandwidth_GBps"),
        "launches": len(series.samples),
        "used": len(series.good),
        "metrics": {name: _spread(spread_of(series, name)) for name in (*TIMES, *MEANS)},
        "samples": [{name: s.value(name) for name in (*TIMES, *MEANS)} for s in series.good[:1000]],
        "sources": sources_of(series),
    }


def _name(series: Series, scale: str) -> str:
    parts = [scale, str(series.count) if series.count else "", _SHORT.get(series.dtype, series.dtype)]
    parts.append(f"{series.n_pes}pe" if series.n_pes else "")
    return "_".join(part for part in parts if part)


def _spread(found: Spread | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"median": found.median, "low": found.low, "high": found.high, "spread_pct": found.spread_pct}


def sources_of(series: Series) -> list[dict[str, Any]]:
    """The runs, logs and lines that a series was read from: of the launches that may be judged, of all where none may."""
    lines: dict[tuple[str, str], list[int]] = {}
    for sample in series.good or series.samples:
        for one in sample.measurements:
            lines.setdefault((one.run, one.log), []).append(one.line)
    return [{"run": run or None, "log": log, "lines": sorted(found)[:200]} for (run, log), found in lines.items()]


def _comparisons(series: Sequence[Series], groups: Sequence[Mapping[str, Any]], aim: Aim) -> list[dict[str, Any]]:
    out = []
    base = [(i, s) for i, s in enumerate(series) if s.side == "baseline"]
    for index, ours in enumerate(series):
        if ours.side != "shmem":
            continue
        match = _baseline(ours, base) if aim.baseline is not False else None
        verdict = judge(ours, match[1] if match is not None else None, aim.target_pct, aim.floor_pct)
        if match is None and aim.baseline and verdict.state not in ("simulated", "unmeasured"):
            verdict = Verdict("unmeasured", "baseline", aim.target_pct, why=texts.both("why-no-baseline"))
        out.append({
            "group": index, "baseline": match[0] if match is not None else None, "tier": groups[index]["tier"],
            "case": groups[index]["case"], "n_pes": ours.n_pes, "verdict": verdict.state, "by": verdict.by, "line_pct": verdict.line_pct,
            "value_pct": verdict.value_pct, "low_pct": verdict.low_pct, "high_pct": verdict.high_pct, "why": dict(verdict.why or texts.both("why-unusable")),
        })  # fmt: skip
    return out


def _baseline(ours: Series, base: Sequence[tuple[int, Series]]) -> tuple[int, Series] | None:
    """The baseline of the same thing, else the nearest: that it cannot be compared is then said."""

    def distance(other: Series) -> tuple[bool, ...]:
        return (
            other.backend != ours.backend, other.n_pes != ours.n_pes, other.dtype != ours.dtype,
            not agrees(other.payload_bytes, ours.payload_bytes, 0.0),
        )  # fmt: skip

    return min(base, key=lambda one: distance(one[1]), default=None)


def _frames(logs: Sequence[Log], series: Sequence[Series]) -> list[dict[str, Any]]:
    e2e = {}
    for one in series:
        spread = spread_of(one, "e2e_us")
        for sample in one.samples if spread is not None and one.side == "shmem" else ():
            for line in sample.measurements:
                e2e[line.run, line.log] = spread.median if spread is not None else None
    return [
        {
            "frame": f.frame, "phase": phase_of(f.frame), "avg_us": f.avg_us, "max_core_us": f.max_core_us, "count": f.count,
            "blocks": f.blocks, "e2e_pct": percent(f.avg_us, e2e.get((f.run, f.log))),
            "tail": f.avg_us > 0 and f.max_core_us / f.avg_us > TAIL, "run": f.run or None, "log": f.log, "line": f.line,
            "backend": next((log.backend for log in logs if log.name == f.log and log.run == f.run), "hardware"),
        }
        for f in frames_of(logs)
    ]  # fmt: skip


def _lacking(series: Sequence[Series], groups: Sequence[Mapping[str, Any]]) -> Iterable[Text]:
    """The scales nobody measured, for each number of PEs and dtype that was measured at all."""
    scopes: dict[tuple[str, int | None, str], set[str]] = {}
    for one, group in zip(series, groups, strict=True):
        if one.side == "shmem":
            there = scopes.setdefault((one.backend, one.n_pes, one.dtype), set())
            if one.good:
                there.add(group["tier"])
    for (backend, n_pes, dtype), there in scopes.items():
        scope = " ".join(word for word in (f"{n_pes} PE" if n_pes else "", _SHORT.get(dtype, dtype)) if word) or "-"
        for scale in WANTED:
            if scale == "L" and backend == "sim" and scale not in there:
                yield texts.both("lacking-sim")
            elif scale not in there:
                yield texts.both("lacking-tier", tier=scale, scope=scope)


def schema() -> dict[str, Any]:
    """The JSON Schema of a document."""
    with open(f"{os.path.dirname(__file__)}/document.schema.json", "rb") as stream:
        found: dict[str, Any] = json.load(stream)
    return found
