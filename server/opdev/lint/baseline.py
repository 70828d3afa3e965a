"""The baseline: findings a project lives with for now.  New ones fail, gone ones are pointed out.

Entries are counts by path, rule and the text of the line, so that moved lines are not new and a
merge of two baselines is a sum.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from opdev.atomic import write_bytes
from opdev.lint.record import Record

_VERSION = 1
Entry = tuple[str, str, str]


class BaselineError(ValueError):
    """A baseline that cannot be read; the text says why and what to do."""


def entry_of(record: Record) -> Entry:
    """(path, rule, text of the line)"""
    line = " ".join(record.frame[0].split()) if record.frame else ""
    return record.path, record.rule, line


def write(path: str, records: Iterable[Record]) -> int:
    """Write the baseline of ``records``; how many there were.  OSError leaves the old file whole."""
    counts = Counter(entry_of(r) for r in records)
    findings = [{"path": p, "rule": r, "line": t, "count": c} for (p, r, t), c in sorted(counts.items())]
    text = json.dumps({"version": _VERSION, "findings": findings}, ensure_ascii=False, indent=1) + "\n"
    write_bytes(os.path.abspath(path), text.encode("utf-8", "surrogateescape"))
    return sum(counts.values())


def read(path: str) -> Counter[Entry]:
    """The counts of a baseline file; BaselineError for one that is none."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8", errors="surrogateescape"))
        if not isinstance(data, dict) or data.get("version") != _VERSION:
            raise BaselineError("not a baseline of this version; write it again with --write-baseline")
        return Counter({(e["path"], e["rule"], e["line"]): int(e["count"]) for e in data["findings"]})
    except OSError as error:
        raise BaselineError(error.strerror or str(error)) from None
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, BaselineError):
            raise
        raise BaselineError(f"not a baseline ({error}); write it again with --write-baseline") from None


def split(records: Sequence[Record], known: Counter[Entry]) -> tuple[list[Record], int, int]:
    """(new findings, how many are in the baseline, how many of the baseline are gone)."""
    left = Counter(known)
    new: list[Record] = []
    for record in records:
        entry = entry_of(record)
        if left[entry] > 0:
            left[entry] -= 1
        else:
            new.append(record)
    return new, len(records) - len(new), sum(left.values())
