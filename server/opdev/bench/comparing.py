"""Two batches beside each other: cases gained and lost, successes won and gone, and how speedups moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def compare(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """What changed from the summary ``before`` to ``now``.

    A speedup is compared only where both were measured on hardware and proven; ``ratio`` above 1 is faster than before.
    """
    new = {case["key"]: case for case in now["cases"]}
    old = {case["key"]: case for case in before["cases"]}
    shared = [key for key in new if key in old]
    changed = [
        {"key": key, "before": old[key]["overall_status"], "after": new[key]["overall_status"],
         "category": new[key]["failure_category"], "backends": [old[key]["backend"], new[key]["backend"]]}
        for key in shared
        if old[key]["overall_status"] != new[key]["overall_status"]
    ]  # fmt: skip
    speedups = []
    for key in shared:
        first, last = (_speedup(one[key]) for one in (old, new))
        if first is not None and last is not None:
            speedups.append({"key": key, "before": first, "after": last, "ratio": round(last / first, 4)})
    return {
        "gained": [key for key in new if key not in old],
        "lost": [key for key in old if key not in new],
        "new_successes": [one["key"] for one in changed if one["after"] == "success"],
        "new_failures": [one["key"] for one in changed if one["before"] == "success"],
        "changed": changed,
        "speedups": speedups,
        "success": [before["totals"]["success"], now["totals"]["success"]],
        "total": [before["totals"]["total"], now["totals"]["total"]],
        "backends": [before["meta"]["backends"], now["meta"]["backends"]],
    }


def _speedup(case: Mapping[str, Any]) -> float | None:
    value = case["perf_speedup"] if case["overall_status"] == "success" and case["backend"] == "ascend" else None
    return float(value) if value else None
