"""A JSON array; ``jsonl`` is the same objects, a line each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from opdev.lint.formats import Run
from opdev.lint.record import Place, Record, Texts
from opdev.lint.texts import doc_url


def write(records: Sequence[Record], texts: Texts, run: Run) -> str:  # noqa: ARG001 - one signature for all formats
    body = ",\n".join("  " + json.dumps(item(r, texts), ensure_ascii=False) for r in records)
    return f"[\n{body}\n]\n" if body else "[]\n"


def item(record: Record, texts: Texts) -> dict[str, Any]:
    """One finding as documented in the README: 1-based lines and code-point columns."""
    rule = texts.rule(record)
    at = record.at
    return {
        "path": at.path,
        "line": at.line,
        "column": at.column,
        "end_line": at.end_line,
        "end_column": at.end_column,
        "id": rule.id,
        "name": rule.name,
        "severity": record.severity,
        "message": texts.message(record),
        "kind": record.kind,
        "operator": record.operator,
        "fix": _fix(record, texts),
        "related": [{**_place(p), "message": note.get(texts.lang, "")} for p, note in record.related],
        "doc": doc_url(rule),
    }


def _fix(record: Record, texts: Texts) -> dict[str, Any] | None:
    title = texts.fix(record)
    if title is None:
        return None
    edits = [{"path": p, "start": s, "end": e, "text": t} for p, s, e, t in record.edits]
    return {"title": title, "applicability": record.applicability, "edits": edits}


def _place(place: Place) -> dict[str, Any]:
    return {
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }
