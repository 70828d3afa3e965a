"""``--fix``, ``--unsafe-fixes`` and ``--diff``: fixing files of the disk to the end."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opdev.atomic import write_bytes
from opdev.lint.collect import Found
from opdev.lint.session import LARGEST, Session
from opdev.rules.fixes import Fixed, fix_to_the_end
from opdev.rules.model import Applicability, Finding
from opdev.source import Source
from opdev.syntax.file import File


@dataclass
class Fixes:
    """What fixing came to: per file counts by rule, what could not be written, faults of fixes."""

    applied: dict[str, Counter[str]] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)
    broke: list[tuple[str, int, str]] = field(default_factory=list)
    """(path, 1-based line, rule)"""
    fighting: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    diff: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(sum(c.values()) for c in self.applied.values())


def fix_files(
    files: Sequence[Found], session: Session, levels: Sequence[Applicability], *, write: bool, diff: bool
) -> Fixes:
    """Fix every file; with ``diff`` nothing is written and the changes are shown instead."""
    total = Fixes()
    for found in files:
        try:
            if found.size > LARGEST or found.path.endswith(".log"):
                continue
            raw = Path(found.path).read_bytes()
        except OSError:
            continue
        source = Source.from_disk(found.path, raw)
        fixed = fix_source(source, session, levels)
        _note(total, fixed, session.shown(found.path))
        if fixed.data == source.data:
            continue
        data = source.to_disk(fixed.data)
        if diff:
            total.diff.append(unified(session.shown(found.path), source, fixed.data))
        if write and not diff:
            try:
                write_bytes(found.path, data)
            except OSError as error:
                total.failed.append((session.shown(found.path), error.strerror or str(error)))
                continue
            place = session.places.of(found.path)
            session.forget_operator(place.root)
        total.applied[session.shown(found.path)] = Counter(f.rule.name for f in fixed.applied)
    return total


def fix_source(source: Source, session: Session, levels: Sequence[Applicability]) -> Fixed:
    """Fix one source to the end."""

    def lint(here: Source) -> list[Finding]:
        return session.findings(here)[0]

    def parse(here: Source) -> File:
        file = session.file(here)
        if file is None:
            raise ValueError(f"{here.path}: not a file that is linted")
        return file

    return fix_to_the_end(source, lint, parse, levels)


def unified(path: str, source: Source, data: bytes) -> str:
    """A unified diff that ``git apply`` and ``patch -p1`` take."""
    old = source.data.decode("utf-8", "replace").splitlines(keepends=True)
    new = data.decode("utf-8", "replace").splitlines(keepends=True)
    out: list[str] = []
    for line in difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"):
        out.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(out)


def _note(total: Fixes, fixed: Fixed, path: str) -> None:
    for finding in fixed.broke:
        total.broke.append((path, finding.span()[0] + 1, finding.rule.name))
    if fixed.fighting:
        total.fighting.append((path, fixed.fighting))
