"""The classes of a Torch binding, their registrations, and what a Torch binding is called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.syntax import cpp
from opdev.syntax.tree import ancestor, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_CLASS = re.compile(
    rb"\b(?:class|struct)\s+(?P<name>\w+)\s*(?:final\s*)?:\s*(?:public\s+)?(?:torch::jit::|torch::)?CustomClassHolder\b"
)
_MACRO = re.compile(rb"\bREGISTER_SHMEM_OPS_CLASS\s*\((?P<args>[^()]*)\)")
_PLAIN = re.compile(rb"\bclass_\s*<\s*(?:[\w:]*::)?(?P<name>\w+)\s*>")


@dataclass(frozen=True, slots=True)
class BindingClass:
    """A class that Torch sees: its name's range, its definition, its namespace."""

    name: str
    start: int
    end: int
    node: Node
    namespace: str

    def text(self, context: Context) -> bytes:
        """The definition with comments and strings blanked."""
        return context.code[self.node.start_byte : self.node.end_byte]


@dataclass(frozen=True, slots=True)
class Registration:
    """A ``REGISTER_SHMEM_OPS_CLASS``: class, functions, range; ``functions`` is None for ``class_<…>``."""

    name: str
    functions: tuple[str, ...] | None
    start: int
    end: int


def binding_classes(context: Context) -> list[BindingClass]:
    """Classes derived from ``CustomClassHolder``, in text order."""

    def collect() -> list[BindingClass]:
        found = []
        for match in _CLASS.finditer(context.code):
            node = context.node_at(match.start("name"), match.end("name"))
            owner = ancestor(node, "class_specifier", "struct_specifier")
            if owner is None:
                continue
            namespace = ancestor(owner, "namespace_definition")
            name = namespace.child_by_field_name("name") if namespace is not None else None
            found.append(
                BindingClass(
                    match["name"].decode(), match.start("name"), match.end("name"), owner,
                    context.text(name) if name is not None else "",
                )
            )  # fmt: skip
        return found

    return context.file.memo("torch.classes", collect)


def registrations(context: Context) -> list[Registration]:
    """Registrations of the file, in text order."""
    return context.file.memo("torch.registrations", lambda: _registrations(context))


def _registrations(context: Context) -> list[Registration]:
    found = []
    for match in _MACRO.finditer(context.code):
        line = context.code[context.code.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        if b"define" in line:
            continue
        names = [part.strip().decode() for part in match["args"].split(b",")]
        found.append(Registration(names[0], tuple(n for n in names[1:] if n), match.start(), match.end()))
    for match in _PLAIN.finditer(context.code):
        found.append(Registration(match["name"].decode(), None, match.start(), match.end()))
    return found


def method(context: Context, cls: BindingClass, name: str) -> Node | None:
    """A method's definition inside its class; None where it is defined elsewhere or not at all."""
    for node in walk(cls.node):
        if node.type == "function_definition" and cpp.function_name(context.file, node) == name:
            return node
    return None


def declares(context: Context, cls: BindingClass, name: str) -> bool:
    """Whether the class mentions a method of this name."""
    return re.search(rb"\b" + re.escape(name.encode()) + rb"\s*\(", cls.text(context)) is not None


def pascal_of(path: str) -> str | None:
    """``torch_bind_all_gather.cpp`` names operator AllGather; None for any other file."""
    match = re.fullmatch(r"torch_bind_(\w+)\.(?:cpp|cc)", path.rpartition("/")[2])
    return "".join(part.capitalize() for part in match[1].split("_")) if match else None
