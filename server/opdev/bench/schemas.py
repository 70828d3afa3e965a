"""The JSON Schemas of ``result.json`` and ``summary.json``: ``*.schema.json`` beside this module, made from the tables here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from opdev.bench.records import FIELDS

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_KINDS: Mapping[str, dict[str, Any]] = {
    "s": {"type": ["string", "null"]}, "n": {"type": ["number", "null"]}, "b": {"type": ["boolean", "null"]},
    "a": {"type": ["array", "null"], "items": {"type": "string"}}, "o": {"type": ["object", "null"]},
}  # fmt: skip
_TEXT = {"type": "object", "properties": {"zh": {"type": "string"}, "en": {"type": "string"}}}
_SHA = {"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"}
_PATH = {"type": ["string", "null"], "description": "From the record's folder where it is inside the batch, else absolute. / 批次内的相对于记录所在目录，其余为绝对路径。"}  # fmt: skip
_FILE = {
    "type": "object", "required": ["path", "sha256", "copy"],
    "properties": {"path": _PATH, "sha256": _SHA, "copy": _PATH},
}  # fmt: skip
_EVIDENCE = {
    "description": "What proves it: files with their SHA-256. / 结果的证据：文件及其 SHA-256。",
    "type": ["object", "null"],
    "required": ["verification", "verification_sha256", "case", "sources", "logs"],
    "properties": {
        "verification": _PATH, "verification_sha256": _SHA, "case": _FILE, "sources": {"type": "array", "items": _FILE},
        "logs": {
            "type": "array",
            "items": {"type": "object", "required": ["path", "bytes", "sha256"], "properties": {"path": _PATH, "bytes": {"type": ["integer", "null"]}, "sha256": _SHA}},
        },
    },
}  # fmt: skip
_OVERALL = [
    "success", "pypto_failed", "verify_failed", "baseline_failed", "verify_error", "verifier_skipped", "pending",
]  # fmt: skip
_WORDS: Mapping[str, dict[str, Any]] = {
    "overall_status": {"enum": [*_OVERALL, None]},
    "backend": {
        "description": "sim: simulated, nothing of it is a measurement. / sim：模拟，不是实测。",
        "enum": ["ascend", "sim", None],
    },
    "evidence": _EVIDENCE,
    "messages": {
        "description": "The messages in both languages. / 两种语言的说明。",
        "type": ["object", "null"],
        "properties": {"pypto": _TEXT, "verifier": _TEXT, "perf": _TEXT},
    },
}
_COUNT = {"type": "integer", "minimum": 0}
_COUNTS = {"type": "object", "additionalProperties": _COUNT}
_NUMBER = {"type": ["number", "null"]}
_DURATIONS = {
    "description": "Seconds; a mean over simulated and hardware results together is null. / 秒；模拟与实测混在一起时平均值为 null。",
    "type": "object",
    "properties": dict.fromkeys(
        ("pypto_total", "pypto_mean", "verify_total", "verify_mean", "stage_sum_total", "wall_total", "wall_mean", "wall_min", "wall_max"),
        _NUMBER,
    ),
}  # fmt: skip
_BACKEND = {
    "type": "object", "required": ["total", "success", "duration_sec"],
    "properties": {"total": _COUNT, "success": _COUNT, "duration_sec": _DURATIONS},
}  # fmt: skip
_TOTALS: dict[str, Any] = {
    "type": "object",
    "required": ["total", "success", "success_rate", "unproven", "by_status", "by_backend", "correctness", "by_failure_category", "duration_sec"],
    "properties": {
        "total": _COUNT, "success": {**_COUNT, "description": "Proven ones alone. / 只计有证据的。"},
        "success_rate": {"type": "number", "minimum": 0, "maximum": 1}, "unproven": _COUNT, "by_status": _COUNTS,
        "by_backend": {"type": "object", "properties": {"ascend": _BACKEND, "sim": _BACKEND}},
        "correctness": {"type": "object", "properties": {"pass": _COUNT, "fail": _COUNT, "unknown": _COUNT}},
        "by_failure_category": _COUNTS, "duration_sec": _DURATIONS,
        "perf": {
            "description": "From hardware alone. / 只含 NPU 上的结果。", "type": "object",
            "properties": {"cases_with_perf": _COUNT, "speedup_min": _NUMBER, "speedup_max": _NUMBER, "speedup_mean": _NUMBER, "speedup_geomean": _NUMBER},
        },
    },
}  # fmt: skip
_PROBLEM = {
    "type": "object", "required": ["case", "path", "problem", "message"],
    "properties": {"case": {"type": ["string", "null"]}, "path": {"type": "string"}, "problem": {"type": "string"}, "message": _TEXT},
}  # fmt: skip


def result() -> dict[str, Any]:
    """The schema of ``result.json``; records of the field's own benchmark keep to it too."""
    return {
        "$schema": _DIALECT, "title": "opdev bench result", "type": "object", "required": ["overall_status"],
        "properties": {name: _WORDS.get(name, _KINDS[kind]) for name, kind in FIELDS.items()},
    }  # fmt: skip


def summary() -> dict[str, Any]:
    """The schema of ``summary.json``."""
    case = {
        "type": "object",
        "required": ["key", "level", "case_id", "overall_status", "claimed_status", "proven", "backend", "correctness", "problems"],
        "properties": {
            "overall_status": {"description": "Made again from the evidence. / 由证据重新得出。", "enum": [*_OVERALL, "unproven"]},
            "claimed_status": {"description": "What its record says. / 记录里写的。", "type": "string"},
            "proven": {"type": "boolean"}, "backend": _WORDS["backend"], "correctness": _KINDS["b"],
            "perf_speedup": {**_NUMBER, "description": "From hardware alone. / 只含 NPU 上的结果。"},
            "problems": {"type": "array", "items": _PROBLEM}, "evidence": _EVIDENCE,
        },
    }  # fmt: skip
    totals = {
        **_TOTALS,
        "properties": {**_TOTALS["properties"], "by_level": {"type": "object", "additionalProperties": _TOTALS}},
    }
    return {
        "$schema": _DIALECT, "title": "opdev bench summary", "type": "object",
        "required": ["schema_version", "meta", "totals", "cases", "unproven"],
        "properties": {
            "schema_version": {"const": 1}, "meta": {"type": "object", "required": ["generated_at", "levels", "backends"]},
            "totals": totals, "cases": {"type": "array", "items": case}, "unproven": {"type": "array", "items": _PROBLEM},
        },
    }  # fmt: skip


def text(name: str) -> str:
    """A schema as the file that is shipped."""
    return json.dumps(result() if name == "result" else summary(), ensure_ascii=False, indent=1) + "\n"
