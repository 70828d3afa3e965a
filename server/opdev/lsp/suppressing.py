"""Edits that write a suppression comment, in the comment syntax of whatever is there.

Each is tried on the text first: it is offered only if the comment is read as one, silences the
finding, and leaves the code as it was.  In the middle of a macro or a string none may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.rules import suppress
from opdev.rules.model import Edit, Finding, Rule
from opdev.source import Source
from opdev.syntax.file import File

_COMMENT = {
    "cpp": ("// ", ""),
    "bash": ("# ", ""),
    "python": ("# ", ""),
    "cmake": ("# ", ""),
    "yaml": ("# ", ""),
    "markdown": ("<!-- ", " -->"),
}
_FRONT_MATTER = re.compile(rb"---[ \t]*\r?\n.*?\n---[ \t]*(?:\r?\n|\Z)", re.S)
_CODING = re.compile(rb"#.*coding[:=]")


def on_line(file: File, finding: Finding) -> Edit | None:
    """The edit that silences a finding on its line."""
    source = file.source
    line = source.line_of(finding.start)
    language = _language_at(file, finding.start)
    for edit in _line_edits(source, line, language, finding.rule.name):
        if _works(file, edit, finding.rule, finding.start):
            return edit
    return None


def in_file(file: File, rule: Rule) -> Edit | None:
    """The edit that silences a rule in the whole file."""
    comment = _COMMENT.get(file.language or "")
    if comment is None or _is_json(file):
        return None
    start = _top(file)
    text = f"{comment[0]}opdev: ignore-file[{rule.name}]{comment[1]}{file.source.newline}"
    edit = Edit(start, start, text)
    return edit if _works(file, edit, rule, len(file.data)) else None


def _is_json(file: File) -> bool:
    return file.path.endswith(".json")


def _language_at(file: File, offset: int) -> str | None:
    """The language whose comments count at an offset: a fence's inside a fence."""
    if _is_json(file):
        return None
    if file.language == "markdown":
        for inner in file.regions:
            region = inner.region
            if region is not None and region.to_host(0) <= offset <= region.to_host(len(inner.data)):
                return inner.language
    return file.language


def _line_edits(source: Source, line: int, language: str | None, name: str) -> Iterator[Edit]:
    comment = _COMMENT.get(language or "")
    if comment is None:
        return
    begin, end = source.line_range(line)
    text = source.data[begin:end]
    present = re.search(rb"\bopdev:[ \t]*ignore[ \t]*\[([^\]\r\n]*)\]", text)
    if present is not None:
        at = begin + present.end(1)
        yield Edit(at, at, f", {name}" if present[1].strip() else name)
        return
    directive = f"{comment[0]}opdev: ignore[{name}]{comment[1]}"
    stop = begin + len(text.rstrip())
    if not text.rstrip().endswith(b"\\"):
        yield Edit(stop, stop, f"{' ' if language == 'markdown' else '  '}{directive}")
    if line and source.line_bytes(line - 1).rstrip().endswith(b"\\"):
        # A line of its own would end the macro or the command that goes on here.
        return
    indent = re.match(rb"[ \t>]*", text)
    lead = indent.group().decode() if indent is not None else ""
    yield Edit(begin, begin, f"{lead}{directive}{source.newline}")


def _top(file: File) -> int:
    """Where a comment for the whole file goes: after what must come first."""
    data = file.data
    at = 0
    if file.language == "markdown":
        matter = _FRONT_MATTER.match(data)
        return matter.end() if matter is not None else 0
    if data.startswith(b"#!"):
        at = _next_line(data, 0)
    if file.language == "python" and _CODING.match(data, at):
        at = _next_line(data, at)
    return at


def _next_line(data: bytes, at: int) -> int:
    newline = data.find(b"\n", at)
    return len(data) if newline < 0 else newline + 1


def _works(file: File, edit: Edit, rule: Rule, offset: int) -> bool:
    """Whether an edit silences ``rule`` at ``offset`` and changes no code."""
    written = edit.text.encode()
    after = File(file.source.spliced(edit.start, edit.end, written), file.kind, file.place)
    moved = offset + len(written) if edit.start <= offset else offset
    holder, at = _innermost(after, min(moved, len(after.data)))
    line = holder.source.line_of(min(at, max(len(holder.data) - 1, 0)))
    covered = suppress.find(holder).covering(rule, line, line) is not None
    if not covered and holder is not after:
        line = after.source.line_of(min(moved, max(len(after.data) - 1, 0)))
        covered = suppress.find(after).covering(rule, line, line) is not None
    return covered and _code(file) == _code(after)


def _innermost(file: File, offset: int) -> tuple[File, int]:
    if file.language == "markdown":
        for inner in file.regions:
            region = inner.region
            if region is not None and region.to_host(0) <= offset <= region.to_host(len(inner.data)):
                for start, outer in reversed(region.pieces):
                    if outer <= offset:
                        return inner, start + offset - outer
    return file, offset


def _code(file: File) -> list[bytes]:
    """The text without comments and blanks; of Markdown, that of its fences."""
    if file.language == "markdown":
        return [line for inner in file.regions for line in _code(inner)]
    return file.nocomment.split()
