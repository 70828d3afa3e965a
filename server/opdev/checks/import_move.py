"""Moving an import from module level into the functions that use what it binds.

The edit is offered only where it is the one a careful author would make: every use lies in a
function body, nothing else binds the name, and no comment or neighbour on the line gets lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix
from opdev.syntax.tree import ancestors, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_PATTERNS = {"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "tuple", "list"}
_BINDS_LEFT = {"assignment", "augmented_assignment", "for_statement", "for_in_clause"}
_PARAMETERS = {
    "parameters", "lambda_parameters", "default_parameter", "typed_parameter", "typed_default_parameter",
    "list_splat_pattern", "dictionary_splat_pattern",
}  # fmt: skip
_OWN_BINDING = {
    "function_definition", "class_definition", "as_pattern_target", "global_statement", "nonlocal_statement",
    "delete_statement", "named_expression", "keyword_pattern", "case_pattern", "type_parameter",
}  # fmt: skip
# The DSL parses the bodies of these; an import is no part of its language.
_KERNEL = re.compile(r"@\s*(?:pl|pypto)\b|\bjit\b")
_BY_NAME = frozenset({b"__all__", b"globals", b"vars"})
_NOISE = re.compile(r"#\s*(?:noqa|pylint|type:\s*ignore|ruff|isort|pyright)", re.IGNORECASE)


@dataclass(frozen=True)
class Moved:
    """A statement to move: by bound name its head and item, and what remains of the statement."""

    node: Node
    names: Mapping[str, tuple[str, str]]
    rest: str = ""


def into_functions(context: Context, moved: Moved) -> Fix | None:
    """The fix; None where moving is not plainly right.

    Without a use the statement is taken out, as a suggestion only.
    """
    node = moved.node
    if node.parent is None or node.parent.type != "module" or any(n.type == "comment" for n in walk(node)):
        return None
    removal = _removal(context, node, moved.rest)
    if removal is None:
        return None
    targets: dict[int, tuple[Node, list[str]]] = {}
    for bound in moved.names:
        functions = _functions_using(context, bound, node)
        if functions is None:
            return None
        for function in functions:
            targets.setdefault(function.start_byte, (function, []))[1].append(bound)
    if not targets:
        return Fix((removal[0],), "unused", "suggestion")
    edits = [removal[0]]
    for function, bounds in targets.values():
        edit = _insertion(context, function, _lines(moved, bounds, removal[1]))
        if edit is None:
            return None
        edits.append(edit)
    return Fix(tuple(edits))


def _lines(moved: Moved, bounds: list[str], comment: str) -> list[str]:
    heads: dict[str, list[str]] = {}
    for bound in bounds:
        head, item = moved.names[bound]
        heads.setdefault(head, []).append(item)
    lines = [f"{head} {', '.join(items)}".strip() for head, items in heads.items()]
    return [f"{line}  {comment}" if comment else line for line in lines]


def _removal(context: Context, node: Node, rest: str) -> tuple[Edit, str] | None:
    """The edit that takes the statement out, and the comment that stood behind it."""
    source, data = context.file.source, context.data
    first, last = node.start_point[0], source.line_of(node.end_byte)
    begin, end = source.line_starts[first], source.line_range(last)[1]
    if data[begin : node.start_byte].strip():
        return None
    behind = data[node.end_byte : end].decode("utf-8", "replace").strip()
    if behind and not behind.startswith("#"):
        return None
    if rest:
        return Edit(node.start_byte, node.end_byte, rest), ""
    starts = source.line_starts
    after = last + 1
    stop = starts[after] if after < len(starts) else len(data)

    def blank(line: int) -> bool:
        return 0 <= line < len(starts) and line != len(starts) - 1 and not source.line_bytes(line).strip()

    # Alone between blank lines: the smaller of the two gaps goes with the statement.
    above = below = 0
    while blank(first - above - 1):
        above += 1
    while blank(after + below):
        below += 1
    begin = starts[first - min(above, below)]
    return Edit(begin, stop, ""), "" if _NOISE.match(behind) else behind


def _functions_using(context: Context, bound: str, statement: Node) -> list[Node] | None:
    """The function definitions whose bodies use a module-level name; None where moving is unsafe."""
    # __all__ = ["name"], globals()["name"]: uses that look like any other string.
    by_name = not _BY_NAME.isdisjoint(context.file.words)
    users: dict[int, Node] = {}
    own: set[int] = set()
    for at in context.find(bound, text=context.data):
        if statement.start_byte <= at < statement.end_byte:
            continue
        node = context.file.root.descendant_for_byte_range(at, at + len(bound.encode()))
        if node is None:
            return None
        if by_name and node.type == "string_content" and context.text(node) == bound:
            return None
        if node.type != "identifier" or node.start_byte != at:
            continue
        role = _role(node)
        if role == "other":
            continue
        home = _home(node)
        if role == "import":
            if home is None:
                return None
            own.add(home.start_byte)
        elif role == "bind" or home is None or _is_kernel(context, home):
            return None
        else:
            users[home.start_byte] = home
    return [
        function
        for start, function in sorted(users.items())
        if start not in own and not any(a.start_byte in own or _covers(users, a) for a in ancestors(function))
    ]


def _covers(users: Mapping[int, Node], node: Node) -> bool:
    return node.type == "function_definition" and node.start_byte in users


def _role(node: Node) -> str:
    """What an identifier does: use the name, bind it, import it, or mean something else."""
    parent = node.parent
    if parent is None:
        return "other"
    if parent.type == "attribute" and parent.child_by_field_name("attribute") == node:
        return "other"
    if parent.type == "keyword_argument" and parent.child_by_field_name("name") == node:
        return "other"
    for above in ancestors(node):
        if above.type in ("import_statement", "import_from_statement"):
            return "import" if _bound_by(above, node) else "other"
        if above.type not in ("dotted_name", "aliased_import"):
            break
    if parent.type in _PARAMETERS:
        value = parent.child_by_field_name("value")
        return "use" if value == node else "bind"
    if parent.type in _OWN_BINDING:
        name = parent.child_by_field_name("name")
        return "bind" if name is None or name == node else "use"
    here = node
    while here.parent is not None and here.parent.type in _PATTERNS:
        here = here.parent
    above_node = here.parent
    if above_node is not None and above_node.type in _BINDS_LEFT and above_node.child_by_field_name("left") == here:
        return "bind"
    return "use"


def _bound_by(statement: Node, node: Node) -> bool:
    """Whether this identifier is what the import statement binds."""
    for child in statement.children_by_field_name("name"):
        if child.start_byte <= node.start_byte < child.end_byte:
            if child.type == "aliased_import":
                return child.child_by_field_name("alias") == node
            return node.start_byte == child.start_byte
    return False


def _home(node: Node) -> Node | None:
    """The function whose body runs this node; None for module level (class bodies, defaults, decorators)."""
    below = node
    for above in ancestors(node):
        if above.type == "function_definition" and above.child_by_field_name("body") == below:
            return above
        below = above
    return None


def _is_kernel(context: Context, function: Node) -> bool:
    for node in (function, *ancestors(function)):
        decorated = node.parent if node.type == "function_definition" else None
        if decorated is not None and decorated.type == "decorated_definition":
            for child in decorated.children:
                if child.type == "decorator" and _KERNEL.search(context.text(child)):
                    return True
    return False


def _insertion(context: Context, function: Node, lines: list[str]) -> Edit | None:
    """Where the import goes: first in the body, after the docstring and imports that stand there."""
    source, data = context.file.source, context.data
    body = function.child_by_field_name("body")
    statements = [c for c in body.named_children if c.type != "comment"] if body is not None else []
    if body is None or not statements:
        return None
    first = statements[0]
    anchor = first if _is_docstring(first) else None
    if not _starts_line(context, first):
        # def f(x): return g(x)
        if anchor is not None:
            return None
        inner = "\n" + _indent(data, source.line_starts[function.start_point[0]]) + "    "
        begin = data.rfind(b":", 0, first.start_byte) + 1
        return Edit(begin, first.start_byte, "".join(inner + line for line in lines) + inner)
    for statement in statements[1:] if anchor is not None else statements:
        if statement.type not in ("import_statement", "import_from_statement"):
            break
        anchor = statement
    inner = _indent(data, source.line_starts[first.start_point[0]])
    text = "".join(inner + line + "\n" for line in lines)
    if anchor is None:
        # A comment that opens the body belongs to the statement below it.
        heads = [c for c in (*function.children, *body.children) if c.type == "comment" and _starts_line(context, c)]
        top = min((first, *heads), key=lambda node: node.start_byte)
        at = source.line_starts[top.start_point[0]]
        return Edit(at, at, text)
    line = source.line_of(anchor.end_byte)
    behind = data[anchor.end_byte : source.line_range(line)[1]].strip()
    if (behind and not behind.startswith(b"#")) or line + 1 >= len(source.line_starts):
        return None
    at = source.line_starts[line + 1]
    return Edit(at, at, text)


def _starts_line(context: Context, node: Node) -> bool:
    begin = context.file.source.line_starts[node.start_point[0]]
    return not context.data[begin : node.start_byte].strip()


def _is_docstring(statement: Node) -> bool:
    return (
        statement.type == "expression_statement"
        and statement.named_child_count == 1
        and statement.named_children[0].type in ("string", "concatenated_string")
    )


def _indent(data: bytes, line_start: int) -> str:
    match = re.compile(rb"[ \t]*").match(data, line_start)
    return match.group().decode() if match else ""
