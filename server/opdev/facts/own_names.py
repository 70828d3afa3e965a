"""Which places of an operator's name are the operator's: what a rename may touch and a reference may show.

An operator may be called ``add``, ``copy`` or ``all_gather``, and its files then hold ``add_executable``,
``s.add(x)``, ``--copy``, ``dist.all_gather`` and ``all cases``.  Renaming any of these breaks the operator, and
leaving a comment as it was breaks nothing: in doubt a place is not the operator's.

Any name
    command names of CMake, attributes, keyword arguments, parameters, builtins and names imported from elsewhere
    in Python, members of hyphened words (``--copy``, ``atomic-add``), the files that every operator has
    (``gen_data.py``, ``run.sh``) and words of the C++ that nothing of the operator declares are others'
A name that is an everyday word (``COMMON``)
    only what can be nothing else: the design's op_name and paths, targets, kernels, launch functions, Torch
    classes, ``build.sh <op>``, ``build/bin/<op>``, ``<op>_kernel.cpp``
"""

from __future__ import annotations

import builtins
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from opdev.facts.kernels import kernels, launches
from opdev.facts.names import Files, Site, identifier, name_sites, shared_files
from opdev.syntax import cmake
from opdev.syntax.file import File
from opdev.syntax.py import imports
from opdev.syntax.tree import ancestor, walk
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

COMMON = frozenset((
    "add", "all", "alloc", "any", "append", "apply", "args", "barrier", "base", "batch", "bench", "bin", "body",
    "bool", "broadcast", "buffer", "build", "call", "case", "cases", "cast", "check", "checker", "class", "clean",
    "clear", "clone", "close", "cmake", "code", "collective", "common", "compare", "compute", "config", "copy",
    "core", "count", "cpp", "data", "debug", "default", "demo", "device", "dim", "div", "docs", "dot", "dtype",
    "echo", "elements", "epoch", "exec", "exp", "export", "file", "files", "fill", "find", "flag", "flags", "flush",
    "format", "free", "function", "gather", "gemm", "get", "global", "golden", "group", "head", "help", "host",
    "id", "in", "index", "init", "input", "inputs", "install", "item", "iter", "kernel", "kind", "launch", "layout",
    "len", "library", "list", "local", "log", "logs", "loop", "main", "map", "max", "mean", "memory", "merge",
    "min", "mode", "move", "mul", "name", "new", "node", "norm", "notify", "num", "op", "open", "operator", "ops",
    "out", "output", "outputs", "pack", "pad", "partition", "path", "pe", "perf", "ping", "pipe", "plan", "pop",
    "private", "profile", "project", "public", "push", "put", "quiet", "range", "rank", "ranks", "read", "record",
    "recv", "reduce", "release", "report", "reset", "result", "results", "root", "run", "save", "scale", "scan",
    "scatter", "script", "scripts", "select", "send", "set", "shape", "shard", "shift", "signal", "size", "sleep",
    "slice", "smoke", "softmax", "sort", "source", "split", "src", "stage", "start", "state", "step", "stop",
    "store", "stream", "sub", "sum", "swap", "sync", "target", "task", "team", "temp", "test", "tests", "tile",
    "time", "tmp", "token", "top", "torch", "transfer", "transpose", "type", "unit", "update", "use", "value",
    "values", "vector", "version", "view", "wait", "work", "write", "zero",
))  # fmt: skip
"""Words that are something else most of the time; an operator with such a name is renamed where it is sure."""

_EVERYBODYS = frozenset((
    b"run.sh", b"perf.sh", b"build.sh", b"run_case_matrix", b"gen_data", b"check_result", b"cases.json",
    b"case_matrix_report", b"correctness_report", b"performance_report", b"design.md", b"main.cpp", b"README.md",
    b"CMakeLists.txt", b"op_runtime", b"data_dir", b"output_dir",
))  # fmt: skip
"""Files that every operator has, and words that name them."""
_DECLARED = re.compile(
    rb"\b(?:class|struct|enum|union|namespace|typename|define|using)[ \t]+(?:class[ \t]+)?([A-Za-z_]\w*)"
    rb"|\b([A-Za-z_]\w*)(?:[ \t]*<[^<>;(){}\n]{0,80}>)?(?:[ \t]+|[ \t]*[*&]+[ \t]*)([A-Za-z_]\w*)[ \t]*(?=[(=;,\[{)\n])"
)
_NO_TYPE = frozenset((b"return", b"new", b"delete", b"else", b"case", b"goto", b"throw", b"sizeof", b"define"))
_TORCH = re.compile(rb"(?:ShmemOps|\bclasses|\bops)\s*\.\s*\Z")
_SAYS_NAME = re.compile(rb"(?i)\bop_?name\b|\boperator_name\b|\|[ \t]*target[ \t]*\|[ \t]*`?\Z")
_FOLDER = re.compile(rb"(?:custom-ops|examples|bin)/\Z|\.\./\Z")
_INSIDE = re.compile(rb"/(?:src|build|docs|scripts|CMakeLists|README)\b")
_GIVEN = re.compile(rb"(?:build\.sh[\"'}]*|--target(?:[ \t]+|=)|\bTARGET=|--op(?:[ \t]+|=))[ \t]*[\"']?\Z")
_SUFFIX = re.compile(rb"\.[a-z]{1,4}\b", re.IGNORECASE)
_SCOPE = re.compile(rb"([A-Za-z_]\w*)(?:<[^<>;(){}\n]{0,80}>)?::\Z")
_HEADING = re.compile(rb"^#{1,6}[ \t]+\Z")


class Own:
    """Judges the places of one operator's name."""

    def __init__(self, project: Files, name: str) -> None:
        self._project, self._name = project, name
        self._common = name in COMMON
        compound = rf"(?:(?:launch|run|test|torch_bind|torch_test|golden|lib|is)_?)?{name}(?:_kernel\w*|_launch\w*|_impl|_host|_golden|_ref)?"
        self._compound = re.compile(compound.encode(), re.IGNORECASE)

    @cached_property
    def files(self) -> dict[str, File]:
        """The operator's files and the shared Torch folder's, by path."""
        return {f.path: f for f in (*self._project.files(), *shared_files(self._project, self._name))}

    def sites(self) -> list[tuple[Site, bool]]:
        """Every place of the name, and whether it is the operator's."""
        return [(site, self.owns(site)) for site in name_sites(self._project, self._name)]

    def owns(self, site: Site) -> bool:
        """Whether a place is the operator's."""
        if site.role == "folder":
            return True
        file = self.files.get(site.path)
        if file is None:
            return False
        if site.role == "file":
            return self._named_file(site.text)
        if site.role in ("design-name", "design-root"):
            return True
        start, end = identifier(file.data, site.start, site.end)
        word = file.data[start:end]
        if _everybodys(file.data, start, end) or _hyphened(file.data, start, end):
            return False
        if file.language == "cpp":
            return self._cpp(file, site, start, end)
        if file.language == "python" and site.role != "prose":
            found = self._python(file, site, start, end)
            if found is not None:
                return found
        if file.language == "cmake" and site.role != "prose":
            return self._cmake(file, site, word)
        return not self._common or self._sure(file, site, start, end)

    def _named_file(self, base: str) -> bool:
        stem = base.split(".", 1)[0]
        if stem.encode() in _EVERYBODYS or base.encode() in _EVERYBODYS:
            return False
        return not self._common or self._compound.fullmatch(stem.encode()) is not None

    def _sure(self, file: File, site: Site, start: int, end: int) -> bool:
        """Whether an everyday word is the operator here."""
        word = file.data[start:end]
        if len(word) > len(site.text):
            return site.style == "snake" and self._compound.fullmatch(word) is not None
        if site.style == "upper":
            return False
        if site.style == "pascal":
            return site.role == "binding-class"
        before = file.data[max(0, start - 200) : start]
        line = before[before.rfind(b"\n") + 1 :]
        behind = file.data[end : end + 40].split(b"\n", 1)[0]
        if _FOLDER.search(before) or (before.endswith((b"/", b'"', b"'")) and _INSIDE.match(behind)):
            return True
        if _GIVEN.search(line):
            return True
        if file.language == "markdown" and (_HEADING.match(line) or (line[-1:] == b"`" and behind[:1] == b"`")):
            return True
        return _SAYS_NAME.search(line) is not None

    # C++

    @cached_property
    def _in_headers(self) -> frozenset[bytes]:
        headers = [f for f in self.files.values() if f.language == "cpp" and f.path.endswith((".h", ".hpp", ".hh"))]
        return frozenset().union(*(declared(f) for f in headers))

    @cached_property
    def declared(self) -> frozenset[bytes]:
        """The words the operator's C++ declares, functions, types, macros and variables alike."""
        return frozenset().union(*(declared(f) for f in self.files.values()))

    @cached_property
    def _entries(self) -> frozenset[bytes]:
        found = (name for f in self.files.values() if f.language == "cpp" for name in _kernel_names(f))
        return frozenset(found)

    def _cpp(self, file: File, site: Site, start: int, end: int) -> bool:
        word = file.data[start:end]
        if site.role == "include":
            return not self._common or self._compound.fullmatch(word) is not None
        if site.role == "binding-class":
            return True
        if site.role in ("prose", "text"):
            return not self._common or self._sure(file, site, start, end)
        code = file.code
        if code[end : end + 3].lstrip().startswith(b"##") or code[:start].rstrip().endswith(b"##"):
            return True
        # A class of the Torch binding is not what a kernel's vector instruction of that name is.
        known = declared(file) | self._in_headers if site.style == "pascal" else self.declared
        if word not in known:
            return False
        before = code[max(0, start - 80) : start].rstrip()
        bare = len(word) == len(site.text)
        if before.endswith(b"::") and not _qualified_by(before, self.declared):
            return False
        return not bare or not self._common or site.style == "pascal" or word in self._entries

    # Python

    @cached_property
    def _modules(self) -> frozenset[str]:
        own = (f.path.rpartition("/")[2] for f in self.files.values() if f.language == "python")
        return frozenset(base.removesuffix(".py") for base in own)

    @cached_property
    def _bound(self) -> tuple[frozenset[str], frozenset[str]]:
        """(names the operator's Python defines, names that are others' or that callers spell)."""
        made, others = set[str](), set[str](dir(builtins))
        for file in self.files.values():
            if file.language != "python":
                continue
            for one in imports(View(file, 0, len(file.data))):
                if one.module.split(".")[-1] not in self._modules:
                    others.add(one.bound)
            for node in walk(file.root):
                if node.type != "identifier" or node.parent is None:
                    continue
                what, text = node.parent.type, file.source.text(node.start_byte, node.end_byte)
                if what in ("function_definition", "class_definition") and _field(node) == "name":
                    inside = node.parent.parent is not None and _in_class(node.parent)
                    (others if inside else made).add(text)
                elif what in ("parameters", "default_parameter", "typed_parameter", "typed_default_parameter"):
                    others.add(text)
                elif _field(node) == "left" and what in ("assignment", "augmented_assignment"):
                    (others if _in_class(node.parent) else made).add(text)
        return frozenset(made), frozenset(others)

    def _python(self, file: File, site: Site, start: int, end: int) -> bool | None:
        """Whether a name in Python's code is the operator's; None inside a string."""
        node = file.root.descendant_for_byte_range(start, end)
        if node is None or node.type != "identifier" or node.parent is None:
            return None
        text, parent, made = file.source.text(start, end), node.parent, self._bound
        if parent.type == "attribute" and _field(node) == "attribute":
            if _TORCH.search(file.data, max(0, start - 80), start):
                return True
            owner = parent.child_by_field_name("object")
            of_own = owner is not None and file.source.text(owner.start_byte, owner.end_byte) in self._modules
            long = len(text) > len(site.text)
            return (of_own and text in made[0]) or (long and text.encode() in self.declared and text not in made[1])
        if parent.type == "keyword_argument" and _field(node) == "name":
            return False
        if text in self._modules:
            return not self._common or self._compound.fullmatch(text.encode()) is not None
        if text in made[1] or text not in made[0]:
            return False
        return not self._common or (len(text) > len(site.text) and self._compound.fullmatch(text.encode()) is not None)

    # CMake

    def _cmake(self, file: File, site: Site, word: bytes) -> bool:
        before = _argument_before(file, site.start)
        if before is None or before == "-E":
            return False
        if not self._common:
            return True
        if site.style == "upper":
            return False
        if len(word) > len(site.text):
            return self._compound.fullmatch(word) is not None
        if site.role in ("cmake-target", "cmake-project", "binding-list", "registry"):
            return True
        return self._sure(file, site, site.start, site.end)


def declared(file: File) -> frozenset[bytes]:
    """The words a C++ file declares; none of another language."""

    def collect() -> frozenset[bytes]:
        # Those that a macro pastes together are declared nowhere.
        found = set(_kernel_names(file))
        for match in _DECLARED.finditer(file.code):
            if match[1]:
                found.add(match[1])
            elif match[2] not in _NO_TYPE:
                found.add(match[3])
        return frozenset(found)

    return file.memo("own.declared", collect) if file.language == "cpp" else frozenset()


def _kernel_names(file: File) -> Iterator[bytes]:
    yield from (kernel.name.encode() for kernel in kernels(file))
    yield from (launch.kernel.encode() for launch in launches(file))


def _argument_before(file: File, at: int) -> str | None:
    """What stands before the argument at a byte of a CMake list, "" for the first; None outside of arguments."""

    def collect() -> tuple[list[int], list[tuple[int, str]]]:
        found = sorted(
            (argument.start, argument.end, previous.text if previous is not None else "")
            for command in cmake.commands(View(file, 0, len(file.data)))
            for previous, argument in zip((None, *command.args), command.args, strict=False)
        )
        return [start for start, _, _ in found], [(end, before) for _, end, before in found]

    starts, behind = file.memo("own.arguments", collect)
    index = bisect_right(starts, at) - 1
    return behind[index][1] if index >= 0 and at < behind[index][0] else None


def _everybodys(data: bytes, start: int, end: int) -> bool:
    """Whether a word names what every operator has."""
    word = data[start:end]
    suffix = _SUFFIX.match(data, end)
    return word in _EVERYBODYS or (suffix is not None and word + suffix.group() in _EVERYBODYS)


def _hyphened(data: bytes, start: int, end: int) -> bool:
    """Whether a word is part of one with hyphens, or an option."""
    before, behind = data[max(0, start - 2) : start], data[end : end + 2]
    return (before[-1:] == b"-" and (before[:1] == b"-" or before[:1].isalnum())) or (
        behind[:1] == b"-" and behind[1:].isalpha()
    )


def _qualified_by(before: bytes, known: frozenset[bytes]) -> bool:
    """Whether the namespace or class in front of ``::`` is one of some."""
    match = _SCOPE.search(before)
    return match is not None and match[1] in known


def _field(node: Node) -> str | None:
    """Which field of its parent a node is."""
    parent = node.parent
    for name in ("name", "left", "attribute") if parent is not None else ():
        if parent is not None and node in parent.children_by_field_name(name):
            return name
    return None


def _in_class(node: Node) -> bool:
    """Whether a definition or assignment stands in a class body."""
    found = ancestor(node, "function_definition", "class_definition")
    return found is not None and found.type == "class_definition"
