"""Python around an operator: commands given to a shell, errors that vanish."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.import_add import add_import, binds
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import py
from opdev.syntax.tree import walk

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = re.compile(
    r"""["'](?:uname|git (?:rev-parse|describe|log|status|config)|npu-smi info|which|lscpu|nproc|hostname|clear|cls)\b"""
)
_MKDIR = re.compile(r"""(?P<open>f?["'])mkdir\s+(?P<p>-p\s+)?(?P<path>[^\s;&|<>$*"'`]+)(?P<close>["'])""")


_TEST_KINDS = frozenset({"golden", "checker", "case-runner", "torch-test"})


def _is_operators(context: Context) -> bool:
    """An operator's own script; a framework's Python has reasons of its own."""
    return context.place.operator is not None or not _TEST_KINDS.isdisjoint(context.kinds)


def shell_out(context: Context) -> Iterator[Hit]:
    """os.system, or a subprocess through a shell."""
    if not _is_operators(context):
        return
    for call in py.calls(context, "system", "popen", "run", "call", "Popen", "check_call", "check_output", "getoutput"):
        if call.dotted in ("os.system", "os.popen", "subprocess.getoutput"):
            if not call.args or _QUERY.search(context.text(call.args[0])):
                continue
            ignored = call.node.parent is not None and call.node.parent.type == "expression_statement"
            key = "default" if ignored and call.dotted == "os.system" else "shell"
            if key == "shell" and _is_constant(call):
                continue
            function = call.node.child_by_field_name("function") or call.node
            yield Hit(
                function.start_byte,
                function.end_byte,
                key,
                {"name": call.dotted},
                _made_directory(context, call) if ignored else None,
            )
            continue
        shell = call.keywords.get("shell")
        if (
            shell is not None
            and context.text(shell) == "True"
            and not (call.args and _QUERY.search(context.text(call.args[0])))
            and not _is_constant(call)
        ):
            keyword = shell.parent or shell
            yield Hit(keyword.start_byte, keyword.end_byte, "shell", {"name": call.dotted})


def _is_constant(call: py.Call) -> bool:
    """Whether the command is written out whole: nothing comes in that a shell could misread."""
    if not call.args or call.args[0].type != "string":
        return False
    return not any(child.type == "interpolation" for child in call.args[0].children)


def _made_directory(context: Context, call: py.Call) -> Fix | None:
    """``os.system("mkdir -p d")`` as os.makedirs, the only command that has one plain counterpart."""
    match = _MKDIR.fullmatch(context.text(call.args[0])) if call.dotted == "os.system" and len(call.args) == 1 else None
    if match is None:
        return None
    text = f"os.makedirs({match['open']}{match['path']}{match['close']}, exist_ok=True)"
    edits = [Edit(call.start, call.end, text)]
    if not binds(context, "os"):
        added = add_import(context, "import os")
        if added is None:
            return None
        edits.insert(0, added)
    return Fix(tuple(edits), "makedirs")


def swallowed_exception(context: Context) -> Iterator[Hit]:
    """``except:`` or ``except Exception:`` that does nothing about the error."""
    if not _is_operators(context):
        return
    for clause in context.nodes("except", "except_clause"):
        block = clause.named_children[-1]
        head = context.data[clause.start_byte : block.start_byte].decode("utf-8", "replace").split("#")[0]
        bare = re.fullmatch(r"except\s*:\s*", head) is not None
        if not bare and not re.fullmatch(r"except\s+\(?(?:Base)?Exception\)?(?:\s+as\s+\w+)?\s*:\s*", head):
            continue
        if block.type != "block" or _reacts(block, bare=bare):
            continue
        end = clause.start_byte + len(head.rstrip().rstrip(":").rstrip().encode())
        yield Hit(clause.start_byte, end, "bare" if bare else "default")


def _reacts(block: Node, *, bare: bool) -> bool:
    """Whether a handler raises again; or, of a named exception, does anything at all."""
    if any(node.type == "raise_statement" for node in walk(block)):
        return True
    if bare:
        # What ends the process, or hands a verdict back, has taken the error up.
        return any(n.type in ("return_statement", "call") and n.named_child_count for n in walk(block))
    statements = [c for c in block.named_children if c.type != "comment"]
    return any(s.type not in ("pass_statement", "continue_statement") for s in statements)
