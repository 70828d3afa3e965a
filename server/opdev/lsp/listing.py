"""The workspace's operators for whoever shows them: `opdev/operators`, and word when the list changes.

To list them the workspace is walked; who lints the files nobody has open is given what was met, and walks nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from opdev.lsp.tree import walk
from opdev.lsp.uris import to_uri
from opdev.lsp.worker import Priority, Stop
from opdev.project.index import DESIGN, Index
from opdev.rules.engine import Cancelled

if TYPE_CHECKING:
    from opdev.lsp.session import Session


class Listing:
    """Builds the index in the background and keeps it current.  The worker's thread changes it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.index = Index()
        self.complete = False
        """Whether all of the workspace has been walked once."""
        self._scans = 0

    def scan(self) -> None:
        """Walk the workspace folders; what is interrupted goes on where it was."""
        session, index = self._session, self.index
        self._scans += 1
        scan, walker = self._scans, self._walk()
        met: list[str] = []

        def work(stop: Stop) -> None:
            if not met:
                index.begin()
            for path in walker:
                met.append(path)
                index.note(path, session.places.of(path))
                if stop():
                    raise Cancelled
            index.end()
            session.on_loop(self._completed, scan, met)
            self._tell()

        session.worker.submit("operators", Priority.SCAN, work)

    def _walk(self) -> Iterator[str]:
        session = self._session
        for folder in list(session.documents.folder_paths):
            yield from walk(folder, session.analyst.rulebook)

    def noticed(self, paths: list[str]) -> None:
        """Files came, went or changed on disk."""
        session, index = self._session, self.index
        folders = tuple(folder.rstrip("/") + "/" for folder in session.documents.folder_paths)
        ours = [path for path in paths if path.startswith(folders)]

        def work(_: Stop) -> None:
            for path in ours:
                if os.path.exists(path):
                    index.note(path, session.places.of(path))
                else:
                    index.gone(path)
            self._tell()

        if ours:
            session.worker.submit(("operators", ours[0], len(ours), id(ours)), Priority.FILE, work)

    def _completed(self, scan: int, met: list[str]) -> None:
        self.complete = True
        if scan == self._scans:
            self._session.elsewhere.scan(met)

    def _tell(self) -> None:
        session = self._session
        if self.index.changed() and session.client.can("experimental.opdev.operatorsChanged"):
            session.on_loop(session.notify, "opdev/operatorsChanged", {})

    async def operators(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """``opdev/operators``: the operators known now, and whether those are all."""
        listed = [
            {
                "uri": to_uri(entry.root),
                "name": entry.name,
                "profile": entry.profile,
                "design": self._session.uri_of(f"{entry.root}/{DESIGN}") if entry.designed else None,
            }
            for entry in self.index.entries()
        ]
        return {"operators": listed, "complete": self.complete}
