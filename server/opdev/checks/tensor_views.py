"""Whether a Python expression is certainly a non-contiguous view of a tensor.

Only what holds whatever the tensor's sizes (sizes of one aside) counts: transposing, a slice with
a step or below the first dimension, expanding, and the parts of a split along such a dimension.
A value of unknown origin, a copy or a move to a device is no view.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.syntax.file import File
from opdev.syntax.tree import ancestor, ancestors
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_REORDER = frozenset({"permute", "transpose", "t", "swapaxes", "swapdims", "movedim", "moveaxis", "adjoint"})
_EXPAND = frozenset({"expand", "expand_as", "broadcast_to", "unfold", "diagonal"})
_ALONG = frozenset({"select", "narrow"})
_PARTS = frozenset({"chunk", "split", "unbind", "tensor_split", "split_with_sizes"})
_SAME = frozenset({"squeeze", "unsqueeze", "detach", "view"})
_TRANSPOSED = frozenset({"T", "mT", "H", "mH"})
_BLOCKS = ("block", "module", "function_definition")
_MAX_STEPS = 20


@dataclass(frozen=True, slots=True)
class Made:
    """How a view came to be: ``how`` as shown to the user, ``node`` the expression that makes it."""

    how: str
    node: Node


class Views:
    """Asks one file's expressions; variables are followed to the assignments that reach them."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.told: set[tuple[object, ...]] = set()
        """What whoever asks has reported by now."""

    def _text(self, node: Node) -> str:
        return self.file.source.text(node.start_byte, node.end_byte)

    def of(self, node: Node, steps: int = 0) -> Made | None:
        """How ``node`` is a non-contiguous view; None where it is none or cannot be known."""
        if steps > _MAX_STEPS:
            return None
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            return self.of(node.named_children[0], steps + 1)
        if node.type == "identifier":
            return self._variable(node, steps)
        if node.type == "attribute":
            name = node.child_by_field_name("attribute")
            return Made(f".{self._text(name)}", node) if name is not None and self._text(name) in _TRANSPOSED else None
        if node.type == "conditional_expression":
            one, other = self.of(node.named_children[0], steps + 1), self.of(node.named_children[-1], steps + 1)
            return one if other is not None else None
        if node.type == "subscript":
            return self._subscript(node, steps)
        if node.type == "call":
            return self._call(node, steps)
        return None

    def _call(self, node: Node, steps: int) -> Made | None:
        method, base, arguments = self._method(node)
        if base is None:
            return None
        if method in _SAME:
            return self.of(base, steps + 1)
        if method in _EXPAND:
            return Made(f"{method}()", node)
        numbers = [self._int(a) for a in arguments]
        if method in _REORDER:
            same = None not in numbers and (
                numbers == list(range(len(numbers))) if method == "permute" else len(set(numbers)) == 1
            )
            return None if numbers and same else Made(f"{method}()", node)
        if method in _ALONG:
            return Made(f"{method}(dim={numbers[0]})", node) if numbers and numbers[0] not in (0, None) else None
        return None

    def _parts(self, node: Node) -> Made | None:
        """``x.chunk(2, dim=-1)`` and its like: how each of the parts is a view."""
        if node.type != "call":
            return None
        method, base, arguments = self._method(node)
        if base is None or method not in _PARTS:
            return None
        at = 0 if method == "unbind" else 1
        dim = self._int(arguments[at]) if len(arguments) > at else 0
        for name, value in self._keywords(node):
            if name == "dim":
                dim = self._int(value)
        return Made(f"{method}(dim={dim})", node) if dim not in (0, None) else None

    def _method(self, node: Node) -> tuple[str, Node | None, list[Node]]:
        """Method, the tensor it is called on, its other positional arguments; ``torch.f(x)`` is ``x.f()``."""
        function, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or listed is None or function.type != "attribute":
            return "", None, []
        name, base = function.child_by_field_name("attribute"), function.child_by_field_name("object")
        if name is None or base is None:
            return "", None, []
        arguments = [a for a in listed.named_children if a.type not in ("comment", "keyword_argument")]
        if len(arguments) == 1 and arguments[0].type in ("tuple", "list") and self._text(name) == "permute":
            arguments = arguments[0].named_children
        if self._text(base) == "torch":
            return self._text(name), (arguments[0] if arguments else None), arguments[1:]
        return self._text(name), base, arguments

    def _keywords(self, call: Node) -> Iterator[tuple[str, Node]]:
        listed = call.child_by_field_name("arguments")
        for child in listed.named_children if listed is not None else []:
            name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if child.type == "keyword_argument" and name is not None and value is not None:
                yield self._text(name), value

    def _int(self, node: Node) -> int | None:
        text = self._text(node).replace(" ", "")
        return int(text) if re.fullmatch(r"-?\d{1,4}", text) else None

    def _subscript(self, node: Node, steps: int) -> Made | None:
        base = node.child_by_field_name("value")
        if base is None:
            return None
        elements = node.children_by_field_name("subscript")
        parts = self._parts(self._reaching(base) or base) if len(elements) == 1 else None
        if parts is not None and self._int(elements[0]) is not None:
            return parts
        if parts is not None:
            return None
        verdict = self._index([self._text(e).replace(" ", "") for e in elements], elements)
        if verdict:
            return Made(re.sub(r"\s+", " ", self.file.source.text(base.end_byte, node.end_byte)), node)
        return self.of(base, steps + 1) if verdict is None else None

    @staticmethod
    def _index(texts: list[str], nodes: list[Node]) -> bool | None:
        """Whether an index makes a view non-contiguous: True, False (or unknown), None (leaves it as it was)."""
        wide = changed = noncontiguous = False
        for text, node in zip(texts, nodes, strict=True):
            if text == "None":
                continue
            if text == "...":
                wide = True
            elif node.type == "slice":
                first, last, step = (*text.split(":"), "", "")[:3]
                if text.count(":") != len(text.split(":")) - 1 or ("(" in text and ":" in text[text.index("(") :]):
                    return False
                if step not in ("", "1"):
                    noncontiguous = True
                bounded = first not in ("", "0") or last != ""
                noncontiguous |= bounded and wide
                changed |= bounded
                one = (first, last) in (("", "1"), ("0", "1")) or (first != "" and last == f"{first}+1")
                wide |= not one
            elif re.fullmatch(r"-?\d+", text):
                noncontiguous |= wide
                changed = True
            else:
                return False
        return True if noncontiguous else (False if changed else None)

    def _variable(self, node: Node, steps: int) -> Made | None:
        for value in self._reaching_all(node):
            target = value.parent.child_by_field_name("left") if value.parent is not None else None
            several = target is not None and target.type in ("pattern_list", "tuple_pattern", "list_pattern")
            made = self._parts(value) if several else self.of(value, steps + 1)
            if made is not None:
                return made
        return None

    def _reaching(self, node: Node) -> Node | None:
        """The value a variable certainly has here; None if that is not one value."""
        values = self._reaching_all(node)
        return values[0] if len(values) == 1 else None

    def _reaching_all(self, node: Node) -> list[Node]:
        """The values a variable may have here, each on some path that certainly exists; empty if unknown."""
        if node.type != "identifier":
            return []
        found: list[Node] = []
        here = ancestor(node, *_BLOCKS)
        branch: Node | None = None
        for name in reversed(self._bindings(node)):
            assignment = ancestor(name, "assignment")
            if assignment is None or not _is_target(name, assignment):
                return found
            value, block = assignment.child_by_field_name("right"), ancestor(assignment, *_BLOCKS)
            if value is None or block is None:
                return found
            if any(above == block for above in ancestors(node)):
                # Every path passes here, unless a branch after it assigns again on all of them.
                return found if _covers(branch, found) else [*found, value]
            inside = _child_of(here, assignment)
            # Only branches of the one `if` before the use: conditions of two may go together.
            if inside is None or inside.type != "if_statement" or branch not in (None, inside) or _leaves(block):
                return found
            branch = inside
            if not any(ancestor(other, *_BLOCKS) == block for other in found):
                found.append(value)
        return found

    def _bindings(self, node: Node) -> list[Node]:
        """Where a variable is bound in its function before ``node`` is evaluated, in text order."""
        function = ancestor(node, "function_definition", "lambda")
        if function is not None and function.type == "lambda":
            return []
        start, end = (function.start_byte, function.end_byte) if function is not None else (0, len(self.file.data))
        # An assignment is made after its right side is read.
        statement = ancestor(node, "assignment")
        before = statement.start_byte if statement is not None else node.start_byte
        size = node.end_byte - node.start_byte
        found = []
        for at in View(self.file, start, min(end, before)).find(self._text(node)):
            name = self.file.root.named_descendant_for_byte_range(at, at + size - 1)
            if name is not None and self._binds(name) and ancestor(name, "function_definition", "lambda") == function:
                found.append(name)
        return found

    def entries(self, node: Node) -> Iterator[tuple[str, Node]]:
        """What a dictionary passed as ``**node`` holds by then: key, value."""
        if node.type != "identifier":
            return
        for at in self._bindings(node)[-1:]:
            assignment = ancestor(at, "assignment")
            value = assignment.child_by_field_name("right") if assignment is not None else None
            for pair in value.named_children if value is not None and value.type == "dictionary" else []:
                yield from self._entry(pair.child_by_field_name("key"), pair.child_by_field_name("value"))
        function = ancestor(node, "function_definition")
        start = function.start_byte if function is not None else 0
        for offset in View(self.file, start, node.start_byte).find(self._text(node)):
            name = self.file.root.named_descendant_for_byte_range(offset, offset + 1)
            item = name.parent if name is not None else None
            if item is None or item.type != "subscript" or item.child_by_field_name("value") != name:
                continue
            assignment, block = item.parent, ancestor(item, *_BLOCKS)
            if assignment is None or assignment.type != "assignment" or assignment.child_by_field_name("left") != item:
                continue
            here = ancestor(node, *_BLOCKS)
            if any(above == block for above in ancestors(node)) or _child_of(here, assignment) is not None:
                yield from self._entry(item.child_by_field_name("subscript"), assignment.child_by_field_name("right"))

    def _entry(self, key: Node | None, value: Node | None) -> Iterator[tuple[str, Node]]:
        if key is not None and value is not None and key.type == "string":
            yield self._text(key).strip("\"'"), value

    @staticmethod
    def _binds(name: Node) -> bool:
        """Whether an identifier is bound where it stands: assignment, loop, with, parameter, del."""
        here = name
        while (above := here.parent) is not None:
            if above.type in ("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"):
                here = above
                continue
            if above.type in ("assignment", "augmented_assignment", "for_statement", "for_in_clause"):
                return above.child_by_field_name("left") == here
            if above.type == "named_expression":
                return above.child_by_field_name("name") == here
            if above.type in ("default_parameter", "typed_parameter", "typed_default_parameter"):
                return above.named_children[0] == here
            return above.type in (
                "as_pattern_target",
                "parameters",
                "del_statement",
                "global_statement",
                "nonlocal_statement",
            )
        return False


def _is_target(name: Node, assignment: Node) -> bool:
    """``a, b = f()`` binds both; a chained ``a = b = f()`` is left alone."""
    left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
    if left is None or right is None or right.type == "assignment":
        return False
    return left == name or (left.type in ("pattern_list", "tuple_pattern", "list_pattern") and name.parent == left)


def _child_of(block: Node | None, node: Node) -> Node | None:
    """The statement of ``block`` that ``node`` lies in."""
    here: Node | None = node
    while here is not None and here.parent != block:
        here = here.parent
    return here


def _leaves(block: Node) -> bool:
    last = block.named_children[-1] if block.named_children else None
    return last is not None and last.type in (
        "return_statement",
        "raise_statement",
        "continue_statement",
        "break_statement",
    )


def _covers(branch: Node | None, values: list[Node]) -> bool:
    """Whether ``values`` are assigned in every branch of an ``if``."""
    if branch is None:
        return False
    parts = [c for c in branch.named_children if c.type in ("block", "elif_clause", "else_clause")]
    if not any(part.type == "else_clause" for part in parts):
        return False
    return all(any(_child_of(branch, value) == part for value in values) for part in parts)
