"""``opdev: ignore[…]`` comments, in the comment syntax of whatever is there.

There is no blanket form, and what is malformed is reported, never widened.  A suppression counts
as unused only if every rule it names really ran on the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from opdev.rules.model import Rule
from opdev.syntax.file import File

_DIRECTIVE = re.compile(rb"\bopdev:[ \t]*(?P<verb>[A-Za-z][\w-]*)?(?P<rest>[^\r\n]*)")
_LIST = re.compile(rb"[ \t]*\[(?P<names>[^\]\r\n]*)\]")
_OPENERS = re.compile(rb"(?:<!--|//|/\*|\#|^)[\s*#/!-]*\Z")
VERBS = ("ignore", "ignore-file", "off", "on")


@dataclass
class Directive:
    """One comment: what it says, where it stands, which lines it covers."""

    verb: str
    names: tuple[str, ...]
    start: int
    end: int
    """Range of ``opdev: ignore[…]`` in the file."""
    name_spans: tuple[tuple[int, int], ...]
    first: int
    last: int
    """0-based lines covered, both inclusive."""
    comment: tuple[int, int]
    """Range to delete when the directive is of no use."""
    reason: str = ""
    used: set[str] = field(default_factory=set)


@dataclass
class Malformed:
    """Text that looks like a directive and is not one."""

    start: int
    end: int
    problem: str


@dataclass
class Suppressions:
    """All directives of a file."""

    directives: list[Directive] = field(default_factory=list)
    malformed: list[Malformed] = field(default_factory=list)
    _index: dict[str, _Named] | None = None

    def covering(self, rule: Rule, first: int, last: int) -> Directive | None:
        """The directive that silences ``rule`` on lines ``first`` to ``last``, if any."""
        words = {rule.name.lower(), rule.id.lower(), *(w.lower() for w in (*rule.covers, *rule.aliases))}
        if self._index is None:
            self._index = _by_name(self.directives)
        named = [self._index[word] for word in words if word in self._index]
        places = [at for one in named for line in (first, last) if (at := one.covering(line)) is not None]
        if not places:
            return None
        directive = self.directives[min(places)]
        directive.used.add(next(name for name in directive.names if name.lower() in words))
        return directive


class _Named:
    """The directives of one name, by their places in the text's order."""

    def __init__(self) -> None:
        self.whole: int | None = None
        """The first that covers the file."""
        self.places: list[int] = []
        self.firsts: list[int] = []
        self.reach: list[int] = []
        """The last line that this one or any before it covers."""

    def add(self, place: int, directive: Directive) -> None:
        if directive.verb == "ignore-file":
            self.whole = place if self.whole is None else self.whole
            return
        self.places.append(place)
        self.firsts.append(directive.first)
        self.reach.append(max(directive.last, self.reach[-1]) if self.reach else directive.last)

    def covering(self, line: int) -> int | None:
        """The place of the first that covers a line."""
        # The first to reach the line covers it, unless it begins below, as all behind it then do.
        index = bisect_left(self.reach, line)
        found = self.places[index] if index < len(self.places) and self.firsts[index] <= line else None
        if self.whole is None or found is None:
            return self.whole if found is None else found
        return min(self.whole, found)


def _by_name(directives: list[Directive]) -> dict[str, _Named]:
    found: dict[str, _Named] = {}
    for place, directive in enumerate(directives):
        for name in directive.names:
            found.setdefault(name.lower(), _Named()).add(place, directive)
    return found


def find(file: File) -> Suppressions:
    """Read the directives of a file; cheap when there are none."""
    found = Suppressions()
    data = file.data
    if b"opdev:" not in data:
        return found
    source = file.source
    open_blocks: list[Directive] = []
    last_line = len(source.line_starts) - 1
    for match in _DIRECTIVE.finditer(data):
        if not _in_comment(file, match.start()):
            continue
        verb = (match["verb"] or b"").decode()
        listed = _LIST.match(match["rest"])
        problem = _problem(verb, match["rest"], listed)
        if problem:
            found.malformed.append(Malformed(match.start(), match.start() + len(match.group().rstrip()), problem))
            continue
        if listed is None or verb not in VERBS:
            continue
        names, spans = _names(listed["names"], match.start("rest") + listed.start("names"))
        end = match.start("rest") + listed.end()
        line = source.line_of(match.start())
        first, last = _covered(file, verb, match.start(), line)
        reason = match["rest"][listed.end() :].strip(b" \t*/->").decode("utf-8", "replace")
        directive = Directive(
            verb, names, match.start(), end, spans, first, last, _comment_range(file, match.start(), line), reason
        )
        if verb == "on":
            directive.used.update(names)
            for block in open_blocks:
                block.last = min(block.last, line) if set(block.names) <= set(names) else block.last
            open_blocks = [b for b in open_blocks if not set(b.names) <= set(names)]
            continue
        if verb == "off":
            directive.last = last_line
            open_blocks.append(directive)
        elif verb == "ignore-file":
            directive.first, directive.last = 0, last_line
        found.directives.append(directive)
    return found


def _problem(verb: str, rest: bytes, listed: re.Match[bytes] | None) -> str:
    """Why this is no directive, or nothing; prose that merely mentions opdev is let be."""
    looks = verb.lower().replace("_", "-")
    if verb in VERBS and listed is not None:
        return "" if listed["names"].strip() else "names"
    if verb in VERBS:
        return "list" if rest.strip()[:1] in (b"", b"[", b"*", b"(", b":", b"-") else ""
    if listed is not None and (
        looks in VERBS or looks in ("disable", "noqa", "nolint", "ignore-next-line", "ignorefile")
    ):
        return "verb"
    return ""


def _names(listed: bytes, at: int) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    names: list[str] = []
    spans: list[tuple[int, int]] = []
    for match in re.finditer(rb"[^,\s]+", listed):
        names.append(match.group().decode("utf-8", "replace"))
        spans.append((at + match.start(), at + match.end()))
    return tuple(names), tuple(spans)


def _in_comment(file: File, offset: int) -> bool:
    """Whether an offset is inside a comment: blank in the comment-free text, or marked by an opener."""
    if file.language in ("cpp", "python", "bash", "cmake", "yaml"):
        return file.nocomment[offset : offset + 5] != b"opdev"
    begin = file.source.line_starts[file.source.line_of(offset)]
    return _OPENERS.search(file.data[begin:offset]) is not None


def _covered(file: File, verb: str, offset: int, line: int) -> tuple[int, int]:
    """Lines an ``ignore`` covers: its own, or the next with code when it stands alone."""
    source = file.source
    begin, end = source.line_range(line)
    text = file.nocomment if file.language in ("cpp", "python", "bash", "cmake", "yaml") else None
    alone = (
        not text[begin:end].strip()
        if text is not None
        else _OPENERS.fullmatch(file.data[begin:offset].lstrip()) is not None
    )
    if verb != "ignore" or not alone:
        return line, line
    following = line + 1
    while following < len(source.line_starts) - 1:
        low, high = source.line_range(following)
        if (text if text is not None else file.data)[low:high].strip():
            break
        following += 1
    return line, following


def _comment_range(file: File, offset: int, line: int) -> tuple[int, int]:
    """The comment to delete: with its line when alone there, else with the blanks before it."""
    begin, end = file.source.line_range(line)
    head = file.data[begin:offset]
    opener = re.search(rb"[ \t]*(?:<!--|//|/\*|\#)[\s*#/!-]*\Z", head)
    start = begin + opener.start() if opener else offset
    closer = re.search(rb"-->|\*/", file.data[offset:end])
    stop = offset + closer.end() if closer else end
    if not file.data[begin:start].strip() and not file.data[stop:end].strip():
        starts = file.source.line_starts
        return begin, starts[line + 1] if line + 1 < len(starts) else end
    return start, stop


def unused(
    found: Suppressions, ran: Mapping[str, Rule], known: Mapping[str, Rule]
) -> Iterable[tuple[Directive, str, int]]:
    """(directive, name, index) of each name that silenced nothing though its rule ran."""
    for directive in found.directives:
        for index, name in enumerate(directive.names):
            rule = known.get(name.lower())
            if rule is not None and rule.name in ran and name not in directive.used:
                yield directive, name, index
