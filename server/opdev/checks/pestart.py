"""How a script starts PEs, and what becomes of them when it ends early."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks import shellflow
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash
from opdev.syntax.tree import ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_COUNTS_PES = re.compile(
    rb"\b(?:PE_?SIZE|N_?PES|NUM_?PES|PES|GNPU_?NUM|N_?RANKS|RANK_?SIZE|WORLD_?SIZE|NPU_?NUM)\b", re.I
)


def pe_in_foreground(context: Context) -> Iterator[Hit]:
    """A loop over the PEs that waits for each before it starts the next."""
    for command in bash.commands(context):
        loop = bash.in_loop(command.node)
        words = command.effective
        if loop is None or not words or not shellflow.runs_binary(context, words[0].raw) or _detached(command, loop):
            continue
        head, variable = _head(context, loop)
        if not variable or not _COUNTS_PES.search(head):
            continue
        handed = re.compile(r"\$\{?" + re.escape(variable) + r"\b|\b" + re.escape(variable) + r"\b")
        if any(handed.search(w.raw) for w in words[1:]):
            args = {"command": words[0].loose, "variable": variable}
            yield Hit(words[0].start, words[0].end, args=args)


def _detached(command: bash.Command, loop: Node) -> bool:
    """Whether anything between the command and its loop is started with ``&``."""
    here: Node | None = command.node
    while here is not None and here.id != loop.id:
        if shellflow.is_background(here):
            return True
        here = here.parent
    return shellflow.is_background(loop)


def _head(context: Context, loop: Node) -> tuple[bytes, str]:
    """What stands before ``do``, and the variable that counts."""
    body = next((c.start_byte for c in loop.children if c.type == "do_group"), loop.end_byte)
    head = context.data[loop.start_byte : body]
    found = re.match(rb"for\s*\(\(\s*(\w+)\s*=|for\s+(\w+)\s+in\b", head)
    name = (found[1] or found[2]) if found is not None else b""
    return head, name.decode()


def missing_pe_cleanup(context: Context) -> Iterator[Hit]:
    """Background PEs that outlive the script: no trap, no time-out that ends them."""
    if re.search(rb"\btrap\b", context.code):
        return
    commands = bash.commands(context)
    if any(c.effective_name in ("kill", "pkill", "timeout") or c.name == "timeout" for c in commands):
        return
    for command in commands:
        if not command.background or shellflow.role(context, command) != "PE":
            continue
        words = command.effective
        args = {"command": words[0].loose}
        yield Hit(words[0].start, words[0].end, args=args, fix=_trap(context, command))
        return


def _trap(context: Context, command: bash.Command) -> Fix | None:
    """A trap above the top-level statement that starts the first PE."""
    if shellflow.is_posix_sh(context):
        return None
    top = next(
        (n for n in (command.node, *ancestors(command.node)) if n.parent is not None and n.parent.type == "program"),
        None,
    )
    if top is None or top.type == "function_definition" or bash.in_function(command.node) is not None:
        return None
    begin = context.data.rfind(b"\n", 0, top.start_byte) + 1
    if context.data[begin : top.start_byte].strip():
        return None
    return Fix((Edit(begin, begin, "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"),))
