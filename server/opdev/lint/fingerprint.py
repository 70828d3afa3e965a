"""Names for findings that survive edits elsewhere: for SARIF, GitLab and the baseline."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from opdev.lint.record import Record


def fingerprints(records: Sequence[Record]) -> list[str]:
    """One fingerprint a record, in order: rule, path, text of the line, and which of equal ones it is."""
    seen: Counter[str] = Counter()
    found: list[str] = []
    for record in records:
        line = " ".join(record.frame[0].split()) if record.frame else ""
        base = f"{record.rule}\0{record.path}\0{record.key}\0{line}"
        seen[base] += 1
        found.append(hashlib.sha256(f"{base}\0{seen[base]}".encode("utf-8", "surrogateescape")).hexdigest()[:32])
    return found
