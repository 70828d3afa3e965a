"""gitignore patterns exactly as git reads them, fast enough for every path of a large tree.

pathspec was tried first: against git itself it lets ``*``, ``!*/``, ``!*.sh`` hide what git shows,
and fails on ``[z-a]`` (tests/test_ignore.py compares with git).  Patterns become regular expressions over bytes (git's ``?`` is one byte, and file names need not be
UTF-8); those of one file are joined, so that a path costs one match where none is negated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

_BOM = b"\xef\xbb\xbf"
_SPECIAL = b"*?[\\"
_CLASSES = {
    b"alnum": b"0-9A-Za-z", b"alpha": b"A-Za-z", b"blank": b" \\t", b"cntrl": b"\\x00-\\x1f\\x7f", b"digit": b"0-9",
    b"graph": b"!-~", b"lower": b"a-z", b"print": b" -~", b"punct": b"!-/:-@\\[-`{-~", b"space": b"\\s", b"upper": b"A-Z",
    b"xdigit": b"0-9A-Fa-f",
}  # fmt: skip


class Patterns:
    """An ordered list of gitignore patterns; paths are relative to where the patterns stand."""

    def __init__(self, lines: Iterable[str | bytes]) -> None:
        self._lines = [line if isinstance(line, bytes) else _bytes(line) for line in lines]

    @classmethod
    def of_file(cls, data: bytes) -> Patterns:
        """The patterns of a .gitignore file."""
        return cls(line.removesuffix(b"\r") for line in data.removeprefix(_BOM).split(b"\n"))

    @cached_property
    def _parsed(self) -> list[tuple[bool, bytes, bool]]:
        """(ignores, expression, folders only) of each pattern that can match."""
        return [found for line in self._lines if (found := _parse(line)) is not None]

    @cached_property
    def _of_files(self) -> list[tuple[bool, re.Pattern[bytes]]]:
        return _grouped((ignores, text) for ignores, text, folders in self._parsed if not folders)

    @cached_property
    def _of_folders(self) -> list[tuple[bool, re.Pattern[bytes]]]:
        return _grouped((ignores, text) for ignores, text, _ in self._parsed)

    @cached_property
    def _negates(self) -> bool:
        return not all(ignores for ignores, _, _ in self._parsed)

    @cached_property
    def _at_or_below(self) -> re.Pattern[bytes]:
        """What matches a file or a folder above it, where no pattern is negated."""
        return _joined(text + (b"/.*" if folders else b"(?:/.*)?") for _, text, folders in self._parsed)

    def match(self, path: str, *, folder: bool = False) -> bool:
        """Whether the patterns ignore ``path`` (itself, or through a folder above it)."""
        if not self._parsed:
            return False
        if not self._negates:
            return self._at_or_below.fullmatch(_bytes(path)) is not None or (
                folder and self.decide(path, folder=True) is True
            )
        at = path.find("/")
        while at >= 0:
            if self.decide(path[:at], folder=True):
                return True
            at = path.find("/", at + 1)
        return self.decide(path, folder=folder) is True

    def decide(self, path: str, *, folder: bool = False) -> bool | None:
        """What is said of ``path`` itself: True ignored, False taken back by ``!``, None nothing.

        Folders above it are not looked at: whoever walks a tree leaves ignored folders out.
        """
        name = _bytes(path)
        for ignores, expression in reversed(self._of_folders if folder else self._of_files):
            if expression.fullmatch(name):
                return ignores
        return None


def _grouped(patterns: Iterable[tuple[bool, bytes]]) -> list[tuple[bool, re.Pattern[bytes]]]:
    """(ignores, expression) in order, neighbours of one kind joined."""
    groups: list[tuple[bool, list[bytes]]] = []
    for ignores, text in patterns:
        if groups and groups[-1][0] == ignores:
            groups[-1][1].append(text)
        else:
            groups.append((ignores, [text]))
    return [(ignores, _joined(texts)) for ignores, texts in groups]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _joined(texts: Iterable[bytes]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(b"(?:%s)" % text for text in texts) or b"(?!)", re.DOTALL)


def _parse(line: bytes) -> tuple[bool, bytes, bool] | None:
    if line.startswith(b"#"):
        return None
    text = _without_trailing_blanks(line)
    ignores = not text.startswith(b"!")
    text = text if ignores else text[1:]
    folders = text.endswith(b"/")
    text = text[:-1] if folders else text
    in_tree = b"/" in text
    # git compares what stands before the first special character as it is, and begins to translate there.
    plain = next((i for i, c in enumerate(text) if c in _SPECIAL), len(text))
    begin = b"" if in_tree else b"(?:.*/)?"
    if in_tree and text.startswith(b"/"):
        text, plain = text[1:], max(plain - 1, 0)
    if not text:
        return None
    rest = _translated(text[plain:], slashes=in_tree)
    return None if rest is None else (ignores, begin + re.escape(text[:plain]) + rest, folders)


def _without_trailing_blanks(line: bytes) -> bytes:
    blanks = -1
    at = 0
    while at < len(line):
        if line[at : at + 1] == b" ":
            blanks = at if blanks < 0 else blanks
        else:
            at += line[at : at + 1] == b"\\"
            if at >= len(line):
                return line
            blanks = -1
        at += 1
    return line if blanks < 0 else line[:blanks]


def _translated(text: bytes, *, slashes: bool) -> bytes | None:
    """The expression of a pattern; None for one that can never match."""
    out: list[bytes] = []
    at = 0
    while at < len(text):
        here = text[at : at + 1]
        if here == b"\\":
            if at + 1 == len(text):
                return None
            out.append(re.escape(text[at + 1 : at + 2]))
            at += 2
        elif here == b"?":
            out.append(b"[^/]")
            at += 1
        elif here == b"*":
            end = at
            while text[end : end + 1] == b"*":
                end += 1
            alone = text[end : end + 1] in (b"", b"/") or text[end : end + 2] == b"\\/"
            if end - at > 1 and slashes and alone and (at == 0 or text[at - 1 : at] == b"/"):
                if text[end : end + 1] == b"/":
                    out.append(b"(?:.*/)?")
                    end += 1
                else:
                    out.append(b".*")
            else:
                out.append(b"[^/]*")
            at = end
        elif here == b"[":
            found = _set(text, at)
            if found is None:
                return None
            expression, at = found
            out.append(expression)
        else:
            out.append(re.escape(here))
            at += 1
    return b"".join(out)


def _set(text: bytes, at: int) -> tuple[bytes, int] | None:
    """The expression of ``[…]`` at ``at``, and what follows it; None where it is not closed."""
    at += 1
    negated = text[at : at + 1] in (b"!", b"^")
    at += negated
    parts = list(_members(text, at))
    if not parts or parts[-1][0] is not None:
        return None
    inside = b"".join(part for part, _ in parts if part)
    at = parts[-1][1]
    if negated:
        return (b"(?!/)[^%s]" % inside if inside else b"[^/]"), at
    return (b"(?!/)[%s]" % inside if inside else b"(?!)"), at


def _members(text: bytes, at: int) -> Iterator[tuple[bytes | None, int]]:
    """(expression, offset behind it) of what a set holds; None for the closing bracket, which comes last."""
    previous: bytes | None = None
    first = True
    while at < len(text):
        here = text[at : at + 1]
        if here == b"]" and not first:
            yield None, at + 1
            return
        first = False
        if here == b"[" and text[at + 1 : at + 2] == b":" and (end := text.find(b"]", at + 2)) >= 0:
            name = text[at + 2 : end - 1]
            if text[end - 1 : end] == b":" and end > at + 2:
                if name not in _CLASSES:
                    return
                yield _CLASSES[name], end + 1
                at, previous = end + 1, None
                continue
        if here == b"-" and previous is not None and text[at + 1 : at + 2] not in (b"", b"]"):
            at += 1 + (text[at + 1 : at + 2] == b"\\")
            last = text[at : at + 1]
            if not last:
                return
            yield (b"%s-%s" % (_hex(previous), _hex(last)) if previous <= last else b""), at + 1
            at, previous = at + 1, None
            continue
        if here == b"\\":
            at += 1
            here = text[at : at + 1]
            if not here:
                return
        yield _hex(here), at + 1
        at, previous = at + 1, here


def _hex(byte: bytes) -> bytes:
    return b"\\x%02x" % byte[0]
