"""A Markdown summary for job summaries and merge requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from opdev.lint.formats import Run
from opdev.lint.record import Record, Texts
from opdev.lint.texts import severity_word, summary

_HEADS = {"zh": ("规则", "级别", "数量", "位置", "说明"), "en": ("rule", "severity", "count", "place", "message")}
_MOST = 500


def write(records: Sequence[Record], texts: Texts, run: Run) -> str:
    rule, severity, count, place, message = _HEADS[texts.lang]
    out = [f"**{summary(records, texts.lang, run)}**", ""]
    if records:
        counts = Counter((r.rule, r.severity) for r in records)
        out += [f"| {rule} | {severity} | {count} |", "|---|---|---:|"]
        for (name, level), number in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
            out.append(f"| `{name}` | {severity_word(level, texts.lang)} | {number} |")
        out += ["", f"| {place} | {rule} | {message} |", "|---|---|---|"]
        for record in records[:_MOST]:
            at = record.at
            out.append(f"| `{_cell(at.path)}:{at.line}` | `{record.rule}` | {_cell(texts.message(record))} |")
        if len(records) > _MOST:
            out.append(f"| … | | {len(records) - _MOST} more |")
    return "\n".join(out) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
