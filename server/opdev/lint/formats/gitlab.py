"""GitLab's Code Quality report."""

from __future__ import annotations

import json
from collections.abc import Sequence

from opdev.lint.fingerprint import fingerprints
from opdev.lint.formats import Run
from opdev.lint.record import Record, Texts

_SEVERITY = {"error": "critical", "warning": "major", "info": "minor", "hint": "info"}


def write(records: Sequence[Record], texts: Texts, run: Run) -> str:  # noqa: ARG001 - one signature for all formats
    issues = [
        {
            "description": texts.message(record),
            "check_name": record.rule,
            "fingerprint": mark,
            "severity": _SEVERITY[record.severity],
            "location": {
                "path": record.path,
                "positions": {
                    "begin": {"line": record.at.line, "column": record.at.column},
                    "end": {"line": record.at.end_line, "column": record.at.end_column},
                },
                "lines": {"begin": record.at.line, "end": record.at.end_line},
            },
        }
        for record, mark in zip(records, fingerprints(records), strict=True)
    ]
    return json.dumps(issues, ensure_ascii=False, indent=1) + "\n"
