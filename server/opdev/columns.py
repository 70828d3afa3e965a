"""Text in columns of a terminal, where a wide character takes two."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def width(text: str) -> int:
    """Terminal columns: wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(ch) in "WF" else 1 for ch in text)


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """Filled up to so many columns, on the left where the text is to stand right."""
    blank = " " * (columns - width(text))
    return blank + text if right else text + blank


def clip(text: str, columns: int) -> str:
    """On one line and at most so many columns wide; what is cut off is told by ``…``.

    What would move the cursor, or turn the direction of writing, is shown as ``�``: the text may be anybody's.
    """
    if not text.isprintable():
        text = "".join(ch if ch.isprintable() else " " if ch in "\t\r\n" else "�" for ch in text)
    if width(text) <= columns:
        return text
    used, kept = 1, []
    for ch in text:
        used += width(ch)
        if used > columns:
            break
        kept.append(ch)
    return "".join(kept) + "…" if columns > 0 else ""


def grid(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Lines of a table: two blanks between columns, a rule below the header, all but the first ``left`` columns to the right."""
    every = [header, *rows]
    wide = [max(width(row[i]) for row in every) for i in range(len(header))]
    lines = ["  ".join(pad(row[i], wide[i], right=i >= left) for i in range(len(header))).rstrip() for row in every]
    return [lines[0], "  ".join("-" * w for w in wide), *lines[1:]]
