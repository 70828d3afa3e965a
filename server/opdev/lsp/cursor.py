"""What stands at a position: the word, the code around it, the side it runs on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lsprotocol import types

from opdev.lsp.client import Lang
from opdev.lsp.documents import Document
from opdev.source import Source
from opdev.syntax.file import File

if TYPE_CHECKING:
    from opdev.lsp.session import Session

Where = types.HoverParams | types.CompletionParams | types.SignatureHelpParams
Side = Literal["device", "host"]
_DEVICE_WORDS = (b"__aicore__", b"[aicore]", b"__global__", b"SHMEM_DEVICE", b"SHMEM_GLOBAL")
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in an open document.  ``offset`` is in ``source.data``."""

    session: Session
    document: Document
    source: Source
    offset: int

    @property
    def lang(self) -> Lang:
        """The language to answer in."""
        return self.session.lang_of(self.session.rulebook.of(self.document.path).lang)

    @property
    def data(self) -> bytes:
        return self.source.data

    def word(self) -> tuple[int, int]:
        """The byte range of the identifier at the cursor; empty where there is none."""
        return word_at(self.data, self.offset)

    def line(self) -> tuple[int, int]:
        """The byte range of the cursor's line."""
        return self.source.line_range(self.source.line_of(self.offset))

    def code(self) -> tuple[File, int] | None:
        """The C++ around the cursor, and where in it the cursor is: this file, or a fence in it."""
        file = self.session.file_of(self.document)
        if file.language == "cpp":
            return file, self.offset
        if file.language == "markdown":
            for inner in file.regions:
                if inner.language == "cpp" and inner.region is not None:
                    for start, outer in reversed(inner.region.pieces):
                        if outer <= self.offset:
                            at = start + self.offset - outer
                            if at <= len(inner.data):
                                return inner, at
                            break
        return None


def cursor(session: Session, where: Where) -> Cursor | None:
    """The cursor of a request; None if its document is not open."""
    document = session.documents.find(where.text_document.uri)
    if document is None:
        return None
    source = document.source
    return Cursor(
        session, document, source, source.offset(where.position.line, where.position.character, session.client.unit)
    )


def word_at(data: bytes, offset: int) -> tuple[int, int]:
    """The byte range of the identifier that touches ``offset``."""
    start = end = offset
    while start > 0 and data[start - 1] in _WORD:
        start -= 1
    while end < len(data) and data[end] in _WORD:
        end += 1
    return start, end


def side_at(file: File, offset: int) -> Side | None:
    """Whether code at ``offset`` runs on the device or the host; None where that is open."""
    from opdev.syntax.cpp import functions, is_device
    from opdev.syntax.view import View

    for function in functions(View(file, 0, len(file.data))):
        if function.start_byte <= offset <= function.end_byte:
            return "device" if is_device(file, function) else "host"
    # While a call is being typed the parser may not see the function around it: its head is text too.
    open_since = file.code[max(file.code.rfind(b"\n}", 0, offset), 0) : offset]
    if b"{" in open_since:
        return "device" if any(word in open_since for word in _DEVICE_WORDS) else "host"
    kinds = file.kind.names
    if "host" in kinds and "kernel" not in kinds:
        return "host"
    return "device" if "kernel" in kinds and "host" not in kinds else None
