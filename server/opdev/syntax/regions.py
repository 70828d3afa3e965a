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
from opdev.syntax.fences import fences, past_quotes
from opdev.syntax.file import File

_HEREDOC = re.compile(
    rb"(?<!<)<<(?P<dash>-?)[ \t]*(?:(?P<q>['\"])(?P<quoted>[^'\"\n]+)(?P=q)|\\?(?P<tag>[A-Za-z_][\w.-]*))"
)
# What ends one command and begins the next on a line.
_NEXT_COMMAND = re.compile(rb"[;|(`]+|&&|(?<![<>&])&(?![>&])")
_INTERPRETER = re.compile(
    rb"(?:^|:-|[/\"'{])(?:(?P<python>python[\d.]*)|(?P<bash>bash|sh))[\"'})]*$"
    rb"|^[\"']?\$\{?(?P<named>\w*PYTHON(?!PATH)[^/]*|PY\}?[\"']?)$"
)
_VALUED = (b"-W", b"-X", b"-O", b"-o", b"+O", b"+o")
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
        """The host's range.

        A range that ends where a line begins ends behind that line's prefix in the host, so that
        taking out or putting in whole lines leaves every line one prefix.
        """
        return self.to_host(start), self.to_host(max(start, end))


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
    for fence in fences(data):
        prefix, begin, stop = fence.prefix, fence.begin, fence.stop
        info = fence.info.decode("utf-8", "replace").strip()
        word = _WORD.match(info)
        language = ALIASES.get(word.group().lower()) if word else None
        if language in _SUFFIX and begin < stop:
            inner, pieces = _strip(data, begin, stop, fence.after, prefix)
            name = f"{file.path}#{len(found)}"
            region = Region(file, tuple(pieces), _prefix(prefix), info)
            base = classify(f"{file.place.relative or file.path}.{_SUFFIX[language]}", inner, in_operator=True)
            kind = Kind(language, (base.names & _FENCE_KEEPS) | {"docs-fence"})
            found.append(File(Source(name, inner), kind, file.place, region=region))
    return found


_SUFFIX = {"cpp": "cpp", "bash": "sh", "cmake": "cmake", "python": "py", "yaml": "yaml", "markdown": "md"}
_FENCE_KEEPS = frozenset({"pypto"})


def _prefix(prefix: bytes) -> str:
    """What a continuation line repeats: quote marks, and blanks where a list marker stood."""
    return re.sub(r"[-*+]|\d+[.)]", lambda m: " " * len(m.group()), prefix.decode("ascii", "replace"))


def _next_line(data: bytes, offset: int) -> int:
    newline = data.find(b"\n", offset)
    return len(data) if newline < 0 else newline + 1


def _strip(data: bytes, begin: int, stop: int, after: int, prefix: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """The fence's text without the prefix of its lines, and the pieces that map it back.

    The closing line (``stop`` to ``after``) gives the last piece: what is put in at the end of the
    text stands behind its prefix, too.
    """
    if not prefix:
        return data[begin:stop], [(0, begin)]
    quotes = prefix.count(b">")
    width = _columns(prefix[prefix.rfind(b">") + 1 :])
    lines: list[bytes] = []
    pieces: list[tuple[int, int]] = []
    inner = 0
    at = begin
    while at < stop:
        end = min(_next_line(data, at), stop)
        cut = _past_blanks(data, past_quotes(data, at, quotes) or at, width)
        pieces.append((inner, cut))
        lines.append(data[cut:end])
        inner += end - cut
        at = end
    if stop < after:
        pieces.append((inner, _past_blanks(data, past_quotes(data, stop, quotes) or stop, width)))
    return b"".join(lines), pieces


def _past_blanks(data: bytes, at: int, width: int) -> int:
    """The offset behind the blanks that fill at most ``width`` columns."""
    column = 0
    while data[at : at + 1] in (b" ", b"\t"):
        column += 4 - column % 4 if data[at : at + 1] == b"\t" else 1
        if column > width:
            break
        at += 1
    return at


def _columns(blanks: bytes) -> int:
    return len(blanks.expandtabs(4))


def _heredocs(file: File) -> list[File]:
    data = file.data
    found: list[File] = []
    at = 0
    while match := _HEREDOC.search(data, at):
        at = match.end()
        if file.code[match.start() : match.start() + 2] != b"<<":
            continue
        begin = _next_line(data, at)
        while data[begin - 2 : begin] == b"\\\n":
            begin = _next_line(data, begin)
        # The bodies of one line's operators follow each other.
        for operator in [match, *_HEREDOC.finditer(data, at, begin)]:
            dash = bool(operator.group("dash"))
            stop = _terminator(data, begin, operator.group("quoted") or operator.group("tag"), dash=dash)
            if stop is None:
                break
            language = _fed_to(data, operator)
            if language is not None:
                found.append(_heredoc(file, begin, stop, language, f"{file.path}#{len(found)}", dash=dash))
            begin = at = _next_line(data, stop)
    return found


def _terminator(data: bytes, begin: int, tag: bytes, *, dash: bool) -> int | None:
    line = (rb"^\t*" if dash else rb"^") + re.escape(tag) + rb"[ \t]*\r?$"
    found = re.compile(line, re.MULTILINE).search(data, begin)
    return found.start() if found else None


def _heredoc(file: File, begin: int, stop: int, language: str, name: str, *, dash: bool) -> File:
    pieces = [(0, begin)]
    inner = file.data[begin:stop]
    prefix = ""
    if dash:
        # `<<-`: the shell takes the tabs off every line.
        lines = inner.splitlines(keepends=True)
        tabs = [len(line) - len(line.lstrip(b"\t")) for line in lines]
        prefix = "\t" * min((count for count, line in zip(tabs, lines, strict=True) if line.strip()), default=0)
        inner = b"".join(line.lstrip(b"\t") for line in lines)
        pieces, at, size = [], begin, 0
        for count, line in zip(tabs, lines, strict=True):
            pieces.append((size, at + count))
            at, size = at + len(line), size + len(line) - count
        last = file.data[stop : stop + len(prefix)]
        pieces.append((size, stop + len(last) - len(last.lstrip(b"\t"))))
    region = Region(file, tuple(pieces), prefix, role="heredoc")
    kind = Kind(language, frozenset({"heredoc", "python" if language == "python" else "shell"}))
    return File(Source(name, inner), kind, file.place, region=region)


def _fed_to(data: bytes, operator: re.Match[bytes]) -> str | None:
    """The language of the program that reads a here-document as its text; None for mere data."""
    line = data.rfind(b"\n", 0, operator.start()) + 1
    while data[max(line - 2, 0) : line] == b"\\\n":
        line = data.rfind(b"\n", 0, line - 1) + 1
    words = _words(data[line : operator.start()])[-1]
    if words != [b"cat"]:
        return _interpreter(words)
    following = _words(data[operator.end() : _next_line(data, operator.end())])
    return _interpreter(following[1]) if len(following) > 1 else None


def _words(text: bytes) -> list[list[bytes]]:
    """The words of each command of a line."""
    return [command.split() for command in _NEXT_COMMAND.split(text.replace(b"\\\n", b" "))]


def _interpreter(words: list[bytes]) -> str | None:
    """The language of a command that reads its program from standard input."""
    language: str | None = None
    skip = False
    for word in words:
        if language is None:
            found = _INTERPRETER.search(word)
            language = None if found is None else "bash" if found["bash"] else "python"
        elif skip:
            skip = False
        elif word in (b"-", b"-s"):
            return language
        elif word in (b"-c", b"-m"):
            return None
        elif word in _VALUED or word.strip(b"0123456789") in (b">", b">>", b"<", b"&>"):
            skip = True
        elif not word.startswith((b"-", b">", b"&>", b"1>", b"2>")):
            # A script of its own: the text is its input.
            return None
    return language
