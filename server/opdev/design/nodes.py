"""The tree of a design's YAML: every key and value with its exact place in the Markdown.

Rules, completion and hover all speak of places; Python's plain dicts have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

NodeKind = Literal["mapping", "sequence", "scalar", "broken"]
Style = Literal["plain", "single", "double", "literal", "folded", "block", "flow"]
Tag = Literal["str", "bool", "int", "float", "null", "map", "seq"]

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
_TRUE = frozenset({"yes", "true", "on"})


@dataclass(slots=True, eq=False)
class Node:
    """A value and, where it has one, its key.

    ``[start, end)`` is the value, ``[key_start, key_end)`` the key (-1 for items of a list and the
    top), in bytes of the Markdown.  A value nobody wrote is empty and stands behind its colon.  A
    ``broken`` node holds a value that does not parse: nothing is known of it but its place.
    ``alias`` marks what an alias brought in; all of it stands where the alias is.
    """

    kind: NodeKind
    start: int
    end: int
    tag: Tag = "str"
    value: str = ""
    style: Style = "plain"
    key: str | None = None
    key_start: int = -1
    key_end: int = -1
    index: int = -1
    """Which item of its list it is."""
    parent: Node | None = None
    alias: bool = False
    plain: object = None
    """``data()`` of a list or mapping where it was worked out before; not to be changed."""
    _path: str | None = None
    _children: list[Node] | None = None
    _original: tuple[Node, int] | None = None

    @property
    def children(self) -> list[Node]:
        """The entries or items, in text order; those of a copy are copied when they are first asked for."""
        found = self._children
        if found is None:
            found = []
            if self._original is not None:
                original, by = self._original
                for child in original.children:
                    copy = child.placed(by)
                    copy.parent = self
                    found.append(copy)
            self._children = found
        return found

    def placed(self, by: int) -> Node:
        """A copy of this node and what is below it, ``by`` bytes further on, without a parent."""
        at = self.key_start
        new = Node(
            self.kind, self.start + by, self.end + by, self.tag, self.value, self.style, self.key,
            at + by if at >= 0 else at, self.key_end + by if at >= 0 else self.key_end, self.index,
        )  # fmt: skip
        new.plain, new.alias = self.plain, self.alias
        if self._children or self._original is not None:
            new._original = (self, by)
        return new

    def let_go(self) -> None:
        """Have the children, and forget whose copies they are."""
        self._children, self._original = self.children, None

    @property
    def path(self) -> str:
        """``schedule.core_partition.groups[0].role``; empty for the top."""
        if self._path is None:
            above = self.parent
            if above is None:
                self._path = ""
            elif above.kind == "sequence":
                self._path = f"{above.path}[{self.index}]"
            else:
                self._path = f"{above.path}.{self.key}" if above.path else self.key or ""
        return self._path

    @property
    def where(self) -> tuple[int, int]:
        """What to underline: the value, or the key where no value was written."""
        if self.end > self.start or self.key_start < 0:
            return self.start, self.end
        return self.key_start, self.key_end

    @property
    def name_range(self) -> tuple[int, int]:
        """The key, or the value where there is no key."""
        return (self.key_start, self.key_end) if self.key_start >= 0 else (self.start, self.end)

    @property
    def empty(self) -> bool:
        """Whether nothing was said: null, an empty text, an empty list or mapping."""
        if self.kind == "scalar":
            return self.tag == "null" or not self.value.strip()
        return self.kind != "broken" and not self.children

    @property
    def text(self) -> str:
        """A scalar's text; the texts of a list's or mapping's scalars, one a line."""
        if self.kind == "scalar":
            return "" if self.tag == "null" else self.value
        return "\n".join(n.text for n in self.walk() if n.kind == "scalar" and n is not self)

    @property
    def said(self) -> str:
        """As much of a scalar's text as is judged: nobody's sentence is longer, and true is none."""
        return self.value[:2000] if self.kind == "scalar" and self.tag not in ("null", "bool") else ""

    def get(self, key: str) -> Node | None:
        """The entry of a mapping; where a key is there twice the last one, as every loader has it."""
        if self.kind != "mapping":
            return None
        for child in reversed(self.children):
            if child.key == key:
                return child
        return None

    def at(self, path: str) -> Node | None:
        """The node at ``meta.op_name`` or ``inputs[0].dtype``, seen from here."""
        node: Node | None = self
        for key, index in _STEP.findall(path):
            if node is None:
                return None
            if index:
                inside = node.kind == "sequence" and int(index) < len(node.children)
                node = node.children[int(index)] if inside else None
            else:
                node = node.get(key)
        return node

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in text order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def data(self) -> object:
        """Plain Python: dict, list, str, bool, int, float, None (None for what is broken)."""
        if self.plain is not None:
            return self.plain
        if self.kind == "mapping":
            return {child.key or "": child.data() for child in self.children}
        if self.kind == "sequence":
            return [child.data() for child in self.children]
        return None if self.kind == "broken" else scalar(self)


def scalar(node: Node) -> str | bool | int | float | None:
    """A scalar's value as a YAML 1.1 loader reads it; what cannot be converted stays text."""
    text = node.value
    if node.tag == "null":
        return None
    if node.tag == "bool":
        return text.lower() in _TRUE
    try:
        if node.tag == "int":
            return _integer(text.replace("_", ""))
        if node.tag == "float":
            plain = text.replace("_", "").lower()
            return float(plain.replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        pass
    return text


def _integer(text: str) -> int:
    """YAML 1.1: 0x, 0b and octal by a leading zero; base 60 (``1:30``) stays text for us."""
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    if digits[:2].lower() in ("0x", "0b"):
        return sign * int(digits, 0)
    if len(digits) > 1 and digits.startswith("0"):
        return sign * int(digits, 8)
    return sign * int(digits)


@dataclass(frozen=True, slots=True)
class Fault:
    """What keeps a fence from being read as it stands; ``reason`` is one of REASONS.

    ``detail`` is the parser's own word; ``related`` another place to show, like the first of two
    equal keys.
    """

    reason: str
    start: int
    end: int
    detail: str = ""
    related: tuple[int, int] | None = None
    path: str = ""


# Every reason, and what it means.
REASONS = {
    "missing-colon": "a line among keys that has no colon",
    "colon-in-value": "a value with ': ' in it that is not quoted, or a line that is indented too far",
    "unclosed-quote": "a quoted text that does not end",
    "unclosed-bracket": "a list or mapping in brackets that does not end",
    "tab-indentation": "a tab where YAML wants blanks",
    "bad-indentation": "a line whose indentation fits no line above",
    "reserved-character": "a value that begins with a character YAML keeps for itself",
    "items-after-empty": "'[]' on a line of its own, with items below it",
    "syntax": "anything else the parser refuses",
    "control-character": "a character no YAML text may hold",
    "duplicate-key": "a key that is there twice; the later one wins silently",
    "complex-key": "a list or mapping used as a key",
    "unknown-alias": "an alias without its anchor, or inside its own anchor",
    "second-document": "'---' inside the block: what follows is not read",
    "too-deep": "nesting beyond any design",
    "too-large": "more text or values than any design has",
    "unclosed-fence": "a fence that nobody closes before the document goes on",
}
