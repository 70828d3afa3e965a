"""Everything safe, fixed at once, as the smallest edits on lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING

from opdev.lsp.documents import Document
from opdev.rules.fixes import fix_to_the_end
from opdev.rules.model import Edit, Finding
from opdev.source import Source
from opdev.syntax.file import File

if TYPE_CHECKING:
    from opdev.lsp.session import Session


def fix_all(session: Session, document: Document, source: Source) -> Iterator[Edit]:
    """The edits that make of ``source`` what ``opdev-lint --fix`` would."""
    file = session.file_of(document)
    verdict = session.rulebook.of(document.path)
    if not file.kind or verdict.excluded:
        return
    root = file.place.root
    project = session.operators.now(root) if root is not None and document.local else None

    def parse(text: Source) -> File:
        return File(text, file.kind, file.place)

    def lint(text: Source) -> Sequence[Finding]:
        return verdict.linter.lint(parse(text), verdict.selection, project).findings

    fixed = fix_to_the_end(source, lint, parse, ("safe",))
    if fixed.data != source.data:
        yield from line_edits(source, Source(source.path, fixed.data))


def line_edits(before: Source, after: Source) -> Iterator[Edit]:
    """Edits on whole lines that make ``after`` of ``before``."""
    old, new = _lines(before), _lines(after)
    for tag, low, high, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            start = before.line_starts[low] if low < len(old) else len(before.data)
            end = before.line_starts[high] if high < len(old) else len(before.data)
            yield Edit(start, end, b"".join(new[first:last]).decode("utf-8", "replace"))


def _lines(source: Source) -> list[bytes]:
    starts = [*source.line_starts, len(source.data)]
    return [source.data[begin:end] for begin, end in pairwise(starts)]
