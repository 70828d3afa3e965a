"""Reads what is sound of a fence that does not compose: the author is in the middle of a line.

The text is split by indentation, each part composed on its own, and only a part that still fails
is split further.  Every level reads its text once, and the levels are bounded, so the time stays
linear.
"""

from __future__ import annotations

import re

from opdev.design.compose import MAX_CHARS, Composer, NotYamlError
from opdev.design.lines import Line, line_end, lines_of, open_bracket
from opdev.design.nodes import Fault, Node

_LEVELS = 8
_HEADER = re.compile(
    r"(?P<key>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\n]|'')*'"
    r"|(?:[^\s#\"'\[\]{},&*!|>%@`:-]|-(?=[^\s:#]))[^:#\n]*)[ ]*:(?=\s|\Z)"
)
_ITEM = re.compile(r"-(?=\s|\Z)[ ]*")
_EMPTY_LIST = re.compile(r"\[[ ]*\][ ]*(?:#[^\n\r]*)?\Z")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")


def read(composer: Composer) -> Node | None:
    """The fence's tree, or as much of it as can be read; faults are noted in the composer."""
    text = composer.text
    for index in text.unprintable[:20]:
        composer.fault("control-character", index, index + 1)
    size = len(text.text)
    if size > MAX_CHARS:
        composer.fault("too-large", 0, 0, f"more than {MAX_CHARS} characters")
        return None
    return _Recovery(composer).read(0, size, 0)


class _Recovery:
    def __init__(self, composer: Composer) -> None:
        self.composer = composer
        self.text = composer.text.text

    def read(self, start: int, end: int, level: int) -> Node | None:
        """``[start, end)`` composed, or put together from its parts."""
        try:
            return self.composer.by_pieces(start, end) or self.composer.compose(start, end)
        except NotYamlError as error:
            if level >= _LEVELS:
                self._note(error, start, end)
                return self._broken(start, end)
            return self._parts(start, end, level, error)

    def _parts(self, start: int, end: int, level: int, error: NotYamlError) -> Node | None:
        noted = len(self.composer.faults)
        blocks = self._blocks(start, end)
        if not blocks:
            self._note(error, start, end)
            return None
        first = blocks[0][0]
        sequence = _ITEM.match(self.text, first.content, first.end) is not None
        if not sequence and len(blocks) > 1 and self._is_empty_list(blocks[0]):
            rest = blocks[1:]
            if all(_ITEM.match(self.text, b[0].content, b[0].end) for b in rest):
                at = first.content
                self.composer.fault("items-after-empty", at, self.text.index("]", at) + 1)
                blocks, sequence = rest, True
        node = self._sequence(blocks, level) if sequence else self._mapping(blocks, level)
        if len(self.composer.faults) == noted:
            # Every part is fine by itself: it is how they stand together.
            self._note(error, start, end)
        return node

    def _is_empty_list(self, block: list[Line]) -> bool:
        return _EMPTY_LIST.match(self.text[block[0].content : block[0].end].rstrip()) is not None

    def _blocks(self, start: int, end: int) -> list[list[Line]]:
        """Runs of lines: one at the outermost indentation and what is indented below it."""
        blocks: list[list[Line]] = []
        indent = -1
        items = False
        for line in lines_of(self.text, start, end):
            blank = self.text[line.content : line.end].strip(" \t\r\n")
            if not blank or blank.startswith("#"):
                if blocks:
                    blocks[-1].append(line)
                continue
            item = _ITEM.match(self.text, line.content, line.end) is not None
            if indent < 0:
                indent, items = line.indent, item
                blocks.append([line])
            elif (
                line.indent > indent
                or self.text[line.content] == "\t"
                or (item and not items and line.indent == indent and self._awaits(blocks[-1]))
            ):
                blocks[-1].append(line)
            else:
                blocks.append([line])
        return blocks

    def _awaits(self, block: list[Line]) -> bool:
        """Whether a block is a key whose value has yet to come (items may stand at the key's column)."""
        header = _HEADER.match(self.text, block[0].content, block[0].end)
        return header is not None and not self._rest(header.end(), block[0].end)

    def _rest(self, start: int, end: int) -> str:
        return _COMMENT.sub("", self.text[start:end].strip("\r\n")).strip()

    def _mapping(self, blocks: list[list[Line]], level: int) -> Node:
        start, _ = self.composer.text.span(blocks[0][0].content, blocks[0][0].content)
        top = Node("mapping", start, start, "map", "", "block")
        seen: dict[str, Node] = {}
        for block in blocks:
            for entry in self._entries(block, level):
                self._duplicate(seen, entry)
                entry.parent = top
                top.children.append(entry)
                top.end = max(top.end, entry.end, entry.key_end)
        return top

    def _duplicate(self, seen: dict[str, Node], entry: Node) -> None:
        first = seen.get(entry.key or "")
        seen[entry.key or ""] = entry
        if first is not None and not first.alias and not entry.alias:
            related = (first.key_start, first.key_end)
            self.composer.faults.append(
                Fault("duplicate-key", entry.key_start, entry.key_end, entry.key or "", related)
            )

    def _entries(self, block: list[Line], level: int) -> list[Node]:
        first, end = block[0], block[-1].end
        try:
            node = self.composer.compose(first.start, end)
        except NotYamlError as error:
            return self._broken_entry(block, level, error)
        if node is None:
            return []
        if node.kind == "mapping":
            return list(node.children)
        if node.kind == "scalar" and node.style == "plain":
            # A word somebody is typing: a key without its colon.
            stop = first.content + len(self.text[first.content : first.end].rstrip())
            self.composer.fault("missing-colon", first.content, stop, node.value)
            begin, behind = self.composer.text.span(first.content, stop)
            word = self.text[first.content : stop]
            return [Node("broken", behind, behind, key=word, key_start=begin, key_end=behind)]
        self.composer.faults.append(Fault("bad-indentation", node.start, node.end))
        return []

    def _broken_entry(self, block: list[Line], level: int, error: NotYamlError) -> list[Node]:
        first, end = block[0], block[-1].end
        header = _HEADER.match(self.text, first.content, first.end)
        if header is None:
            self._note(error, first.start, end)
            return []
        key = header.group("key").rstrip()
        key_start, key_end = self.composer.text.span(header.start("key"), header.start("key") + len(key))
        key = key[1:-1] if key[:1] in "\"'" else key
        rest = self._rest(header.end(), first.end)
        below = len(block) > 1
        node: Node | None
        if not rest and below and level < _LEVELS:
            node = self.read(first.end, end, level + 1)
        elif below and self._alone(first):
            # The line is fine: what stands below it is not.
            node = self.composer.compose(first.start, first.end)
            node = node.children[0] if node is not None and node.children else None
            self._note(error, first.end, end)
        else:
            self._note(error, first.start, end)
            node = self._broken(header.end(), first.end)
        if node is None:
            node = self._broken(header.end(), header.end())
        node.key, node.key_start, node.key_end = key, key_start, key_end
        return [node]

    def _alone(self, line: Line) -> bool:
        try:
            node = self.composer.compose(line.start, line.end)
        except NotYamlError:
            return False
        return node is not None and node.kind == "mapping"

    def _sequence(self, blocks: list[list[Line]], level: int) -> Node:
        start, _ = self.composer.text.span(blocks[0][0].content, blocks[0][0].content)
        top = Node("sequence", start, start, "seq", "", "block")
        for block in blocks:
            for item in self._items(block, level):
                item.parent = top
                item.index = len(top.children)
                top.children.append(item)
                top.end = max(top.end, item.end, item.key_end)
        return top

    def _items(self, block: list[Line], level: int) -> list[Node]:
        first, end = block[0], block[-1].end
        marker = _ITEM.match(self.text, first.content, first.end)
        try:
            node = self.composer.compose(first.start, end)
        except NotYamlError as error:
            if marker is None or level >= _LEVELS:
                self._note(error, first.start, end)
                return [self._broken(first.content, first.end)]
            # The item's keys stand where its first one does.
            lines = [Line(first.start, marker.end(), first.end), *block[1:]]
            lines = [x for x in lines if self.text[x.content : x.end].strip()]
            if not lines or _HEADER.match(self.text, marker.end(), first.end) is None:
                self._note(error, first.start, end)
                return [self._broken(marker.end(), first.end)]
            parts = self._item_blocks(lines, marker.end() - first.start)
            noted = len(self.composer.faults)
            node = self._mapping(parts, level + 1)
            if len(self.composer.faults) == noted:
                self._note(error, first.start, end)
            return [node]
        if node is None or node.kind != "sequence":
            if node is not None:
                self.composer.faults.append(Fault("bad-indentation", *node.where))
            return []
        return list(node.children)

    def _item_blocks(self, lines: list[Line], indent: int) -> list[list[Line]]:
        """The keys of one item, each without the dash before the first."""
        blocks: list[list[Line]] = []
        for line in lines:
            cut = Line(line.content, line.content, line.end) if not blocks else line
            if not blocks or line.content - line.start <= indent:
                blocks.append([cut])
            else:
                blocks[-1].append(line)
        return blocks

    def _broken(self, start: int, end: int) -> Node:
        stripped = self.text[start:end]
        lead = len(stripped) - len(stripped.lstrip())
        begin = start + lead if stripped.strip() else start
        stop = start + len(stripped.rstrip()) if stripped.strip() else start
        return Node("broken", *self.composer.text.span(begin, stop))

    def _note(self, error: NotYamlError, start: int, end: int) -> None:
        """The fault, on the rest of the line the parser stopped at, inside the part that fails."""
        if error.reason == "too-large" and any(f.reason == error.reason for f in self.composer.faults):
            # All that follows is too much: one finding says so, not one a line.
            return
        at = max(start, min(error.at, end))
        if error.reason == "unclosed-bracket":
            at = open_bracket(self.text, start, at)
        stop = line_end(self.text, at, end)
        if not self.text[at:stop].strip():
            # It stopped where the part ends: the last line that says something is to blame.
            stop = start + len(self.text[start:at].rstrip())
            line = max(self.text.rfind("\n", start, stop), self.text.rfind("\r", start, stop)) + 1
            at = max(line, start)
        while at < stop and self.text[at] == " ":
            at += 1
        while stop > at and self.text[stop - 1] in " \t":
            stop -= 1
        self.composer.fault(error.reason, at, stop, error.detail)
