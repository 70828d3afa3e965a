"""Document links: the files an operator's Markdown speaks of."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types

from opdev.facts.links import links
from opdev.lsp.documents import typed_range

if TYPE_CHECKING:
    from opdev.lsp.documents import Document
    from opdev.lsp.session import Session
    from opdev.syntax.file import File


def doclinks(
    session: Session, document: Document, file: File, _params: types.DocumentLinkParams
) -> list[types.DocumentLink]:
    """The links of a Markdown document on this machine."""
    if file.language != "markdown" or not file.kind or not document.local:
        return []

    def is_there(path: str) -> bool:
        return session.documents.at_path(path) is not None or os.path.isfile(path)

    return [
        types.DocumentLink(
            typed_range(file.source, link.start, link.end, session.client.unit), session.uri_of(link.target)
        )
        for link in links(file, is_there)
    ]
