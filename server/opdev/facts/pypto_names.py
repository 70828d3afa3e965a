"""What a file of a PyPTO operator is called, and to which operator and module that says it belongs.

Folders are no help: they are often CamelCase, and tests and documents stand in folders of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from opdev.syntax import py
from opdev.syntax.file import File
from opdev.syntax.tree import text
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

Part = Literal["impl", "golden", "test"]

_MODULE = re.compile(r"(?P<op>\w+?)_module(?P<suffix>\d+)")
_PRO = re.compile(rb"\bpypto_pro\b|\bpl\.jit\b")
_IMPL = re.compile(r"\w+_impl(?:_[a-z0-9]+)?")


class Files(Protocol):
    """What an operator has to offer to be asked for its files."""

    def files(self, *kinds: str) -> Iterable[File]: ...


@dataclass(frozen=True, slots=True)
class Named:
    """``demo_module12_impl.py`` is part ``impl`` of operator ``demo``, suffix ``12``; the suffix is empty for the whole."""

    op: str
    part: Part
    suffix: str = ""


def named(path: str) -> Named | None:
    """What a path says; None for a file that is none of an operator's three parts."""
    stem = path.rpartition("/")[2].removesuffix(".py")
    part: Part
    if stem.startswith("test_"):
        part, name = "test", stem[len("test_") :]
    elif stem.endswith("_golden"):
        part, name = "golden", stem[: -len("_golden")]
    elif _IMPL.fullmatch(stem):
        part, name = "impl", stem[: stem.rindex("_impl")]
    else:
        return None
    module = _MODULE.fullmatch(name)
    return Named(module["op"], part, module["suffix"]) if module else Named(name, part)


def is_pro(file: File) -> bool:
    """Whether a file is PyPTO-Pro's, where kernels stand in the test."""
    return _PRO.search(file.data) is not None


def is_classic_test(file: File, project: Files | None) -> bool:
    """Whether a test is one of a classic operator: beside its ``*_impl.py``, or importing it."""
    if is_pro(file):
        return False
    if impl_imports(file):
        return True
    return project is not None and any(True for _ in project.files("pypto-impl"))


def impl_imports(file: File) -> list[py.Import]:
    """Imports of, or from, a module that is an implementation by its name."""
    whole = View(file, 0, len(file.data))
    found = [one for one in py.imports(whole) if one.module.split(".")[0] != "pypto"]
    return [
        one
        for one in found
        if _IMPL.fullmatch(one.module.rpartition(".")[2]) or (one.name is not None and _IMPL.fullmatch(one.name))
    ]


def test_functions(file: File) -> dict[str, Node]:
    """The names of the tests of a file with the node of each name, in text order."""
    found: dict[str, Node] = {}
    for segment in file.segments:
        node = segment.node
        if node is not None and node.type == "decorated_definition":
            node = node.child_by_field_name("definition")
        where = node.child_by_field_name("name") if node is not None and node.type == "function_definition" else None
        if where is not None and text(file.data, where).startswith("test"):
            found.setdefault(text(file.data, where), where)
    return found


def first_code(file: File) -> tuple[int, int]:
    """What to show where something is missing from a file: its first import, else its first line of code."""
    whole = View(file, 0, len(file.data))
    for one in py.imports(whole):
        return one.node.start_byte, one.node.end_byte
    for child in file.root.named_children:
        if child.type != "comment":
            stop = file.data.find(b"\n", child.start_byte)
            return child.start_byte, min(child.end_byte, stop if stop >= 0 else child.end_byte)
    return 0, 0
