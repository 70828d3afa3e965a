"""CMake lists as checks ask about them: commands with their arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from opdev.syntax.tree import walk
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_BRACKET = re.compile(r"\[(=*)\[\r?\n?(.*)\]\1\]", re.DOTALL)


@dataclass(frozen=True)
class Argument:
    """One argument; ``text`` is without its quotes or brackets, references as written."""

    node: Node
    text: str
    last: Node | None = None
    """The last node of an argument the grammar takes apart: ``-DX="a b"``."""

    @property
    def start(self) -> int:
        return self.node.start_byte

    @property
    def end(self) -> int:
        return (self.last or self.node).end_byte


@dataclass(frozen=True)
class Command:
    """``name(args…)``; ``name`` in lower case.  ``if``, ``foreach`` and the like are commands too."""

    name: str
    args: tuple[Argument, ...]
    node: Node
    name_node: Node

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(a.text for a in self.args)

    @property
    def start(self) -> int:
        return self.node.start_byte

    @property
    def end(self) -> int:
        return self.node.end_byte


def commands(view: View, *names: str) -> list[Command]:
    """The commands of the file (of these names, lower case), in text order."""

    def collect() -> list[Command]:
        found = []
        for node in walk(view.file.root):
            if node.type.endswith("_command") and node.named_child_count:
                found.append(_command(view, node))
        return found

    every = view.file.memo("cmake.commands", collect)
    return view.file.memo(("cmake.named", names), lambda: [c for c in every if c.name in names]) if names else every


def given_to(view: View, name: str) -> dict[str, list[Command]]:
    """The commands of one name by their first argument as written, in text order."""

    def collect() -> dict[str, list[Command]]:
        found: dict[str, list[Command]] = {}
        for command in commands(view, name):
            if command.args:
                found.setdefault(command.texts[0], []).append(command)
        return found

    return view.file.memo(("cmake.given", name), collect)


def _command(view: View, node: Node) -> Command:
    name_node = node.children[0]
    args: list[Argument] = []
    for child in node.children[1:]:
        if child.type == "argument_list":
            for argument in child.named_children:
                if argument.type != "argument":
                    continue
                if args and args[-1].end == argument.start_byte:
                    first = args.pop().node
                    text = view.data[first.start_byte : argument.end_byte].decode("utf-8", "replace")
                    args.append(Argument(first, text, argument))
                else:
                    args.append(Argument(argument, _bare(view.text(argument))))
    return Command(view.text(name_node).lower(), tuple(args), node, name_node)


def _bare(text: str) -> str:
    if len(text) > 1 and text[0] == '"' and text[-1] == '"':
        return text[1:-1]
    bracket = _BRACKET.fullmatch(text)
    return bracket[2] if bracket else text
