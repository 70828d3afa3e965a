"""A key with its template's text, as a snippet: tab stops where the author writes, choices where values are few.

The syntax is that of the Language Server Protocol (and of TextMate): ``${1:text}``, ``${2|a,b|}``, ``$0``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opdev.design.fields import PLACEHOLDER
from opdev.design.schema import template
from opdev.design.walk import FieldView, keys_of

_STOP = re.compile(r"\$\{\d+:((?:[^\\}]|\\.)*)\}|\$\{\d+\|((?:[^\\|]|\\.)*)\|\}|\$0|\\(.)", re.DOTALL)


class _Stops:
    def __init__(self) -> None:
        self.count = 0

    def text(self, value: str) -> str:
        self.count += 1
        return f"${{{self.count}:{escaped(value)}}}"

    def choice(self, values: Sequence[str]) -> str:
        self.count += 1
        listed = ",".join(re.sub(r"([\\,|$}])", r"\\\1", v) for v in values)
        return f"${{{self.count}|{listed}|}}"


def snippet(view: FieldView, *, one_line: bool = False) -> str:
    """The key of a field and its value; what is required below it too, unless it must stay on one line.

    Lines after the first are indented as seen from the key.
    """
    return "\n".join(_entry(view, _Stops(), one_line=one_line))


def plain(text: str) -> str:
    """A snippet's text with its placeholders filled in, the first of a choice taken."""

    def filled(match: re.Match[str]) -> str:
        inner = match[1] if match[1] is not None else match[2]
        if inner is None:
            return match[3] or ""
        first = re.split(r"(?<!\\),", inner)[0] if match[2] is not None else inner
        return re.sub(r"\\(.)", r"\1", first)

    return _STOP.sub(filled, text)


def _entry(view: FieldView, stops: _Stops, *, one_line: bool) -> Iterator[str]:
    model = view.model or view.item
    if model is None:
        yield f"{view.key}: {_value(view, stops)}"
        return
    inner = [v for v in keys_of(model, view.path + ("" if view.model else "[]")).values() if v.required]
    if one_line:
        pairs = ", ".join(f"{v.key}: {_value(v, stops)}" for v in inner if v.model is None and v.item is None)
        yield f"{view.key}: " + (f"{{{pairs}}}" if view.model is not None else f"[{{{pairs}}}]")
        return
    yield f"{view.key}:"
    lines = [line for v in inner for line in _entry(v, stops, one_line=False)]
    for index, line in enumerate(lines):
        yield ("  " if view.model is not None else "  - " if index == 0 else "    ") + line


def _value(view: FieldView, stops: _Stops) -> str:
    if view.kind == "flag":
        first = template(view)
        return stops.choice([first, "false" if first == "true" else "true"])
    text = template(view)
    bare = text.strip('"')
    if view.values and view.kind != "list":
        ordered = [v for v in view.values if v == bare] + [v for v in view.values if v != bare]
        return stops.choice(ordered) if len(ordered) > 1 else ordered[0]
    if view.kind == "list":
        return f"[{stops.text(text[1:-1] or PLACEHOLDER)}]" if text.startswith("[") else stops.text(text)
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        return f'"{stops.text(text[1:-1])}"'
    return stops.text(text)


def escaped(text: str) -> str:
    """A text that stands for itself in a snippet."""
    return re.sub(r"([\\$}])", r"\\\1", text)
