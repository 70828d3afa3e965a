"""gitignore patterns, fast enough for every path of a large tree.

pathspec translates each pattern to a regular expression; here those of one file are joined, so
that a path costs one match where no pattern is negated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property


class Patterns:
    """An ordered list of gitignore patterns; paths are relative to where the patterns stand."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = list(lines)

    @cached_property
    def _compiled(self) -> list[tuple[bool, re.Pattern[str]]]:
        """(ignores, expression) in order, neighbours of one kind joined."""
        from pathspec import GitIgnoreSpec

        groups: list[tuple[bool, list[str]]] = []
        for pattern in GitIgnoreSpec.from_lines(self._lines).patterns:
            if pattern.include is None or pattern.regex is None:
                continue
            text = re.sub(r"\?P<\w+>", "?:", str(pattern.regex.pattern))
            if groups and groups[-1][0] == pattern.include:
                groups[-1][1].append(text)
            else:
                groups.append((pattern.include, [text]))
        return [(include, re.compile("|".join(f"(?:{t})" for t in texts))) for include, texts in groups]

    def match(self, path: str, *, folder: bool = False) -> bool:
        """Whether the patterns ignore ``path`` (itself, or through a folder above it)."""
        verdict = self.decide(path, folder=folder)
        return verdict is True

    def decide(self, path: str, *, folder: bool = False) -> bool | None:
        """True ignored, False taken back by a ``!`` pattern, None not mentioned."""
        shown = path + "/" if folder else path
        for include, expression in reversed(self._compiled):
            if expression.match(shown):
                return include
        return None
