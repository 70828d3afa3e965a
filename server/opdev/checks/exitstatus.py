"""Exit statuses that get lost between a PE and whoever asks whether the run passed.

A PE that crashes must make its run script fail.  Here: a status read too late, and one nobody
reads.  Waiting for several PEs is in ``exitwaits``, pipelines in ``exitpipes``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks import exitpipes, exitwaits, shellflow
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import bash
from opdev.syntax.tree import ancestor, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_NOT_WORTH = {"cd", "mkdir", "rm", "export", "set", "shift", "trap", "pushd", "popd", "kill", "return", "exit", "local",
              "declare", "readonly", "unset", "cat", "touch", "true", "read", "break", "continue"}  # fmt: skip


def lost_exit_status(context: Context) -> Iterator[Hit]:
    """A failed PE or checker that the script does not notice."""
    yield from _read_too_late(context)
    yield from exitwaits.bare(context)
    yield from exitwaits.unread(context)
    yield from exitwaits.never(context)
    yield from exitpipes.piped(context)
    yield from exitpipes.in_subshell(context)
    yield from _nobody_reads(context)
    yield from _swallowed(context)


def _read_too_late(context: Context) -> Iterator[Hit]:
    """``wait "$pid"; echo done; ret=$?`` reads the status of echo."""
    if shellflow.errexit(context) and re.search(rb"\bset \+\w*e", context.code) is None:
        return
    for at in _status_reads(context):
        leaf = context.file.root.descendant_for_byte_range(at, at + 1)
        use = ancestor(leaf, "simple_expansion", "expansion") if leaf is not None else None
        statement = shellflow.statement_of(context, use) if use is not None else None
        if use is None or statement is None or not _first_in(use, statement):
            continue
        block, index = shellflow.place(context, statement)
        between: list[Node] = []
        while index - len(between) > 0 and shellflow.is_print(context, block[index - len(between) - 1]):
            between.append(block[index - len(between) - 1])
        if not between or index - len(between) <= 0:
            continue
        meant = block[index - len(between) - 1]
        command = shellflow.command_at(context, meant)
        if command is None or command.name in _NOT_WORTH or shellflow.is_background(meant):
            continue
        printed = shellflow.command_at(context, between[0])
        args = {
            "by": printed.name if printed is not None else context.text(between[0]).partition("=")[0] + "=",
            "command": _short(context, command),
        }
        note = {"zh": "要的是这条命令的退出码", "en": "the status of this command was meant"}
        fix = _saved_at_once(context, meant, statement, use)
        yield Hit(
            use.start_byte, use.end_byte, args=args, fix=fix, related=(Related(meant.start_byte, meant.end_byte, note),)
        )


def _status_reads(context: Context) -> Iterator[int]:
    for match in re.finditer(rb"\$(?:\?|\{\?\})", context.code):
        yield match.end() - (2 if match.group().endswith(b"}") else 1)


def _first_in(use: Node, statement: Node) -> bool:
    """Whether ``$?`` is read by the first command of its statement."""
    for node in walk(statement):
        if node.id == use.id:
            return True
        if node.type in ("then", "do", "&&", "||", "|", ";", "command_substitution", "in"):
            return False
    return False


def _short(context: Context, command: bash.Command) -> str:
    text = " ".join(context.text(command.node).split())
    return text if len(text) <= 40 else text[:37] + "..."


def _saved_at_once(context: Context, meant: Node, statement: Node, use: Node) -> Fix | None:
    if not shellflow.alone_on_line(context, meant.start_byte, meant.end_byte):
        return None
    data = context.data
    after = shellflow.line_end(context, meant.end_byte)
    indent = shellflow.indent_of(context, meant.start_byte)
    text = context.text(statement)
    if re.fullmatch(r"(?:local\s+)?\w+=\"?\$\??\{?\?\}?\"?", text):
        if not shellflow.alone_on_line(context, statement.start_byte, statement.end_byte):
            return None
        begin = data.rfind(b"\n", 0, statement.start_byte) + 1
        end = min(data.find(b"\n", statement.end_byte) + 1 or len(data), len(data))
        line = data[statement.start_byte : shellflow.line_end(context, statement.end_byte)].decode("utf-8", "replace")
        return Fix((Edit(after, after, f"\n{indent}{line}"), Edit(begin, end, "")))
    name = next((n for n in ("status", "wait_status", "cmd_status") if n.encode() not in context.file.words), None)
    if name is None:
        return None
    return Fix((Edit(after, after, f"\n{indent}{name}=$?"), Edit(use.start_byte, use.end_byte, f"${name}")), "save")


def _nobody_reads(context: Context) -> Iterator[Hit]:
    """A checker or a PE in the foreground whose status nothing looks at."""
    if shellflow.errexit(context) or "docs-fence" in context.kinds:
        return
    for command in bash.commands(context):
        what = shellflow.role(context, command)
        if not what:
            continue
        statement = shellflow.statement_of(context, command.node)
        plain = command.node
        if plain.parent is not None and plain.parent.type == "redirected_statement":
            plain = plain.parent
        if statement is None or statement.id != plain.id or shellflow.is_background(statement):
            continue
        if shellflow.in_cleanup(context, plain) or shellflow.is_read_later(context, statement):
            continue
        fix = None
        top = bash.in_function(plain) is None
        line = shellflow.line_end(context, plain.end_byte)
        blank = not context.data[plain.end_byte : line].strip()
        if what == "checker" and top and blank and ancestor(plain, "subshell", "command_substitution") is None:
            fix = Fix((Edit(plain.end_byte, plain.end_byte, " || exit 1"),), "exit", "safe")
        words = command.effective
        args = {"command": _short(context, command), "by": what}
        end = words[1].end if what == "checker" and len(words) > 1 else words[0].end
        key = "unread-checker" if what == "checker" else "unread-pe"
        yield Hit(words[0].start, end, key, args, fix)


def _swallowed(context: Context) -> Iterator[Hit]:
    """``wait "$pid" || echo failed``: the failure is printed and becomes a success."""
    for command in bash.commands(context):
        waits = command.name == "wait" and command.args
        if not waits and not shellflow.role(context, command):
            continue
        plain = command.node
        if plain.parent is not None and plain.parent.type == "redirected_statement":
            plain = plain.parent
        around = plain.parent
        if around is None or around.type != "list" or around.named_children[0].id != plain.id:
            continue
        right = around.named_children[-1]
        outer = around.parent
        if (
            outer is not None
            and outer.type == "redirected_statement"
            and b">&2" not in context.data[around.end_byte : outer.end_byte]
        ):
            continue
        either = len(around.named_children) == 2 and any(c.type == "||" for c in around.children)
        if not either or shellflow.in_list_or_test(context, around) or not _only_says(context, right):
            continue
        if shellflow.is_background(around) or shellflow.in_cleanup(context, around):
            continue
        yield Hit(right.start_byte, right.end_byte, "swallowed", {"command": _short(context, command)})


def _only_says(context: Context, node: Node) -> bool:
    """Whether a command prints to the user and nothing more (a file may be read later)."""
    command = shellflow.command_at(context, node)
    if command is None or command.name not in ("echo", "printf"):
        return False
    return node.type == "command" or re.search(rb">\s*(?!&2)\S", context.data[command.end : node.end_byte]) is None
