"""Kernels of PyPTO-Pro: functions decorated with ``@pl.jit``, what is traced with them, and their tiles.

Whether a tile is synchronised for the kernel is a property of the tile, not of the kernel: one from a
group with mutex ids is locked around every use, one from ``make_tile`` or from a group without ids
is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal, Protocol

from opdev.facts.pypto_kernels import Decorated, decorated
from opdev.facts.pypto_state import state_of
from opdev.syntax import py
from opdev.syntax.file import File
from opdev.syntax.py_values import constants, evaluate
from opdev.syntax.tree import text
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_JIT = re.compile(r"(?P<alias>(?!pypto\b|torch\b|numba\b|triton\b|tl\b)\w+)\.(?P<what>jit|vector_function)")
_TAKES = re.compile(r"(?P<group>\w+)\s*(?:\.\s*(?:next|current|previous)\s*\(\s*\)|\[.*\])", re.DOTALL)
_SECOND = re.compile(rb"vector_selection|wrapper[ \t]*\xe8\xbe\xb9\xe7\x95\x8c\xe5\xa4\x96", re.IGNORECASE)
_ASSIGNS = re.compile(rb"[\n;:][ \t]*(\w+)[ \t]*=(?!=)")
_LONGER = re.compile(rb"[\w.]")
_TRACED = ("jit", "vector_function")


class Files(Protocol):
    """What an operator has to offer to be asked which generation it is of."""

    def files(self, *kinds: str) -> Iterable[File]: ...


@dataclass(frozen=True)
class Traced(Decorated):
    """A function the parser reads.

    ``kind`` is ``jit`` for a kernel, ``vector_function`` for register code called from one, ``test`` for a test
    that is decorated as a kernel.
    """

    kind: str

    @cached_property
    def inside(self) -> View:
        """The body's text alone."""
        return View(self.file, self.body.start_byte, self.body.end_byte, self.body)

    @property
    def lines(self) -> tuple[int, int]:
        """The body's range from the end of the line before it."""
        return max(self.file.code.rfind(b"\n", 0, self.inside.start), 0), self.inside.end

    @cached_property
    def keywords(self) -> Mapping[str, Node]:
        """The keyword arguments of the decorator."""
        call = self.decorator.named_children[0] if self.decorator.named_child_count else None
        return py.Call("", call, self.file).keywords if call is not None and call.type == "call" else {}

    @property
    def auto_mutex(self) -> bool:
        """Whether locks are put around tiles with mutex ids: unless it says no."""
        given = self.keywords.get("auto_mutex")
        return given is None or text(self.file.data, given) != "False"

    @cached_property
    def called(self) -> Mapping[str, list[tuple[int, int]]]:
        """Where ``pl.<name>(`` stands in the body, by the name: one look at the text for all that is asked of it."""
        found: dict[str, list[tuple[int, int]]] = {}
        code = self.file.code
        for match in _called(self.alias).finditer(code, self.inside.start, self.inside.end):
            if _LONGER.match(code, match.start() - 1):
                continue
            name = match[1].decode()
            found.setdefault(name, []).append((match.end(1) - len(name.rpartition(".")[2]), match.end(1)))
        return found

    def calls(self, *names: str) -> list[py.Call]:
        """Calls of ``pl.<name>`` (``system.bar_all`` for ``pl.system.bar_all``) in the body, in text order."""
        places = sorted(place for name in names for place in self.called.get(name, ()))
        return [call for place in places if (call := py.call_at(self.file, *place)) is not None]

    @cached_property
    def tiles(self) -> Tiles:
        return _tiles(self)

    @cached_property
    def types(self) -> Mapping[str, py.Call]:
        """The ``TileType`` each name of the body is given first."""
        found: dict[str, py.Call] = {}
        for call in py.calls(self.inside, "TileType"):
            name = _assigned(self, call.node)
            if name is not None:
                found.setdefault(name, call)
        return found


@dataclass(frozen=True)
class Group:
    """One ``make_tile_group``; ``slots`` is how many tiles, None where that cannot be told.

    ``ids``: some, none at all, or not to be told.  ``memory`` is where its tiles are (``Vec``), empty where the
    kernel does not say; ``place`` its addresses as written.
    """

    name: str
    call: py.Call
    ids: Literal["some", "none", "unknown"]
    slots: int | None
    memory: str = ""
    place: str = ""


@dataclass(frozen=True)
class Tiles:
    """The tiles of a kernel by name: groups, single ones, and what names of the kernel stand for."""

    groups: Mapping[str, Group] = field(default_factory=dict)
    single: Mapping[str, py.Call] = field(default_factory=dict)
    of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Name of a tile taken from groups or from single tiles: which."""

    def sources(self, name: str) -> frozenset[str]:
        """Which groups or single tiles a name stands for; empty for what is no tile as far as the kernel says."""
        return frozenset({name}) if name in self.groups or name in self.single else self.of.get(name, frozenset())

    def shares_memory(self, source: str) -> bool:
        """Whether another group has tiles at the same place: an access of either is one of both."""
        group = self.groups.get(source)
        return group is not None and any(
            other.place == group.place and (not other.memory or not group.memory or other.memory == group.memory)
            for other in self.groups.values()
            if other is not group
        )

    def is_locked(self, source: str) -> bool:
        """Whether locks are put around the uses of a group's tiles."""
        group = self.groups.get(source)
        return group is not None and group.ids == "some"


@lru_cache(maxsize=16)
def _called(alias: str) -> re.Pattern[bytes]:
    """``pl.<name>(``; the group is the name, with all that stands before its last part.

    It begins with plain text, which is searched for many times faster than what has to be tried at every place.
    """
    return re.compile(rf"{re.escape(alias)}\.(\w+(?:\.\w+)*)[ \t]*\(".encode())


def traced(view: View, *kinds: str) -> list[Traced]:
    """The functions of a range that are traced, in text order; ``kinds`` as in ``Traced``."""
    wanted = kinds or _TRACED
    found = view.file.memo(("pypto.traced", view.start, view.end), lambda: _traced(view))
    return [one for one in found if one.kind in wanted]


def pro_kernels(view: View) -> list[Traced]:
    """The kernels of a range, in text order."""
    return traced(view, "jit")


def _traced(view: View) -> list[Traced]:
    found: dict[int, Traced] = {}
    if is_foreign(view.file):
        return []
    for match, name, function, decorator in decorated(view, _TRACED, _JIT):
        # A test that is decorated by mistake is run by pytest and never traced.
        kind = "test" if name.startswith("test") else match["what"]
        one = Traced(name, function, decorator, match["alias"], view.file, kind)
        found.setdefault(function.start_byte, one)
    return list(found.values())


def _tiles(kernel: Traced) -> Tiles:
    groups: dict[str, Group] = {}
    single: dict[str, py.Call] = {}
    for call in kernel.calls("make_tile_group", "make_tile"):
        name = _assigned(kernel, call.node)
        if name is None:
            continue
        if call.name == "make_tile":
            single[name] = call
        else:
            ids, slots = _ids(kernel.file, call)
            place = call.keywords.get("addrs")
            written = text(kernel.file.data, place) if place is not None else ""
            groups[name] = Group(name, call, ids, slots, memory_of(kernel, call), written)
    of: dict[str, frozenset[str]] = {}
    known = groups.keys() | single.keys()
    for name, value in _assigned_values(kernel, known) if known else ():
        match = _TAKES.fullmatch(text(kernel.file.data, value))
        source = match["group"] if match is not None else text(kernel.file.data, value)
        if source in known:
            of[name] = of.get(name, frozenset()) | {source}
        elif value.type == "conditional_expression":
            parts = (value.named_children[0], value.named_children[-1]) if value.named_child_count == 3 else ()
            words = {text(kernel.file.data, p).split(".")[0].split("[")[0] for p in parts}
            of[name] = of.get(name, frozenset()) | (words & known)
    return Tiles(groups, single, {name: sources for name, sources in of.items() if sources})


def _assigned(kernel: Traced, node: Node) -> str | None:
    """The one name an expression is assigned to."""
    parent = node.parent
    left = parent.child_by_field_name("left") if parent is not None and parent.type == "assignment" else None
    if parent is None or left is None or left.type != "identifier" or parent.child_by_field_name("right") != node:
        return None
    return text(kernel.file.data, left)


def _assigned_values(kernel: Traced, known: Iterable[str]) -> Iterator[tuple[str, Node]]:
    """(name, value) of each assignment of the body to one name whose line has one of ``known`` in it."""
    code = kernel.file.code
    words = "|".join(re.escape(name) for name in known)
    speaks = re.compile(rf"(?<![\w.])(?:{words})(?!\w)|[(\\][ \t]*(?:\n|$)".encode())
    for match in _ASSIGNS.finditer(code, *kernel.lines):
        at = match.start(1)
        stop = code.find(b"\n", match.end())
        if speaks.search(code, at, stop + 1 if stop >= 0 else len(code)) is None:
            continue
        node = kernel.inside.node_at(at, match.end(1))
        parent = node.parent if node is not None else None
        if node is None or parent is None or parent.type != "assignment" or parent.child_by_field_name("left") != node:
            continue
        value = parent.child_by_field_name("right")
        if value is not None:
            yield match[1].decode(), value


def _ids(file: File, call: py.Call) -> tuple[Literal["some", "none", "unknown"], int | None]:
    """Whether a group has mutex ids, and how many tiles."""
    depth = call.keywords.get("depth")
    slots = evaluate(text(file.data, depth), constants(file)) if depth is not None else None
    given = call.keywords.get("mutex_ids")
    if given is None or text(file.data, given) == "None":
        return "none", slots
    if given.type in ("list", "tuple"):
        every = items(given)
        if any(item.type == "list_splat" for item in every):
            return "some", slots
        return ("some", len(every)) if every else ("none", slots)
    return "unknown", slots


def type_of(kernel: Traced, call: py.Call) -> py.Call | None:
    """The ``TileType`` a tile or a group is made with, where the kernel has it."""
    given = call.keywords.get("type") or (call.args[0] if call.args else None)
    if given is not None and given.type == "identifier":
        return kernel.types.get(text(kernel.file.data, given))
    if given is None or given.type != "call":
        return None
    function = given.child_by_field_name("function")
    named = function is not None and text(kernel.file.data, function).endswith("TileType")
    return py.Call("TileType", given, kernel.file) if named else None


def memory_of(kernel: Traced, call: py.Call) -> str:
    """Where a tile or a group is: ``Vec``, ``Mat``, ``Acc``; empty where that cannot be told."""
    made = type_of(kernel, call)
    memory = made.keywords.get("target_memory") if made is not None else None
    return text(kernel.file.data, memory).rpartition(".")[2] if memory is not None else ""


def items(sequence: Node) -> list[Node]:
    """The elements of a list or tuple, comments left out."""
    return [child for child in sequence.named_children if child.type != "comment"]


def is_exempt(view: View) -> bool:
    """Whether a definition is not to be judged: a test that expects an error, or code of another framework."""
    return any(True for _ in view.find("raises")) or is_foreign(view.file)


def is_foreign(file: File) -> bool:
    """Whether code in a document is of the other framework named pypto, which has ``@pl.jit``, too; files of it are nobody's.

    A document of no operator is of this one only where it, or its path, says so.
    """
    host = file.region.host if file.region is not None else None
    if host is None or b"pypto_pro" in host.data:
        return False
    return b"pypto.language" in host.data or (host.place.operator is None and "pypto_pro" not in host.path)


def language_aliases(file: File) -> frozenset[str]:
    """What ``pypto_pro.language`` is called in a file; empty where it is not imported."""

    def collect() -> frozenset[str]:
        found = set()
        for one in py.imports(View(file, 0, len(file.data))):
            if one.module == "pypto_pro.language" and one.name is None:
                found.add(one.bound if one.bound != "pypto_pro" else "pypto_pro.language")
            elif one.module == "pypto_pro" and one.name == "language":
                found.add(one.bound)
        return frozenset(found)

    return file.memo("pypto.language", collect)


def is_pro_project(project: Files | None) -> bool:
    """Whether an operator is one of PyPTO-Pro, by any of its files."""
    if project is None:
        return False
    if any(True for _ in project.files("pypto-impl")):
        return False
    if any(
        True
        for _ in project.files(
            "pypto-pro", "pypto-explore-report", "pypto-material-index", "pypto-kb", "pypto-perf-cases"
        )
    ):
        return True
    return any(f.path.endswith("_golden_cpu.py") for f in project.files("pypto-golden"))


def generation(project: Files | None) -> Literal[1, 2]:
    """Which generation of the workflow an operator follows.

    The second has five stages, a knowledge base and a design that freezes each vector step; an operator that
    shows none of these is judged by the first, which forbids less.
    """
    if project is None:
        return 1
    if any(True for _ in project.files("pypto-kb", "pypto-perf-cases")):
        return 2
    state = state_of(project)
    for key, wanted in (("schema_version", {"2.2"}), ("max_stage", {"5"})):
        node = state.get(key) if state is not None else None
        if node is not None and node.text.strip().strip("\"'") in wanted:
            return 2
    for file in project.files("pypto-design", "pypto-spec"):
        if _SECOND.search(file.data) or b"json machine-contract" in file.data:
            return 2
    return 1
