"""Shell scripts as checks ask about them: commands with their words, assignments, pipelines."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from opdev.syntax.file import File
from opdev.syntax.tree import ancestor, ancestors, walk
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

# Commands that run the command their arguments spell.
_WRAPPERS = {
    "sudo",
    "env",
    "time",
    "nohup",
    "exec",
    "command",
    "timeout",
    "nice",
    "stdbuf",
    "setsid",
    "numactl",
    "taskset",
    "ionice",
}
_TAKES_VALUE = {
    "timeout": {"-s", "-k", "--signal", "--kill-after"}, "nice": {"-n"}, "ionice": {"-c", "-n"}, "exec": {"-a"},
    "sudo": {"-u", "--user", "-g", "--group", "-h", "-p", "-C", "-D", "-T"}, "env": {"-u", "-C"}, "time": {"-f", "-o"},
    "numactl": {"-N", "-m", "-i", "-C", "-p", "--cpunodebind", "--membind", "--interleave", "--physcpubind", "--preferred"},
    "taskset": {"-c", "--cpu-list"}, "stdbuf": {"-i", "-o", "-e"},
}  # fmt: skip


_ESCAPED = re.compile(r"\\(?:\n|(.))", re.DOTALL)
_EXPANDS = re.compile(r"[$`]")
_ESCAPED_IN_QUOTES = re.compile(r"\\(?:\n|([$`\"\\]))")


@dataclass(frozen=True)
class Word:
    """One word of a command.  ``value`` is its text after quote removal, None if it expands."""

    node: Node
    raw: str
    value: str | None

    @property
    def start(self) -> int:
        return self.node.start_byte

    @property
    def end(self) -> int:
        return self.node.end_byte

    @cached_property
    def loose(self) -> str:
        """The text without its quotes, expansions as written."""
        return self.raw.replace('"', "").replace("'", "")


@dataclass(frozen=True)
class Assignment:
    """``NAME=value``: alone, exported (``export``, ``declare``, …) or as a command's prefix."""

    name: str
    node: Node
    value_node: Node | None
    raw: str
    value: str | None
    keyword: str
    """``export``, ``declare``, ``local``, ``readonly``, ``typeset`` or empty."""
    prefix: bool
    append: bool


@dataclass(frozen=True)
class Command:
    """A simple command.  ``words[0]`` is its name; wrappers (``timeout 5 …``) are kept in ``words``."""

    node: Node
    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...]
    file: File

    @property
    def name(self) -> str:
        """The literal command name without its folder; empty if it expands."""
        value = self.words[0].value if self.words else None
        return (value or "").rsplit("/", 1)[-1]

    @property
    def args(self) -> tuple[Word, ...]:
        return self.words[1:]

    @cached_property
    def effective(self) -> tuple[Word, ...]:
        """The words of the command that really runs: past ``sudo``, ``env A=b``, ``timeout 5``."""
        words = self.words
        while words:
            name = (words[0].value or "").rsplit("/", 1)[-1]
            if name not in _WRAPPERS or (name == "command" and _only_looks_up(words)):
                return words
            words = _unwrap(name, words[1:])
        return words

    @property
    def effective_name(self) -> str:
        words = self.effective
        return ((words[0].value if words else None) or "").rsplit("/", 1)[-1]

    @cached_property
    def background(self) -> bool:
        """Whether the command (or the list it ends) is started with ``&``."""
        here = self.node
        while True:
            sibling = here.next_sibling
            if sibling is not None and sibling.type == "&":
                return True
            parent = here.parent
            if parent is None or parent.type not in ("pipeline", "redirected_statement", "list", "negated_command"):
                return False
            here = parent

    @cached_property
    def pipeline(self) -> Node | None:
        """The pipeline the command is part of, if any."""
        found: Node | None = None
        parent = self.node.parent
        # `a | b 2>&1 | c` is a pipeline in a redirection in a pipeline to the grammar.
        while parent is not None and parent.type in ("redirected_statement", "pipeline"):
            found = parent if parent.type == "pipeline" else found
            parent = parent.parent
        return found

    @property
    def start(self) -> int:
        return self.node.start_byte

    @property
    def end(self) -> int:
        return self.node.end_byte


def _only_looks_up(words: tuple[Word, ...]) -> bool:
    """``command -v prog`` says where a program is; it does not run it."""
    return len(words) > 1 and words[1].value in ("-v", "-V")


def _unwrap(name: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
    takes = _TAKES_VALUE.get(name, set())
    index = 0
    while index < len(words):
        value = words[index].value
        if value is not None and value.startswith("-") and len(value) > 1:
            index += 2 if value in takes else 1
        elif name in ("env", "sudo") and value is not None and "=" in value and not value.startswith("="):
            index += 1
        else:
            break
    if name == "timeout" or (name == "taskset" and not any(w.value in takes for w in words[:index])):
        # The duration; the mask.
        index += 1
    return words[index:]


def commands(view: View) -> list[Command]:
    """Every simple command of the file, in text order, those inside ``$(…)`` too."""
    return view.file.memo("bash.commands", lambda: [c for n in walk(view.file.root) if (c := _command(view.file, n))])


def assignments(view: View) -> list[Assignment]:
    """Every assignment, in text order."""

    def collect() -> list[Assignment]:
        return [_assignment(view.file, n) for n in walk(view.file.root) if n.type == "variable_assignment"]

    return view.file.memo("bash.assignments", collect)


def commands_in(view: View, start: int, end: int) -> list[Command]:
    """The simple commands that begin in a range, in text order."""
    every = commands(view)
    starts = view.file.memo("bash.command_starts", lambda: [c.start for c in every])
    return every[bisect_left(starts, start) : bisect_left(starts, end)]


def assignments_in(view: View, start: int, end: int) -> list[Assignment]:
    """The assignments that begin in a range, in text order."""
    every = assignments(view)
    starts = view.file.memo("bash.assignment_starts", lambda: [a.node.start_byte for a in every])
    return every[bisect_left(starts, start) : bisect_left(starts, end)]


def assigned(view: View) -> dict[str, list[Assignment]]:
    """Every assignment by variable name, in text order."""

    def collect() -> dict[str, list[Assignment]]:
        found: dict[str, list[Assignment]] = {}
        for given in assignments(view):
            found.setdefault(given.name, []).append(given)
        return found

    return view.file.memo("bash.assigned", collect)


def functions(view: View) -> dict[str, Node]:
    """Function definitions by name."""

    def collect() -> dict[str, Node]:
        found: dict[str, Node] = {}
        for node in walk(view.file.root):
            name = node.child_by_field_name("name") if node.type == "function_definition" else None
            if name is not None:
                found[view.text(name)] = node
        return found

    return view.file.memo("bash.functions", collect)


def literal(file: File, node: Node) -> str | None:
    """A word's text after quote removal; None if it expands anything."""
    text = file.data[node.start_byte : node.end_byte].decode("utf-8", "replace")
    if node.type in ("word", "number", "variable_name", "regex", "test_operator", "extglob_pattern"):
        expands = _EXPANDS.search(_ESCAPED.sub("", text))
        return None if expands else _ESCAPED.sub(r"\1", text)
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "string":
        if any(c.type not in ("string_content", '"') for c in node.children):
            return None
        return _ESCAPED_IN_QUOTES.sub(r"\1", text[1:-1])
    if node.type in ("concatenation", "command_name"):
        parts = [literal(file, c) for c in node.named_children]
        return None if any(p is None for p in parts) or not parts else "".join(p for p in parts if p is not None)
    if node.type == "ansi_c_string":
        return text[2:-1]
    return None


def in_function(node: Node) -> Node | None:
    """The function definition around a node."""
    return ancestor(node, "function_definition")


def in_loop(node: Node) -> Node | None:
    """The innermost loop around a node, inside its function."""
    for here in ancestors(node):
        if here.type in ("for_statement", "while_statement", "c_style_for_statement", "until_statement"):
            return here
        if here.type == "function_definition":
            return None
    return None


def is_echoed(command: Command) -> bool:
    """Whether a command only prints (``echo``, ``printf``, ``cat`` of a here-document)."""
    return command.name in ("echo", "printf", "log", "print_usage", "usage")


def _command(file: File, node: Node) -> Command | None:
    if node.type != "command":
        return None
    words: list[Word] = []
    assigned: list[Assignment] = []
    for child in node.children:
        if child.type == "variable_assignment":
            if _is_prefix(file, child, node):
                assigned.append(_assignment(file, child))
        elif child.is_named and child.type not in (
            "file_redirect",
            "herestring_redirect",
            "heredoc_redirect",
            "comment",
        ):
            words.append(_word(file, child))
    parent = node.parent
    if parent is not None and parent.type == "redirected_statement" and parent.child_by_field_name("body") == node:
        # `cmd > log arg`: to the grammar, what follows a redirection's file is one more file.
        for redirect in parent.children_by_field_name("redirect"):
            words += [_word(file, more) for more in redirect.children_by_field_name("destination")[1:]]
    return Command(node, tuple(words), tuple(assigned), file)


def _word(file: File, node: Node) -> Word:
    return Word(node, file.source.text(node.start_byte, node.end_byte), literal(file, node))


def _is_prefix(file: File, assignment: Node, command: Node) -> bool:
    """Whether an assignment belongs to a command: the grammar also joins those of the lines above."""
    name = command.child_by_field_name("name")
    between = file.data[assignment.end_byte : name.start_byte] if name is not None else b"\n"
    return b"\n" not in between.replace(b"\\\n", b"")


def _assignment(file: File, node: Node) -> Assignment:
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    parent = node.parent
    keyword = ""
    if parent is not None and parent.type == "declaration_command" and parent.children:
        keyword = parent.children[0].type
    raw = file.source.text(value.start_byte, value.end_byte) if value is not None else ""
    return Assignment(
        name=file.source.text(name.start_byte, name.end_byte) if name is not None else "",
        node=node,
        value_node=value,
        raw=raw,
        value=literal(file, value) if value is not None else "",
        keyword=keyword,
        prefix=parent is not None and parent.type == "command" and _is_prefix(file, node, parent),
        append=any(c.type == "+=" for c in node.children),
    )
