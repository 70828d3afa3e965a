"""Composes YAML into nodes from the parser's events, without recursion and within bounds.

The safe composer of PyYAML is a recursion over the same events that shares the nodes of an alias;
written out here it cannot be driven into deep stacks or exponential trees, and every node keeps
its place and style.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

from opdev.design import pieces
from opdev.design.nodes import Fault, Node, Style, Tag
from opdev.design.text import FenceText

MAX_DEPTH = 32
MAX_NODES = 20_000
MAX_WORK = 4 * MAX_NODES
MAX_CHARS = 1_000_000

_STYLES: dict[str | None, Style] = {"'": "single", '"': "double", "|": "literal", ">": "folded"}
_TAGS: dict[str, Tag] = {
    "tag:yaml.org,2002:bool": "bool",
    "tag:yaml.org,2002:int": "int",
    "tag:yaml.org,2002:float": "float",
    "tag:yaml.org,2002:null": "null",
}
_WORDS = (
    ("found character '\\t'", "tab-indentation"),
    ("tab character", "tab-indentation"),
    ("mapping values are not allowed", "colon-in-value"),
    ("could not find expected ':'", "missing-colon"),
    ("unexpected end of stream", "unclosed-quote"),
    ("found unexpected document separator", "unclosed-quote"),
    ("',' or", "unclosed-bracket"),
    ("expected node content", "unclosed-bracket"),
    ("expected the node content", "unclosed-bracket"),
    ("that cannot start any token", "reserved-character"),
    ("expected key", "bad-indentation"),
    ("expected '-' indicator", "bad-indentation"),
    ("expected <block end>", "bad-indentation"),
    ("<document start>", "bad-indentation"),
    ("sequence entries are not allowed", "bad-indentation"),
    ("block sequence entries", "bad-indentation"),
)


class NotYamlError(Exception):
    """The piece does not parse; ``at`` is the character the parser stopped at."""

    def __init__(self, reason: str, at: int, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.at = at
        self.detail = detail


@dataclass(slots=True)
class Composer:
    """Composes pieces of one fence; anchors, faults and the budget are the fence's."""

    text: FenceText
    whole: bool = False
    """Whether not to take the text apart: what the piecewise reading is held against."""
    faults: list[Fault] = field(default_factory=list)
    anchors: dict[str, tuple[Node, int]] = field(default_factory=dict)
    nodes: int = 0
    work: int = 0
    """Nodes made, those of pieces that failed included."""
    chars: int = 0
    """How much was given to the parser, for the tests that hold the time linear."""
    odd: bool = False
    """Whether the piece composed last has anchors, aliases or more than one document."""

    def compose(self, start: int, end: int) -> Node | None:
        """The piece ``[start, end)`` in characters as a tree; None for nothing but blanks and comments.

        Raises NotYamlError.  Faults that do not keep it from being read are noted.
        """
        self.chars += end - start
        before, nodes = len(self.faults), self.nodes
        build = _Build(self, start)
        try:
            top = build.run(_events(self.text.text[start:end]))
        except Exception as error:
            # What was noted in a piece that is read again in parts would be noted twice.
            del self.faults[before:]
            self.nodes = nodes
            if isinstance(error, NotYamlError):
                raise
            raise _explain(error, start, end) from None
        self.anchors.update(build.anchors)
        self.odd = build.odd or bool(build.anchors)
        return top

    def by_pieces(self, start: int, end: int) -> Node | None:
        """``[start, end)`` from pieces; None, and nothing noted, where it has to be read as a whole.

        Raises NotYamlError where a piece does not parse and the whole cannot either.
        """
        if self.whole or end - start <= pieces.SMALL or not self.text.straight or not pieces.plain_text(self.text.text):
            return None
        faults, nodes, anchors = len(self.faults), self.nodes, dict(self.anchors)
        node = error = None
        try:
            node = pieces.assemble(self, start, end)
        except NotYamlError as failed:
            error = failed
        if node is None:
            del self.faults[faults:]
            self.nodes, self.anchors = nodes, anchors
        if error is not None and error.reason not in ("unclosed-quote", "unclosed-bracket"):
            raise error
        return node

    def count(self, more: int, at: int) -> None:
        """Note that nodes were made; NotYamlError beyond what any design has."""
        self.nodes += more
        self.work += more
        if self.nodes > MAX_NODES or self.work > MAX_WORK:
            raise NotYamlError("too-large", at, f"more than {MAX_NODES} values")

    def fault(self, reason: str, start: int, end: int, detail: str = "", first: Node | None = None) -> None:
        """Note a fault at ``[start, end)`` in characters."""
        related = None if first is None else (first.key_start, first.key_end)
        self.faults.append(Fault(reason, *self.text.span(start, end), detail, related))


def _events(text: str) -> Iterator[Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return cast("Iterator[Any]", yaml.parse(text, Loader=loader))


def _explain(error: Exception, start: int, end: int) -> NotYamlError:
    import yaml

    if not isinstance(error, (yaml.YAMLError, ValueError, UnicodeError)):
        raise error
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    context = getattr(error, "context", None) or ""
    at = min(start + mark.index, end) if mark is not None else start
    whole = f"{problem} {context}"
    reason = next((reason for word, reason in _WORDS if word in whole), "syntax")
    began = getattr(error, "context_mark", None)
    if began is not None and reason in ("unclosed-quote", "unclosed-bracket"):
        at = min(start + began.index, end)
    return NotYamlError(reason, at, str(problem))


@dataclass(slots=True)
class _Open:
    """A mapping or list whose end has not come yet."""

    node: Node
    anchor: str | None
    key: Node | None = None
    seen: dict[str, Node] = field(default_factory=dict)


class _Build:
    def __init__(self, composer: Composer, base: int) -> None:
        self.composer = composer
        self.base = base
        self.open: list[_Open] = []
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.top: Node | None = None
        self.odd = False

    def run(self, events: Iterator[Any]) -> Node | None:
        import yaml

        documents = 0
        for event in events:
            if isinstance(event, yaml.ScalarEvent):
                self._add(self._scalar(event), event.anchor)
            elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                self._begin(event, mapping=isinstance(event, yaml.MappingStartEvent))
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                self._end(event)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self.odd = True
                    self._fault("second-document", event)
                    break
        return self.top

    def _range(self, event: Any) -> tuple[int, int]:
        return self.base + event.start_mark.index, self.base + event.end_mark.index

    def _fault(self, reason: str, event: Any, first: Node | None = None) -> None:
        self.composer.fault(reason, *self._range(event), first=first)

    def _count(self, event: Any, more: int = 1) -> None:
        self.composer.count(more, self._range(event)[0])

    def _scalar(self, event: Any) -> Node:
        self._count(event)
        start, end = self._range(event)
        style = _STYLES.get(event.style, "plain")
        if style in ("literal", "folded"):
            end = start + len(self.composer.text.text[start:end].rstrip())
        tag: Tag = _resolve(event.value) if style == "plain" and event.tag is None else "str"
        return Node("scalar", *self.composer.text.span(start, end), tag, event.value, style)

    def _begin(self, event: Any, *, mapping: bool) -> None:
        self._count(event)
        if len(self.open) >= MAX_DEPTH:
            raise NotYamlError("too-deep", self._range(event)[0], f"more than {MAX_DEPTH} levels")
        start = self.composer.text.host(self._range(event)[0])
        style: Style = "flow" if event.flow_style else "block"
        node = Node("mapping" if mapping else "sequence", start, start, "map" if mapping else "seq", "", style)
        self.open.append(_Open(node, event.anchor))

    def _end(self, event: Any) -> None:
        done = self.open.pop()
        node = done.node
        if node.style == "flow":
            node.end = self.composer.text.span(*self._range(event))[1]
        elif node.children:
            last = node.children[-1]
            node.end = max(last.end, last.key_end, node.start)
        self._add(node, done.anchor)

    def _alias(self, event: Any) -> None:
        self.odd = True
        self._count(event)
        start, end = self.composer.text.span(*self._range(event))
        found = self.anchors.get(event.anchor) or self.composer.anchors.get(event.anchor)
        if found is None:
            self._fault("unknown-alias", event)
            self._add(Node("broken", start, end, alias=True), None)
            return
        target, size = found
        self._count(event, size)
        self._add(_copied(target, start, end), None)

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = (node, sum(1 for _ in node.walk()))
        if not self.open:
            self.top = node
            return
        parent = self.open[-1]
        if parent.node.kind == "sequence":
            node.parent = parent.node
            node.index = len(parent.node.children)
            parent.node.children.append(node)
        elif parent.key is None:
            parent.key = node
        else:
            key, parent.key = parent.key, None
            self._entry(parent, key, node)

    def _entry(self, parent: _Open, key: Node, node: Node) -> None:
        if key.kind != "scalar":
            self.composer.faults.append(Fault("complex-key", key.start, key.end))
        if key.value == "<<" and key.style == "plain" and node.kind in ("mapping", "sequence"):
            self._merge(parent, node)
            return
        if node.parent is not None or node.key is not None:
            node = _copied(node, node.start, node.end)
        node.key, node.key_start, node.key_end = key.value, key.start, key.end
        node.parent = parent.node
        first = parent.seen.get(key.value)
        if first is not None and not first.alias and key.kind == "scalar":
            related = (first.key_start, first.key_end)
            self.composer.faults.append(Fault("duplicate-key", key.start, key.end, key.value, related))
        parent.seen[key.value] = node
        parent.node.children.append(node)

    def _merge(self, parent: _Open, node: Node) -> None:
        """``<<``: what the mapping itself says wins, wherever it stands."""
        self.odd = True
        found: list[Node] = []
        for source in node.children if node.kind == "sequence" else [node]:
            for child in source.children if source.kind == "mapping" else []:
                if child.key is not None and child.key not in parent.seen:
                    child.parent, child.alias = parent.node, True
                    parent.seen[child.key] = child
                    found.append(child)
        parent.node.children[:0] = found


def _copied(node: Node, start: int, end: int) -> Node:
    """A copy for an alias, all of it placed where the alias stands."""
    copy = Node(node.kind, start, end, node.tag, node.value, node.style, alias=True)
    stack = [(node, copy)]
    while stack:
        old, new = stack.pop()
        for child in old.children:
            below = Node(child.kind, start, end, child.tag, child.value, child.style, child.key, alias=True)
            below.parent = new
            below.index = child.index
            if child.key is not None:
                below.key_start, below.key_end = start, end
            new.children.append(below)
            stack.append((child, below))
    return copy


@cache
def _resolvers() -> dict[str, list[tuple[str, Any]]]:
    import yaml

    return cast("dict[str, list[tuple[str, Any]]]", yaml.SafeLoader.yaml_implicit_resolvers)


def _resolve(value: str) -> Tag:
    """What a plain scalar is, by the safe loader's own tables."""
    for tag, pattern in _resolvers().get(value[:1], ()):
        if pattern.match(value):
            return _TAGS.get(tag, "str")
    return "str"
