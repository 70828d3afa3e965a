"""One file as the rules see it: bytes, blanked text, tree, segments, embedded regions.

Everything is made on demand, because most files are decided by a word search alone, and made
again only where an edit reached: see ``File.edited``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from opdev.kinds import LOG_HEAD, Kind, Place
from opdev.source import Source
from opdev.syntax import blank
from opdev.syntax.chunks import chunks_of, spliced
from opdev.syntax.languages import LINES, parser
from opdev.syntax.mask import has_bare_macro, mask_ascendc
from opdev.syntax.pieces import Carried, Piece, piece_of, words_of

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

    from opdev.syntax.regions import Region

T = TypeVar("T")

# Nodes that hold definitions rather than being one: a segment never spans their whole body.
_CONTAINERS = {
    "namespace_definition", "linkage_specification", "declaration_list", "preproc_if", "preproc_ifdef",
    "preproc_else", "preproc_elif", "class_specifier", "struct_specifier", "field_declaration_list",
    "class_definition", "block",
}  # fmt: skip
_BLANKERS = {
    "cpp": blank.blank_cpp,
    "python": blank.blank_python,
    "bash": blank.blank_bash,
    "cmake": blank.blank_cmake,
    "yaml": blank.blank_cmake,
}


def _is_class_template(node: Node) -> bool:
    """Kernels are mostly class templates: each of their functions is a definition of its own."""
    return node.type == "template_declaration" and any(
        child.type in ("class_specifier", "struct_specifier") for child in node.children
    )


class Segment(NamedTuple):
    """A stretch of the file that holds one definition and the blank text before it.

    Segments tile the file.  ``node`` is the definition (None for what trails the last one).
    """

    start: int
    end: int
    node: Node | None


class File:
    """A file and what is known of it.

    ``path`` is how the user names it; ``place`` where it stands.  Offsets are into ``data``.
    ``region`` is set for code embedded in another file, whose offsets it maps back.
    """

    def __init__(
        self,
        source: Source,
        kind: Kind,
        place: Place | None = None,
        *,
        region: Region | None = None,
    ) -> None:
        self.source = source
        self.kind = kind
        self.place = place or Place()
        self.region = region
        self.typed = False
        """Whether it is one of many states of a file being typed into: worth keeping ``pieces`` for."""
        self._memo: dict[object, object] = {}
        self._names_before: tuple[list[Piece], dict[bytes, int]] = ([], {})
        self._pieces_before: _Before | None = None
        self._carried = Carried()

    @property
    def path(self) -> str:
        return self.source.path

    @property
    def data(self) -> bytes:
        return self.source.data

    @property
    def language(self) -> str | None:
        return self.kind.language

    @property
    def parsed(self) -> bool:
        """Whether there is a grammar for it: a log has a language and rules, and no tree."""
        return self.language is not None and self.language != LINES

    @cached_property
    def _blanked(self) -> tuple[bytes, bytes]:
        blanker = _BLANKERS.get(self.language or "")
        return blanker(self.data) if blanker else (self.data, self.data)

    @property
    def code(self) -> bytes:
        """The text without comments and strings (double-quoted shell text stays)."""
        return self._blanked[0]

    @property
    def nocomment(self) -> bytes:
        """The text without comments."""
        return self._blanked[1]

    @cached_property
    def parse_text(self) -> bytes:
        """What the parser reads: the text, masked where the grammar does not know the dialect."""
        if self.language == "cpp":
            return mask_ascendc(self.data, self.code)
        return self.data.replace(b"\0", b" ") if b"\0" in self.data else self.data

    @cached_property
    def tree(self) -> Tree:
        """The syntax tree; ValueError for a file without a grammar (``parsed``)."""
        if self.language is None or self.language == LINES:
            raise ValueError(f"{self.path}: no language to parse as")
        return parser(self.language).parse(self.parse_text)

    @property
    def root(self) -> Node:
        return self.tree.root_node

    @cached_property
    def words(self) -> frozenset[bytes]:
        """Every word of the text, comments included: what decides cheaply which rules can fire."""
        return words_of(self.data if self.language != LINES else self.data[:LOG_HEAD])

    @cached_property
    def segments(self) -> list[Segment]:
        """The definitions, tiling the file (C++ and Python); one segment for other languages."""
        if self.language not in ("cpp", "python"):
            return [Segment(0, len(self.data), self.root if self.parsed else None)]
        found: list[Segment] = []
        at = 0
        for node in self._definitions(self.root):
            if node.end_byte > at:
                found.append(Segment(at, node.end_byte, node))
                at = node.end_byte
        if at < len(self.data) or not found:
            found.append(Segment(at, len(self.data), None))
        return found

    @property
    def pieces(self) -> list[tuple[int, Piece]] | None:
        """(start, piece) of each segment; None for a file that is read once."""
        return self.memo("pieces", self._pieces) if self.typed else None

    def _pieces(self) -> list[tuple[int, Piece]] | None:
        if self.language not in ("cpp", "python"):
            return None
        data, code, plain = self.data, self.code, self.nocomment
        segments, before = self.segments, self._pieces_before
        self._pieces_before = None
        head, tail = _untouched(segments, before) if before is not None else ([], [])
        if before is not None:
            self._carried = Carried(before[-1], len(head), len(tail))
        middle = segments[len(head) : len(segments) - len(tail)]
        return [*head, *((s, piece_of(data[s:e], code[s:e], plain[s:e])) for s, e, _ in middle), *tail]

    def each(self, key: object, make: Callable[[Piece], T]) -> list[T]:
        """``make(piece)`` of every piece, in text order, where there are pieces; as ``Carried.each``."""
        return self._carried.each(key, make, self.pieces or [])

    @cached_property
    def chunks(self) -> list[Piece]:
        """The text in chunks of whole lines, those of the version before where they are the same."""
        return chunks_of(self.data)

    @property
    def names(self) -> Mapping[bytes, int] | None:
        """The words of ``code`` with the number of pieces each is in; None where there are no pieces."""
        return self.memo("names", self._names) if self.pieces is not None else None

    def _names(self) -> dict[bytes, int]:
        before, names = self._names_before
        pieces = [piece for _, piece in self.pieces or ()]
        low, high = 0, min(len(before), len(pieces))
        while low < high and before[low] is pieces[low]:
            low += 1
        tail = 0
        while tail < high - low and before[-1 - tail] is pieces[-1 - tail]:
            tail += 1
        names = dict(names)
        for piece in before[low : len(before) - tail]:
            for word in piece.names:
                if names[word] == 1:
                    del names[word]
                else:
                    names[word] -= 1
        for piece in pieces[low : len(pieces) - tail]:
            for word in piece.names:
                names[word] = names.get(word, 0) + 1
        self._names_before = (pieces, names)
        return names

    def _definitions(self, top: Node) -> list[Node]:
        out: list[Node] = []
        stack = list(reversed(top.children))
        while stack:
            node = stack.pop()
            if node.child_count and (node.type in _CONTAINERS or _is_class_template(node)):
                stack.extend(reversed(node.children))
            elif node.is_named:
                out.append(node)
        return out

    def memo(self, key: object, make: Callable[[], T]) -> T:
        """``make()`` once a file: checks share what they derive."""
        try:
            return cast("T", self._memo[key])
        except KeyError:
            value = self._memo[key] = make()
            return value

    @cached_property
    def regions(self) -> list[File]:
        """Files embedded in this one (fences in Markdown, here-documents in shell)."""
        from opdev.syntax.regions import embedded

        return embedded(self)

    def edited(self, source: Source, start: int, old_end: int, new_end: int) -> File:
        """This file after ``data[start:old_end]`` became ``source.data[start:new_end]``.

        The tree is parsed incrementally and blanking redone only in the segment that changed.
        """
        new = File(source, self.kind, self.place)
        new.typed, new._names_before = self.typed, self._names_before
        if "chunks" in self.__dict__:
            new.chunks = spliced(self.chunks, source.data, start, old_end, new_end)
        if "tree" not in self.__dict__:
            return new
        self._splice(new, start, old_end, new_end)
        tree = self.tree.copy()
        tree.edit(
            start,
            old_end,
            new_end,
            _point(self.source, start),
            _point(self.source, old_end),
            _point(source, new_end),
        )
        new.tree = parser(self.language).parse(new.parse_text, tree)
        return new

    def _splice(self, new: File, start: int, old_end: int, new_end: int) -> None:
        """Redo blanking and masking in the changed segments only, where that is safe."""
        if self.language not in ("cpp", "python"):
            return
        touched = [s for s in self.segments if s.start <= old_end and s.end >= start]
        begin, stop = touched[0].start, touched[-1].end
        shift = new_end - old_end
        before, piece = self.data[begin:stop], new.data[begin : stop + shift]
        if self.data[stop : stop + 1] not in (b"", b"\n", b"\r"):
            return
        if self.language == "cpp" and not (_stands_alone(before, self.data) and _stands_alone(piece, new.data)):
            return
        code, nocomment = self._blanked
        # The piece must stand on its own, before and after: read alone it is what it is in the file, it is
        # not all blank (which it also is inside a comment that began above), and nothing in it reaches
        # into what follows.
        alone, part = _blank_alone(self.language, before), _blank_alone(self.language, piece)
        if alone is None or part is None or not alone[0].strip():
            return
        if alone != (code[begin:stop], nocomment[begin:stop]):
            return
        new._blanked = (
            code[:begin] + part[0] + code[stop:],
            nocomment[:begin] + part[1] + nocomment[stop:],
        )
        if self.pieces is not None:
            new._pieces_before = (self.pieces, begin, stop, shift, self._carried)
        if self.language == "cpp":
            old = self.parse_text
            # Where a macro call may be a declaration is told by the braces before it.
            if _outer(alone[0]) != _outer(part[0]) and has_bare_macro(code[stop:]):
                return
            if not has_bare_macro(part[0]) and _mask_alone(before, alone[0]) == old[begin:stop]:
                new.parse_text = old[:begin] + _mask_alone(piece, part[0]) + old[stop:]


_Blanked = tuple[bytes, bytes]
_Pieces = list[tuple[int, Piece]]
_Before = tuple[_Pieces, int, int, int, Carried]
"""The pieces of the version before, the range in it that was blanked anew, how far what follows has moved, and what
was made of those pieces."""


def _untouched(segments: list[Segment], before: _Before) -> tuple[_Pieces, _Pieces]:
    """The pieces before and behind an edit that are what they were, placed where they are now."""
    pieces, begin, stop, shift, _ = before
    head: _Pieces = []
    for (start, end, _), one in zip(segments, pieces, strict=False):
        if end > begin or one[0] != start or len(one[1].data) != end - start:
            break
        head.append(one)
    tail: _Pieces = []
    for (start, end, _), (was, piece) in zip(reversed(segments[len(head) :]), reversed(pieces), strict=False):
        if was < stop or was + shift != start or len(piece.data) != end - start:
            break
        tail.append((start, piece))
    return head, tail[::-1]


def _stands_alone(piece: bytes, whole: bytes) -> bool:
    """Whether a piece of C++ may be blanked and masked without what stands before and behind it."""
    if b'R"' in piece or b"__cplusplus" in piece or piece.rstrip(b" \t\r\n").endswith(b"\\"):
        return False
    # A directive counts from the beginning of its line, and `#if 0` for what follows it.
    return b"#" not in piece or (b"#" not in piece.partition(b"\n")[0] and b"if 0" not in whole)


def _outer(code: bytes) -> tuple[object, ...]:
    """What a piece changes in how deep in braces the text behind it stands."""
    names = b"namespace" in code or b"extern" in code
    return (code.count(b"{") - code.count(b"}"), code if names else b"")


# What a keystroke made of a piece is what the next one starts from.
@lru_cache(maxsize=8)
def _blank_alone(language: str, piece: bytes) -> _Blanked | None:
    """A piece blanked by itself; None if a comment or string in it does not end in it."""
    code, nocomment = _BLANKERS[language](piece + b"\n0")
    if code[-1:] != b"0" or nocomment[-1:] != b"0":
        return None
    return code[:-2], nocomment[:-2]


_mask_alone = lru_cache(maxsize=8)(mask_ascendc)


def _point(source: Source, offset: int) -> tuple[int, int]:
    line = source.line_of(offset)
    return line, offset - source.line_starts[line]
