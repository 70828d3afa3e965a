"""Endpoints in C++: an option's default, a literal handed to the set-up, ``setenv``."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks import endpoints
from opdev.checks.endpoints import IPPORT, SESSION
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp
from opdev.syntax.tree import ancestor, ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERAL = re.compile(rb'"(?P<text>tcp6?://[^"\n]+:\d+)"')
_ABSENT = re.compile(rb"getenv|nullptr|NULL|empty\(\)|==\s*0|!\s*\w+")
_SAYS = re.compile(r"printf|cout|cerr|\blog|LOG|getenv|find|compare|strcmp|EXPECT|ASSERT|<<", re.IGNORECASE)


def hardcoded(context: Context) -> Iterator[Hit]:
    """Default endpoints a run without arguments or without an export falls back to."""
    yield from _exported(context)
    for match in _LITERAL.finditer(context.nocomment):
        text = match["text"].decode("ascii", "replace")
        if not endpoints.is_bootstrap_url(text):
            continue
        node = context.file.root.named_descendant_for_byte_range(match.start(), match.end())
        if node is None or node.type not in ("string_literal", "string_content"):
            continue
        literal = node if node.type == "string_literal" else node.parent
        name = _target(context, literal) if literal is not None else None
        if literal is None or name is None or _asks_environment(context, literal):
            continue
        if name and _always_given(context, name):
            continue
        args = {"name": name or IPPORT, "value": text, "env": IPPORT, "command": _callee(context, literal)}
        if name and _never_replaced(context, name):
            message = "default"
        else:
            message = "cpp" if name or not args["command"] else "argument"
        yield Hit(match.start(), match.end(), message, args, severity="warning")


def _never_replaced(context: Context, name: str) -> bool:
    """Whether a program gives a variable its endpoint once and for all: no other assignment, no way to hand it out."""
    return context.file.memo(("ports_cpp.fixed", name), lambda: _given_once(context, name))


def _given_once(context: Context, name: str) -> bool:
    if next(context.find("main"), None) is None or context.file.path.endswith((".h", ".hpp")):
        return False
    word = re.escape(name.encode())
    given = re.findall(rb"\b" + word + rb"(?:\[[^\]]*\])?\s*=(?!=)", context.code)
    return len(given) == 1 and not re.search(rb"(?:&\s*|>>\s*|cpy\w*\(\s*)" + word + rb"\b", context.code)


def _callee(context: Context, literal: Node) -> str:
    """The function a literal is handed to."""
    call = ancestor(literal, "call_expression")
    function = call.child_by_field_name("function") if call is not None else None
    return context.text(function) if function is not None else ""


def _exported(context: Context) -> Iterator[Hit]:
    for call in cpp.calls(context, "setenv"):
        texts = call.arg_texts
        if len(texts) != 3 or texts[0].strip('"') not in (IPPORT, SESSION) or texts[2] not in ("1", "true"):
            continue
        value = texts[1].strip('"')
        found = endpoints.parse(value)
        if not texts[1].startswith('"') or found is None or not found.port or _asks_environment(context, call.node):
            continue
        last = call.args[2]
        fix = Fix((Edit(last.start_byte, last.end_byte, "0"),), "setenv")
        name = texts[0].strip('"')
        args = {"name": name, "value": value, "env": name}
        yield Hit(call.args[1].start_byte, call.args[1].end_byte, args=args, fix=fix)


def _target(context: Context, node: Node) -> str | None:
    """The variable a literal is given to; empty for a call's argument, None where it is only text."""
    for above in ancestors(node):
        if above.type == "init_declarator":
            named = above.child_by_field_name("declarator")
            return _last_name(context, named) if named is not None else ""
        if above.type in ("field_declaration", "optional_parameter_declaration"):
            named = above.child_by_field_name("declarator")
            return _last_name(context, named) if named is not None else ""
        if above.type == "assignment_expression":
            left = above.child_by_field_name("left")
            return _last_name(context, left) if left is not None else ""
        if above.type == "binary_expression":
            return None
        if above.type == "call_expression":
            function = above.child_by_field_name("function")
            if function is None or _SAYS.search(context.text(function)):
                return None
            if context.text(function).rpartition("::")[2] not in ("string", "strcpy", "strncpy", "setenv", "c_str"):
                return ""
            if context.text(function).endswith("setenv"):
                return None
            if context.text(function).endswith("cpy"):
                return ""
        if above.type.endswith("_statement") or above.type in ("translation_unit", "compound_statement"):
            return None
    return None


def _last_name(context: Context, node: Node) -> str:
    words = re.findall(r"[A-Za-z_]\w*", context.text(node).partition("[")[0])
    return words[-1] if words else ""


def _always_given(context: Context, name: str) -> bool:
    """Whether the arguments replace the default on every run: ``ipport = argv[3];`` under no condition."""
    return context.file.memo(("ports_cpp.given", name), lambda: _given_by_arguments(context, name))


def _given_by_arguments(context: Context, name: str) -> bool:
    for at in context.find(name):
        node = context.file.root.named_descendant_for_byte_range(at, at + len(name))
        assigned = ancestor(node, "assignment_expression") if node is not None else None
        if assigned is None or b"argv" not in context.data[assigned.start_byte : assigned.end_byte]:
            continue
        left = assigned.child_by_field_name("left")
        if left is None or not left.start_byte <= at < left.end_byte:
            continue
        conditional = ("if_statement", "conditional_expression", "for_statement", "while_statement", "case_statement")
        if ancestor(assigned, *conditional) is None:
            return True
    return False


def _asks_environment(context: Context, node: Node) -> bool:
    """Whether the environment was asked first, in the same expression or by the condition around it."""
    function = ancestor(node, "function_definition") or context.root
    asked = context.file.memo("ports_cpp.getenv", lambda: [m.start() for m in re.finditer(rb"getenv", context.data)])
    index = bisect_left(asked, function.start_byte)
    if index == len(asked) or asked[index] >= node.end_byte:
        return False
    for above in ancestors(node):
        if above.type == "conditional_expression":
            return True
        if above.type in ("init_declarator", "assignment_expression"):
            if b"getenv" in context.data[above.start_byte : above.end_byte]:
                return True
        elif above.type == "if_statement":
            condition = above.child_by_field_name("condition")
            if condition is not None and _ABSENT.search(context.data, condition.start_byte, condition.end_byte):
                return True
        elif above.type == "function_definition":
            return False
    return False
