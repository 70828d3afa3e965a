"""Asking for lenses and hints anew when another file changed what they say.

An editor asks for them after an edit of the document they stand in; that a report came, or that the design
beside an open cases.json has another op_kind, it does not see.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from opdev.lsp.refresh import Refresh
from opdev.lsp.worker import Stop
from opdev.rules.engine import Cancelled

if TYPE_CHECKING:
    from opdev.lsp.session import Session
    from opdev.phases.status import Glance
    from opdev.project.operators import Operator

log = logging.getLogger("opdev.lsp")


class Glances:
    """What was last said of each operator, by its root.  ``look`` runs on the worker's thread."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lens = Refresh(session.client, session.ask, "workspace/codeLens/refresh")
        self._hints = Refresh(session.client, session.ask, "workspace/inlayHint/refresh")
        self._said: dict[tuple[str, str], object] = {}

    def told(self, what: str, root: str, answer: object) -> None:
        """The client asked for ``lens`` or ``hints`` of an operator, and this is what the answer came from."""
        self._said[what, root] = answer

    def look(self, root: str, stop: Stop) -> None:
        """Something in an operator changed and has been linted: is what was said still so?

        Rules may have to be asked, so it steps aside (Cancelled) when something more urgent comes.
        """
        for what, refresh, now in (("lens", self._lens, glance_of), ("hints", self._hints, facts_of)):
            said = self._said.get((what, root))
            if said is None or not refresh.possible:
                continue
            if not any(d.path.startswith(root + "/") for d in list(self._session.documents.open.values())):
                self._said.pop((what, root), None)
                continue
            try:
                changed = now(self._session, self._session.operators.of(root), stop) != said
            except Cancelled:
                raise
            except Exception:
                log.exception("no glance at %s", root)
                continue
            if changed:
                # Asked once: what it is told then is what counts from there on.
                self._said.pop((what, root), None)
                self._session.on_loop(refresh.ask)


def glance_of(session: Session, operator: Operator, stop: Stop | None = None) -> Glance:
    """What the lens of an operator's design says."""
    from opdev.phases.status import glance

    return glance(operator, session.rulebook.configs, stop)


def facts_of(_session: Session, operator: Operator, _stop: Stop | None = None) -> list[tuple[str, str, str]]:
    """What the hints of ``cases.json`` take from the design beside it."""
    from opdev.design.document import document_of
    from opdev.design.inlays import only_dtype

    designs = [document_of(file) for file in operator.files("design-doc")]
    return [(d.text("meta.op_kind"), d.text("meta.op_name"), only_dtype(d)) for d in designs]
