"""Symmetric-heap allocations in host code, and the variables that hold them.

Rules follow a pointer by its name within one function: what the code says there is what a reader sees.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.facts.local_values import function_range, values_given
from opdev.syntax import cpp
from opdev.syntax.cpp import Call
from opdev.syntax.tree import ancestor, ancestors
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

ALLOCATORS = ("aclshmem_malloc", "aclshmem_calloc", "aclshmem_align", "aclshmemx_malloc", "aclshmemx_calloc",
              "aclshmemx_align", "shmem_malloc", "shmem_calloc", "shmem_align")  # fmt: skip
FREES = ("aclshmem_free", "aclshmemx_free", "shmem_free")
_PE = re.compile(
    r"\b(?:\w*_)?(?:my_?pe|pe_?id|my_?rank|rank_?id|device_?id|dev_?id)(?:_\w*)?\b|\b(?:rank|pe)\b|\b(?:acl)?shmem_my_pe\b",
    re.IGNORECASE,
)
_CASTS = re.compile(r"^\s*(?:\((?:const\s+)?[\w:]+\s*\**\s*\)|(?:static|reinterpret|const)_cast\s*<[^<>]*>)\s*")


_COMPARED = re.compile(r"([\w.\->]+(?:\(\s*\))?)\s*(?:[!=]=|%)\s*([\w.\->]+(?:\(\s*\))?)")


@dataclass(frozen=True, slots=True)
class Allocation:
    """One allocator call and where its result goes.

    ``holder`` is the variable as written (``sync_ptr_``, ``ctx->buf``); empty when there is none.
    ``how`` is ``declared``, ``assigned``, ``wrapped`` (given to a constructor or a ``reset``), ``returned``,
    ``tested`` (in a condition) or ``passed``.
    """

    call: Call
    holder: str
    how: str
    statement: Node

    @property
    def size_text(self) -> str:
        """The bytes asked for, as written (for calloc the count)."""
        texts = self.call.arg_texts
        index = 1 if self.call.name.endswith("_align") else 0
        return texts[index] if index < len(texts) else ""

    @property
    def host_side(self) -> bool:
        return any("HOST_SIDE" in text for text in self.call.arg_texts)


def allocations(context: View) -> list[Allocation]:
    """Allocator calls in the context's range, in text order."""

    def collect() -> list[Allocation]:
        return [_allocation(context, call) for call in cpp.calls(context, *ALLOCATORS) if not call.namespace]

    return context.file.memo(("heap.allocations", context.start, context.end), collect)


def _allocation(context: View, call: Call) -> Allocation:
    here = call.node
    while here.parent is not None:
        above = here.parent
        kind = above.type
        if kind == "init_declarator":
            how = "wrapped" if here.type in ("argument_list", "initializer_list") else "declared"
            name = above.child_by_field_name("declarator")
            return Allocation(call, _bare(context.text(name)) if name is not None else "", how, call.statement)
        if kind == "assignment_expression":
            left = above.child_by_field_name("left")
            how = "tested" if ancestor(above, "condition_clause") is not None else "assigned"
            return Allocation(call, _bare(context.text(left)) if left is not None else "", how, call.statement)
        if kind == "return_statement":
            return Allocation(call, "", "returned", call.statement)
        if kind in ("binary_expression", "unary_expression", "condition_clause", "conditional_expression"):
            return Allocation(call, "", "tested", call.statement)
        if kind in ("field_initializer", "new_expression"):
            name = above.named_children[0] if above.named_children else None
            return Allocation(call, _bare(context.text(name)) if name is not None else "", "wrapped", call.statement)
        if kind == "call_expression" and here.type == "argument_list":
            callee = above.child_by_field_name("function")
            text = context.text(callee) if callee is not None else ""
            if "_cast" not in text:
                if text.endswith(".reset"):
                    return Allocation(call, text[: -len(".reset")], "wrapped", call.statement)
                return Allocation(call, text, "passed", call.statement)
        if kind in ("compound_statement", "function_definition", "lambda_expression"):
            break
        here = above
    return Allocation(call, "", "unused", call.statement)


def _bare(text: str) -> str:
    """A declarator's or an assigned expression's name: no stars, no blanks."""
    return re.sub(r"\s+|^[*&\s]+", "", text)


def argument_name(text: str) -> str:
    """The variable an argument names, casts and ``.get()`` left out."""
    before = None
    while before != text:
        before = text
        text = _CASTS.sub("", text).strip()
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1].strip()
    return re.sub(r"\.get\(\)$", "", re.sub(r"\s+", "", text).lstrip("&"))


def names_pe(text: str) -> bool:
    """Whether an expression speaks of this PE (its id, rank or device), not of their number."""
    return _PE.search(text) is not None


def pe_branch(view: View, one: Allocation) -> Node | None:
    """The innermost ``if`` that only some PEs enter and the allocation stands in; None without one."""
    for node in ancestors(one.call.node):
        if node.type == "function_definition":
            return None
        condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
        if condition is not None and singles_out(view.text(condition)):
            return node
    return None


def singles_out(condition: str) -> bool:
    """Whether a condition picks PEs (``my_pe == 0``, ``rank % 2``), rather than checking an id's range."""
    return any(names_pe(side) for match in _COMPARED.finditer(condition) for side in match.groups())


def initial_text(context: View, name: str, at: int) -> str:
    """What a local variable was last given before ``at`` in its function; empty if unknown."""
    given = values_given(context.file, *function_range(context, at)).get(name, [])
    for index in range(bisect_right(given, at, key=lambda one: one[0]) - 1, -1, -1):
        text = given[index][1]
        if "{" not in text and "}" not in text:
            return text.strip()
    return ""


def name_pattern(name: str) -> str:
    """A pattern for a variable as a whole, blanks inside it allowed."""
    parts = re.findall(r"\w+|->|\W", name)
    return r"(?<![\w.>])(?:this\s*->\s*)?" + r"\s*".join(re.escape(part) for part in parts) + r"(?!\w)"


def is_test(context: View) -> bool:
    """Whether the file is a unit test, where a crash on a null pointer is a failed test and no more."""
    return b"gtest/gtest.h" in context.data or b"EXPECT_" in context.code or b"ASSERT_NE" in context.code


def member_like(name: str) -> bool:
    """Whether a name lives longer than one function."""
    return name.endswith("_") or name.startswith(("m_", "g_", "s_")) or "->" in name or "." in name
