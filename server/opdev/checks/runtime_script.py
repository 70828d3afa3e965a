"""How a script is written: strict mode, paths, options, variables, what it deletes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.pe_launch import expanded
from opdev.checks.statements import indent_at, lines_after, statement
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash
from opdev.syntax.tree import walk

if TYPE_CHECKING:
    from tree_sitter import Node

_LIBRARY_NODES = {
    "comment", "function_definition", "variable_assignment", "variable_assignments", "declaration_command",
    "unset_command", "test_command", "list", "if_statement", "\n", ";",
}  # fmt: skip
_SOURCED = re.compile(r"(?:\w+_)?(?:set_?)?env(?:_\w+)?\.(?:ba)?sh")
_NOTICE = re.compile(rb"(?:#[^\n]*\n)+")
_PYTHONS = ("python3", "python")


def missing_strict_mode(context: Context) -> Iterator[Hit]:
    """A script that goes on after a failed command."""
    data = context.data
    shebang = re.match(rb"#![^\n]*", data)
    top = [n for n in context.root.children if n.type not in ("comment", "\n")]
    if not top or (shebang is None and all(n.type in _LIBRARY_NODES for n in top)) or _only_definitions(top):
        return
    if _SOURCED.fullmatch(context.file.path.rsplit("/", 1)[-1]):
        return  # strict mode there would reach the shell of whoever sources it
    on, setter = strict_options(context, shebang.group() if shebang else b"")
    posix = shebang is not None and re.search(rb"/(?:env +)?(?:da)?sh\b", shebang.group()) is not None
    wanted = {"e": "-e", "u": "-u"} if posix else {"e": "-e", "u": "-u", "p": "pipefail"}
    missing = [text for flag, text in wanted.items() if flag not in on]
    if not missing:
        return
    line = "set -eu" if posix else "set -euo pipefail"
    if setter is not None:
        start, end = setter.start, setter.end
        tidy = setter.words[1].raw in ("-e", "-u", "-eu", "-ue") and len(setter.words) == 2
        edit = Edit(start, end, line) if tidy else lines_after(context, statement(setter.node), line)
    elif shebang is not None:
        start, end = shebang.span()
        notice = _NOTICE.match(data, end + 1)
        below = (
            notice.end() if notice is not None and re.search(rb"(?i)copyright|licen[cs]e", notice.group()) else end + 1
        )
        edit = Edit(below, below, f"{line}\n")
    else:
        start = top[0].start_byte
        newline = data.find(b"\n", start)
        end = top[0].end_byte if newline < 0 else min(newline, top[0].end_byte)
        edit = Edit(data.rfind(b"\n", 0, start) + 1, data.rfind(b"\n", 0, start) + 1, f"{line}\n")
    args = {"missing": ", ".join(missing), "line": line}
    if "e" in on:
        yield Hit(start, end, "partial", args, Fix((edit,)), "info")
    else:
        yield Hit(start, end, "default", args, Fix((edit,)))


def _only_definitions(top: list[Node]) -> bool:
    return all(n.type in ("function_definition", "variable_assignment", "declaration_command") for n in top)


def strict_options(context: Context, shebang: bytes) -> tuple[set[str], bash.Command | None]:
    """Which of e, u and p (pipefail) the script switches on, and the first ``set`` that does."""
    on: set[str] = set()
    setter: bash.Command | None = None
    flags = re.search(rb"\s-([a-z]+)\s*$", shebang)
    if flags:
        on |= set(flags.group(1).decode())
    for command in bash.commands(context):
        if command.name != "set" or len(command.words) < 2 or not (command.words[1].value or "").startswith("-"):
            continue
        text = [w.value or "" for w in command.args]
        for index, word in enumerate(text):
            if re.fullmatch(r"-[a-zA-Z]+", word):
                on |= set(word[1:]) & {"e", "u"}
            option = text[index + 1] if index + 1 < len(text) and word.endswith("o") else ""
            on |= {"errexit": {"e"}, "nounset": {"u"}, "pipefail": {"p"}}.get(option, set())
        setter = setter or command
    return on, setter


def cwd_dependent_path(context: Context) -> Iterator[Hit]:
    """A run script that only works from one folder."""
    text = context.code
    if b"BASH_SOURCE" in text or re.search(rb"(?:dirname|realpath|readlink)[^\n]*\$\{?0", text) or b"${0%" in text:
        return
    for command in bash.commands(context):
        words = command.effective
        if not words or bash.is_echoed(command):
            continue
        if command.name == "cd" and command.args:
            if expanded(context, command.args[0].raw).startswith(("$", "/")):
                return
            continue
        by = command.effective_name
        started = by in (*_PYTHONS, "bash", "sh", "source", ".") or by.startswith("mpi")
        shown = words[1:] if started else words[:1]
        for word in shown:
            if re.match(r"(?:\.{1,2}/|scripts/|build/)\S*", word.loose):
                yield Hit(word.start, word.end, args={"path": word.loose})
                return


def hardcoded_python(context: Context) -> Iterator[Hit]:
    """``python3`` where the caller's PYTHON_CMD should decide."""
    for command in bash.commands(context):
        words = command.effective
        if not words or words[0].value not in _PYTHONS or bash.is_echoed(command):
            continue
        if command.name == "command" and any(w.raw in ("-v", "-V") for w in command.args):
            continue
        word = words[0]
        new = f'"${{PYTHON_CMD:-{word.value}}}"'
        yield Hit(word.start, word.end, args={"python": word.value}, fix=Fix((Edit(word.start, word.end, new),)))


def unknown_option_ignored(context: Context) -> Iterator[Hit]:
    """An option loop whose ``case`` has no branch for what it does not know."""
    shifted = [c.start for c in bash.commands(context) if c.name == "shift"]
    for node in walk(context.file.root):
        if node.type != "case_statement":
            continue
        loop = bash.in_loop(node)
        value = node.child_by_field_name("value")
        if loop is None or value is None:
            continue
        patterns = [
            context.text(p)
            for item in node.named_children
            if item.type == "case_item"
            for p in item.children_by_field_name("value")
        ]
        getopts = b"getopts" in context.data[loop.start_byte : node.start_byte]
        asked = context.text(value).strip("\"'")
        if not getopts and (
            asked not in ("$1", "${1}", "${1:-}", "$key", "$arg", "$opt", "${arg}")
            or not any(p.startswith("-") for p in patterns)
        ):
            continue
        if any(p.strip("\"'\\") in ("*", "?", "-*", "--*") or p.startswith(("*", "-*")) for p in patterns):
            continue
        if not patterns:
            continue
        in_loop, in_case = (bisect_left(shifted, n.end_byte) - bisect_left(shifted, n.start_byte) for n in (loop, node))
        shifts = in_loop > in_case
        endless = loop.type == "while_statement" and not getopts and not shifts
        key = "endless" if endless else "default"
        fix = Fix((_default_branch(context, node, asked, getopts),), applicability="safe" if endless else "unsafe")
        yield Hit(value.start_byte, value.end_byte, key, fix=fix)


def _default_branch(context: Context, case: Node, asked: str, getopts: bool) -> Edit:
    items = [c for c in case.named_children if c.type == "case_item"]
    data = context.data
    line = data.rfind(b"\n", 0, items[-1].start_byte) + 1
    indent = indent_at(data, line)
    esac = data.rfind(b"\n", 0, case.end_byte) + 1
    said = "exit 1" if getopts else f'echo "Unknown option: {asked}" >&2; exit 1'
    return Edit(esac, esac, f"{indent}*) {said} ;;\n")
