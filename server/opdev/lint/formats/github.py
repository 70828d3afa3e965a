"""Workflow commands that become annotations on a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from opdev.lint.formats import Run
from opdev.lint.record import Record, Texts

_LEVEL = {"error": "error", "warning": "warning", "info": "notice", "hint": "notice"}


def write(records: Sequence[Record], texts: Texts, run: Run) -> str:  # noqa: ARG001 - one signature for all formats
    return "".join(_line(r, texts) for r in records)


def _line(record: Record, texts: Texts) -> str:
    at, rule = record.at, texts.rule(record)
    fields = {"file": at.path, "line": at.line, "endLine": at.end_line, "title": f"{rule.name} ({rule.id})"}
    if at.line == at.end_line:
        fields |= {"col": at.column, "endColumn": at.end_column}
    shown = ",".join(f"{name}={_property(str(value))}" for name, value in fields.items())
    return f"::{_LEVEL[record.severity]} {shown}::{_data(texts.message(record))}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
