"""Every place an operator's name stands, for renaming it in one go and for finding who speaks of it.

A name is written in three ways: ``reduce_scatter``, ``REDUCE_SCATTER`` (macros), ``ReduceScatter`` (Torch
classes).  It may be part of a longer word (``launch_reduce_scatter``, ``libreduce_scatter_kernel.so``); names of
SHMEM, HCCL and CANN that hold it are theirs and are left out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from opdev.design.document import document_of
from opdev.design.markdown import stretches
from opdev.facts.kernels import kernels
from opdev.syntax import cmake
from opdev.syntax.file import File
from opdev.syntax.tree import walk
from opdev.syntax.view import View

Role = Literal[
    "design-name", "design-root", "design-command", "folder", "file", "cmake-project", "cmake-target", "cmake-source",
    "cmake", "binary", "script", "kernel", "identifier", "include", "text", "binding-class", "binding-list", "registry",
    "readme-command", "data", "prose", "report",
]  # fmt: skip
"""What the name is where it stands.

``design-name`` is ``meta.op_name``, ``design-root`` the end of ``meta.op_root``, ``design-command`` a path or command
elsewhere in the design.  ``folder`` and ``file`` are names on disk.  ``binary`` is ``build/bin/<op>`` in a script,
``script`` any other word of a script that runs.  ``text`` is a C++ string.  ``binding-class`` and ``binding-list`` are
the Torch class and the shared Torch lists, ``registry`` the list of SHMEM's examples.  ``data`` is JSON or YAML.
``prose`` (comments and running text) and ``report`` (what was measured under the old name) need no renaming for the
operator to build and run.
"""
Style = Literal["snake", "upper", "pascal"]

BOUND: frozenset[Role] = frozenset({"prose", "report", "text", "data"})
"""Roles whose sites may keep the old name without anything breaking."""

_FOREIGN = re.compile(rb"(?i)(?:acl)?shmem[xi]?_|hccl|aclnn|npu_|torch_npu|lib(?:hccl|shmem)")
_BINARY = re.compile(rb"(?:^|/)bin/\Z")
_PATHLIKE = re.compile(rb"[/`]|\.(?:sh|py|cpp|h|so|json|md|txt|bin)\b|\$\{")
_WORD_BREAKS = b" \t\r\n\"'`|,;()<>"
_INLINE = re.compile(rb"`[^`\n]+`")
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[^\n]*", re.MULTILINE)
_SHARED = ("torch_binding/CMakeLists.txt", "torch_binding/include/shmem_torch_kernel.h")


class Files(Protocol):
    """What is asked of an operator (``project.operators.Operator`` is one)."""

    @property
    def root(self) -> str: ...

    @property
    def name(self) -> str: ...

    def files(self, *kinds: str) -> Iterable[File]: ...

    def beside(self, relative: str) -> File | None: ...


@dataclass(frozen=True, slots=True)
class Site:
    """One place.  ``text`` is exactly what stands at ``data[start:end]`` of ``path``: the name in ``style``.

    Of a ``folder`` or ``file`` it is the name on disk of ``path``, and the range is empty.
    """

    path: str
    start: int
    end: int
    role: Role
    text: str
    style: Style = "snake"


def name_sites(project: Files, name: str | None = None) -> list[Site]:
    """Where ``name`` (the design's op_name, else the folder's) stands in an operator, by path and place.

    The shared Torch folder's files that speak of it are among them.
    """
    name = name or operator_name(project)
    folder = project.root.rpartition("/")[2]
    found = [Site(project.root, 0, 0, "folder", folder)] if _in_word(folder, name) else []
    for file in (*project.files(), *shared_files(project, name)):
        base = file.path.rpartition("/")[2]
        if _in_word(base, name):
            found.append(Site(file.path, 0, 0, "file", base))
        found += sites_in(file, name)
    return found


def operator_name(project: Files) -> str:
    """The name the design gives, the folder's where it gives none."""
    for file in project.files("design-doc"):
        text = document_of(file).text("meta.op_name")
        if re.fullmatch(r"[a-z][a-z0-9_]*", text):
            return text
    return project.name


def shared_files(project: Files, name: str) -> list[File]:
    """The files of the shared Torch folder that hold the operator's binding and list it."""
    parent = project.root.rpartition("/")[0]
    if not parent.endswith("/custom-ops") or project.name == "torch_binding":
        return []
    wanted = (f"torch_binding/src/torch_bind_{name}.cpp", *_SHARED)
    return [file for one in wanted if (file := project.beside(one)) is not None]


def sites_in(file: File, name: str) -> tuple[Site, ...]:
    """Where ``name`` stands in one file, in text order."""
    return file.memo(("facts.names", name), lambda: tuple(_sites(file, name)))


def styled(name: str, style: Style) -> str:
    """A snake-case name in another style."""
    if style == "pascal":
        return "".join(part.capitalize() for part in name.split("_"))
    return name.upper() if style == "upper" else name


_Found = tuple[int, int, Style]


def _sites(file: File, name: str) -> Iterator[Site]:
    found = [*_occurrences(file.data, name)]
    if not found:
        return
    role_of = _ROLES.get(file.language or "", _plain)(file)
    for one in found:
        start, end, style = one
        first, last = identifier(file.data, start, end)
        if _FOREIGN.match(file.data[first:last]):
            continue
        yield Site(file.path, start, end, role_of(one), file.source.text(start, end), style)


def _occurrences(data: bytes, name: str) -> Iterator[_Found]:
    """(start, end, style) wherever the name is all of a word or between underscores."""
    snake, upper, pascal = (re.escape(styled(name, s).encode()) for s in ("snake", "upper", "pascal"))
    pattern = re.compile(
        rb"(?:(?<![A-Za-z0-9])|(?<=\blib))(?P<snake>%s)(?![A-Za-z0-9])|(?<![A-Za-z0-9])(?P<upper>%s)(?![A-Za-z0-9])"
        rb"|(?<![A-Za-z0-9_])(?P<pascal>%s)(?![a-z0-9])" % (snake, upper, pascal)
    )
    for match in pattern.finditer(data):
        style: Style = "snake" if match["snake"] else "upper" if match["upper"] else "pascal"
        yield match.start(), match.end(), style


def _in_word(text: str, name: str) -> bool:
    return any(style == "snake" for _, _, style in _occurrences(text.encode(), name))


def identifier(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The bytes of the whole word of letters, digits and underscores around a place."""
    while start > 0 and (data[start - 1] == 95 or chr(data[start - 1]).isalnum()) and data[start - 1] < 128:
        start -= 1
    while end < len(data) and data[end] < 128 and (data[end] == 95 or chr(data[end]).isalnum()):
        end += 1
    return start, end


_RoleOf = Callable[[_Found], Role]


def _commented(file: File, start: int) -> bool:
    """Whether a place is inside a comment."""
    return file.nocomment[start : start + 1] != file.data[start : start + 1]


def _word_around(data: bytes, start: int, end: int) -> tuple[bytes, bytes]:
    """(before, behind) of the place in its shell word."""
    begin, stop = start, end
    while begin > 0 and data[begin - 1] not in _WORD_BREAKS and start - begin < 400:
        begin -= 1
    while stop < len(data) and data[stop] not in _WORD_BREAKS and stop - end < 400:
        stop += 1
    return data[begin:start], data[end:stop]


def _inside(spans: list[tuple[int, int]]) -> Callable[[int], bool]:
    """Whether a place is in one of some ranges that do not overlap."""
    spans = sorted(spans)
    starts = [start for start, _ in spans]

    def ask(at: int) -> bool:
        index = bisect_right(starts, at) - 1
        return index >= 0 and at < spans[index][1]

    return ask


def _plain(file: File) -> _RoleOf:
    what: Role = "data" if file.language == "yaml" else "report"
    return lambda _: what


def _cpp(file: File) -> _RoleOf:
    entries = _inside([(k.start, k.end) for k in kernels(file)])
    includes = _inside([m.span() for m in _INCLUDE.finditer(file.nocomment)])
    binding = file.path.rpartition("/")[2].startswith("torch_bind")

    def role(found: _Found) -> Role:
        start, _, style = found
        if _commented(file, start):
            return "prose"
        if includes(start):
            return "include"
        if file.code[start : start + 1] != file.data[start : start + 1]:
            return "binding-class" if binding and style == "pascal" else "text"
        if style == "pascal" and binding:
            return "binding-class"
        return "kernel" if entries(start) else "identifier"

    return role


def _cmake(file: File) -> _RoleOf:
    roles: dict[int, Role] = {}
    shared = "/torch_binding/" in file.path
    operator = file.place.operator
    view = View(file, 0, len(file.data))
    built = {c.texts[0] for c in cmake.commands(view, "add_executable", "add_library") if c.args}
    for command in cmake.commands(view):
        for index, argument in enumerate(command.args):
            kind: Role = "cmake"
            if command.name == "project" and index == 0:
                kind = "cmake-project"
            elif argument.text in built:
                kind = "cmake-target"
            elif command.name in ("add_executable", "add_library", "target_sources", "set") and "." in argument.text:
                kind = "cmake-source"
            roles[argument.start] = kind
    starts = sorted(roles)

    def role(found: _Found) -> Role:
        start = found[0]
        if _commented(file, start):
            return "prose"
        if shared:
            return "binding-list"
        if operator is None and file.path.rpartition("/")[0].endswith("/examples"):
            return "registry"
        index = bisect_right(starts, start) - 1
        return roles[starts[index]] if index >= 0 else "cmake"

    return role


def _bash(file: File) -> _RoleOf:
    def role(found: _Found) -> Role:
        start, end, _ = found
        if _commented(file, start):
            return "prose"
        before, behind = _word_around(file.data, start, end)
        return "binary" if _BINARY.search(before) and not behind else "script"

    return role


def _python(file: File) -> _RoleOf:
    documents = _inside(
        [
            (node.start_byte, node.end_byte)
            for node in walk(file.root)
            if node.type == "string" and node.parent is not None and node.parent.type == "expression_statement"
        ]
    )

    def role(found: _Found) -> Role:
        start, end, style = found
        if _commented(file, start) or documents(start):
            return "prose"
        if style == "pascal":
            return "binding-class"
        before, behind = _word_around(file.data, start, end)
        return "binary" if _BINARY.search(before) and not behind else "script"

    return role


def _markdown(file: File) -> _RoleOf:
    kinds = file.kind.names
    running = _inside(list(stretches(file.data)))
    quoted = _inside([m.span() for m in _INLINE.finditer(file.data)])
    document = document_of(file) if "design-doc" in kinds else None
    fence = document.dsl if document is not None else None
    named: dict[Role, tuple[int, int]] = {}
    for path, what in (("meta.op_name", "design-name"), ("meta.op_root", "design-root")):
        node = document.get(path) if document is not None else None
        if node is not None and node.kind == "scalar":
            named["design-name" if what == "design-name" else "design-root"] = (node.start, node.end)

    def role(found: _Found) -> Role:
        start, end, _ = found
        if "report" in kinds:
            return "report"
        for what, (low, high) in named.items():
            if low <= start < high:
                return what
        before, behind = _word_around(file.data, start, end)
        in_dsl = fence is not None and fence.start <= start < fence.end
        command = (not running(start) and not in_dsl) or quoted(start) or _PATHLIKE.search(before + behind) is not None
        if not command:
            return "prose"
        return "design-command" if document is not None else "readme-command"

    return role


_ROLES: dict[str, Callable[[File], _RoleOf]] = {
    "cpp": _cpp, "cmake": _cmake, "bash": _bash, "python": _python, "markdown": _markdown,
}  # fmt: skip
