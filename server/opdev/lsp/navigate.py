"""Definition and references: from a name of the design to the code, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from opdev.facts.navigation import Name, Place, definitions, name_at, places
from opdev.lsp.designs import operator_of
from opdev.lsp.documents import typed_range

if TYPE_CHECKING:
    from opdev.lsp.documents import Document
    from opdev.lsp.operators import LiveOperator
    from opdev.lsp.session import Session
    from opdev.syntax.file import File


def definition(
    session: Session, document: Document, file: File, params: types.DefinitionParams
) -> list[types.Location] | list[types.LocationLink] | None:
    """Where a name leads; None where it leads nowhere, which leaves it to the editor's other servers."""
    found = _named(session, file, params.position)
    if found is None:
        return None
    operator, name = found
    listed = definitions(operator, file, name)
    if not listed:
        return None
    if not session.client.can("textDocument.definition.linkSupport"):
        return list(_locations(session, document, file, listed))
    unit = session.client.unit
    origin = typed_range(file.source, name.start, name.end, unit)
    return [
        types.LocationLink(location.uri, location.range, location.range, origin)
        for location in _locations(session, document, file, listed)
    ]


def references(
    session: Session, document: Document, file: File, params: types.ReferenceParams
) -> list[types.Location] | None:
    """Everywhere a name of the design stands in the operator, unsaved buffers included."""
    found = _named(session, file, params.position)
    if found is None:
        return None
    operator, name = found
    every = places(operator, name)
    if not params.context.include_declaration:
        every = [p for p in every if not (p.defines and p.in_design)]
    return list(_locations(session, document, file, every)) or None


def _named(session: Session, file: File, position: types.Position) -> tuple[LiveOperator, Name] | None:
    operator = operator_of(session, file)
    if operator is None:
        return None
    offset = file.source.offset(position.line, position.character, session.client.unit)
    name = name_at(operator, file, offset)
    return (operator, name) if name is not None else None


def _locations(session: Session, document: Document, file: File, found: Iterable[Place]) -> Iterator[types.Location]:
    for place in found:
        uri = document.uri if place.file.path == file.path else session.uri_of(place.file.path)
        yield types.Location(uri, typed_range(place.file.source, place.start, place.end, session.client.unit))
