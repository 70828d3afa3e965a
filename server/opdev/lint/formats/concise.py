"""One line a finding: ``path:line:column: severity name: message``."""

from __future__ import annotations

from collections.abc import Sequence

from opdev.lint.formats import Run
from opdev.lint.record import Record, Texts
from opdev.lint.texts import summary


def write(records: Sequence[Record], texts: Texts, run: Run) -> str:
    lines = [
        f"{r.at.path}:{r.at.line}:{r.at.column}: {r.severity} {r.rule}: {texts.message(r)}"
        + (" [*]" if r.applicability == "safe" else "")
        for r in records
    ]
    return "\n".join([*lines, summary(records, texts.lang, run)]) + "\n"
