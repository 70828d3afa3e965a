"""A design document: its headings, its YAML fences, and which of them is the Canonical DSL.

A file is read once (``document_of``), and reading never fails: while the author types, whatever
still parses stays known and the rest is a fault with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from opdev.design.compose import Composer
from opdev.design.markdown import Heading, Table, outline
from opdev.design.nodes import Fault, Node
from opdev.design.recover import read
from opdev.design.text import FenceText
from opdev.source import Source
from opdev.syntax.file import File
from opdev.syntax.regions import Region

Role = Literal["dsl", "intake", "other"]

SECTIONS = (
    "meta", "source", "interface", "semantics", "topology", "memory", "schedule", "correctness", "performance",
)  # fmt: skip
"""The DSL's top-level keys behind dsl_version, in their order; ``compile`` may follow."""
INTAKE = "phase0_intake"

_FRONT = re.compile(rb"\A---[ \t]*\r?\n(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
# A line that goes on with the document: the fence above it was never closed.
_GOES_ON = re.compile(rb"^(?:## *[1-9][.\xe3 ]|`{3,}[A-Za-z])", re.MULTILINE)
# Behind a line end, which a search finds faster than a line's beginning.
_TOP_KEY = re.compile(rb"\n([A-Za-z_]\w*)[ ]*:")


@dataclass(slots=True)
class Fence:
    """One YAML fence: ``root`` is what could be read of it, ``faults`` what could not."""

    file: File
    region: Region
    start: int
    end: int
    role: Role = "other"
    stop: int | None = None
    """Where the YAML ends in the fence's own bytes, if the document goes on inside the fence."""
    root: Node | None = None
    faults: list[Fault] = field(default_factory=list)
    events: tuple[int, int] = (0, 0)
    """Values made and characters given to the parser: what the time is made of."""

    @property
    def opening(self) -> tuple[int, int]:
        """The line with the ticks, in the Markdown."""
        data = self.region.host.data
        end = data.rfind(b"\n", 0, self.start) if self.start else 0
        end = self.start if end < 0 else end
        begin = data.rfind(b"\n", 0, end) + 1
        return begin, max(begin, end - 1 if data[end - 1 : end] == b"\r" else end)


class DesignDocument:
    """What is known of a design document; all ranges are bytes of the Markdown."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.fences = [_fence(f, r) for f in file.regions if f.language == "yaml" and (r := f.region) is not None]
        self._by_path: dict[str, Node | None] = {}
        self._give_roles()

    @property
    def data(self) -> bytes:
        return self.file.data

    @property
    def source(self) -> Source:
        return self.file.source

    @cached_property
    def front_matter(self) -> tuple[int, int] | None:
        """The front matter, marks included: never the DSL."""
        match = _FRONT.match(self.data)
        return match.span() if match else None

    @cached_property
    def _outline(self) -> tuple[list[Heading], list[Table]]:
        return outline(self.data, self._begin, self._cuts)

    @property
    def headings(self) -> list[Heading]:
        """The headings outside fences, in text order."""
        return self._outline[0]

    @property
    def tables(self) -> list[Table]:
        """The pipe tables outside fences, in text order."""
        return self._outline[1]

    @property
    def _begin(self) -> int:
        return self.front_matter[1] if self.front_matter else 0

    @property
    def _cuts(self) -> dict[int, int]:
        """Where the document goes on inside a fence that was never closed."""
        return {f.start: f.region.to_host(f.stop) for f in self.fences if f.stop is not None}

    def heading(self, number: str) -> Heading | None:
        """The heading of section ``2`` or ``6.1``."""
        return next((h for h in self.headings if h.number == number), None)

    @cached_property
    def dsl(self) -> Fence | None:
        """The Canonical DSL; None where the document has none."""
        return next((f for f in self.fences if f.role == "dsl"), None)

    @cached_property
    def intake(self) -> Fence | None:
        """A record of the intake answers, where the document carries one."""
        return next((f for f in self.fences if f.role == "intake"), None)

    @property
    def root(self) -> Node | None:
        """The DSL's mapping; None where there is none or it is something else."""
        root = self.dsl.root if self.dsl else None
        return root if root is not None and root.kind == "mapping" else None

    @property
    def faults(self) -> list[Fault]:
        """What keeps the DSL from being read as it stands."""
        return self.dsl.faults if self.dsl else []

    def get(self, path: str) -> Node | None:
        """The DSL's node at ``schedule.core_partition.mode``."""
        try:
            return self._by_path[path]
        except KeyError:
            node = self._by_path[path] = self.root.at(path) if self.root else None
            return node

    def text(self, path: str) -> str:
        """The DSL's text at a path; empty where there is none."""
        node = self.get(path)
        return node.text if node else ""

    def items(self, path: str) -> list[Node]:
        """The items of the DSL's list at a path."""
        node = self.get(path)
        return list(node.children) if node is not None and node.kind == "sequence" else []

    def nodes(self) -> Iterator[Node]:
        """Every node of the DSL below its top."""
        if self.root:
            yield from (n for n in self.root.walk() if n is not self.root)

    def at(self, offset: int) -> Node | None:
        """The innermost node of the DSL whose key or value is at ``offset``."""
        node = self.root
        if node is None or not node.start <= offset <= node.end:
            return None
        while True:
            inside = next((c for c in node.children if not c.alias and _reaches(c, offset)), None)
            if inside is None:
                return node
            node = inside

    def _give_roles(self) -> None:
        section = next((h for h in self.headings if h.number == "2" or "canonical dsl" in h.title.lower()), None)
        inside = [f for f in self.fences if section is not None and section.start < f.start < section.stop]
        for fence in self.fences:
            if _looks_like(fence) == "intake":
                fence.role = "intake"
        chosen = [f for f in inside if _looks_like(f) == "dsl"] or [f for f in inside if f.role == "other"]
        chosen = chosen or [f for f in self.fences if _looks_like(f) == "dsl"]
        if chosen:
            chosen[0].role = "dsl"
        for fence in self.fences:
            if fence.role != "other":
                _read(fence)

    @property
    def rivals(self) -> list[Fence]:
        """Other fences that look like a DSL: only one is read."""
        return [f for f in self.fences if f is not self.dsl and _looks_like(f) == "dsl"]


def document_of(file: File) -> DesignDocument:
    """The design document a Markdown file is; made once a file."""
    return file.memo("design", lambda: DesignDocument(file))


def _reaches(node: Node, offset: int) -> bool:
    begin = node.key_start if node.key_start >= 0 else node.start
    return begin <= offset <= max(node.end, node.key_end)


def _fence(file: File, region: Region) -> Fence:
    start = region.pieces[0][1]
    found = _goes_on(file.data)
    return Fence(file, region, start, region.to_host(len(file.data)), stop=found.start() if found else None)


def _goes_on(data: bytes) -> re.Match[bytes] | None:
    at = 0
    while True:
        # Few lines begin so: it is the others a long design has thousands of.
        section, fence = data.find(b"##", at), data.find(b"```", at)
        at = min(section, fence) if section >= 0 and fence >= 0 else max(section, fence)
        if at < 0:
            return None
        if (at == 0 or data[at - 1 : at] == b"\n") and (found := _GOES_ON.match(data, at)):
            return found
        at += 1


def _looks_like(fence: Fence) -> Role:
    """By its top-level keys, before it is parsed."""
    return fence.file.memo(("looks-like", fence.stop), lambda: _role(fence.file.data[: fence.stop]))


def _role(data: bytes) -> Role:
    keys = {k.decode() for k in _TOP_KEY.findall(b"\n" + data)}
    if INTAKE in keys:
        return "intake"
    return "dsl" if "dsl_version" in keys or len(keys & set(SECTIONS)) > 1 else "other"


def _read(fence: Fence) -> None:
    composer = Composer(FenceText(fence.file, fence.stop))
    if fence.stop is not None:
        composer.faults.append(Fault("unclosed-fence", *fence.opening))
    fence.root = read(composer)
    fence.faults = sorted(composer.faults, key=lambda f: (f.start, f.end))
    fence.events = (composer.nodes, composer.chars)
