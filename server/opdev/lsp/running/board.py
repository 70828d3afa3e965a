"""What runs found, kept on its lines while the text moves, and merged with what the linter says of the file.

An edit above a finding moves it, an edit of its line takes it away: the compiler has not seen the new line.
On the loop's thread only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opdev.lsp.documents import plain_range
from opdev.lsp.running.placing import Placed
from opdev.source import Source

if TYPE_CHECKING:
    from opdev.lsp.client import Lang
    from opdev.lsp.session import Session
    from opdev.source import Unit

SOURCE = "opdev run"
_MOST = 500
"""Diagnostics of runs in one file."""


@dataclass(slots=True)
class _Mark:
    placed: Placed
    line: int


@dataclass(slots=True)
class _Page:
    """The marks of one file, and the text their lines are of."""

    data: bytes
    marks: list[_Mark]


class Board:
    """The diagnostics of runs by file."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._by_root: dict[str, list[Placed]] = {}
        self._pages: dict[str, _Page] = {}

    @property
    def paths(self) -> list[str]:
        """Files with findings of runs."""
        return list(self._pages)

    def put(self, root: str, placed: list[Placed]) -> None:
        """These are all findings of an operator now."""
        touched = {p.path for p in (*self._by_root.get(root, ()), *placed)}
        self._by_root[root] = placed
        for path in sorted(touched):
            here = [p for every in self._by_root.values() for p in every if p.path == path and not p.found.gone]
            before = self._pages.pop(path, None)
            if here:
                self._pages[path] = self._page(path, here[:_MOST], before)
            self._session.republish(path)

    def _page(self, path: str, here: list[Placed], before: _Page | None) -> _Page:
        document = self._session.documents.at_path(path)
        known = {id(m.placed.found): m.line for m in before.marks} if before is not None else {}
        data = before.data if before is not None else document.source.data if document is not None else here[0].data
        marks: list[_Mark] = []
        for placed in here:
            line = known.get(id(placed.found))
            if line is None:
                line = follow(placed.data, data, [placed.line])[0]
            if line is None:
                placed.found.gone = True
            else:
                marks.append(_Mark(placed, line))
        return _Page(data, marks)

    def moved(self, path: str, data: bytes | None) -> None:
        """A file's text is another one: lines move, changed ones lose what was said of them."""
        page = self._pages.get(path)
        if page is None or page.data == data:
            return
        before = [mark.line for mark in page.marks]
        lines: Sequence[int | None] = follow(page.data, data, before) if data is not None else [None] * len(before)
        kept = []
        for mark, line in zip(page.marks, lines, strict=True):
            if line is None:
                mark.placed.found.gone = True
            else:
                mark.line = line
                kept.append(mark)
        page.data, page.marks = data or b"", kept
        if list(lines) != before:
            self._session.republish(path)

    def items(self, path: str) -> list[dict[str, Any]]:
        """The diagnostics of runs in a file."""
        page = self._pages.get(path)
        if page is None or not page.marks:
            return []
        session = self._session
        lang = session.lang_of(session.rulebook.of(path).lang)
        source = Source(path, page.data)
        return [self._item(mark, source, lang) for mark in page.marks]

    def _item(self, mark: _Mark, source: Source, lang: Lang) -> dict[str, Any]:
        placed, found, style = mark.placed, mark.placed.found, self._session.style
        unit = style.client.unit
        item: dict[str, Any] = {
            "range": _range(source, mark.line, placed.start, placed.end, unit),
            "severity": found.severity,
            "code": found.code,
            "source": SOURCE,
            "message": placed.text[lang],
            "data": {
                "run": found.run, "phase": found.phase, "step": found.step, "case": found.case,
                "backend": "sim" if found.sim else "npu",
            },
        }  # fmt: skip
        if placed.notes and style.can("relatedInformation"):
            item["relatedInformation"] = [
                {
                    "location": {
                        "uri": self._session.uri_of(note.path),
                        "range": _range(Source(note.path, note.data), note.line, note.start, note.end, unit),
                    },
                    "message": said,
                }
                for note, said in placed.notes
            ]
        return item


def _range(source: Source, line: int, start: int, end: int, unit: Unit) -> dict[str, dict[str, int]]:
    at = source.offset(line, 0, unit)
    return plain_range(source, at + start, at + end, unit)


def follow(old: bytes, new: bytes, lines: Sequence[int]) -> list[int | None]:
    """Where lines (0-based) of an old text are in a new one; None for those that were changed or taken away."""
    if old == new:
        return list(lines)
    before, after = _split(old), _split(new)
    most = min(len(before), len(after))
    head = 0
    while head < most and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < most - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    middle = after[head : len(after) - tail]
    found: list[int | None] = []
    for line in lines:
        if line < head:
            found.append(line)
        elif line >= len(before) - tail:
            found.append(line + len(after) - len(before))
        else:
            text = before[line]
            found.append(head + middle.index(text) if text.strip() and middle.count(text) == 1 else None)
    return found


def _split(data: bytes) -> list[bytes]:
    return [line.rstrip(b"\r") for line in data.split(b"\n")]
