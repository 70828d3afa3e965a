"""JSON as a tree with places, read by JSON's own grammar.

YAML's reader takes most JSON, but ``1e-3`` is a text to it, and a string with half a surrogate pair breaks it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from opdev.design.nodes import Node, Tag
from opdev.design.text import FenceText

_BLANKS = re.compile(r"[ \t\r\n]*")
_LITERAL = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_WORDS: dict[str, Tag] = {"true": "bool", "false": "bool", "null": "null"}
_DECODER = json.JSONDecoder()
_DEEPEST = 100
_MOST = 200_000


class _NoJsonError(ValueError):
    """The text is no JSON, or more of it than anybody writes."""


def tree(text: FenceText) -> Node | None:
    """The tree of a text that is JSON from end to end; None for any other, which is read as far as it goes elsewhere."""
    reader = _Reader(text)
    try:
        at = reader.skip(1 if reader.raw.startswith("\ufeff") else 0)
        found, end = reader.value(at, 0)
        return found if reader.skip(end) == len(reader.raw) else None
    except (_NoJsonError, ValueError, IndexError, RecursionError):
        return None


class _Reader:
    def __init__(self, text: FenceText) -> None:
        self.text = text
        self.raw = text.file.data.decode("utf-8", "surrogateescape")
        self.count = 0

    def skip(self, at: int) -> int:
        match = _BLANKS.match(self.raw, at)
        return match.end() if match is not None else at

    def value(self, at: int, depth: int) -> tuple[Node, int]:
        """The value at a character, and where it ends."""
        self.count += 1
        if depth > _DEEPEST or self.count > _MOST:
            raise _NoJsonError
        first = self.raw[at]
        if first in "{[":
            return self._container(at, depth)
        if first == '"':
            value, end = self._string(at)
            return Node("scalar", *self.text.span(at, end), "str", value, "double"), end
        match = _LITERAL.match(self.raw, at)
        if match is None:
            raise _NoJsonError
        word = match[0]
        tag: Tag = _WORDS.get(word) or ("float" if re.search(r"[.eE]", word) else "int")
        return Node("scalar", *self.text.span(at, match.end()), tag, word, "plain"), match.end()

    def _string(self, at: int) -> tuple[str, int]:
        value: Any
        value, end = _DECODER.raw_decode(self.raw, at)
        if not isinstance(value, str):
            raise _NoJsonError
        return value, end

    def _container(self, at: int, depth: int) -> tuple[Node, int]:
        is_mapping = self.raw[at] == "{"
        closing = "}" if is_mapping else "]"
        node = Node("mapping" if is_mapping else "sequence", 0, 0, "map" if is_mapping else "seq", "", "flow")
        children = node.children
        i = self.skip(at + 1)
        while self.raw[i] != closing or children:
            key, begin, end = None, 0, 0
            if is_mapping:
                if self.raw[i] != '"':
                    raise _NoJsonError
                begin = i
                key, end = self._string(i)
                i = self.skip(end)
                if self.raw[i] != ":":
                    raise _NoJsonError
                i = self.skip(i + 1)
            child, i = self.value(i, depth + 1)
            child.parent = node
            if key is not None:
                child.key = key
                child.key_start, child.key_end = self.text.span(begin, end)
            else:
                child.index = len(children)
            children.append(child)
            i = self.skip(i)
            if self.raw[i] == closing:
                break
            if self.raw[i] != ",":
                raise _NoJsonError
            i = self.skip(i + 1)
        node.start, node.end = self.text.span(at, i + 1)
        return node, i + 1
