"""``--changed-since REV``: findings on lines a change added, computed over the whole tree."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence

from opdev.lint.record import Record

_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


class RevisionError(ValueError):
    """git could not compare; the text is git's own."""


def added_lines(revision: str, cwd: str) -> dict[str, set[int] | None]:
    """1-based added lines by absolute path; None for a file that is new as a whole."""
    if revision.startswith("-"):
        raise RevisionError("a revision does not start with a dash")
    top = _git(["rev-parse", "--show-toplevel"], cwd).decode("utf-8", "surrogateescape").strip().replace("\\", "/")
    base = _git(["merge-base", revision, "HEAD"], cwd).decode().strip()
    found: dict[str, set[int] | None] = {}
    diff = _git(
        ["-c", "core.quotePath=false", "diff", "-U0", "--no-color", "--no-ext-diff", "--no-renames", base, "--"], cwd
    )
    lines: set[int] = set()
    for row in diff.split(b"\n"):
        if row.startswith(b"+++ "):
            name = row[4:].rstrip(b"\t\r").decode("utf-8", "surrogateescape").strip('"')
            lines = set()
            if name.startswith("b/"):
                found[f"{top}/{name[2:]}"] = lines
        elif match := _HUNK.match(row):
            start, count = int(match[1]), int(match[2] or 1)
            lines.update(range(start, start + count))
    untracked = _git(["ls-files", "--others", "--exclude-standard", "-z", "--full-name", "."], top)
    for raw in untracked.split(b"\0"):
        if raw:
            found[f"{top}/{raw.decode('utf-8', 'surrogateescape')}"] = None
    return found


def only_added(records: Sequence[Record], added: dict[str, set[int] | None], cwd: str) -> list[Record]:
    """The findings that touch an added line."""
    from opdev.lint.collect import absolute

    kept: list[Record] = []
    paths: dict[str, str] = {}
    for record in records:
        path = paths.setdefault(record.path, absolute(f"{cwd}/{record.path}"))
        lines = added.get(path, set())
        if lines is None or any(n in lines for n in range(record.at.line, record.at.end_line + 1)):
            kept.append(record)
    return kept


def _git(arguments: list[str], cwd: str) -> bytes:
    try:
        done = subprocess.run(["git", *arguments], cwd=cwd, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise RevisionError(f"git cannot be run: {error.strerror}") from None
    if done.returncode:
        raise RevisionError(
            done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:][0] if done.stderr else "git failed"
        )
    return done.stdout
