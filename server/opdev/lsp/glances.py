"""Asking for lenses and hints anew when another file changed what they say.

An editor asks for them after an edit of the document they stand in; that a report came, or that the design
beside an open cases.json has another op_kind, it does not see.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from opdev.lsp.refresh import Refresh

if TYPE_CHECKING:
    from opdev.lsp.session import Session

log = logging.getLogger("opdev.lsp")


class Glances:
    """What was last said of each operator, by its root.  ``look`` runs on the worker's thread."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lens = Refresh(session.client, session.ask, "workspace/codeLens/refresh")
        self._hints = Refresh(session.client, session.ask, "workspace/inlayHint/refresh")
        self._known: dict[str, tuple[object, object]] = {}

    def look(self, root: str) -> None:
        """Something in an operator changed and has been linted."""
        session = self._session
        if not (self._lens.possible or self._hints.possible):
            return
        if not any(d.path.startswith(root + "/") for d in list(session.documents.open.values())):
            self._known.pop(root, None)
            return
        try:
            now = self._now(root)
        except Exception:
            log.exception("no glance at %s", root)
            return
        before = self._known.get(root)
        self._known[root] = now
        if before is None or before[0] != now[0]:
            session.on_loop(self._lens.ask)
        if before is not None and before[1] != now[1]:
            session.on_loop(self._hints.ask)

    def _now(self, root: str) -> tuple[object, object]:
        from opdev.design.document import document_of
        from opdev.design.inlays import only_dtype
        from opdev.phases.status import glance

        operator = self._session.operators.of(root)
        designs = [document_of(file) for file in operator.files("design-doc")]
        said = [(d.text("meta.op_kind"), d.text("meta.op_name"), only_dtype(d)) for d in designs]
        return glance(operator, self._session.rulebook.configs), said
