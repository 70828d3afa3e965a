"""Reviewdog's diagnostic format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from opdev.lint.formats import Run
from opdev.lint.record import Record, Texts
from opdev.lint.texts import doc_url

_SEVERITY = {"error": "ERROR", "warning": "WARNING", "info": "INFO", "hint": "INFO"}


def write(records: Sequence[Record], texts: Texts, run: Run) -> str:  # noqa: ARG001 - one signature for all formats
    document = {"source": {"name": "opdev-lint"}, "diagnostics": [_diagnostic(r, texts) for r in records]}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _diagnostic(record: Record, texts: Texts) -> dict[str, Any]:
    at, rule = record.at, texts.rule(record)
    code: dict[str, str] = {"value": rule.name}
    if doc_url(rule):
        code["url"] = doc_url(rule)
    return {
        "message": texts.message(record),
        "location": {
            "path": at.path,
            "range": {
                "start": {"line": at.line, "column": at.column},
                "end": {"line": at.end_line, "column": at.end_column},
            },
        },
        "severity": _SEVERITY[record.severity],
        "code": code,
    }
