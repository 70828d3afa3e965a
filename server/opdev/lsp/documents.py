"""Open documents, as bytes.

pygls ends lines at form feeds and U+2028, where no editor does, and cuts an edit that reaches past
the end of the file; both put fixes in the wrong place.  Here a document is a ``Source``: immutable,
one a version, so that a thread that lints keeps what it began with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from opdev.lsp import fields
from opdev.lsp.client import Client, Folder
from opdev.lsp.uris import key_of, to_path
from opdev.source import Source, Unit

if TYPE_CHECKING:
    from lsprotocol import types

_SUFFIX = {"cpp": ".cpp", "c": ".c", "cuda-cpp": ".cu", "shellscript": ".sh", "python": ".py", "cmake": ".cmake",
           "markdown": ".md", "yaml": ".yaml", "json": ".json", "log": ".log"}  # fmt: skip


class Document:
    """One open document.  ``version`` and ``source`` change together, on the loop's thread only."""

    __slots__ = ("key", "language_id", "local", "path", "source", "uri", "version")

    def __init__(self, uri: str, language_id: str, version: int, text: str) -> None:
        self.uri = uri
        self.key = key_of(uri)
        self.language_id = language_id
        found = to_path(uri)
        self.local = found is not None
        """Whether it is a file of this machine."""
        self.path = found or _made_up_path(uri, language_id)
        self.version = version
        self.source = Source(self.path, _encode(text))

    def change(self, changes: Iterable[object], version: int, unit: Unit) -> None:
        """Apply the changes of ``didChange``; each range is of the text the change before it left.

        FieldError, and nothing changed, if one of them is not what the protocol says.
        """
        source = self.source
        for change in changes:
            text = _encode(fields.text(change, "text"))
            if isinstance(change, Mapping) and change.get("range") is not None:
                start = source.offset(*fields.position(change, "range.start"), unit)
                end = source.offset(*fields.position(change, "range.end"), unit)
                source = source.spliced(min(start, end), max(start, end), text)
            else:
                source = Source(self.path, text)
        self.source, self.version = source, version


class Documents:
    """The client's open documents by URI, whatever spelling it uses, and its folders."""

    def __init__(self, client: Client) -> None:
        self.unit: Unit = client.unit
        self.folders: dict[str, Folder] = {key_of(f.uri): f for f in client.folders}
        self.open: dict[str, Document] = {}

    def put(self, params: Mapping[str, Any]) -> Document:
        """``didOpen``; opening twice replaces."""
        document = Document(
            fields.text(params, "textDocument.uri"),
            fields.text(params, "textDocument.languageId"),
            fields.number(params, "textDocument.version"),
            fields.text(params, "textDocument.text"),
        )
        self.open[document.key] = document
        return document

    def find(self, uri: str) -> Document | None:
        """The open document of a URI."""
        return self.open.get(key_of(uri))

    def at_path(self, path: str) -> Document | None:
        """The open document of a path."""
        return self.open.get(f"file:{path}")

    def drop(self, uri: str) -> Document | None:
        """``didClose``."""
        return self.open.pop(key_of(uri), None)

    def read(self, path: str) -> bytes | None:
        """A file's bytes: the open buffer's, else the disk's."""
        from opdev.project.operators import read_disk

        document = self.at_path(path)
        return document.source.data if document is not None else read_disk(path)

    @property
    def folder_paths(self) -> list[str]:
        """Paths of the workspace folders that are on this machine."""
        paths = (to_path(folder.uri) for folder in self.folders.values())
        return [path.rstrip("/") or "/" for path in paths if path is not None]


def offsets(source: Source, where: types.Range, unit: Unit) -> tuple[int, int]:
    """Byte range of a protocol range; what lies past the end of a line or the file is its end."""
    start = source.offset(where.start.line, where.start.character, unit)
    end = source.offset(where.end.line, where.end.character, unit)
    return (start, end) if start <= end else (end, start)


def plain_range(source: Source, start: int, end: int, unit: Unit) -> dict[str, dict[str, int]]:
    """The protocol range of a byte range, as JSON."""
    line, column = source.position(start, unit)
    last, stop = (line, column) if end <= start else source.position(end, unit)
    return {"start": {"line": line, "character": column}, "end": {"line": last, "character": stop}}


def typed_range(source: Source, start: int, end: int, unit: Unit) -> types.Range:
    """The protocol range of a byte range, as features answer with it."""
    from lsprotocol import types

    return types.Range(
        types.Position(*source.position(start, unit)), types.Position(*source.position(max(start, end), unit))
    )


def _encode(text: str) -> bytes:
    # Half of a surrogate pair has no UTF-8; `?` has the same length in UTF-16 and UTF-32.
    return text.encode("utf-8", "replace")


def _made_up_path(uri: str, language_id: str) -> str:
    """A path for a buffer without one, so that its kind can be told."""
    name = re.sub(r"[^\w.-]+", "_", uri.rpartition("/")[2]) or "buffer"
    suffix = _SUFFIX.get(language_id, "")
    return f"/untitled/{name if suffix and name.endswith(suffix) else name + suffix}"
