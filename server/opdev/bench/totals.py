"""What a batch comes to in numbers.  Simulated and hardware results are never put into one mean."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

BACKENDS = ("ascend", "sim")


def totals(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """``totals`` of summary.json over its ``cases``."""
    found = _counts(cases)
    levels: dict[str, list[Mapping[str, Any]]] = {}
    for case in cases:
        levels.setdefault(case["level"], []).append(case)
    by_level = {level: _counts(some) for level, some in levels.items()}
    return {**found, "by_level": by_level}


def _counts(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    total, success = len(cases), sum(case["overall_status"] == "success" for case in cases)
    right = Counter(case["correctness"] for case in cases)
    out: dict[str, Any] = {
        "total": total,
        "success": success,
        "success_rate": round(success / total, 4) if total else 0.0,
        "unproven": sum(not case["proven"] for case in cases),
        "by_status": _sorted(case["overall_status"] for case in cases),
        "by_backend": {name: _backend(cases, name) for name in BACKENDS},
        "correctness": {"pass": right[True], "fail": right[False], "unknown": right[None]},
        "by_failure_category": _sorted(case["failure_category"] for case in cases if case["failure_category"]),
        "duration_sec": durations(cases),
    }
    perf = performance(cases)
    if perf["cases_with_perf"]:
        out["perf"] = perf
    return out


def _backend(cases: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    some = [case for case in cases if case["backend"] == name]
    success = sum(case["overall_status"] == "success" for case in some)
    return {"total": len(some), "success": success, "duration_sec": durations(some)}


def durations(cases: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Seconds.  Means of what ran partly simulated and partly on hardware are None: ``by_backend`` has them apart."""
    made = _numbers(case["pypto_duration_sec"] for case in cases)
    verified = _numbers(case["verifier_duration_sec"] for case in cases)
    walls = _numbers(case["wall_sec"] for case in cases)
    mixed = len({case["backend"] for case in cases if case["backend"] is not None}) > 1
    return {
        "pypto_total": _round(sum(made)), "pypto_mean": _mean(made),
        "verify_total": _round(sum(verified)), "verify_mean": None if mixed else _mean(verified),
        "stage_sum_total": _round(sum(made) + sum(verified)),
        "wall_total": _round(sum(walls)), "wall_mean": None if mixed else _mean(walls),
        "wall_min": _round(min(walls)) if walls else None, "wall_max": _round(max(walls)) if walls else None,
    }  # fmt: skip


def performance(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Speedups of what is proven, right, and was measured on hardware."""
    found = [
        case["perf_speedup"] for case in cases if case["overall_status"] == "success" and case["backend"] == "ascend"
    ]
    values = [value for value in _numbers(found) if value > 0]
    geomean = math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None
    return {
        "cases_with_perf": len(values),
        "speedup_min": _round(min(values)) if values else None,
        "speedup_max": _round(max(values)) if values else None,
        "speedup_mean": _mean(values),
        "speedup_geomean": _round(geomean) if geomean is not None else None,
    }


def seconds_between(first: object, last: object) -> float | None:
    """Wall time between two of a record's moments; None where one is missing, is none, or they are the wrong way round."""
    if not isinstance(first, str) or not isinstance(last, str):
        return None
    try:
        seconds = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    except (ValueError, TypeError):
        return None
    return round(seconds, 3) if seconds >= 0 else None


def _numbers(values: Any) -> list[float]:
    return [float(value) for value in values if isinstance(value, (int, float)) and math.isfinite(value)]


def _mean(values: Sequence[float]) -> float | None:
    return _round(math.fsum(values) / len(values)) if values else None


def _round(value: float) -> float:
    return round(value, 4)


def _sorted(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0])))
