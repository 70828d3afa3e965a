"""The statements that print ``[PERF]`` lines: each field once, by today's name, with all of its digits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks import perf_logs
from opdev.facts.logs import ALIASES
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related

_TAG = re.compile(rb"\[(?:BASELINE_)?PERF\]")
_FIELD = re.compile(rb"(?<![A-Za-z0-9_])([A-Za-z_]\w*)=(?=[%\"{]|$)")
_NAMES = sorted((alias.encode() for alias in ALIASES), key=lambda name: -len(name))
_OLD = re.compile(rb"(?<![A-Za-z0-9_])(" + b"|".join(_NAMES) + rb")=")
_LONGEST = 4000
_BYTES = re.compile(rb"payload_bytes=\"[ \t\r\n]*<<[ \t\r\n]*(\w+)[ \t\r\n]*(?=<<|;)")
_SHARE = re.compile(rb"\([ \t]*(?P<n>\w+)[ \t]*-[ \t]*1[ \t]*\)[ \t]*/[ \t]*(?P=n)\b(?![ \t]*(?:\.|->|\())")
_REAL = re.compile(rb"static_cast<[ \t]*(?:double|float)|\([ \t]*(?:double|float)[ \t]*\)|\d\.\d*|\d[fF]\b")
_ABOUT = re.compile(rb"factor|ratio|share|band|[bB]w|GBps|double|float", re.IGNORECASE)


def _statements(context: Context) -> Iterator[tuple[int, int]]:
    """From each tag to the end of the statement that prints it."""
    for tag in _TAG.finditer(context.nocomment):
        stop = context.code.find(b";", tag.end(), tag.end() + _LONGEST)
        if stop >= 0:
            yield tag.end(), stop


def retired(context: Context) -> Iterator[Hit]:
    """A field by a name that is not used any more, in a log or where it is printed."""
    if context.file.language == "log":
        yield from perf_logs.retired(context)
        return
    for start, stop in _statements(context):
        for match in _OLD.finditer(context.nocomment, start, stop):
            field = match[1].decode()
            args = {"field": field, "now": ALIASES[field]}
            yield Hit(*match.span(1), args=args, fix=Fix((Edit(*match.span(1), ALIASES[field]),)))


def repeated(context: Context) -> Iterator[Hit]:
    """A field that stands twice in a line, in a log or where it is printed."""
    if context.file.language == "log":
        yield from perf_logs.repeated(context)
        return
    note = {"zh": "第一次在这里", "en": "the first one"}
    for start, stop in _statements(context):
        seen: dict[bytes, tuple[int, int]] = {}
        for match in _FIELD.finditer(context.nocomment, start, stop):
            first = seen.setdefault(match[1], match.span(1))
            if first != match.span(1):
                yield Hit(*match.span(1), "printed", {"field": match[1].decode()}, related=(Related(*first, note),))


def lossy(context: Context) -> Iterator[Hit]:
    """Bytes of which some digits are lost when they are printed."""
    if context.file.language == "log":
        yield from perf_logs.lossy(context)
        return
    text = context.nocomment
    for match in _BYTES.finditer(text):
        name = match[1]
        kind = _declared(text, name, match.start())
        around = text[max(0, match.start() - _LONGEST) : match.end()]
        if kind in (b"double", b"float") and b"fixed" not in around and b"setprecision" not in around:
            shown = name.decode()
            fix = Fix((Edit(*match.span(1), f"static_cast<uint64_t>({shown})"),))
            yield Hit(*match.span(1), "printed", {"name": shown}, fix)


def integer_factor(context: Context) -> Iterator[Hit]:
    """``(n - 1) / n`` in whole numbers, which is 0."""
    text = context.code
    for start, _ in context.spans(_SHARE):
        match = _SHARE.match(text, start)
        if match is None:
            continue
        begin = max(text.rfind(c, 0, match.start()) for c in (b";", b"{", b"}"))
        before = text[begin + 1 : match.start()]
        whole = _declared(text, match["n"], match.start())
        if whole is None or whole in (b"double", b"float", b"auto") or _REAL.search(before) or not _ABOUT.search(before):  # fmt: skip
            continue
        name = match["n"].decode()
        fix = Fix((Edit(*match.span(), f"static_cast<double>({name} - 1) / {name}"),))
        yield Hit(*match.span(), args={"name": name}, fix=fix)


def _declared(text: bytes, name: bytes, before: int) -> bytes | None:
    """The type a variable is declared with, nearest before ``before``; None where it is not seen."""
    pattern = re.compile(rb"\b(double|float|auto|int|unsigned|long|size_t|u?int(?:8|16|32|64)_t)\b[ \t]*[&*]?[ \t]*" + re.escape(name) + rb"\b")  # fmt: skip
    found = None
    for match in pattern.finditer(text, max(0, before - 20_000), before):
        found = match[1]
    return found
