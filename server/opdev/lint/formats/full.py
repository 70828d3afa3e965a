"""For people: a code frame under each finding, what can be fixed, a summary."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from opdev.lint.formats import Run
from opdev.lint.record import Record, Texts
from opdev.lint.texts import severity_word, summary

_COLOURS = {"error": "31", "warning": "33", "info": "36", "hint": "90"}
_TAB = "    "


def write(records: Sequence[Record], texts: Texts, run: Run) -> str:
    out: list[str] = []
    for record in records:
        out += _finding(record, texts, run)
        out.append("")
    out.append(summary(records, texts.lang, run))
    return "\n".join(out) + "\n"


def _finding(record: Record, texts: Texts, run: Run) -> list[str]:
    at = record.at
    rule = texts.rule(record)
    colour = _COLOURS[record.severity]
    word = severity_word(record.severity, texts.lang)
    head = f"{_paint(word, colour, run)} {_paint(rule.name, '1', run)} ({rule.id})  {at.path}:{at.line}:{at.column}"
    lines = [head, f"  {texts.message(record)}"]
    if run.frames:
        lines += _frame(record, colour, run)
    for place, note in record.related:
        lines.append(f"  -> {place.path}:{place.line}:{place.column} {note.get(texts.lang, note.get('en', ''))}")
    title = texts.fix(record)
    if title is not None:
        mark = {"safe": "--fix", "unsafe": "--unsafe-fixes"}.get(record.applicability or "", "")
        lines.append(f"  = {title}" + (f" [{mark}]" if mark else ""))
    return lines


def _frame(record: Record, colour: str, run: Run) -> list[str]:
    at = record.at
    width = len(str(at.line + len(record.frame)))
    out = [f"  {' ' * width} |"]
    for index, text in enumerate(record.frame):
        number = at.line + index
        shown = text.replace("\t", _TAB)
        out.append(f"  {number:>{width}} | {shown}")
        first = at.column - 1 if number == at.line else len(text) - len(text.lstrip())
        last = at.end_column - 1 if number == at.end_line else len(text.rstrip())
        before, under = _columns(text[:first]), max(_columns(text[first:last]), 1)
        out.append(f"  {' ' * width} | {' ' * before}{_paint('^' * under, colour, run)}")
    return out


def _columns(text: str) -> int:
    """Terminal columns: wide characters take two."""
    return sum(len(_TAB) if ch == "\t" else 2 if unicodedata.east_asian_width(ch) in "WF" else 1 for ch in text)


def _paint(text: str, code: str, run: Run) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if run.colour else text
