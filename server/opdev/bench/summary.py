"""``summary.json``: a batch made anew from the records and the evidence in its folder, never from an older summary.

A case whose evidence does not hold is ``unproven``: it is listed with the reasons and is no success, whatever its record
says.  A folder the field's own benchmark wrote has no evidence at all; that is said once.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from opdev.atomic import write_bytes
from opdev.bench import records
from opdev.bench.model import BenchError, Settings
from opdev.bench.proof import Judged, Problem, judge
from opdev.bench.texts import both
from opdev.bench.totals import seconds_between, totals

VERSION = 1
NAME, META, PHASE = "summary.json", "meta.json", "phase_state.json"
STATE = "state/state.json"
_NAMED = 5
_SHOWN = (
    "op_name", "case_id", "source_file", "level", "report_subdir", "pypto_status", "pypto_message", "pypto_duration_sec",
    "pypto_retry_count", "pypto_log_file", "verifier_status", "verifier_message", "verifier_duration_sec",
    "verifier_log_file", "started_at", "finished_at", "messages", "slot", "perf_message",
)  # fmt: skip


def build(root: str) -> dict[str, Any]:
    """The summary of the batch in ``root`` (its folder, or its folder of reports); BenchError where there is none."""
    return of(gathered(root), root)


def of(cases: list[Judged], root: str, extra: list[Problem] | None = None) -> dict[str, Any]:
    """The summary of cases that are judged already."""
    root = os.path.abspath(root)
    shown = [_case(one) for one in cases]
    problems = [problem for one in cases for problem in one.problems] + (extra or [])
    return {
        "schema_version": VERSION,
        "meta": _meta(root, shown),
        "totals": totals(shown),
        "cases": shown,
        "unproven": _unproven(cases, problems),
    }


def gathered(root: str, *, deep: bool = False) -> list[Judged]:
    """Every case of a batch, judged, in order; also one that has no record yet, or none any more."""
    report = reports(root)
    keys = _keys(report)
    known = {key: f"{report}/{key}" for key in keys}
    expected = _expected(root, report)
    for key in expected:
        known.setdefault(key, f"{report}/{key}")
    if not known:
        raise BenchError("r-nothing", path=root)
    out = []
    for key in sorted(known, key=order):
        folder = known[key]
        if os.path.islink(folder) or os.path.islink(os.path.dirname(folder)):
            # It would show what another batch has proven.
            out.append(_without(folder, key, expected.get(key), Problem(key, folder, "link")))
        elif os.path.lexists(f"{folder}/{records.NAME}"):
            out.append(judge(folder, key, deep=deep))
        else:
            out.append(_without(folder, key, expected.get(key)))
    return out


def reports(root: str) -> str:
    """The folder with the levels: ``root`` itself, or what a batch keeps below it; BenchError where there is no folder."""
    root = os.path.abspath(root)
    if not os.path.isdir(root):
        raise BenchError("r-no-folder", path=root)
    found = next((path for path in (f"{root}/report", root) if _keys(path)), None)
    if found is not None:
        return found
    # The field's own benchmark puts a batch one folder further down.
    below = [f"{root}/{name}/report" for name in sorted(os.listdir(root))]
    below = [path for path in below if _keys(path)]
    if len(below) > 1:
        raise BenchError("r-several", path=root, names=", ".join(path.split("/")[-2] for path in below[:_NAMED]))
    return below[0] if below else f"{root}/report" if os.path.isdir(f"{root}/report") else root


def order(key: str) -> tuple[object, ...]:
    """Levels and cases by their numbers: ``level2`` before ``level10``, ``2_x`` before ``19_x``, what has none last."""
    level, _, name = key.partition("/")
    parts = tuple((1, int(part[:18]), "") if part.isdigit() else (0, 0, part) for part in re.findall(r"\d+|\D+", level))
    number = re.match(r"[0-9]{1,18}", name)
    return (parts, int(number[0]) if number else 1 << 62, name)


def write_meta(settings: Settings, report: str) -> None:
    """What a batch was asked for, beside its records: a summary made later still says it."""
    hosts = [{"name": host.name, "devices": list(host.devices)} for host in settings.hosts]
    slots = sum(len(host.devices) for host in settings.hosts)
    value = {
        "bench_dir": settings.bench_dir, "cases": settings.cases, "backend": settings.verifier.backend,
        "framework": "torch", "mode": settings.verifier.mode, "verifier_mode": "direct",
        "artifact_root_dir": settings.root, "run_subdir": os.path.basename(settings.root.rstrip("/")),
        "devices": [device for host in settings.hosts for device in host.devices], "hosts": hosts,
        "concurrency": settings.concurrency or slots, "pypto_repo_root": settings.generator.repo_root,
        "agent": settings.generator.agent, "model": settings.generator.model, "config": settings.path,
        "python": sys.version.split()[0], "platform": platform.platform(),
    }  # fmt: skip
    os.makedirs(report, exist_ok=True)
    write_bytes(
        f"{report}/{META}", (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "backslashreplace")
    )


def _keys(report: str) -> list[str]:
    """``level/case`` of every folder that a case has: only at that depth, an operator's own files lie deeper."""
    out = []
    for level in _folders(report):
        for name in _folders(f"{report}/{level}"):
            folder = f"{report}/{level}/{name}"
            if os.path.lexists(f"{folder}/{records.NAME}") or os.path.lexists(f"{folder}/{PHASE}"):
                out.append(f"{level}/{name}")
    return out


def _folders(path: str) -> Iterator[str]:
    try:
        found = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        return
    yield from (entry.name for entry in found if entry.is_dir() and not entry.name.startswith("."))


def _expected(root: str, report: str) -> dict[str, Mapping[str, Any]]:
    """Cases that the batch's state names: a record that was taken away is missed."""
    for path in (f"{root}/{STATE}", f"{os.path.dirname(report)}/{STATE}"):
        try:
            state = records.parsed(path, {"operators": "a"})
        except (OSError, BenchError):
            continue
        out: dict[str, Mapping[str, Any]] = {}
        for one in state["operators"] or []:
            if (
                not isinstance(one, dict)
                or not isinstance(one.get("case_id"), str)
                or not isinstance(one.get("level"), str)
            ):
                continue
            key = f"{one['level']}/{one['case_id']}"
            if ".." not in key.split("/") and key.count("/") == 1:
                out[key] = one
        return out
    return {}


def _without(folder: str, key: str, state: Mapping[str, Any] | None, problem: Problem | None = None) -> Judged:
    """A case that has no record of its own: it is not at its end yet, or its record is gone."""
    level, _, name = key.partition("/")
    record: dict[str, Any] = {**dict.fromkeys(records.FIELDS), "level": level, "case_id": name}
    record["op_name"] = state.get("op_name") if state and isinstance(state.get("op_name"), str) else None
    ended = state.get("result_status") if state is not None else None
    if problem is None and isinstance(ended, str) and ended not in ("", "pending"):
        problem = Problem(key, f"{folder}/{records.NAME}", "record-gone", {"status": ended})
    problems = (problem,) if problem is not None else ()
    return Judged(key, folder, record, "unproven" if problems else "pending", "pending", None, problems)


def _case(one: Judged) -> dict[str, Any]:
    record, verdict = one.record, one.verdict
    level, _, name = one.key.partition("/")
    out = {field: record[field] for field in _SHOWN}
    out |= {
        "level": level,
        "case_id": name if one.problems else record["case_id"] or name,
        "op_name": record["op_name"] or name,
    }
    # What is not proven has no verdict, and only what was measured has figures.
    believed = verdict if not one.problems else None
    measured = believed if one.backend == "ascend" else None
    out |= {
        "key": one.key,
        "overall_status": one.overall,
        "claimed_status": one.claimed,
        "proven": not one.problems,
        "backend": one.backend,
        "correctness": believed.correctness if believed is not None else None,
        "failure_category": believed.category if believed is not None else record["failure_category"],
        "perf_gen_time_us": measured.generated_us if measured is not None else None,
        "perf_base_time_us": measured.base_us if measured is not None else None,
        "perf_speedup": measured.speedup if measured is not None else None,
        "wall_sec": seconds_between(record["started_at"], record["finished_at"]),
        "evidence": record["evidence"],
        "verdict": verdict.facts if verdict is not None else None,
        "problems": [problem.as_dict() for problem in one.problems],
    }
    return out


def _meta(root: str, cases: list[dict[str, Any]]) -> dict[str, Any]:
    import opdev

    report = reports(root)
    found: dict[str, Any] = {}
    for path in (f"{report}/{META}", f"{report}/{NAME}"):
        try:
            value = records.parsed(path, {})
        except (OSError, BenchError):
            continue
        found = value.get("meta", value) if path.endswith(NAME) else value
        break
    found = found if isinstance(found, dict) else {}
    # Where it is now, wherever it was made.
    batch = os.path.dirname(report) if os.path.basename(report) == "report" else root
    levels = list(dict.fromkeys(case["level"] for case in cases))
    backends = sorted({case["backend"] for case in cases if case["backend"]})
    return {
        "python": None, "platform": None, "bench_dir": None, "arch": None, "framework": None, "mode": None,
        "verifier_mode": None, "validator_agent": None, "devices": None, "concurrency": None, "pypto_repo_root": None,
        **found, "artifact_root_dir": batch, "run_subdir": os.path.basename(batch),
        "generated_at": time.strftime("%Y-%m-%d %H:%M:%S"), "level": levels[0] if len(levels) == 1 else None, "levels": levels,
        "backends": backends, "opdev_version": opdev.__version__,
    }  # fmt: skip


def _unproven(cases: list[Judged], problems: list[Problem]) -> list[dict[str, Any]]:
    """The reasons, case by case; of a batch that has no evidence anywhere one line."""
    judged = [one for one in cases if one.claimed != "pending" or one.problems]
    bare = [one for one in judged if any(problem.key == "no-evidence" for problem in one.problems)]
    if len(bare) > 1 and not any(one.verdict is not None for one in cases):
        dropped = {one.key for one in bare}
        rest = [p.as_dict() for p in problems if not (p.case in dropped and p.key in ("no-evidence", "overall"))]
        said = {"case": None, "path": os.path.dirname(os.path.dirname(bare[0].folder)), "problem": "no-evidence-at-all"}
        return [{**said, "message": dict(both("r-p-no-evidence-at-all", count=len(bare), path=said["path"]))}, *rest]
    return [problem.as_dict() for problem in problems]
