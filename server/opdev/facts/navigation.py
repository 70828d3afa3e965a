"""From a name in a design to where the code has it, and back.

Four kinds of names are followed: the operator's, those of tensors, buffers and arguments, SHMEM calls, and
case ids.  Only exact names count: nobody is led to a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from opdev.api.table import lookup
from opdev.design.document import DesignDocument, document_of
from opdev.design.nodes import Node
from opdev.facts.cases import cases_of
from opdev.facts.names import Files, sites_in
from opdev.facts.own_names import Own
from opdev.syntax.file import File

Kind = Literal["operator", "tensor", "api", "case"]

_TENSORS = ("interface.inputs", "interface.outputs", "interface.attrs", "memory.buffers")
_TENSOR = re.compile(r"(?:interface\.(?:inputs|outputs|attrs)|memory\.buffers)\[\d+\]\.name\Z")
_CASE = re.compile(
    r"correctness\.case_matrix\[\d+\]\.case\Z|correctness\.invariants\[\d+\]\.case\Z|performance\.target_cases(?:\[\d+\])?\Z"
)
_MATRIX = re.compile(r"correctness\.case_matrix\[\d+\]\.case\Z")
# What ends a case id in running text: everything but letters, digits, - and _.
_ID = re.compile(rb"(?:[\w-]|[\x80-\xff])+")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_NO_TYPE = frozenset({b"return", b"new", b"delete", b"else", b"case", b"goto", b"throw", b"sizeof"})
_BEFORE = re.compile(
    rb"([A-Za-z_]\w*)[ \t]*(?:<[^<>;(){}\n]{0,80}>)?[ \t]*[*&]*[ \t]*(?:const[ \t]+|__restrict__[ \t]+)?[*&]*\Z"
)
_MADE = re.compile(rb"add_(?:executable|library)\s*\(\s*[\"']?\w*\Z", re.IGNORECASE)
_LINE = 400
"""Bytes around a place that are looked at."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name that can be followed, and its bytes in the file it was found in."""

    kind: Kind
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name stands.  ``defines``: it is declared, listed or called there rather than only spoken of."""

    file: File
    start: int
    end: int
    defines: bool = False

    @property
    def in_design(self) -> bool:
        """Whether it is on the design's side."""
        return "design-doc" in self.file.kind.names


def name_at(project: Files, file: File, offset: int) -> Name | None:
    """The name at a byte of a file; None where there is none that anything else speaks of."""
    design = _design(project, file)
    names = file.kind.names
    if design is not None and design.file is file:
        found = _in_dsl(design, offset)
        if found is not None:
            return found
    if file.language in ("cpp", "markdown"):
        start, end = _around(_WORD, file.data, offset)
        word = file.source.text(start, end)
        spoken = file.language == "markdown" or file.code[start:end] == file.data[start:end]
        if word and spoken and _is_call(word):
            return Name("api", word, start, end)
        if file.language == "cpp" and spoken and word in tensors(design):
            return Name("tensor", word, start, end)
    if not names.isdisjoint(("cases", "case-runner", "report", "design-doc", "doc", "readme")):
        found = _case(project, file, offset)
        if found is not None:
            return found
    op_name = design.text("meta.op_name").strip() if design is not None else ""
    for site in sites_in(file, op_name) if re.fullmatch(r"[a-z][a-z0-9_]*", op_name) else ():
        if site.start <= offset <= site.end and Own(project, op_name).owns(site):
            return Name("operator", op_name, site.start, site.end)
    return None


def places(project: Files, name: Name) -> list[Place]:
    """Everywhere a name stands in an operator, by path and place."""
    find = {"operator": _operator, "tensor": _tensor, "api": _calls, "case": _cases}[name.kind]
    found = {(p.file.path, p.start): p for p in find(project, name.text)}
    return [found[key] for key in sorted(found)]


def definitions(project: Files, file: File, name: Name) -> list[Place]:
    """Where a name leads from one of its places: from the design to the code, from anywhere else to the design."""
    here = [
        p
        for p in places(project, name)
        if p.defines and not (p.file.path == file.path and p.start <= name.start < p.end)
    ]
    if "design-doc" not in file.kind.names:
        design = [p for p in here if p.in_design]
        return design if file.language == "cpp" or design else [p for p in here if p.file.path != file.path]
    # Within the design a name that is only spoken of leads to its own line, too.
    return sorted(here, key=lambda p: p.in_design)


def tensors(design: DesignDocument | None) -> dict[str, list[Node]]:
    """The nodes that name tensors, arguments and buffers, by name."""
    found: dict[str, list[Node]] = {}
    for path in _TENSORS if design is not None else ():
        for item in design.items(path) if design is not None else ():
            node = item.get("name")
            if (
                node is not None
                and node.kind == "scalar"
                and not node.alias
                and re.fullmatch(r"[A-Za-z_]\w*", node.said)
            ):
                found.setdefault(node.said, []).append(node)
    return found


def _design(project: Files, file: File) -> DesignDocument | None:
    if "design-doc" in file.kind.names:
        return document_of(file)
    return next((document_of(f) for f in project.files("design-doc")), None)


def _in_dsl(design: DesignDocument, offset: int) -> Name | None:
    """What the DSL's scalar at a byte names, as a whole or by the word that is there."""
    node = design.at(offset)
    if node is None or node.kind != "scalar" or not node.start <= offset <= node.end or node.alias:
        return None
    start, end = _inner(design, node)
    if node.path == "meta.op_name":
        return Name("operator", node.said, start, end)
    if _TENSOR.match(node.path):
        return Name("tensor", node.said, start, end)
    if _CASE.match(node.path) and node.said.strip() and node.said != "all cases":
        return Name("case", node.said, start, end)
    start, end = _around(_WORD, design.data, offset)
    word = design.source.text(start, end)
    if word and word in tensors(design):
        return Name("tensor", word, start, end)
    return None


def _case(project: Files, file: File, offset: int) -> Name | None:
    listed = cases_of(file)
    for case in listed.cases if listed is not None else ():
        place = case.places.get("id")
        if place is not None and place[0] <= offset <= place[1] and case.id:
            return Name("case", case.id, *_unquoted(file.data, *place))
    if "report" not in file.kind.names and "design-doc" not in file.kind.names:
        return None
    start, end = _around(_ID, file.data, offset)
    word = file.source.text(start, end)
    known = {
        c.id for f in project.files("cases", "case-runner", "design-doc") if (one := cases_of(f)) for c in one.cases
    }
    return Name("case", word, start, end) if word and word in known else None


def _operator(project: Files, name: str) -> Iterator[Place]:
    files = {f.path: f for f in project.files()}
    for site, ours in Own(project, name).sites():
        file = files.get(site.path)
        if ours and file is not None and site.end > site.start:
            made = site.role == "cmake-target" and _MADE.search(file.data, max(0, site.start - _LINE), site.start)
            yield Place(file, site.start, site.end, bool(made) or site.role in ("design-name", "kernel"))


def _tensor(project: Files, name: str) -> Iterator[Place]:
    for file in project.files("design-doc"):
        document = document_of(file)
        named = {_inner(document, node) for node in tensors(document).get(name, ())}
        fence = document.dsl
        for start, end in _words(file.data, name) if fence is not None else ():
            if fence is not None and fence.start <= start < fence.end and _value(document, start):
                yield Place(file, start, end, (start, end) in named)
    for file in project.files("cpp"):
        for start, end in _words(file.code, name):
            yield Place(file, start, end, _declares(file.code, start, end))


def _calls(project: Files, name: str) -> Iterator[Place]:
    api = lookup(name)
    spelled = {name, *((api.name, *api.aliases) if api is not None else ())}
    for one in spelled:
        for file in project.files("design-doc"):
            for start, end in _words(file.data, one):
                yield Place(file, start, end, _value(document_of(file), start))
        for file in project.files("cpp"):
            for start, end in _words(file.code, one):
                yield Place(file, start, end, defines=True)


def _cases(project: Files, name: str) -> Iterator[Place]:
    for file in project.files("cases", "case-runner"):
        listed = cases_of(file)
        for case in listed.cases if listed is not None else ():
            if case.id == name and "id" in case.places:
                yield Place(file, *_unquoted(file.data, *case.places["id"]), defines=True)
    for file in project.files("design-doc"):
        document = document_of(file)
        for node in document.nodes():
            if node.kind == "scalar" and node.said == name and not node.alias and _CASE.match(node.path):
                yield Place(file, *_inner(document, node), defines=_MATRIX.match(node.path) is not None)
    for file in project.files("report", "readme"):
        raw = name.encode()
        for match in _ID.finditer(file.data) if raw in file.data else ():
            if match.group() == raw:
                yield Place(file, *match.span())


def _words(data: bytes, word: str) -> Iterator[tuple[int, int]]:
    """Where a word stands by itself; letters of other scripts do not join it."""
    raw = word.encode()
    for match in (
        re.finditer(rb"(?<![A-Za-z0-9_])" + re.escape(raw) + rb"(?![A-Za-z0-9_])", data) if raw in data else ()
    ):
        yield match.span()


def _declares(code: bytes, start: int, end: int) -> bool:
    """Whether the word is declared there: a type before it, and what follows a declarator behind it."""
    behind = code[end : end + _LINE].lstrip()[:1]
    if behind not in (b",", b")", b"=", b";", b"[", b"{"):
        return False
    before = _BEFORE.search(code, max(0, start - _LINE), start)
    return (
        before is not None
        and before[1] not in _NO_TYPE
        and not before.group().isspace()
        and code[before.end() - 1 : start] != b"."
    )


def _value(document: DesignDocument, offset: int) -> bool:
    """Whether a byte is in a value of the DSL."""
    node = document.at(offset)
    return node is not None and node.kind == "scalar" and node.start <= offset < node.end


def _inner(document: DesignDocument, node: Node) -> tuple[int, int]:
    return _unquoted(document.data, node.start, node.end)


def _unquoted(data: bytes, start: int, end: int) -> tuple[int, int]:
    quoted = end - start >= 2 and data[start] == data[end - 1] and data[start] in b"'\""
    return (start + 1, end - 1) if quoted else (start, end)


def _around(pattern: re.Pattern[bytes], data: bytes, offset: int) -> tuple[int, int]:
    """The match of a pattern on the offset's line that touches it; empty where none does."""
    begin = max(data.rfind(b"\n", 0, offset) + 1, offset - _LINE)
    for match in pattern.finditer(data, begin, offset + _LINE):
        if match.start() > offset:
            break
        if match.end() >= offset:
            return match.span()
    return offset, offset


def _is_call(word: str) -> bool:
    if not word.startswith(("aclshmem", "shmem", "util_")):
        return False
    api = lookup(word)
    return api is not None and api.kind == "function"
