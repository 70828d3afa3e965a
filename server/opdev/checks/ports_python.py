"""Endpoints in Python: torch tests, case runners, whatever starts PEs from a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks import endpoints
from opdev.checks.endpoints import IPPORT
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Severity
from opdev.syntax import py
from opdev.syntax.tree import ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_QUOTED = re.compile(
    rb"""(?P<f>\b[fF])?(?P<q>["'])(?P<text>(?:tcp6?://[^"'\n]+|(?:[\d.]+|localhost|\[[0-9A-Fa-f:]+\]):\d+))(?P=q)"""
)
_SUM = re.compile(rb"""["']tcp6?://[A-Za-z0-9_.\[\]:-]+:["']\s*\+\s*str\((?P<port>[^()\n]+)\)""")
_FALLBACK_CALLS = {"get", "getenv", "setdefault", "pop", "print", "log", "info", "debug", "warning", "error",
                   "startswith", "endswith", "replace", "split", "match", "fullmatch", "search", "findall", "raises",
                   "init_process_group", "assertEqual"}  # fmt: skip
_OTHER_KEYWORDS = {"init_method", "help", "metavar", "usage", "description", "epilog", "match"}
_FIELD = re.compile(r"tcp6?://(?P<host>[\w.\[\]:-]+?):(?P<port>.*)")


# A constant that is only the second argument of an environment look-up.
_DEFAULTS = re.compile(rb"(?:environ\.get|getenv|setdefault)\([^,()]+,\s*(\w+)\s*\)|\bor\s+(\w+)")
_CONSTANTS = re.compile(rb"^(\w+)\s*=\s*\d+\s*(?:#.*)?$", re.MULTILINE)
_COMPUTED = re.compile(rb"\b(\w+)\s*=[^=\n]*(?:random|getpid|environ|getenv|free|\()")


def hardcoded(context: Context) -> Iterator[Hit]:
    """Literal endpoints that an exported IPPORT or SHMEM_UID_SESSION_ID cannot replace."""
    for match in _QUOTED.finditer(context.nocomment):
        node = _string_at(context, match.start("q"))
        if node is None or node.end_byte != match.end() or _is_text(node):
            continue
        text = match["text"].decode("utf-8", "replace")
        variable = _meant(context, node, text)
        if variable is None or _has_fallback(context, node, variable):
            continue
        args: dict[str, object] = {"name": _target(context, node) or variable, "value": text, "env": variable}
        start, end = node.start_byte, node.end_byte
        if match["f"]:
            how = _port_is(context, text)
            if how is not None:
                yield Hit(start, end, how, args, severity="warning" if how == "computed" else None)
            continue
        found = endpoints.parse(text)
        if found is None or not found.port:
            continue
        fix = _fix(context, node, variable)
        if (default := _is_default(node)) is not None:
            yield Hit(start, end, "option", args, fix, severity="warning" if default == "parameter" else None)
        else:
            yield Hit(start, end, args=args, fix=fix)
    yield from _added_up(context)


def _string_at(context: Context, at: int) -> Node | None:
    node = context.file.root.descendant_for_byte_range(at, at + 1)
    while node is not None and node.type != "string":
        node = node.parent
    return node


def _is_text(node: Node) -> bool:
    """Docstrings and strings nobody uses."""
    parent = node.parent
    return parent is None or parent.type in ("expression_statement", "concatenated_string")


def _meant(context: Context, node: Node, text: str) -> str | None:
    """The variable an endpoint belongs to: by its scheme, or by the key or name it is given to."""
    target = _target(context, node)
    by_name = endpoints.variable_of(target) if target else None
    if text.startswith("tcp"):
        return by_name or IPPORT
    return by_name


def _target(context: Context, node: Node) -> str:
    """The name, key or keyword a value is given to; empty without one."""
    here = node
    for above in ancestors(node):
        if above.type in ("conditional_expression", "parenthesized_expression", "boolean_operator"):
            here = above
            continue
        if above.type in ("assignment", "default_parameter", "typed_default_parameter", "keyword_argument", "pair"):
            left = above.child_by_field_name("left") or above.child_by_field_name("name")
            left = left or above.child_by_field_name("key")
            if left is None or left.id == here.id:
                return ""
            if left.type == "subscript":
                left = left.child_by_field_name("subscript") or left
            return context.text(left).strip("\"'").rpartition(".")[2]
        return ""
    return ""


def _has_fallback(context: Context, node: Node, variable: str) -> bool:
    """Whether the literal only serves where the environment says nothing, or is not an endpoint in use."""
    asked = re.compile(rf"{variable}|environ|getenv|{re.escape(_target(context, node) or variable)}".encode())
    inside = node
    for above in ancestors(node):
        if above.type == "argument_list" and above.parent is not None:
            function = above.parent.child_by_field_name("function")
            name = context.text(function).rpartition(".")[2] if function is not None else ""
            if name in _FALLBACK_CALLS:
                return True
        if above.type == "keyword_argument":
            keyword = above.child_by_field_name("name")
            if keyword is not None and context.text(keyword) in _OTHER_KEYWORDS:
                return True
        if above.type == "boolean_operator" and above.child_by_field_name("right") == inside:
            return True
        if above.type in ("comparison_operator", "assert_statement", "raise_statement"):
            return True
        if above.type == "conditional_expression" and asked.search(context.data, above.start_byte, above.end_byte):
            return True
        if above.type in ("if_statement", "elif_clause"):
            condition = above.child_by_field_name("condition")
            if condition is not None and asked.search(context.data, condition.start_byte, condition.end_byte):
                return True
        if above.type in ("function_definition", "module"):
            return _is_default_for(context, node)
        inside = above
    return False


def _is_default_for(context: Context, node: Node) -> bool:
    """A constant that is only the second argument of an environment look-up somewhere."""
    name = _target(context, node)
    if not name or not re.fullmatch(r"[A-Za-z_]\w*", name):
        return False
    return name.encode() in context.file.memo("ports_python.defaults", lambda: _found(_DEFAULTS, context.code))


def _found(pattern: re.Pattern[bytes], text: bytes) -> frozenset[bytes]:
    """The names a pattern's groups take out of a text."""
    return frozenset(name for match in pattern.finditer(text) for name in match.groups() if name)


def _is_default(node: Node) -> str | None:
    """``option`` or ``parameter`` for the default of either, None for anything else."""
    parent = node.parent
    if parent is None:
        return None
    if parent.type in ("default_parameter", "typed_default_parameter"):
        return "parameter"
    name = parent.child_by_field_name("name") if parent.type == "keyword_argument" else None
    return "option" if name is not None and name.text == b"default" else None


def _added_up(context: Context) -> Iterator[Hit]:
    """``"tcp://127.0.0.1:" + str(8662 + rank)``."""
    for match in _SUM.finditer(context.nocomment):
        node = _string_at(context, match.start())
        if node is None or _has_fallback(context, node, IPPORT):
            continue
        how = _port_is(context, f"tcp://h:{{{match['port'].decode('utf-8', 'replace')}}}")
        if how is not None:
            name = _target(context, node.parent) if node.parent is not None else ""
            args = {"name": name or IPPORT, "value": match[0].decode("utf-8", "replace"), "env": IPPORT}
            severity: Severity | None = "warning" if how == "computed" else None
            yield Hit(match.start(), match.end(), how, args, severity=severity)


def _port_is(context: Context, text: str) -> str | None:
    """``fixed`` or ``computed`` for the port of an f-string, None where it is left to others."""
    match = _FIELD.fullmatch(text)
    if match is None or "{" in match["host"]:
        return None
    port = match["port"]
    if port.isdigit():
        return "default" if int(port) else None
    inner = re.fullmatch(r"(\d*)\{([^{}]+)\}", port)
    if inner is None or "(" in inner[2]:
        return None
    expression = inner[2].partition(":")[0].strip()
    names = re.findall(r"[A-Za-z_]\w*", expression)
    if re.fullmatch(r"[A-Za-z_]\w*", expression) and not inner[1]:
        constants = context.file.memo("ports_python.constants", lambda: _found(_CONSTANTS, context.nocomment))
        return "default" if expression.encode() in constants else None
    literal = inner[1] or re.search(r"\b\d{4,5}\b", expression)
    computed = context.file.memo("ports_python.computed", lambda: _found(_COMPUTED, context.code))
    known = not any(name.encode() in computed for name in names)
    return "computed" if literal and names and known else None


def _fix(context: Context, node: Node, variable: str) -> Fix | None:
    """Ask the environment first; adds ``import os`` where it is missing."""
    literal = context.text(node)
    parent = node.parent
    edits: list[Edit] = []
    left = parent.child_by_field_name("left") if parent is not None and parent.type == "assignment" else None
    if left is not None and left.type == "subscript" and "environ" in context.text(left):
        key = left.child_by_field_name("subscript")
        holder = left.child_by_field_name("value")
        if parent is None or key is None or holder is None or context.text(holder) != "os.environ":
            return None
        text = f"os.environ.setdefault({context.text(key)}, {literal})"
        return Fix((Edit(parent.start_byte, parent.end_byte, text),), "keep")
    os_is_bound, first = context.file.memo("ports_python.imports", lambda: _imports(context))
    if not os_is_bound:
        if first is None or first.start_point[1] != 0:
            return None
        edits.append(Edit(first.start_byte, first.start_byte, "import os\n"))
    edits.append(Edit(node.start_byte, node.end_byte, f'os.environ.get("{variable}", {literal})'))
    return Fix(tuple(edits), "keep")


def _imports(context: Context) -> tuple[bool, Node | None]:
    """Whether the module binds ``os``, and its first import another may stand before."""
    at_top = [i for i in py.imports(context) if py.is_module_level(i.node)]
    first = next((i.node for i in at_top if i.module != "__future__"), None)
    return any(i.bound == "os" for i in at_top), first
