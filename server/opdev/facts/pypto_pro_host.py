"""The host side of a PyPTO-Pro operator: its public wrapper, what that reaches, and where it launches a kernel.

A launch is written ``kernel[stream, block_dim](…)``; some versions also take a plain call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.facts.pypto_kernels import called, functions, is_wrapper
from opdev.facts.pypto_names import Named, is_pro, named
from opdev.facts.pypto_pro import Files, is_pro_project, traced
from opdev.syntax.file import File
from opdev.syntax.tree import ancestors, text
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_WRAPPER = re.compile(r"(?:\w+_)?wrapper(?:_module\d+)?")
_TRIES = re.compile(r"test|perf|bench|case|example|golden|reference|demo")
_SUBSCRIPT = re.compile(rb"\][ \t]*\(")


@dataclass(frozen=True)
class Launch:
    """One launch: the call, and the kernel as written before the subscript."""

    node: Node
    kernel: str
    place: Node
    """What to show: the subscript, or the called name."""


def pro_test(file: File, project: Files | None) -> Named | None:
    """The name of a test of a PyPTO-Pro operator; None for other tests."""
    name = named(file.path)
    if name is None or name.part != "test" or not (is_pro(file) or is_pro_project(project)):
        return None
    return name


def is_staged(file: File, name: Named) -> bool:
    """Whether a test is of a stage under development and not the delivered one."""
    return bool(name.suffix) or file.path.rpartition("/")[0].endswith("/modules")


def kernel_names_of(file: File) -> frozenset[str]:
    """The names of a file's PyPTO-Pro kernels."""
    return frozenset(one.name for one in traced(View(file, 0, len(file.data)), "jit"))


def public_wrappers(file: File) -> dict[str, Node]:
    """The functions that launch kernels for others, by their names; in a test ``run_…`` is a helper of its cases."""
    test = file.path.rpartition("/")[2].startswith("test_")
    return {
        name: node
        for name, node in functions(file).items()
        if _WRAPPER.fullmatch(name) or (not test and is_wrapper(name) and not _TRIES.search(name))
    }


def host_side(file: File, starts: list[Node]) -> dict[int, Node]:
    """``starts`` and the functions they call by bare name, directly or not; kernels and their like are not entered."""
    known = functions(file)
    inside = {one.name for one in traced(View(file, 0, len(file.data)))}
    found: dict[int, Node] = {}
    waiting = list(starts)
    while waiting:
        node = waiting.pop()
        if node.start_byte in found:
            continue
        found[node.start_byte] = node
        waiting += [known[name] for name in called(file, node) if name in known and name not in inside]
    return found


def launches(file: File, node: Node) -> list[Launch]:
    """The launches in a function, in text order."""

    def collect() -> list[Launch]:
        return sorted(_launches(file, node), key=lambda one: one.node.start_byte)

    return file.memo(("pypto.launches", node.start_byte, node.end_byte), collect)


def launched_by(subscript: Node | None) -> Node | None:
    """The call in ``kernel[stream, blocks](…)``; None for a subscript that is not called."""
    call = subscript.parent if subscript is not None and subscript.type == "subscript" else None
    return (
        call if call is not None and call.type == "call" and call.child_by_field_name("function") == subscript else None
    )


def _launches(file: File, node: Node) -> Iterator[Launch]:
    for match in _SUBSCRIPT.finditer(file.code, node.start_byte, node.end_byte):
        subscript = file.root.named_descendant_for_byte_range(match.start(), match.start())
        call = launched_by(subscript)
        if subscript is None or call is None:
            continue
        value = subscript.child_by_field_name("value")
        if value is not None and len(subscript.children_by_field_name("subscript")) == 2:
            yield Launch(call, text(file.data, value), subscript)
    for name in kernel_names_of(file):
        for match in re.finditer(
            rb"(?<![\w.])%s[ \t]*\(" % re.escape(name.encode()), file.code[node.start_byte : node.end_byte]
        ):
            at = node.start_byte + match.start()
            callee = file.root.named_descendant_for_byte_range(at, at + len(name) - 1)
            call = callee.parent if callee is not None else None
            if callee is not None and call is not None and call.type == "call":
                yield Launch(call, name, callee)


def in_loop(function: Node, node: Node) -> bool:
    """Whether a node of a function runs several times in one call of it."""
    kinds = (
        "for_statement",
        "while_statement",
        "list_comprehension",
        "generator_expression",
        "dictionary_comprehension",
    )
    return any(a.type in kinds and a.start_byte > function.start_byte for a in ancestors(node))
