"""Code inside other files, with a true map of where each byte came from.

A fence in an indented list, a quoted block or a here-document with stripped tabs all lose bytes
at the start of their lines; the map is piecewise, one piece a line, so every offset of the
embedded text has its exact place in the host.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from opdev.kinds import Kind, classify
from opdev.source import Source
from opdev.syntax.aliases import ALIASES
from opdev.syntax.file import File

_FENCE = re.compile(
    rb"^(?P<prefix>[ \t]*(?:>[ \t]?)*(?:(?:[-*+]|\d+[.)])[ \t]+)?)(?P<ticks>`{3,}|~{3,})[ \t]*(?P<info>[^`\r\n]*)$",
    re.MULTILINE,
)
_HEREDOC = re.compile(rb"<<(?P<dash>-?)[ \t]*(?P<q>['\"]?)(?P<tag>[A-Za-z_]\w*)(?P=q)[^\n]*\n")
_INTERPRETERS = {b"python": "python", b"python3": "python", b"bash": "bash", b"sh": "bash"}
# Fence languages are few: the first word of the info string decides.
_WORD = re.compile(r"[\w+#.-]+")


@dataclass(frozen=True)
class Region:
    """Where embedded text stands in its host.

    ``pieces`` are (start in the embedded text, start in the host), one a line; ``prefix`` is what
    every new line of a replacement needs in the host; ``info`` is the rest of a fence's info string.
    """

    host: File
    pieces: tuple[tuple[int, int], ...]
    prefix: str
    info: str = ""
    role: str = "docs-fence"

    def to_host(self, offset: int) -> int:
        """The host's offset of an offset in the embedded text."""
        index = bisect_right(self.pieces, (offset, 1 << 62)) - 1
        inner, outer = self.pieces[max(index, 0)]
        return outer + offset - inner

    def range_to_host(self, start: int, end: int) -> tuple[int, int]:
        """The host's range; its end stays on the line that holds the last character."""
        begin = self.to_host(start)
        if end <= start:
            return begin, begin
        return begin, self.to_host(end - 1) + 1


def embedded(file: File) -> list[File]:
    """The files embedded in ``file``, in text order."""
    if file.language == "markdown":
        return _fences(file)
    if file.language == "bash" and b"<<" in file.code:
        return _heredocs(file)
    return []


def _fences(file: File) -> list[File]:
    data = file.data
    found: list[File] = []
    at = 0
    while match := _FENCE.search(data, at):
        ticks = match.group("ticks")
        indent = len(match.group("prefix"))
        close = re.compile(
            rb"^[ \t]*(?:>[ \t]?)*" + re.escape(ticks[:1]) + b"{%d,}[ \t]*\r?$" % len(ticks), re.MULTILINE
        )
        end = close.search(data, min(match.end() + 1, len(data)))
        stop = end.start() if end else len(data)
        begin = _next_line(data, match.end())
        info = match.group("info").decode("utf-8", "replace").strip()
        word = _WORD.match(info)
        language = ALIASES.get(word.group().lower()) if word else None
        if language and begin < stop:
            inner, pieces = _strip(data, begin, stop, match.group("prefix"), indent)
            name = f"{file.path}#{len(found)}"
            region = Region(file, tuple(pieces), _prefix(match.group("prefix")), info)
            base = classify(f"{file.place.relative or file.path}.{_SUFFIX[language]}", inner, in_operator=True)
            kind = Kind(language, (base.names & _FENCE_KEEPS) | {"docs-fence"})
            found.append(File(Source(name, inner), kind, file.place, region=region))
        at = _next_line(data, end.end()) if end else len(data)
        if at >= len(data):
            break
    return found


_SUFFIX = {"cpp": "cpp", "bash": "sh", "cmake": "cmake", "python": "py", "yaml": "yaml", "markdown": "md"}
_FENCE_KEEPS = frozenset({"pypto"})


def _prefix(prefix: bytes) -> str:
    """What a continuation line repeats: quote marks, and blanks where a list marker stood."""
    return re.sub(r"[-*+]|\d+[.)]", lambda m: " " * len(m.group()), prefix.decode("ascii", "replace"))


def _next_line(data: bytes, offset: int) -> int:
    newline = data.find(b"\n", offset)
    return len(data) if newline < 0 else newline + 1


def _strip(data: bytes, begin: int, stop: int, prefix: bytes, indent: int) -> tuple[bytes, list[tuple[int, int]]]:
    """The fence's text without the prefix of its lines, and the pieces that map it back."""
    if not indent:
        return data[begin:stop], [(0, begin)]
    quoted = b">" in prefix
    lines: list[bytes] = []
    pieces: list[tuple[int, int]] = []
    inner = 0
    at = begin
    while at < stop:
        end = min(_next_line(data, at), stop)
        line = data[at:end]
        cut = 0
        while cut < indent and cut < len(line) and (line[cut] in b" \t" or (quoted and line[cut] in b">")):
            cut += 1
        pieces.append((inner, at + cut))
        lines.append(line[cut:])
        inner += len(line) - cut
        at = end
    return b"".join(lines), pieces or [(0, begin)]


def _heredocs(file: File) -> list[File]:
    data = file.data
    found: list[File] = []
    for match in _HEREDOC.finditer(data):
        if file.code[match.start() : match.start() + 2] != b"<<":
            continue
        tag = match.group("tag")
        dash = match.group("dash")
        end = re.compile((rb"^\t*" if dash else rb"^") + re.escape(tag) + rb"[ \t]*\r?$", re.MULTILINE).search(
            data, match.end()
        )
        if end is None:
            continue
        language = _interpreter(data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()])
        if language is None:
            continue
        inner, pieces = data[match.end() : end.start()], [(0, match.end())]
        region = Region(file, tuple(pieces), "", role="heredoc")
        kind = Kind(language, frozenset({"heredoc", "python" if language == "python" else "shell"}))
        found.append(File(Source(f"{file.path}#{len(found)}", inner), kind, file.place, region=region))
    return found


def _interpreter(before: bytes) -> str | None:
    for word in re.split(rb"[\s|;&]+", before):
        name = word.strip(b"\"'").rsplit(b"/", 1)[-1]
        if name in _INTERPRETERS:
            return _INTERPRETERS[name]
        if b"PYTHON" in name:
            return "python"
    return None
