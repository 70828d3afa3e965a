"""What a shell script does one after the other, and what happens to each exit status.

The checks of lost statuses ask: which statements follow each other, is a status looked at, and
which commands have a status worth looking at (PEs, checkers).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from opdev.syntax import bash
from opdev.syntax.tree import ancestors, walk
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS = {"program", "do_group", "compound_statement", "subshell", "if_statement", "elif_clause", "else_clause",
           "case_item"}  # fmt: skip
_LOOPS = {"for_statement", "c_style_for_statement", "while_statement", "until_statement"}
_OPENERS = {"then", "do", "{", "(", "else", ")"}
_PRINTERS = {"echo", "printf", "date", "sleep", ":"}
_LAUNCHERS = {"mpirun", "mpiexec", "torchrun", "msrun"}
_CHECKER = re.compile(
    r"(?:^|/)(?:(?:check|verify|compare|validate)(?:_(?!perf)\w+)?|\w*result_(?:check|compare)\w*|torch_test_\w+)\.py$"
)
_TRAP = re.compile(rb"\btrap\b[^\n]*")
_WORDS = (re.compile(rb"\w+"), re.compile(rb"[\w.:-]+"))
_BINARY = re.compile(r"\bbuild/bin/[\w$\"{]")


def _block(view: View, block: Node) -> tuple[list[Node], dict[int, int]]:
    """The statements a block directly holds, in order, and the place of each by its id."""

    def collect() -> tuple[list[Node], dict[int, int]]:
        children = block.children
        begin = 0
        if block.type in ("if_statement", "elif_clause", "case_item", "else_clause"):
            begin = next((i for i, c in enumerate(children) if c.type in _OPENERS), 0)
        skipped = ("comment", "elif_clause", "else_clause")
        held = [c for c in children[begin:] if c.is_named and c.type not in skipped]
        return held, {c.id: i for i, c in enumerate(held)}

    return view.file.memo(("shellflow.block", block.id), collect)


def place(view: View, node: Node) -> tuple[list[Node], int]:
    """The statements of the block that directly holds ``node``, in order, and its place among them (behind them if it is none)."""
    if node.parent is None:
        return [], 0
    held, index = _block(view, node.parent)
    return held, index.get(node.id, len(held))


def statement_of(view: View, node: Node) -> Node | None:
    """The nearest statement around ``node`` (or itself) that stands in a block."""
    here: Node | None = node
    while here is not None:
        parent = here.parent
        if parent is not None and parent.type in _BLOCKS and here.id in _block(view, parent)[1]:
            return here
        here = parent
    return None


def is_background(node: Node) -> bool:
    """Whether a statement is started with ``&``."""
    return node.next_sibling is not None and node.next_sibling.type == "&"


def scope_of(view: View, node: Node) -> Node:
    """The function around a node, or the file."""
    return bash.in_function(node) or view.file.root


def within(view: View, node: Node, scope: Node) -> bool:
    """Whether a node runs in ``scope`` itself, not in a function defined there."""
    return scope_of(view, node).id == scope.id


def errexit(view: View) -> bool:
    """Whether a failing command ends the script (``set -e``)."""
    return view.file.memo("shellflow.errexit", lambda: _option(view, "e", "errexit"))


def pipefail(view: View) -> bool:
    return view.file.memo("shellflow.pipefail", lambda: re.search(rb"\bpipefail\b", view.code) is not None)


def _option(view: View, letter: str, name: str) -> bool:
    if re.match(rb"#![^\n]*\s-\w*" + letter.encode(), view.data):
        return True
    for command in bash.commands(view):
        if command.name == "set" and bash.in_function(command.node) is None:
            words = [w.value or "" for w in command.args]
            if name in words or any(re.fullmatch(rf"-[a-zA-Z]*{letter}[a-zA-Z]*", w) for w in words):
                return True
    return False


def is_posix_sh(view: View) -> bool:
    """Whether the script names a shell without arrays and process substitution."""
    return re.match(rb"#![^\n]*[/ ](?:sh|dash)\b", view.data) is not None


def reads_status(view: View, statement: Node) -> bool:
    """Whether a statement's first command looks at ``$?``, before anything else sets it."""
    for node in walk(statement):
        if node.type == "special_variable_name" and view.data[node.start_byte : node.end_byte] == b"?":
            return True
        if node.type in ("then", "do", "&&", "||", "|"):
            return False
    return False


def is_read_later(view: View, statement: Node) -> bool:
    """Whether a statement's status is looked at after it, or is that of its function or of the script.

    One read behind prints only counts: that it is read too late is another finding.
    """
    here: Node | None = statement
    while here is not None:
        block, index = place(view, here)
        after = behind_prints(view, block, index + 1)
        if after < len(block):
            leaves = after == index + 1 and re.match(r"(?:exit|return)\s*$", view.text(block[after])) is not None
            return leaves or reads_status(view, block[after])
        if index + 1 < len(block):
            return False
        outer = here.parent
        while outer is not None and statement_of(view, outer) != outer:
            if outer.type == "function_definition":
                return True
            outer = outer.parent
        if outer is None:
            return True
        if outer.type in _LOOPS:
            return False
        if outer.type == "function_definition" or in_list_or_test(view, outer):
            return True
        here = outer
    return True


def behind_prints(view: View, block: list[Node], index: int) -> int:
    """The place of the first statement from ``index`` on that does more than print."""
    while index < len(block) and is_print(view, block[index]) and not reads_status(view, block[index]):
        index += 1
    return index


def is_print(view: View, statement: Node) -> bool:
    """Whether a statement only prints, or sets a variable to a text: its own status is always 0."""
    if is_background(statement):
        return False
    node = statement.named_children[0] if statement.type == "redirected_statement" else statement
    if node.type == "variable_assignment":
        return not any(n.type in ("command_substitution", "special_variable_name") for n in walk(node))
    if node.type != "command":
        return False
    found = command_at(view, node)
    return found is not None and found.name in _PRINTERS and b"$(" not in view.data[node.start_byte : node.end_byte]


def command_at(view: View, node: Node) -> bash.Command | None:
    """The simple command a statement is, redirections aside."""
    if node.type == "redirected_statement" and node.named_children:
        node = node.named_children[0]
    if node.type != "command":
        return None
    index = view.file.memo("shellflow.commands", lambda: {c.node.id: c for c in bash.commands(view)})
    return index.get(node.id)


def role(view: View, command: bash.Command, depth: int = 0) -> str:
    """``PE``, ``checker`` or empty: whose status a command carries."""
    words = command.effective
    if not words or bash.is_echoed(command):
        return ""
    name = command.effective_name
    if name in _LAUNCHERS or (name == "msprof" and any("--application" in w.raw for w in words)):
        return "PE"
    if name.startswith("python") or "PYTHON" in words[0].raw:
        script = next((w.loose for w in words[1:] if not w.raw.startswith("-")), "")
        return "checker" if _CHECKER.search(script) else ""
    return "PE" if runs_binary(view, words[0].raw, depth) else ""


def runs_binary(view: View, text: str, depth: int = 0) -> bool:
    """Whether a command word is, or stands for, an operator's binary."""
    if _BINARY.search(text):
        return True
    named = re.match(r"\"?\$\{?(\w+)", text)
    if named is None or depth > 2:
        return False
    given = bash.assigned(view).get(named[1], [])
    return view.file.memo(
        ("shellflow.binary", named[1], depth),
        lambda: any(runs_binary(view, one.raw.lstrip('"'), depth + 1) for one in given),
    )


def roles_in(view: View, node: Node, depth: int = 0) -> Iterator[tuple[str, bash.Command]]:
    """The PEs and checkers that run in a node, through functions of the file too."""
    functions = bash.functions(view)
    for command in bash.commands_in(view, node.start_byte, node.end_byte):
        found = role(view, command)
        if found:
            yield found, command
        elif command.name in functions and depth < 2:
            inside = functions[command.name]
            key = ("shellflow.roles", inside.id, depth + 1)
            known = view.file.memo(key, partial(_roles, view, inside, depth + 1))
            yield from ((what, command) for what in known)


def _roles(view: View, function: Node, depth: int) -> list[str]:
    return [what for what, _ in roles_in(view, function, depth)]


def in_cleanup(view: View, node: Node) -> bool:
    """Whether a node runs in a clean-up function (one a ``trap`` calls or that says so)."""
    function = bash.in_function(node)
    if function is None:
        return False
    name = function.child_by_field_name("name")
    text = view.text(name) if name is not None else ""
    trapped = view.file.memo(
        "shellflow.trapped", lambda: {w for t in _TRAP.findall(view.code) for p in _WORDS for w in p.findall(t)}
    )
    return (
        text.encode() in trapped or re.search(r"clean|kill|stop|trap|abort|teardown", text, re.IGNORECASE) is not None
    )


def indent_of(view: View, offset: int) -> str:
    """The blanks before the text of the line at ``offset``."""
    begin = view.data.rfind(b"\n", 0, offset) + 1
    line = view.data[begin : view.data.find(b"\n", begin) + 1 or len(view.data)]
    return line[: len(line) - len(line.lstrip(b" \t"))].decode()


def line_end(view: View, offset: int) -> int:
    """Where the line at ``offset`` ends, without its line break."""
    end = view.data.find(b"\n", offset)
    end = len(view.data) if end < 0 else end
    return end - 1 if view.data[end - 1 : end] == b"\r" else end


def alone_on_line(view: View, start: int, end: int) -> bool:
    """Whether nothing else stands on the lines of a range, comments after it aside."""
    begin = view.data.rfind(b"\n", 0, start) + 1
    before = view.data[begin:start]
    after = view.data[end : line_end(view, end)].strip()
    return not before.strip() and (not after or (after.startswith((b"#", b";")) and after != b";;"))


def in_list_or_test(view: View, node: Node) -> bool:
    """Whether a command's status decides something: ``if``, ``&&``, ``||``, ``!``, ``while``."""
    inside = node
    for above in ancestors(node):
        if above.type in ("list", "negated_command"):
            return True
        if above.type in ("if_statement", "elif_clause", "while_statement", "until_statement"):
            return inside.start_byte < view.file.memo(("shellflow.test", above.id), partial(_test_end, above))
        if above.type in _BLOCKS:
            return False
        inside = above
    return False


def _test_end(node: Node) -> int:
    """Where the test of an ``if`` or a ``while`` ends."""
    return next((c.start_byte for c in node.children if c.type in ("then", "do_group")), node.start_byte)
