"""Applying fixes: on original offsets, in rounds, until nothing changes.

Overlapping fixes wait for the next round.  A round that breaks a file's syntax is put back fix by
fix, and what broke it is reported.  Two rules that undo each other are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from opdev.rules.model import Applicability, Edit, Finding
from opdev.source import Source
from opdev.syntax.file import File
from opdev.syntax.tree import errors

MOST_ROUNDS = 10


@dataclass
class Fixed:
    """What fixing a file came to."""

    data: bytes
    applied: list[Finding] = field(default_factory=list)
    broke: list[Finding] = field(default_factory=list)
    """Findings whose fix was put back because the file no longer parsed."""
    fighting: tuple[str, ...] = ()
    """Names of the rules that would have gone on for ever."""


def wanted(finding: Finding, levels: Iterable[Applicability]) -> bool:
    """Whether a finding has a fix of one of these levels, in its own file only."""
    fix = finding.fix
    return fix is not None and finding.applicability in set(levels) and all(e.path is None for e in fix.edits)


def apply_edits(data: bytes, edits: Sequence[Edit]) -> bytes:
    """``data`` after non-overlapping edits on its own offsets."""
    out: list[bytes] = []
    at = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        out += (data[at : edit.start], edit.text.encode())
        at = edit.end
    out.append(data[at:])
    return b"".join(out)


def choose(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, in text order, whose fixes do not overlap; equal edits are made once."""
    chosen: list[Finding] = []
    taken: list[tuple[int, int]] = []
    for finding in sorted(findings, key=lambda f: f.sort_key):
        edits = finding.fix.edits if finding.fix else ()
        if all(not _overlaps(edit, taken) for edit in edits):
            chosen.append(finding)
            taken += [(e.start, e.end) for e in edits]
    return chosen


def _overlaps(edit: Edit, taken: list[tuple[int, int]]) -> bool:
    for start, end in taken:
        if edit.start < end and start < edit.end:
            return True
        # Two insertions at one place, or an insertion at another edit's border, have no one order.
        if edit.start == start or (edit.start == edit.end and edit.start == end):
            return True
    return False


def fix_to_the_end(
    source: Source,
    lint: Callable[[Source], Sequence[Finding]],
    parse: Callable[[Source], File],
    levels: Iterable[Applicability],
) -> Fixed:
    """Fix, lint again, fix again, until nothing is left to fix or MOST_ROUNDS are done."""
    levels = tuple(levels)
    result = Fixed(source.data)
    refused: set[tuple[str, bytes]] = set()
    seen = {source.data}
    history: list[set[str]] = []
    for _ in range(MOST_ROUNDS):
        here = Source(source.path, result.data, source.encoding)
        open_fixes = [f for f in lint(here) if wanted(f, levels) and _identity(f) not in refused]
        chosen = choose([_normalised(f, here) for f in open_fixes])
        if not chosen:
            return result
        data, applied, broke = _round(here, chosen, parse)
        refused |= {_identity(f) for f in broke}
        result.broke += broke
        if data == result.data:
            if broke:
                continue
            return result
        history.append({f.rule.name for f in applied})
        result.data = data
        result.applied += applied
        if data in seen:
            result.fighting = tuple(sorted(set().union(*history[-2:])))
            return result
        seen.add(data)
    here = Source(source.path, result.data, source.encoding)
    left = [f for f in lint(here) if wanted(f, levels) and _identity(f) not in refused]
    if left:
        result.fighting = tuple(sorted({f.rule.name for f in left}))
    return result


def _identity(finding: Finding) -> tuple[str, bytes]:
    return finding.rule.name, finding.source.data[finding.start : finding.end]


def _normalised(finding: Finding, source: Source) -> Finding:
    """The finding with its fix's new lines ended as the file ends its lines."""
    from dataclasses import replace

    fix = finding.fix
    if fix is None or source.newline == "\n":
        return finding
    edits = tuple(replace(e, text=e.text.replace("\r\n", "\n").replace("\n", source.newline)) for e in fix.edits)
    return replace(finding, fix=replace(fix, edits=edits))


def _round(
    source: Source, chosen: list[Finding], parse: Callable[[Source], File]
) -> tuple[bytes, list[Finding], list[Finding]]:
    """(data, applied, put back) of one round."""
    before = _errors(parse(source))

    def attempt(findings: list[Finding]) -> bytes | None:
        edits = [edit for f in findings if f.fix for edit in f.fix.edits]
        data = apply_edits(source.data, edits)
        try:
            source.to_disk(data)
        except UnicodeEncodeError:
            return None
        return data if _errors(parse(Source(source.path, data, source.encoding))) <= before else None

    data = attempt(chosen)
    if data is not None:
        return data, chosen, []
    kept: list[Finding] = []
    broke: list[Finding] = []
    for finding in chosen:
        (kept if attempt([*kept, finding]) is not None else broke).append(finding)
    return attempt(kept) or source.data, kept, broke


def _errors(file: File) -> int:
    """Parse errors of a file and of what is embedded in it."""
    count = len(errors(file.root)) if file.parsed else 0
    return count + sum(_errors(inner) for inner in (file.regions if file.language in ("markdown", "bash") else []))
