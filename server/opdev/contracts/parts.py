"""Which texts of a file are contracts: whole JSON and YAML files, the front matter and the machine block of documents."""

from __future__ import annotations

import re
from dataclasses import dataclass

from opdev.contracts.documents import API_REPORT, DESIGN, EXPLORE_REPORT, MACHINE, SPEC
from opdev.contracts.fields import Contract, Step
from opdev.contracts.knowledge import BINDINGS, SELECTION, USAGE
from opdev.contracts.performance import CASES
from opdev.contracts.workflow import INTERFACES, STATE
from opdev.design.compose import Composer
from opdev.design.nodes import Node
from opdev.design.recover import read
from opdev.design.text import FenceText
from opdev.facts.jsontree import tree
from opdev.facts.pypto_docs import front_of
from opdev.facts.structured import root_of
from opdev.kinds import Kind
from opdev.source import Source
from opdev.syntax.file import File

_FILES = {c.name: c for c in (SELECTION, BINDINGS, USAGE, INTERFACES, STATE, CASES)}
_FRONTS = {c.name: c for c in (SPEC, DESIGN, API_REPORT, EXPLORE_REPORT)}
_KINDS = frozenset(
    {"pypto-kb", "pypto-perf-cases", "pypto-state", "pypto-interfaces", "pypto-spec", "pypto-design", "pypto-api-report", "pypto-explore-report"}
)  # fmt: skip
MACHINE_FENCE = re.compile(
    rb"^(?P<open>(?P<ticks>`{3,})[ \t]*json[ \t]+machine-contract[^\n]*\n)(?P<body>.*?)^(?P=ticks)[ \t]*\r?$",
    re.M | re.S,
)
_OPEN_FENCE = re.compile(rb"^`{3,}[ \t]*json[ \t]+machine-contract[^\n]*\n", re.M)
_OPEN_FRONT = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n")


@dataclass(frozen=True, slots=True)
class Part:
    """The bytes ``[start, end)`` of a file that are a contract; places of ``root`` count from ``start``."""

    contract: Contract
    start: int
    end: int
    root: Node | None
    json: bool
    """Written in JSON; else in YAML."""


def is_contract(file: File) -> bool:
    """Whether a file is a contract or holds one."""
    return not _KINDS.isdisjoint(file.kind.names)


def name_of(path: str) -> str:
    """A path's last name, which says what contract a file is."""
    return path.rpartition("/")[2]


def parts_of(file: File) -> tuple[Part, ...]:
    """The contracts of a file, in order."""

    def make() -> tuple[Part, ...]:
        if not is_contract(file):
            return ()
        name, size = name_of(file.path), len(file.data)
        if name in _FILES:
            return (Part(_FILES[name], 0, size, root_of(file), json=name.endswith(".json")),)
        found = []
        front = front_of(file)
        if front is not None and name in _FRONTS:
            end = file.data.rfind(b"---", front.base, front.end)
            found.append(Part(_FRONTS[name], front.base, end, front.root, json=False))
        if name == SPEC.name:
            block = machine(file)
            if block is not None:
                found.append(block)
        return tuple(found)

    return file.memo("contracts.parts", make)


def machine(file: File) -> Part | None:
    """The machine contract of a SPEC.md, the first where there are several; None without one."""
    match = MACHINE_FENCE.search(file.data)
    if match is None:
        return None
    text = FenceText(File(Source(f"{file.path}#contract", match["body"]), Kind("yaml", frozenset())))
    root = tree(text)
    if root is None:
        text.text = text.text.replace("\t", " ")
        root = read(Composer(text))
    return Part(MACHINE, match.start("body"), match.end("body"), root, json=True)


def open_at(file: File, offset: int) -> Part | None:
    """The contract around a place, also one that nobody has closed yet."""
    for part in parts_of(file):
        if part.start <= offset <= part.end:
            return part
    name = name_of(file.path)
    if name not in _FRONTS or not is_contract(file):
        return None
    opened = list(_OPEN_FENCE.finditer(file.data, 0, offset)) if name == SPEC.name else []
    if opened and b"\n```" not in file.data[opened[-1].end() - 1 : offset]:
        return Part(MACHINE, opened[-1].end(), len(file.data), None, json=True)
    front = _OPEN_FRONT.match(file.data)
    if front is not None and front_of(file) is None and front.end() <= offset:
        return Part(_FRONTS[name], front.end(), len(file.data), None, json=False)
    return None


def steps_of(node: Node) -> list[Step]:
    """The way from the top to a node."""
    found: list[Step] = []
    while node.parent is not None:
        found.append(node.index if node.parent.kind == "sequence" else node.key or "")
        node = node.parent
    return found[::-1]


def node_at(part: Part, offset: int) -> tuple[Node, int, int] | None:
    """The key or the plain value at a place, and where that is in the file; None for neither."""
    at = offset - part.start
    node = part.root
    while node is not None:
        inner = None
        for child in node.children:
            if 0 <= child.key_start <= at <= child.key_end:
                return child, child.key_start + part.start, child.key_end + part.start
            if child.start <= at <= child.end and not child.alias:
                inner = child
                if at < child.end:
                    break
        if inner is None:
            break
        node = inner
    if node is None or node is part.root or node.kind != "scalar" or node.end <= node.start:
        return None
    return node, node.start + part.start, node.end + part.start
