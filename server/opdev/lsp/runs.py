"""The session's door to runs: cheap to have, and nothing behind it is loaded before it is needed.

``opdev.lsp.running`` is imported when the workspace is looked around in, or by the first request or command.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opdev.lsp.running.desk import Desk
    from opdev.lsp.session import Session

log = logging.getLogger("opdev.lsp")


class Runs:
    """What a session says of runs.  On the loop's thread, ``items`` and ``desk`` apart."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._stopped = False
        self.desk: Desk | None = None
        """None as long as nothing was loaded."""

    def begin(self) -> None:
        """Load what follows runs, away from the loop."""
        if self.desk is None and not self._stopped:
            threading.Thread(target=self._load, name="opdev-lsp-runs-import", daemon=True).start()

    def _load(self) -> Desk | None:
        try:
            from opdev.lsp.running.desk import Desk

            with self._lock:
                if self.desk is None and not self._stopped:
                    self.desk = Desk(self._session)
                    self.desk.begin()
                return self.desk
        except Exception:
            log.exception("runs cannot be followed")
            return None

    async def _loaded(self) -> Desk:
        desk = self.desk or await asyncio.get_running_loop().run_in_executor(None, self._load)
        if desk is None:
            raise RuntimeError("runs cannot be followed")
        return desk

    async def execute(self, command: str, arguments: list[Any]) -> object:
        """Run a command; see PROTOCOL.md."""
        return await (await self._loaded()).execute(command, arguments)

    async def request(self, method: str, params: Mapping[str, Any]) -> object:
        """Answer a request; see PROTOCOL.md."""
        return await (await self._loaded()).request(method, params)

    def items(self, path: str) -> list[dict[str, Any]]:
        """What runs found in a file, as diagnostics."""
        return self.desk.board.items(path) if self.desk is not None else []

    def moved(self, path: str, data: bytes) -> None:
        """An open document has another text."""
        if self.desk is not None:
            self.desk.board.moved(path, data)

    def changed(self, paths: Iterable[str]) -> None:
        """Files changed on disk, or were closed."""
        desk = self.desk
        if desk is None:
            return
        from opdev.project.operators import read_disk

        known = set(desk.board.paths)
        for path in paths:
            if path in known and self._session.documents.at_path(path) is None:
                desk.board.moved(path, read_disk(path))

    def cancel(self, token: object) -> bool:
        """The user cancelled a progress; whether it was a run's."""
        return self.desk.cancel(token) if self.desk is not None else False

    def trusted(self) -> None:
        """What may be run has changed: lenses offer it, or no longer do."""
        if self.desk is not None:
            self.desk.refresh()

    def stop(self) -> None:
        """The session is over; runs go on."""
        with self._lock:
            self._stopped = True
            desk, self.desk = self.desk, None
        if desk is not None:
            desk.stop()
