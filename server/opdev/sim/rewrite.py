"""The few constructs of the dialect that g++ cannot read, turned into C++ it can.

The text is what ``g++ -E -fdirectives-only`` gives: headers in place, macros still names, and line
markers that say whose line is whose.  Only runs of the user's own files are read and changed, never
across a line end, so every diagnostic of the compiler stands on the user's own line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.kinds import Kind
from opdev.source import Source
from opdev.syntax import cpp
from opdev.syntax.file import File
from opdev.syntax.tree import walk
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_MARKER = re.compile(rb'^# (\d+) "((?:[^"\\\n]|\\.)*)"((?: \d)*)[ \t]*$', re.MULTILINE)
_SYSTEM = b"3"
_KIND = Kind("cpp", frozenset({"kernel"}))
_BEFORE_REINTERPRET = re.compile(rb"\breinterpret_cast(?=\s*<[\s\w]*$)")
_BEFORE_C_CAST = re.compile(rb"\((?=\s*(?:(?:const|volatile)\s+)*$)")
_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?P<params>\([^()\n]*\))?(?P<body>[^\n]*)$", re.MULTILINE
)
_RATIO = re.compile(
    rb"core_ratio\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)|__mix__\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)|__vector__|__cube__"
)
_TWO_KINDS = re.compile(rb"\b(?:ASCEND_IS_AIC|ASCEND_IS_NOT_AIV|g_coreType|CrossCoreSetFlag|CrossCoreWaitFlag)\b")
# Calls of other CANN libraries and of SHMEM's insides, and what only their compiler knows: nobody else's names begin
# like this.
_FOREIGN = re.compile(
    rb"\bAscendC::(?:\w+::)*(?P<ascendc>[A-Za-z_]\w*)|(?<![\w.>:])(?P<plain>(?:acl(?:rt|mdl|nn|op|prof)?[A-Z]|aclshmemi_|Hccl)\w*(?=\s*[<(])"
    rb"|ACL_\w+|__(?:cbuf|ca|cb|cc|fbuf|simt_vf|simt_callee)__)(?!\w)"
)
_CUBE_ONLY = re.compile(
    rb"^[ \t]*#[ \t]*(?:el)?if(?![^\n]*__DAV_\w+_VEC__)[^\n]*?(?P<name>__DAV_\w+_CUBE__)", re.MULTILINE
)
# Names by themselves, which count when they are known to be public ones.
_WORD = re.compile(rb"(?<![\w.>:])(?P<plain>(?:aclshmem|shmem|ACLSHMEM)\w+|[A-Z]\w+(?=\s*[<(]))")


@dataclass(frozen=True)
class Missing:
    """A public name the stand-in does not have, where the user wrote it (line and column from 1)."""

    path: str
    line: int
    column: int
    name: str


@dataclass(frozen=True)
class Rewritten:
    """The text for the compiler, the kernels launched in it, and the names it could not have."""

    text: bytes
    launches: tuple[str, ...]
    missing: tuple[Missing, ...]


@dataclass(frozen=True)
class _Run:
    """A stretch of one of the user's files: where it stands in the text, and where in the joined user text."""

    path: str
    line: int
    start: int
    end: int
    at: int


def rewrite(text: bytes, ours: Callable[[str], bool], known: frozenset[str], family: frozenset[str]) -> Rewritten:
    """Rewrite preprocessed ``text``.

    ``ours`` tells the stand-in's own headers by path.  ``known`` are the names the stand-in has,
    ``family`` all public names of SHMEM and AscendC that opdev knows of.
    """
    runs = list(_runs(text, ours))
    data = b"".join(text[run.start : run.end] for run in runs)
    file = File(Source("unit.cpp", data), _KIND)
    edits = [*_launches(file), *_ub_casts(file), *_macros(file)]
    missing = tuple(_missing(file, runs, known, family))
    out: list[bytes] = []
    last = 0
    starts = [run.at for run in runs]
    for start, end, new, _ in sorted(edits):
        run = runs[bisect_right(starts, start) - 1]
        place = run.start + start - run.at
        out += (text[last:place], new)
        last = place + end - start
    out.append(text[last:])
    return Rewritten(b"".join(out), tuple(sorted({name for *_, name in edits if name})), missing)


def _runs(text: bytes, ours: Callable[[str], bool]) -> Iterator[_Run]:
    at = 0
    markers = list(_MARKER.finditer(text))
    for index, marker in enumerate(markers):
        path = marker[2].decode("utf-8", "replace")
        start = marker.end() + 1
        end = markers[index + 1].start() if index + 1 < len(markers) else len(text)
        if _SYSTEM in marker[3].split() or path.startswith("<") or end <= start or ours(path):
            continue
        yield _Run(path, int(marker[1]), start, end, at)
        at += end - start


# Edits: (start, end, new text, name of the kernel launched or nothing), offsets into the joined text.
_Edit = tuple[int, int, bytes, str]


def _launches(file: File) -> Iterator[_Edit]:
    if b"<<<" not in file.code:
        return
    cores = _cores_of(file)
    view = View(file, 0, len(file.data))
    at = file.code.find(b"<<<")
    while at >= 0:
        node: Node | None = view.node_at(at, at + 3)
        while node is not None and node.type != "kernel_call_syntax":
            node = node.parent
        call = node.parent if node is not None else None
        if node is not None and call is not None and call.type == "call_expression":
            yield from _launch(file.data, call, node, cores)
        at = file.code.find(b"<<<", at + 3)


def _launch(data: bytes, call: Node, config: Node, cores: Callable[[str], str]) -> Iterator[_Edit]:
    function = call.child_by_field_name("function")
    if function is None:
        return
    written = data[function.start_byte : config.start_byte]
    yield from _launch_edits(
        written, function.start_byte, config.start_byte, config.end_byte, len(config.named_children), cores
    )


def _launch_edits(
    written: bytes, start: int, opening: int, closing: int, parts: int, cores: Callable[[str], str]
) -> Iterator[_Edit]:
    one_line = b" ".join(written.split())
    name = one_line.decode("utf-8", "replace").split("<", 1)[0].rpartition("::")[2].replace("##", "").replace(" ", "")
    head = (
        b'::opdev_sim::kernel_call("%s", ::opdev_sim::Cores::%s, [=](auto... opdev_sim_a) { %s(opdev_sim_a...); }, '
        % (
            name.encode(),
            cores(name).encode(),
            one_line,
        )
    )
    # The line ends that stood in the name follow it.
    yield start, opening + 3, head + b"\n" * written.count(b"\n"), name
    yield closing - 3, closing, b", nullptr" * max(0, 3 - parts) + b")", ""


def _cores_of(file: File) -> Callable[[str], str]:
    """Which cores a kernel's blocks are made of: as its head says, else as all heads of the file say."""
    said: dict[str, str] = {}
    view = View(file, 0, len(file.data))
    if _RATIO.search(file.code):
        for function in cpp.functions(view):
            ratio = _RATIO.search(cpp.head(file, function))
            if ratio is not None:
                said[cpp.function_name(file, function)] = _cores(ratio)
    everywhere = {_cores(match) for match in _RATIO.finditer(file.code)}
    if len(everywhere) == 1:
        default = next(iter(everywhere))
    else:
        default = "mix_1_2" if _TWO_KINDS.search(file.code) else "vector"
    return lambda name: said.get(name, default)


def _cores(match: re.Match[bytes]) -> str:
    if match[0] == b"__vector__":
        return "vector"
    if match[0] == b"__cube__":
        return "cube"
    cube, vector = int(match[1] or match[3]), int(match[2] or match[4])
    if not cube:
        return "vector"
    return {0: "cube", 1: "mix_1_1"}.get(vector, "mix_1_2")


def _ub_casts(file: File) -> Iterator[_Edit]:
    code = file.code
    view = View(file, 0, len(file.data))
    for at in view.find("__ubuf__"):
        before = code[max(0, at - 200) : at]
        match = _last(_BEFORE_REINTERPRET, before)
        if match is not None:
            start = at - len(before) + match.start()
            yield start, start + len(b"reinterpret_cast"), b"::opdev_sim::ub_cast", ""
            continue
        match = _last(_BEFORE_C_CAST, before)
        if match is None:
            continue
        opening = at - len(before) + match.start()
        node = view.node_at(opening, opening + 1)
        if node is None or node.type != "cast_expression" or node.start_byte != opening:
            continue
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if kind is None or value is None:
            continue
        closing = code.find(b")", kind.end_byte)
        yield opening, opening + 1, b"::opdev_sim::ub_cast<", ""
        yield closing, closing + 1, b">(", ""
        yield value.end_byte, value.end_byte, b")", ""


def _last(pattern: re.Pattern[bytes], text: bytes) -> re.Match[bytes] | None:
    every = list(pattern.finditer(text))
    return every[-1] if every else None


def _macros(file: File) -> Iterator[_Edit]:
    """Launches and casts in the bodies of macros, which the tree of the file does not see into."""
    if b"define" not in file.code:
        return
    cores: Callable[[str], str] | None = None
    for macro in _DEFINE.finditer(file.code):
        if macro["name"] == b"inline":
            # It would rewrite the standard library's headers that follow.
            yield macro.start(), macro.end(), b"", ""
            continue
        body = macro["body"]
        if b"<<<" not in body and b"__ubuf__" not in body:
            continue
        # A function's body is what a parser can make sense of; pasted names are read as one word.
        head = b"void f() { "
        shown = re.sub(rb"[ \t]*##[ \t]*", lambda m: b"_" * len(m[0]), body)
        inner = File(Source("macro.cpp", head + shown + b" }"), _KIND)
        offset = macro.start("body") - len(head)
        cores = cores or _cores_of(file)
        view = View(inner, 0, len(inner.data))
        for edit in (*_macro_launches(inner, view, file, offset, cores), *_ub_casts(inner)):
            yield edit[0] + offset, edit[1] + offset, edit[2], edit[3]


def _macro_launches(inner: File, view: View, file: File, offset: int, cores: Callable[[str], str]) -> Iterator[_Edit]:
    at = inner.code.find(b"<<<")
    while at >= 0:
        node: Node | None = view.node_at(at, at + 3)
        while node is not None and node.type != "kernel_call_syntax":
            node = node.parent
        function = node.parent.child_by_field_name("function") if node is not None and node.parent is not None else None
        if node is not None and function is not None:
            written = file.data[function.start_byte + offset : node.start_byte + offset]
            yield from _launch_edits(
                written, function.start_byte, node.start_byte, node.end_byte, len(node.named_children), cores
            )
        at = inner.code.find(b"<<<", at + 3)


def _missing(file: File, runs: list[_Run], known: frozenset[str], family: frozenset[str]) -> Iterator[Missing]:
    code = file.code
    found: list[tuple[int, str]] = []
    own: set[str] | None = None
    for pattern, allowed in ((_FOREIGN, None), (_WORD, family)):
        for match in pattern.finditer(code):
            group = "ascendc" if match.groupdict().get("ascendc") else "plain"
            name = match[group].decode()
            if name in known or (allowed is not None and name not in allowed):
                continue
            if own is None:
                own = _own_names(file)
            if name not in own and not _in_define(code, match.start()):
                found.append((match.start(group), name))
    starts = [run.at for run in runs]
    told: set[tuple[str, int, str]] = set()
    for offset, name in sorted(found):
        run = runs[bisect_right(starts, offset) - 1]
        line = run.line + file.data.count(b"\n", run.at, offset)
        column = offset - max(file.data.rfind(b"\n", 0, offset) + 1, run.at) + 1
        if (run.path, line, name) not in told:
            told.add((run.path, line, name))
            yield Missing(run.path, line, column, name)


def cube_only(path: str, text: bytes) -> Iterator[Missing]:
    """Directives that choose code for cube cores: a file is compiled once, as for vector cores.

    Without a word a cube core would run the vector cores' half.
    """
    for match in _CUBE_ONLY.finditer(text):
        at = match.start("name")
        line = text.count(b"\n", 0, at)
        yield Missing(path, line + 1, at - (text.rfind(b"\n", 0, at) + 1) + 1, match["name"].decode())


def _in_define(code: bytes, at: int) -> bool:
    """Whether a place is in a macro: unused ones are nobody's trouble, used ones the compiler's to tell."""
    return code[code.rfind(b"\n", 0, at) + 1 : at].lstrip().startswith(b"#")


def _own_names(file: File) -> set[str]:
    """What the user's files declare themselves."""
    own = {m["name"].decode() for m in _DEFINE.finditer(file.code)}
    for node in walk(file.root):
        if node.type in ("function_declarator", "class_specifier", "struct_specifier", "enum_specifier", "enumerator",
                         "type_definition", "alias_declaration", "init_declarator"):  # fmt: skip
            name = node.child_by_field_name("name") or node.child_by_field_name("declarator")
            if name is not None and name.type in (
                "identifier",
                "type_identifier",
                "field_identifier",
                "qualified_identifier",
            ):
                own.add(file.source.text(name.start_byte, name.end_byte).rpartition("::")[2])
    return own
