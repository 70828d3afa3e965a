"""The literal list of cases in run_case_matrix.py: dicts, tuples, or calls of a case class.

What the list is made of is looked up, never run.  A list that is partly computed is read as far as it is
written out and marked incomplete.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from opdev.design.arithmetic import evaluate
from opdev.design.dtypes import fold_dtype
from opdev.facts.cases import NAMES, Case, CaseList, Value, case_of
from opdev.syntax import py
from opdev.syntax.file import File
from opdev.syntax.tree import ancestor, walk
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_LIST = re.compile(r"(?:\w*_)?(?:cases?|case_matrix|matrix)(?:_\w*)?\Z", re.IGNORECASE)
_NAME = re.compile(rb"(?i)\b(?:\w*_)?(?:cases?|matrix)(?:_\w*)?[ \t]*(?::[^=\n]*)?\+?=(?!=)")
_WORDS = re.compile(r"\w+")
_CATEGORIES = {"functional", "boundary", "stress", "performance"}
_SCALES = {"XS", "S", "M", "L"}
_KNOWN = {name for names in NAMES.values() for name in names}
_MOST = 2000


def cases_in(file: File) -> CaseList | None:
    """The cases a runner lists itself; None where it has no such list."""
    if file.language != "python":
        return None
    view = View(file, 0, len(file.data))
    found: list[Case] = []
    complete = True
    first: Node | None = None
    for name, value in _assigned(view):
        if value.type not in ("list", "tuple"):
            # CASES = FUNCTIONAL_CASES + BOUNDARY_CASES says nothing new; a comprehension or a call makes cases.
            complete = complete and value.type in ("binary_operator", "identifier")
            complete = complete and not any(n.type in ("call", "list_comprehension") for n in walk(value))
            continue
        columns = _columns(view, name, value)
        items = [c for c in value.named_children if c.type != "comment"]
        read = [_case(view, item, columns) for item in items[:_MOST]]
        if items and not any(read):
            continue
        first = first or value
        found += [case for case in read if case is not None]
        complete = complete and len(items) <= _MOST and all(read)
    if first is None or not found:
        return None
    if re.search(rb"\.(?:append|extend|insert)\s*\(", file.code) and _grows(view):
        complete = False
    return CaseList(tuple(found), "runner", complete, first.start_byte, first.start_byte + 1, file.path)


def _assigned(view: View) -> Iterator[tuple[str, Node]]:
    """Lists of cases by their names, in text order."""
    for start, end in view.spans(_NAME):
        node = view.node_at(start, end)
        node = node if node is not None and node.type in ("assignment", "augmented_assignment") else None
        if node is None:
            inner = view.node_at(start, start + 1)
            node = ancestor(inner, "assignment", "augmented_assignment")
        if node is None:
            continue
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type != "identifier" or left.start_byte != start:
            continue
        name = view.text(left)
        if _LIST.match(name) and right.type in ("list", "tuple", "binary_operator", "list_comprehension", "call"):
            if right.type == "call" and not re.search(r"append|extend|product|make|build|gen", view.text(right)[:200]):
                continue
            yield name, right


def _grows(view: View) -> bool:
    return any(
        _LIST.match(call.dotted.rpartition(".")[0].rpartition(".")[2])
        for call in py.calls(view, "append", "extend", "insert")
    )


def _case(view: View, item: Node, columns: list[str]) -> Case | None:
    if item.type == "dictionary":
        return case_of(_pairs(view, item), item.start_byte, item.end_byte)
    if item.type in ("tuple", "list"):
        cells = [c for c in item.named_children if c.type != "comment"]
        values = [_value(view, c) for c in cells]
        return case_of(_by_column(values, columns), item.start_byte, item.end_byte)
    if item.type == "call":
        arguments = item.child_by_field_name("arguments")
        function = item.child_by_field_name("function")
        if arguments is None or function is None:
            return None
        fields = _fields(view, view.text(function).rpartition(".")[2])
        positional = [
            _value(view, c) for c in arguments.named_children if c.type not in ("keyword_argument", "comment")
        ]
        given = _by_column(positional, fields) if fields or not positional else _by_column(positional, columns)
        for child in arguments.named_children:
            key, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if child.type == "keyword_argument" and key is not None and value is not None:
                read = _value(view, value)
                if read is not None:
                    given[view.text(key)] = read
        return case_of(given, item.start_byte, item.end_byte)
    return None


def _pairs(view: View, dictionary: Node) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for pair in dictionary.named_children:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if pair.type != "pair" or key is None or value is None:
            continue
        name, read = py.string_value(view.file, key), _value(view, value)
        if name is not None and read is not None:
            found[name] = read
    return found


def _value(view: View, node: Node) -> Value | None:
    """A literal's text: strings without quotes, shapes as a list, formulas worked out."""
    text = view.text(node)
    start, end = node.start_byte, node.end_byte
    if node.type in ("string", "concatenated_string"):
        inner = py.string_value(view.file, node)
        return Value(inner, start, end, inner) if inner is not None else None
    if node.type in ("list", "tuple", "parenthesized_expression"):
        return Value(f"[{text[1:-1].strip().rstrip(',')}]", start, end, (1,))
    if node.type == "none":
        return Value("", start, end)
    number = evaluate(text.replace("_", "")) if node.type in ("integer", "binary_operator") else None
    if number is not None:
        return Value(str(int(number)) if number == int(number) else repr(number), start, end, number)
    if node.type in ("integer", "float", "unary_operator", "binary_operator"):
        return Value(text, start, end, 0.5)
    if node.type == "attribute" and fold_dtype(text.rpartition(".")[2]):
        return Value(text.rpartition(".")[2], start, end, "")
    return Value("", start, end) if node.type in ("identifier", "attribute", "call", "true", "false") else None


def _by_column(values: list[Value | None], columns: list[str]) -> dict[str, Value]:
    if columns:
        return {column: value for column, value in zip(columns, values, strict=False) if value is not None}
    found: dict[str, Value] = {}
    for value in values:
        if value is not None:
            kind = _shape_of(value, found)
            if kind and kind not in found:
                found[kind] = value
    return found


def _shape_of(value: Value, known: Mapping[str, Value]) -> str | None:
    """Which field a value is by its looks."""
    text, plain = value.text.strip(), value.plain
    if isinstance(plain, tuple) or (isinstance(plain, str) and re.fullmatch(r"[\[(][\d\s,x*]+[\])]", text)):
        return "shape"
    if isinstance(plain, (int, float)):
        whole = plain == int(plain)
        return (
            "n_pes"
            if whole and 1 <= plain <= 64 and "n_pes" not in known
            else "shape"
            if whole and plain > 64
            else None
        )
    if fold_dtype(text):
        return "dtype"
    if text in _CATEGORIES:
        return "category"
    if text in _SCALES:
        return "scale"
    if isinstance(plain, str) and re.fullmatch(r"[\w.-]+", text):
        return "case_id"
    return None


def _columns(view: View, name: str, value: Node) -> list[str]:
    """Names of a tuple's places: from the loop that unpacks it, else from a comment at its top."""
    unpacked = view.file.memo(("facts.unpacked", name), lambda: _unpacked(view, name))
    if unpacked:
        return unpacked
    comments = [c for c in value.named_children[:1] if c.type == "comment"]
    statement = ancestor(value, "expression_statement")
    before = statement.prev_named_sibling if statement is not None else None
    if before is not None and before.type == "comment":
        comments.append(before)
    for comment in comments:
        words = _WORDS.findall(view.text(comment))
        if len(set(words) & _KNOWN) >= 3:
            return words
    return []


def _unpacked(view: View, name: str) -> list[str]:
    """What the first loop over a list calls the places of its tuples; empty without one."""
    for at in view.find(name):
        node = view.node_at(at, at + len(name))
        loop = node.parent if node is not None else None
        if loop is None or loop.type not in ("for_statement", "for_in_clause"):
            continue
        left = loop.child_by_field_name("left")
        unpacks = left is not None and left.type in ("pattern_list", "tuple_pattern")
        if left is not None and unpacks and loop.child_by_field_name("right") == node:
            return [view.text(c) for c in left.named_children if c.type != "comment"]
    return []


def _fields(view: View, name: str) -> list[str]:
    """Fields of a dataclass or named tuple of this file, in order; empty where there is none of that name."""
    return view.file.memo(("facts.fields", name), lambda: _read_fields(view, name))


def _read_fields(view: View, name: str) -> list[str]:
    for at in view.find(name):
        node = view.node_at(at, at + len(name))
        parent = node.parent if node is not None else None
        if node is None or parent is None:
            continue
        if parent.type == "class_definition" and parent.child_by_field_name("name") == node:
            body = parent.child_by_field_name("body")
            found = []
            for line in body.named_children if body is not None else []:
                inner = line.named_children[0] if line.type == "expression_statement" and line.named_children else line
                left = inner.child_by_field_name("left") if inner.type == "assignment" else None
                if left is not None and inner.child_by_field_name("type") is not None:
                    found.append(view.text(left))
            return found
        if parent.type == "assignment" and parent.child_by_field_name("left") == node:
            right = parent.child_by_field_name("right")
            if right is not None and "namedtuple" in view.text(right)[:40]:
                return [
                    w for w in _WORDS.findall(view.text(right).partition(",")[2]) if w not in ("defaults", "rename")
                ]
    return []
