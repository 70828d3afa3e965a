"""The workspace's files, a few at a time: links not followed, ignored folders not entered, bounded."""

from __future__ import annotations

import os
from collections.abc import Iterator

from opdev.kinds import has_known_suffix
from opdev.lsp.rulebook import Rulebook

SKIPPED = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".opdev", ".idea",
     ".mypy_cache", ".ruff_cache", ".pytest_cache", ".vscode-test"}
)  # fmt: skip
MOST_ENTRIES = 200_000
MOST_FILES = 20_000
LARGEST = 1_000_000
"""Bytes; larger files that nobody has open are data."""


def walk(top: str, rulebook: Rulebook) -> Iterator[str]:
    """Paths below ``top`` that could be ours, folder by folder."""
    stack = [top]
    entries = files = 0
    while stack:
        folder = stack.pop()
        try:
            with os.scandir(folder) as scan:
                listed = sorted(scan, key=lambda entry: entry.name)
        except OSError:
            continue
        below: list[str] = []
        for entry in listed:
            entries += 1
            if entries > MOST_ENTRIES or files > MOST_FILES:
                return
            path = f"{folder.rstrip('/')}/{entry.name}"
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED and not rulebook.skipped(path, folder=True):
                        below.append(path)
                elif (
                    has_known_suffix(entry.name)
                    and entry.is_file()
                    and entry.stat().st_size <= LARGEST
                    and not rulebook.skipped(path)
                ):
                    files += 1
                    yield path
            except OSError:
                continue
        stack.extend(reversed(below))
