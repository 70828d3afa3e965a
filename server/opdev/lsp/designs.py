"""Design documents and operators as features see them: the newest text, parsed once.

A design of 3,000 lines takes ten times longer to read than to answer about, so a feature waits the few
milliseconds until the linter has read this version rather than reading it a second time.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from opdev.design.document import DesignDocument, document_of
from opdev.syntax.file import File

if TYPE_CHECKING:
    from opdev.lsp.documents import Document
    from opdev.lsp.operators import LiveOperator
    from opdev.lsp.session import Session

_PATIENCE = 0.3
"""Seconds a feature waits for the linter, which may be busy with a rule that takes long."""
_AFTER = 0.002
"""Seconds a feature leaves the findings to be written."""


async def settled(session: Session, document: Document) -> File:
    """The document as it is now, parsed; the linter's own file where that comes in time."""
    source = document.source
    if session.now_shown(document) is None:
        # Parsed is not yet linted: a feature that ran beside the linter would slow the keystroke down.
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(session.shown(document), _PATIENCE)
            # The findings go out first.
            await asyncio.sleep(_AFTER)
    file = session.analyst.file_of(document)
    if file is not None and file.source is source:
        return file
    # Typed into meanwhile: the question was about the text of then.
    made = session.file_of(document)
    return made if made.source is source else File(source, made.kind, made.place)


def is_design(file: File) -> bool:
    """Whether a file is a design document."""
    return "design-doc" in file.kind.names


def design_in(operator: LiveOperator | None) -> DesignDocument | None:
    """The design of an operator."""
    files = operator.files("design-doc") if operator is not None else ()
    return next((document_of(file) for file in files), None)


def operator_of(session: Session, file: File) -> LiveOperator | None:
    """The operator a file is in, unsaved buffers first, as it is at this moment."""
    root = file.place.root
    return session.operators.now(root) if root is not None else None
