"""What a Torch binding registers and accepts, and which dtypes the Torch tests use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.design.dtypes import fold_dtype
from opdev.syntax import cpp
from opdev.syntax.file import File
from opdev.syntax.tree import ancestor, text, walk
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_CLASS = re.compile(
    rb"\b(?:class|struct)\s+(?P<name>\w+)\s*(?:final\s*)?:\s*(?:public\s+)?(?:torch::jit::|torch::)?CustomClassHolder\b"
)
_MACRO = re.compile(rb"\bREGISTER_SHMEM_OPS_CLASS\s*\((?P<args>[^()]*)\)")
_PLAIN = re.compile(rb"\bclass_\s*<\s*(?:[\w:]*::)?(?P<name>\w+)\s*>")
_DTYPE = re.compile(
    rb"\btorch\.(?P<name>float16|bfloat16|float32|float64|half|float|double|u?int(?:8|16|32|64)|bool)\b"
)
_CAST = re.compile(rb"\.(?P<name>half|float|bfloat16|double)\(\)")


@dataclass(frozen=True, slots=True)
class BindingClass:
    """A class that Torch sees: its name's range, its definition, its namespace."""

    name: str
    start: int
    end: int
    node: Node
    namespace: str

    def code(self, file: File) -> bytes:
        """The definition with comments and strings blanked."""
        return file.code[self.node.start_byte : self.node.end_byte]


@dataclass(frozen=True, slots=True)
class Registration:
    """A ``REGISTER_SHMEM_OPS_CLASS``: class, functions, range; ``functions`` is None for ``class_<…>``."""

    name: str
    functions: tuple[str, ...] | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TestDtype:
    """A dtype a Python test names (folded), and where."""

    dtype: str
    start: int
    end: int


def binding_classes(file: File) -> list[BindingClass]:
    """Classes derived from ``CustomClassHolder``, in text order."""

    def collect() -> list[BindingClass]:
        found = []
        view = View(file, 0, len(file.data))
        for match in _CLASS.finditer(file.code):
            owner = ancestor(view.node_at(*match.span("name")), "class_specifier", "struct_specifier")
            if owner is None:
                continue
            namespace = ancestor(owner, "namespace_definition")
            name = namespace.child_by_field_name("name") if namespace is not None else None
            within = text(file.data, name) if name is not None else ""
            found.append(BindingClass(match["name"].decode(), *match.span("name"), owner, within))
        return found

    return file.memo("facts.binding_classes", collect)


def registrations(file: File) -> list[Registration]:
    """Registrations of the file, in text order."""

    def collect() -> list[Registration]:
        found = []
        for match in _MACRO.finditer(file.code):
            line = file.code[file.code.rfind(b"\n", 0, match.start()) + 1 : match.start()]
            if b"define" in line:
                continue
            names = [part.strip().decode() for part in match["args"].split(b",")]
            found.append(Registration(names[0], tuple(n for n in names[1:] if n), match.start(), match.end()))
        for match in _PLAIN.finditer(file.code):
            found.append(Registration(match["name"].decode(), None, match.start(), match.end()))
        return found

    return file.memo("facts.registrations", collect)


def method(file: File, cls: BindingClass, name: str) -> Node | None:
    """A method's definition inside its class; None where it is defined elsewhere or not at all."""
    for node in walk(cls.node):
        if node.type == "function_definition" and cpp.function_name(file, node) == name:
            return node
    return None


def declares(file: File, cls: BindingClass, name: str) -> bool:
    """Whether the class mentions a method of this name."""
    return re.search(rb"\b" + re.escape(name.encode()) + rb"\s*\(", cls.code(file)) is not None


def pascal_of(path: str) -> str | None:
    """``torch_bind_all_gather.cpp`` names operator AllGather; None for any other file."""
    name = operator_of(path)
    return "".join(part.capitalize() for part in name.split("_")) if name is not None else None


def operator_of(path: str) -> str | None:
    """``torch_bind_all_gather.cpp`` binds all_gather; None for any other file."""
    match = re.fullmatch(r"torch_bind_(\w+)\.(?:cpp|cc)", path.rpartition("/")[2])
    return match[1] if match else None


def test_dtypes(file: File) -> tuple[TestDtype, ...]:
    """The dtypes a Python test names, in text order."""

    def collect() -> tuple[TestDtype, ...]:
        found = []
        for pattern in (_DTYPE, _CAST):
            for match in pattern.finditer(file.code):
                dtype = fold_dtype(match["name"].decode())
                if dtype is not None:
                    found.append(TestDtype(dtype, *match.span("name")))
        return tuple(sorted(found, key=lambda one: one.start))

    return file.memo("facts.test_dtypes", collect)
