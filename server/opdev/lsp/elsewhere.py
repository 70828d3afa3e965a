"""Files nobody has open: linted once in the background, and again when they change on disk.

They are pushed, also to clients that pull, because a client asks for workspace reports every two
seconds for ever.  Opening a file takes back what was pushed for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from opdev.lsp import diagnostics
from opdev.lsp.documents import Document
from opdev.lsp.progress import Progress
from opdev.lsp.uris import to_uri
from opdev.lsp.worker import Priority, Stop, Work
from opdev.project.operators import read_disk
from opdev.rules.engine import Cancelled
from opdev.rules.model import Finding

if TYPE_CHECKING:
    from opdev.lsp.session import Session

log = logging.getLogger("opdev.lsp")

_PAUSE = 0.3
"""Seconds without a change in an operator after which its unopened files are looked at again."""


@dataclass(frozen=True)
class Pushed:
    """Diagnostics of one file."""

    items: list[dict[str, Any]]

    @cached_property
    def result_id(self) -> str:
        """See ``diagnostics.result_id``."""
        return diagnostics.result_id(self.items)


class Elsewhere:
    """What is known of files that are not open."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.pushed: dict[str, Pushed] = {}
        """What the client was told, by path, where there is anything."""
        self.uris: dict[str, str] = {}
        """The client's spelling of the URIs it has shown."""
        self._scans = 0
        self._later: dict[str, asyncio.TimerHandle] = {}
        self._progress: Progress | None = None

    def opened(self, document: Document) -> None:
        """A file was opened: it speaks for itself now."""
        if document.local:
            self.uris[document.path] = document.uri
            self.rested_on(document.path)
            if self.pushed.pop(document.path, None) is not None and self._session.client.pulls:
                self._session.publish(document.uri, document.path, [])

    def lint(self, path: str) -> None:
        """A file changed on disk, was closed or is gone."""
        session = self._session
        if self.enabled and session.documents.at_path(path) is None:
            session.worker.submit(("file", path), Priority.FILE, lambda stop: self._file(path, stop))

    def rested_on(self, path: str, *, is_folder: bool = False) -> None:
        """A file changed, saved or not: operators it is no part of may have been judged by it."""
        session = self._session
        for root in session.operators.lookers_at(path, is_folder=is_folder):
            # Open documents at once, the others when it is quiet.
            session.operator_changed(f"{root}/*")

    def edited(self, document: Document) -> None:
        """An open document was edited; whoever rests on it looks again when the typing pauses."""
        if document.local and self._session.operators.lookers_at(document.path):
            waiting = self._later.pop(document.path, None)
            if waiting is not None:
                waiting.cancel()

            def tell() -> None:
                self._later.pop(document.path, None)
                self.rested_on(document.path)

            self._later[document.path] = self._session.loop.call_later(_PAUSE, tell)

    def replaced(self) -> None:
        """Files that came or went may have put an open document into an operator, out of one, or into another profile."""
        session = self._session
        for document in list(session.documents.open.values()):
            file = session.analyst.file_of(document)
            if document.local and file is not None:
                place = session.analyst.place(document.path, session.rulebook.of(document.path))
                if place != file.place:
                    session.worker.submit(("placed", document.key), Priority.DOCUMENT, self._forgotten(document))
                    session.lint(document)

    def _forgotten(self, document: Document) -> Work:
        """What is known of a document is of another place: it is parsed and judged from scratch."""
        return lambda _: self._session.analyst.forget(document.key)

    def gone(self, folder: str) -> None:
        """A folder was deleted or renamed: nobody reports its files one by one."""
        below = [path for path in self.pushed if path.startswith(f"{folder}/")]
        for path in below:
            self.lint(path)
        if below:
            # It may stand elsewhere now.
            self._session.listing.scan()

    def siblings(self, root: str) -> None:
        """Something in an operator changed, saved or not: what its unopened files say of it may be out of date."""
        waiting = self._later.pop(root, None)
        if waiting is not None:
            waiting.cancel()
        session = self._session

        def submit() -> None:
            self._later.pop(root, None)
            session.worker.submit(("siblings", root), Priority.FILE, lambda stop: self._siblings(root, stop))

        if self.enabled:
            self._later[root] = session.loop.call_later(_PAUSE, submit)

    def _siblings(self, root: str, stop: Stop) -> None:
        session = self._session
        folders = tuple(folder.rstrip("/") + "/" for folder in session.documents.folder_paths)
        for file in session.operators.of(root).files():
            if stop():
                raise Cancelled
            if session.documents.at_path(file.path) is None and file.path.startswith(folders):
                findings, lang = session.analyst.sibling(file, stop)
                self._tell(file.path, findings, lang)
        for path in session.operators.lookers(root):
            if stop():
                raise Cancelled
            if path.startswith(folders):
                self._file(path, stop)

    def begin(self) -> None:
        """The workspace is about to be walked: what is being linted of it is out of date."""
        self._scans += 1
        if not self.enabled:
            self._take_back(list(self.pushed))

    def scan(self, files: Sequence[str]) -> None:
        """Lint the files of the workspace folders, when nothing else is to be done."""
        session = self._session
        self._scans += 1
        if not self.enabled:
            return
        walker = self._walk(self._scans, files)
        current: list[str] = []
        looked_at = 0
        tell = session.on_loop
        progress = self._progress = self._new_progress()

        def work(stop: Stop) -> None:
            nonlocal looked_at
            while not stop():
                if not current:
                    path = next(walker, None)
                    if path is None or (progress is not None and progress.cancelled):
                        if progress is not None:
                            tell(progress.end)
                        log.info("workspace: %d files looked at", looked_at)
                        tell(session.show_problems)
                        return
                    current.append(path)
                self._file(current[-1], stop)
                current.pop()
                looked_at += 1
                if progress is not None:
                    tell(progress.at, str(looked_at))
            raise Cancelled

        session.worker.submit("scan", Priority.SCAN, work)

    def cancel(self, token: object) -> None:
        """The user stopped the scan; what is known stays."""
        if self._progress is not None and self._progress.token == token:
            self._progress.cancelled = True

    def _new_progress(self) -> Progress | None:
        session = self._session
        if self._progress is not None:
            self._progress.end()
        if not session.client.can("window.workDoneProgress"):
            return None
        title = {"zh": "opdev：检查工作区", "en": "opdev: linting the workspace"}[session.lang_of("auto")]
        return Progress(title, session.notify, session.ask)

    @property
    def enabled(self) -> bool:
        """Whether the user wants to hear of files that are not open."""
        return self._session.settings.workspace and self._session.settings.enable

    def clear_outside(self) -> None:
        """Take back what was pushed for files that are in no workspace folder any more."""
        folders = tuple(folder.rstrip("/") + "/" for folder in self._session.documents.folder_paths)
        self._take_back([path for path in self.pushed if not path.startswith(folders)])

    def _take_back(self, paths: list[str]) -> None:
        for path in paths:
            del self.pushed[path]
            self._session.publish(self._session.uri_of(path), path, [])

    def _walk(self, scan: int, files: Sequence[str]) -> Iterator[str]:
        for path in files:
            if scan != self._scans:
                return
            yield path
        # What was pushed before and is ignored or gone now.
        seen = set(files)
        for path in [p for p in list(self.pushed) if p not in seen]:
            yield path

    def _file(self, path: str, stop: Stop) -> None:
        session = self._session
        if session.documents.at_path(path) is not None:
            return
        raw = read_disk(path)
        findings: tuple[Finding, ...] = ()
        lang = "auto"
        if raw is not None:
            _, findings, lang = session.analyst.unopened(path, raw, stop)
        self._tell(path, findings, lang)

    def _tell(self, path: str, findings: tuple[Finding, ...], lang: str) -> None:
        session = self._session
        items: list[dict[str, Any]] = []
        if findings:
            items = diagnostics.render(findings, to_uri(path), session.lang_of(lang), session.style)
        if items or path in self.pushed:
            session.on_loop(self._deliver, path, items)

    def _deliver(self, path: str, items: list[dict[str, Any]]) -> None:
        session = self._session
        before = self.pushed.get(path)
        if session.documents.at_path(path) is not None or (before.items if before is not None else []) == items:
            return
        if items:
            self.pushed[path] = Pushed(items)
        else:
            self.pushed.pop(path, None)
        session.publish(session.uri_of(path), path, items)
