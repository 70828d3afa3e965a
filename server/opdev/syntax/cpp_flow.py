"""The order in which one C++ function does things, so that every check asks it the same way.

A body becomes steps, branches, loops and jumps; ``cpp_paths.explore`` runs a small state through
them.  Code that cannot be followed (goto, parse errors) has no flow at all: a check then says
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from opdev.api.table import lookup
from opdev.syntax.cpp_text import atoms, closing, names_assigned, squeeze, squeezed_args
from opdev.syntax.file import File
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_DIGITS = b"0123456789"
_WORDCHARS = _DIGITS + b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_LAUNCH = re.compile(rb"(?P<name>[A-Za-z_]\w*)[ \t]*(?:<[^<>;(){}]*>)?[ \t\r\n]*<<<(?P<config>[^;{}]*?)>>>", re.ASCII)
_LEAD = re.compile(rb"(?:[A-Za-z_]\w*[ \t]*::[ \t]*)*(?:template[ \t]+)?$")
_KEYWORDS = frozenset(
    b"if for while switch return sizeof alignof decltype catch static_cast reinterpret_cast const_cast dynamic_cast "
    b"defined noexcept new delete constexpr __attribute__ else do case".split()
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_RDMA = re.compile(r"aclshmemx_rdma_(?=\w)")


@lru_cache(maxsize=8192)
def canonical(name: str) -> str:
    """The present spelling of a SHMEM name; any other name as it is."""
    if name.startswith("aclshmemx_rdma_"):
        return _RDMA.sub("aclshmemx_roce_", name)
    if name.startswith("shmem"):
        api = lookup(name)
        if api is not None:
            return api.name
        if name.startswith("shmemi_"):
            return "acl" + name
    return name


# Nobody changes any of these; they are not frozen because a run makes millions, and freezing makes each dear.
@dataclass(eq=False, repr=False, slots=True)
class Event:
    """One call, read from the text.  ``name`` is the last part of the callee in its present spelling.

    A kernel launch is an event named ``<<<`` whose arguments are what stands between the brackets;
    a lambda is one named ``{``.
    """

    name: str
    start: int
    """Where the callee starts, namespaces included."""
    name_start: int
    name_end: int
    end: int
    """After the closing parenthesis."""
    args: tuple[str, ...]
    targs: tuple[str, ...]
    receiver: str
    """``.`` or ``->`` for a method, else empty."""
    written: str

    def arg(self, index: int) -> str:
        """An argument with blanks squeezed; empty where there is none."""
        return self.args[index] if -len(self.args) <= index < len(self.args) else ""


@dataclass(eq=False, repr=False, slots=True)
class Step:
    """Calls in text order, and the names the statement assigns."""

    events: tuple[Event, ...]
    assigned: frozenset[str]
    start: int
    end: int


@dataclass(eq=False, repr=False, slots=True)
class Jump:
    """``return``, ``break``, ``continue`` or ``throw``."""

    kind: str
    start: int
    end: int
    value: str = ""


@dataclass(eq=False, repr=False, slots=True)
class Branch:
    """``if`` (``cond`` is its text) or ``#if`` (empty ``cond``); a missing else is an empty arm."""

    cond: str
    start: int
    end: int
    arms: tuple[Block, ...]
    within: frozenset[str]
    """Names assigned by the loops around it."""


@dataclass(eq=False, repr=False, slots=True)
class Switch:
    """Case bodies in order; control falls from one into the next."""

    cases: tuple[Block, ...]
    default: bool


@dataclass(eq=False, repr=False, slots=True)
class Loop:
    """Any loop.  ``once``: its body runs before the test; ``endless``: only ``break`` leaves it."""

    test: Step
    update: Step
    body: Block
    once: bool
    endless: bool
    assigned: frozenset[str]
    start: int
    end: int
    variables: frozenset[str]
    """Names the head of the loop moves."""


Item = Step | Jump | Branch | Switch | Loop
Block = tuple[Item, ...]


def blocks_in(item: Item) -> tuple[Block, ...]:
    """The blocks an item is made of."""
    if isinstance(item, Branch):
        return item.arms
    if isinstance(item, Loop):
        return (item.body,)
    return item.cases if isinstance(item, Switch) else ()


def blocks(block: Block) -> Iterator[Block]:
    """A block and all blocks within it, in text order."""
    yield block
    for item in block:
        for inner in blocks_in(item):
            yield from blocks(inner)


@dataclass(eq=False, repr=False, slots=True)
class Flow:
    """A function body in order."""

    body: Block
    start: int
    end: int
    head: str
    """What stands before the body."""
    repeated: frozenset[str]
    """Conditions that are tested more than once."""
    events: tuple[Event, ...] = field(default=())

    def named(self, *names: str) -> list[Event]:
        """Calls of these names, in text order."""
        return [event for event in self.events if event.name in names]


class Unfollowable(Exception):  # noqa: N818 - an outcome, not an error
    """The function does something whose order the text does not tell."""


def flow_of(view: View) -> Flow | None:
    """The flow of the view's function; None for anything else and for what cannot be followed."""
    node = view.node
    if node is None:
        return None
    return view.file.memo(("cpp.flow", node.start_byte, node.end_byte), lambda: _flow(view.file, node))


def function_flow(file: File, function: Node) -> Flow | None:
    """As ``flow_of``, for a function definition at hand."""
    return file.memo(("cpp.flow", function.start_byte, function.end_byte), lambda: _flow(file, function))


def _flow(file: File, node: Node) -> Flow | None:
    function: Node | None = node
    while function is not None and function.type != "function_definition":
        function = next((c for c in reversed(function.named_children) if c.type.endswith(("_definition", "_declaration"))), None)  # fmt: skip
    body = function.child_by_field_name("body") if function is not None else None
    if function is None or body is None or body.has_error:
        return None
    from opdev.syntax.cpp import head

    reader = _Reader(file)
    try:
        block = reader.block(body)
    except Unfollowable:
        return None
    counted: dict[str, int] = {}
    for cond in reader.conditions:
        for atom, _ in atoms(cond, holds=True) or atoms(cond, holds=False):
            counted[atom] = counted.get(atom, 0) + 1
    repeated = frozenset(atom for atom, count in counted.items() if count > 1)
    events = tuple(sorted(reader.events, key=lambda event: event.start))
    top = head(file, function).decode("utf-8", "replace")
    return Flow(block, body.start_byte, body.end_byte, top, repeated, events)


class _Reader:
    """Makes items of statement nodes."""

    def __init__(self, file: File) -> None:
        self.code = file.code
        self.events: list[Event] = []
        self.conditions: list[str] = []
        self.loops: list[frozenset[str]] = []

    def block(self, node: Node) -> Block:
        """The items of a compound statement or of the single statement that stands for one."""
        if node.type in ("compound_statement", "else_clause", "declaration_list"):
            return tuple(item for child in node.named_children for item in self.items(child))
        return tuple(self.items(node))

    def items(self, node: Node) -> Iterator[Item]:
        kind = node.type
        if kind in ("comment", "preproc_call", "preproc_include", "preproc_def", "preproc_directive", "using_declaration",
                    "type_definition", "alias_declaration", "static_assert_declaration"):  # fmt: skip
            return
        if kind == "compound_statement":
            yield from self.block(node)
        elif kind == "if_statement":
            yield from self._if(node)
        elif kind in ("preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef"):
            yield self._preproc(node)
        elif kind in ("for_statement", "for_range_loop", "while_statement", "do_statement"):
            yield from self._loop(node, kind)
        elif kind == "switch_statement":
            yield from self._switch(node)
        elif kind in ("return_statement", "break_statement", "continue_statement", "throw_statement"):
            yield self.step(node.start_byte, node.end_byte)
            value = " ".join(self.text(node.start_byte, node.end_byte).rstrip(";").split()[1:])
            yield Jump(kind.partition("_")[0], node.start_byte, node.end_byte, value)
        elif kind in ("goto_statement", "labeled_statement", "try_statement", "ERROR"):
            raise Unfollowable
        else:
            yield self.step(node.start_byte, node.end_byte)

    def text(self, start: int, end: int) -> str:
        return self.code[start:end].decode("utf-8", "replace")

    def step(self, start: int, end: int) -> Step:
        piece = self.code[start:end]
        if b"{" in piece and b";" in piece[: piece.rfind(b"}") + 1]:
            # A lambda or a statement expression: what it does, and when, nobody knows.
            event = Event("{", start, start, start, end, (), (), "", "{")
            self.events.append(event)
            return Step((event,), names_assigned(piece.decode("utf-8", "replace")), start, end)
        events = tuple(sorted(_events(self.code, start, end), key=_turn))
        self.events += events
        return Step(events, names_assigned(piece.decode("utf-8", "replace")), start, end)

    def _within(self) -> frozenset[str]:
        return frozenset().union(*self.loops) if self.loops else frozenset()

    def _if(self, node: Node) -> Iterator[Item]:
        condition, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        otherwise = node.child_by_field_name("alternative")
        if condition is None or then is None:
            raise Unfollowable
        yield self.step(condition.start_byte, condition.end_byte)
        cond = squeeze(self.text(condition.start_byte, condition.end_byte))
        self.conditions.append(cond)
        arms = (self.block(then), self.block(otherwise) if otherwise is not None else ())
        yield Branch(cond, condition.start_byte, condition.end_byte, arms, self._within())

    def _preproc(self, node: Node) -> Branch:
        alternative = node.child_by_field_name("alternative")
        skipped = {node.child_by_field_name(f) for f in ("condition", "name", "alternative")}
        body = tuple(i for child in node.named_children if child not in skipped for i in self.items(child))
        other: Block = ()
        if alternative is not None and alternative.type == "preproc_else":
            other = tuple(i for child in alternative.named_children for i in self.items(child))
        elif alternative is not None:
            other = (self._preproc(alternative),)
        return Branch("", node.start_byte, node.start_byte + 3, (body, other), self._within())

    def _loop(self, node: Node, kind: str) -> Iterator[Item]:
        body = node.child_by_field_name("body")
        if body is None:
            raise Unfollowable
        empty = Step((), frozenset(), node.start_byte, node.start_byte)
        test = update = empty
        endless = False
        moved: frozenset[str] = frozenset()
        if kind == "for_range_loop":
            yield self.step(node.start_byte, body.start_byte)
            declared = node.child_by_field_name("declarator")
            moved = frozenset(_NAME.findall(self.text(declared.start_byte, declared.end_byte))) if declared else moved
        elif kind == "for_statement":
            first = node.child_by_field_name("initializer")
            if first is not None:
                begin = self.step(first.start_byte, first.end_byte)
                moved = begin.assigned
                yield begin
            condition, last = node.child_by_field_name("condition"), node.child_by_field_name("update")
            endless = condition is None
            if condition is not None:
                test = self.step(condition.start_byte, condition.end_byte)
            if last is not None:
                update = self.step(last.start_byte, last.end_byte)
                moved |= update.assigned
        else:
            condition = node.child_by_field_name("condition")
            if condition is None:
                raise Unfollowable
            test = self.step(condition.start_byte, condition.end_byte)
            endless = squeeze(self.text(condition.start_byte, condition.end_byte)) in ("true", "1")
        assigned = names_assigned(self.text(node.start_byte, node.end_byte)) | moved
        self.loops.append(frozenset(assigned))
        block = self.block(body)
        self.loops.pop()
        once = kind == "do_statement"
        yield Loop(test, update, block, once, endless, frozenset(assigned), node.start_byte, node.end_byte, moved)

    def _switch(self, node: Node) -> Iterator[Item]:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if condition is None or body is None:
            raise Unfollowable
        yield self.step(condition.start_byte, condition.end_byte)
        cases: list[Block] = []
        default = False
        for case in body.named_children:
            if case.type == "comment":
                continue
            if case.type != "case_statement":
                raise Unfollowable
            value = case.child_by_field_name("value")
            default = default or value is None
            cases.append(tuple(i for child in case.named_children if child != value for i in self.items(child)))
        yield Switch(tuple(cases), default)


def _before_targs(code: bytes, start: int, at: int) -> tuple[int, str]:
    """Where a callee's template arguments before ``at`` begin, and what stands in them."""
    here = at - 1
    while here >= start and code[here] in b" \t\r\n":
        here -= 1
    if here < start or code[here] != 62 or code[here - 2 : here] == b">>":
        return at, ""
    depth, last = 0, here
    while here >= start and last - here < 200:
        char = code[here]
        if char == 62:
            depth += 1
        elif char == 60:
            depth -= 1
            if depth == 0:
                return here, code[here + 1 : last].decode("utf-8", "replace")
        elif char in b";{}()":
            break
        here -= 1
    return at, ""


def _turn(event: Event) -> int:
    """What is called in an argument is over before the call begins; checking macros look at their argument themselves."""
    return event.start if event.name == "<<<" or event.written.isupper() else event.end


def _events(code: bytes, start: int, end: int) -> Iterator[Event]:
    if code.find(b"<<<", start, end) >= 0:
        for match in _LAUNCH.finditer(code, start, end):
            config = squeezed_args(match["config"].decode("utf-8", "replace"))
            written = match["name"].decode("ascii")
            yield Event(
                "<<<", match.start(), match.start("name"), match.end("name"), match.end(), config, (), "", written
            )
    opening = code.find(b"(", start, end)
    while opening >= 0:
        # From the parenthesis back to the name: far fewer places than names.
        here, opening = opening, code.find(b"(", opening + 1, end)
        named, targs = _before_targs(code, start, here)
        name_end = named
        while name_end > start and code[name_end - 1] in b" \t\r\n":
            name_end -= 1
        window = code[max(start, name_end - 80) : name_end]
        # A name begins with a letter, as far to the left as word characters go.
        name = window[len(window.rstrip(_WORDCHARS)) :].lstrip(_DIGITS)
        if not name:
            continue
        close = closing(code, here, end) if name not in _KEYWORDS else -1
        if close < 0:
            continue
        begin = name_start = name_end - len(name)
        if code[max(start, begin - 120) : begin].rstrip(b" \t").endswith((b"::", b"template")):
            lead = _LEAD.search(code, max(start, begin - 120), begin)
            if lead is not None:
                begin = lead.start()
        before = code[max(start, begin - 8) : begin].rstrip()
        receiver = "->" if before.endswith(b"->") else "." if before.endswith(b".") else ""
        inside = code[here + 1 : close].decode("utf-8", "replace")
        written = name.decode("ascii")
        yield Event(
            canonical(written), begin, name_start, name_end, close + 1,
            squeezed_args(inside), squeezed_args(targs), receiver, written,
        )  # fmt: skip
