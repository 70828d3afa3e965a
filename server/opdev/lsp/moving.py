"""What an edit was, seen from two texts, and where it moved the findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from opdev.rules.model import Edit, Finding, Related
from opdev.source import Source

Part = TypeVar("Part", Edit, Related)


def changed(before: bytes, after: bytes) -> tuple[int, int, int]:
    """(start, old end, new end) of the smallest edit that makes ``after`` of ``before``, on whole characters."""
    most = min(len(before), len(after))
    start = _common(before, after, most)
    tail = _common_end(before, after, most - start)
    while start and start < len(after) and after[start] & 0xC0 == 0x80:
        start -= 1
    while tail and after[len(after) - tail] & 0xC0 == 0x80:
        tail -= 1
    return start, len(before) - tail, len(after) - tail


def _common(one: bytes, other: bytes, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: bytes, other: bytes, most: int) -> int:
    low, high = 0, most
    size, length = len(one), len(other)
    while low < high:
        middle = (low + high + 1) // 2
        if one[size - middle : size - low] == other[length - middle : length - low]:
            low = middle
        else:
            high = middle - 1
    return low


def moved(findings: Iterable[Finding], before: Source, after: Source) -> list[Finding]:
    """Findings of an earlier text where they stand now; those the edit touched are dropped."""
    findings = tuple(findings)
    if not findings:
        return []
    start, old_end, new_end = changed(before.data, after.data)
    shift = new_end - old_end
    out = []
    for finding in findings:
        if finding.end <= start:
            by = 0
        elif finding.start >= old_end:
            by = shift
        else:
            continue
        fix = finding.fix
        if fix is not None and not all(_clear(e, start, old_end) for e in fix.edits if e.path is None):
            fix = None
        if fix is not None:
            edits = tuple(_shifted(e, old_end, shift) for e in fix.edits)
            fix = replace(fix, edits=edits)
        related = tuple(_shifted(r, old_end, shift) for r in finding.related if _clear(r, start, old_end))
        out.append(
            replace(finding, source=after, start=finding.start + by, end=finding.end + by, fix=fix, related=related)
        )
    return out


def _clear(part: Edit | Related, start: int, end: int) -> bool:
    return part.path is not None or part.end <= start or part.start >= end


def _shifted(part: Part, old_end: int, shift: int) -> Part:
    if part.path is not None or part.start < old_end:
        return part
    return replace(part, start=part.start + shift, end=part.end + shift)
