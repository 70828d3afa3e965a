"""A finding ready for output: plain data, positions worked out, nothing left to look up.

Records are what worker processes send and what the cache keeps, so that a warm run prints
everything without opening a source file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from opdev.rules.model import SEVERITIES, Finding, Lang, Related, Rule, Severity, render
from opdev.source import Source

_MOST_FRAME_LINES = 6


@dataclass(frozen=True, slots=True)
class Place:
    """A range in a file: 1-based lines and columns (code points), the end exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Record:
    """One finding.  ``rule`` is a name; texts are made by ``Texts`` in the language asked for."""

    at: Place
    rule: str
    severity: Severity
    key: str = "default"
    args: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    operator: str | None = None
    fix_title: str | None = None
    applicability: str | None = None
    edits: tuple[tuple[str, int, int, str], ...] = ()
    """(path, start, end, text), byte offsets in the file on disk."""
    related: tuple[tuple[Place, Mapping[str, str]], ...] = ()
    frame: tuple[str, ...] = ()
    """The source lines of the range, the first ones of a long one."""

    @property
    def path(self) -> str:
        return self.at.path

    @property
    def sort_key(self) -> tuple[object, ...]:
        at = self.at
        return (
            at.path,
            at.line,
            at.column,
            at.end_line,
            at.end_column,
            self.rule,
            self.key,
            str(sorted(self.args.items(), key=str)),
        )


class Texts:
    """Messages and titles of records in one language."""

    def __init__(self, rules: Mapping[str, Rule], lang: Lang) -> None:
        self.rules = rules
        self.lang = lang

    def rule(self, record: Record) -> Rule:
        return self.rules[record.rule]

    def message(self, record: Record) -> str:
        return render(self.rules[record.rule].messages, record.key, record.args, self.lang)

    def fix(self, record: Record) -> str | None:
        """The fix's title; None without a fix."""
        if record.fix_title is None:
            return None
        return render(self.rules[record.rule].fixes, record.fix_title, record.args, self.lang)


def record_of(
    finding: Finding,
    path: str,
    shown: Mapping[str, str] | None = None,
    place_in: Callable[[str, int, int], Place] | None = None,
) -> Record:
    """The record of a finding in the file known to the user as ``path``.

    ``place_in`` knows byte ranges of other files, by their absolute path.
    """
    source = finding.source
    fix = finding.fix
    edits: tuple[tuple[str, int, int, str], ...] = ()
    if fix is not None:
        edits = tuple(
            (
                (shown or {}).get(e.path, e.path) if e.path is not None else path,
                source.disk_offset(e.start),
                source.disk_offset(e.end),
                e.text,
            )
            for e in fix.edits
        )
    related = tuple([(_related_place(source, path, r, place_in), dict(r.note)) for r in finding.related])
    at = place_of(source, finding.start, finding.end, path)
    return Record(
        at=at,
        rule=finding.rule.name,
        severity=finding.severity,
        key=finding.message_key,
        args={k: v if isinstance(v, (int, float, str)) else str(v) for k, v in finding.args.items()},
        kind=finding.kind,
        operator=finding.operator,
        fix_title=fix.title if fix is not None else None,
        applicability=finding.applicability,
        edits=edits,
        related=related,
        frame=_frame(source, at),
    )


def _related_place(
    source: Source, path: str, related: Related, place_in: Callable[[str, int, int], Place] | None
) -> Place:
    if related.path is None:
        return place_of(source, related.start, related.end, path)
    return place_in(related.path, related.start, related.end) if place_in else Place(related.path, 1, 1, 1, 1)


def place_of(source: Source, start: int, end: int, path: str) -> Place:
    """1-based place of a byte range."""
    line, column = source.position(start)
    end_line, end_column = source.position(max(start, end))
    return Place(path, line + 1, column + 1, end_line + 1, end_column + 1)


def _frame(source: Source, at: Place) -> tuple[str, ...]:
    last = min(at.end_line, at.line + _MOST_FRAME_LINES - 1)
    lines = (source.line_bytes(number - 1).decode("utf-8", "replace") for number in range(at.line, last + 1))
    return tuple(line[:400] for line in lines)


def to_json(record: Record) -> list[Any]:
    """A record as compact JSON data."""
    at = record.at
    return [
        [at.path, at.line, at.column, at.end_line, at.end_column],
        record.rule, record.severity, record.key, dict(record.args), record.kind, record.operator, record.fix_title,
        record.applicability, [list(e) for e in record.edits],
        [[[p.path, p.line, p.column, p.end_line, p.end_column], dict(note)] for p, note in record.related], list(record.frame),
    ]  # fmt: skip


def from_json(data: list[Any]) -> Record:
    """The record that ``to_json`` made ``data`` of."""
    at, rule, severity, key, args, kind, operator, title, applicability, edits, related, frame = data
    return Record(
        Place(*at), rule, severity, key, args, kind, operator, title, applicability,
        tuple((p, s, e, t) for p, s, e, t in edits), tuple((Place(*p), note) for p, note in related), tuple(frame),
    )  # fmt: skip


def rank(severity: str) -> int:
    """0 for an error, rising as severity falls."""
    return list[str](SEVERITIES).index(severity)
