"""Kernels of classic PyPTO: functions decorated with ``@pypto.frontend.jit``, and how they are reached.

A kernel is traced, not run: only what its parser knows may stand in it, and its tensors come and
go through its parameters.  Everything here is found from words, never by walking whole files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from opdev.syntax import py
from opdev.syntax.file import File
from opdev.syntax.tree import ancestors, text
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

Role = Literal["tensor", "scalar", "foreign", "bare", "star", "keyword"]

_JIT = re.compile(r"(?P<alias>\w+)\.frontend\.jit|(?P<short>pypto)\.jit")
_TENSOR = re.compile(r"(?:(?P<of>[\w.]+)\.)?[Tt]ensor\b")
_DTYPE = re.compile(r"\bDT_\w+")
_CALLED = re.compile(rb"(?<![\w.])([A-Za-z_]\w*)[ \t]*\(")
_WRAPPER = re.compile(r"host_wrapper|\w+_wrapper|launch_\w+|run_\w+")
_DYNAMIC_NAME = re.compile(rb"^\w+[ \t]*(?::[^=\n]*)?=[ \t]*(?:\w+\.)*(?:DYN(?:AMIC)?\b|dynamic[ \t]*\()", re.MULTILINE)
_WORDS = re.compile(r"\w+")
_DEF = re.compile(rb"^(?:async[ \t]+)?def[ \t]+\w+", re.MULTILINE)
_STUB = b"PYPTO_PENDING_STUB"
_FOR_TRYING = frozenset({"_validate", "_make_inputs", "main", "_self_test", "_demo", "_test"})
_SCOPES = ("function_definition", "lambda", "class_definition")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    ``role`` is what the parser takes it for: a tensor, a scalar (annotated otherwise), ``foreign``
    (a tensor of another library, which it takes for a scalar), ``bare`` (no annotation: a scalar,
    too); ``star`` and ``keyword`` it refuses.
    """

    name: str
    node: Node
    role: Role
    annotation: Node | None = None
    default: Node | None = None
    dtype: str = ""
    """``DT_BF16``; empty where the annotation names none."""


@dataclass(frozen=True)
class Decorated:
    """A function the parser reads instead of Python running it; ``alias`` is what its package is called in the decorator."""

    name: str
    node: Node
    decorator: Node
    alias: str
    file: File

    @property
    def name_node(self) -> Node:
        return self.node.child_by_field_name("name") or self.node

    @property
    def body(self) -> Node:
        return self.node.child_by_field_name("body") or self.node

    @cached_property
    def view(self) -> View:
        """The function's text alone, decorators left out."""
        return View(self.file, self.node.start_byte, self.node.end_byte, self.node)

    def owns(self, node: Node) -> bool:
        """Whether a node is in the function's own scope, not in a function inside it."""
        return scope_of(node) == self.node


@dataclass(frozen=True)
class Kernel(Decorated):
    """One kernel; ``spelled`` is its decorator as written."""

    spelled: str

    @cached_property
    def parameters(self) -> list[Parameter]:
        return list(parameters(self.file, self.node))

    @property
    def tensors(self) -> dict[str, Parameter]:
        return {p.name: p for p in self.parameters if p.role == "tensor"}


def kernels(view: View) -> list[Kernel]:
    """The kernels of a range, in text order; also those of ``@pypto.jit``, which newer versions have.

    Of a test that expects an error none: what is wrong in its kernels is meant.
    """
    return view.file.memo(("pypto.kernels", view.start, view.end, view.node is None), lambda: _kernels(view))


def _kernels(view: View) -> list[Kernel]:
    if expects_error(view):
        return []
    return [
        Kernel(name, function, decorator, match["alias"] or match["short"], view.file, match[0])
        for match, name, function, decorator in decorated(view, ("jit",), _JIT)
    ]


def expects_error(view: View) -> bool:
    """Whether a definition is a test that wants what it does to fail: ``with pytest.raises(…)``."""
    return view.node is not None and any(True for _ in view.find("raises"))


def decorated(
    view: View, words: Iterable[str], pattern: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], str, Node, Node]]:
    """(match, name, function, decorator) of the functions of a range with a decorator of this spelling, in text order.

    One of ``words`` stands in the decorator; blanks and the decorator's arguments are no part of what is matched.
    """
    for at in sorted(at for word in words for at in view.find(word)):
        top = view.file.root.named_descendant_for_byte_range(at, at + 2)
        while top is not None and top.parent is not None and top.parent.type in ("attribute", "call"):
            top = top.parent
        decorator = top.parent if top is not None else None
        if top is None or decorator is None or decorator.type != "decorator":
            continue
        callee = top.child_by_field_name("function") if top.type == "call" else top
        match = pattern.fullmatch(re.sub(r"\s+", "", text(view.data, callee))) if callee is not None else None
        outer = decorator.parent
        function = outer.child_by_field_name("definition") if outer is not None else None
        if match is None or function is None or function.type != "function_definition":
            continue
        name = function.child_by_field_name("name")
        yield match, text(view.data, name) if name is not None else "", function, decorator


def kernel_names(file: File) -> frozenset[str]:
    """The names of all kernels of a file."""
    whole = View(file, 0, len(file.data))
    return frozenset(k.name for k in kernels(whole))


def parameters(file: File, function: Node) -> Iterator[Parameter]:
    """The parameters of a function definition, in order."""
    holder = function.child_by_field_name("parameters")
    keyword = False
    for child in holder.named_children if holder is not None else []:
        if child.type == "comment":
            continue
        if child.type == "keyword_separator":
            keyword = True
            continue
        if child.type == "positional_separator":
            continue
        if child.type in ("list_splat_pattern", "dictionary_splat_pattern"):
            keyword = keyword or child.type == "list_splat_pattern"
            yield Parameter(text(file.data, child), child, "star")
            continue
        name = child.child_by_field_name("name") or (child if child.type == "identifier" else inner(child))
        if name is None:
            continue
        if name.type in ("list_splat_pattern", "dictionary_splat_pattern"):
            keyword = keyword or name.type == "list_splat_pattern"
            yield Parameter(text(file.data, name), name, "star")
            continue
        annotation = child.child_by_field_name("type")
        default = child.child_by_field_name("value")
        role, dtype = _role(file, annotation)
        yield Parameter(text(file.data, name), name, "keyword" if keyword else role, annotation, default, dtype)


def _role(file: File, annotation: Node | None) -> tuple[Role, str]:
    if annotation is None:
        return "bare", ""
    written = text(file.data, annotation).strip("'\" ")
    match = _TENSOR.match(written)
    if match is None:
        return "scalar", ""
    if match["of"] and match["of"].split(".")[0] in ("torch", "np", "numpy"):
        return "foreign", ""
    dtype = _DTYPE.search(written)
    return "tensor", dtype[0] if dtype else ""


def inner(node: Node) -> Node | None:
    """The first named child; None without any."""
    return node.named_children[0] if node.named_child_count else None


def scope_of(node: Node) -> Node | None:
    """The innermost function, lambda or class around a node."""
    return next((a for a in ancestors(node) if a.type in _SCOPES), None)


def functions(file: File) -> dict[str, Node]:
    """The functions defined at the top of a file by name; where a name is there twice the later one."""

    def collect() -> dict[str, Node]:
        found: dict[str, Node] = {}
        for segment in file.segments:
            node = segment.node
            if node is None or node.parent is None or node.parent.type != "module":
                continue
            if node.type == "decorated_definition":
                node = node.child_by_field_name("definition")
            name = node.child_by_field_name("name") if node is not None and node.type == "function_definition" else None
            if node is not None and name is not None:
                found[text(file.data, name)] = node
        return found

    return file.memo("pypto.functions", collect)


def defined(view: View) -> list[str]:
    """The names of the functions defined at the top of a file, told without its tree: a keystroke asks for them."""
    return [view.data[start:end].split()[-1].decode("utf-8", "replace") for start, end in view.spans(_DEF)]


def called(file: File, node: Node) -> list[str]:
    """Bare names called in a range, each once, in text order."""
    found = _CALLED.findall(file.code, node.start_byte, node.end_byte)
    return list(dict.fromkeys(name.decode() for name in found))


def reached(file: File, starts: Iterable[Node]) -> dict[int, Node]:
    """The functions of the file that ``starts`` call by bare name, directly or not, by their place; ``starts`` too."""
    known = functions(file)
    found: dict[int, Node] = {}
    waiting = list(starts)
    while waiting:
        node = waiting.pop()
        if node.start_byte in found:
            continue
        found[node.start_byte] = node
        waiting += [known[name] for name in called(file, node) if name in known]
    return found


def is_wrapper(name: str) -> bool:
    """Whether a function's name says that it launches kernels from the host."""
    return _WRAPPER.fullmatch(name) is not None


def wrappers(file: File) -> list[Node]:
    """The functions of the file that launch kernels from the host, by their names."""
    return [node for name, node in functions(file).items() if is_wrapper(name)]


def is_for_trying(name: str) -> bool:
    """Whether a function's name says that it only tries the operator out, and is no part of it."""
    return name in _FOR_TRYING


def is_stub(file: File) -> bool:
    """Whether a file only holds the place of one still to be written."""
    return _STUB in file.data[:512]


def aliases(file: File) -> frozenset[str]:
    """What PyPTO is called in the file: ``pypto``, and what it is imported as."""

    def collect() -> frozenset[str]:
        whole = View(file, 0, len(file.data))
        found = {one.bound for one in py.imports(whole) if one.module == "pypto" and one.name is None}
        return frozenset({"pypto", *found})

    return file.memo("pypto.aliases", collect)


def is_loop(file: File, node: Node | None, *, unroll: bool = True) -> bool:
    """Whether an expression is ``pypto.loop(…)`` (or ``loop_unroll``), whatever PyPTO is called."""
    callee = node.child_by_field_name("function") if node is not None and node.type == "call" else None
    if callee is None or callee.type != "attribute":
        return False
    name = callee.child_by_field_name("attribute")
    return name is not None and text(file.data, name) in (("loop", "loop_unroll") if unroll else ("loop",))


def loop_around(file: File, call: Node) -> Node | None:
    """The ``for`` statement a loop call is the iterator of."""
    parent = call.parent
    found = parent is not None and parent.type == "for_statement" and parent.child_by_field_name("right") == call
    return parent if found and is_loop(file, call) else None


def dynamic_names(view: View) -> frozenset[str]:
    """Names of the file that stand for a dynamic axis: ``B = pypto.DYNAMIC``, ``B = pypto.frontend.dynamic("B")``."""
    return frozenset(
        view.data[start:end].split(b"=")[0].split(b":")[0].strip().decode("utf-8", "replace")
        for start, end in view.spans(_DYNAMIC_NAME)
    )


def is_dynamic(file: File, annotation: Node | None, names: frozenset[str]) -> bool:
    """Whether a parameter's annotation has a dynamic axis; ``names`` are those of ``dynamic_names``."""
    if annotation is None:
        return False
    words = set(_WORDS.findall(text(file.data, annotation)))
    return not words.isdisjoint({"DYNAMIC", "DYN", *names})
