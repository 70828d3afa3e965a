"""The state of one client's session, in one place.

Two threads share the work: the event loop reads, answers and keeps documents; the worker lints.
What the worker finds comes back to the loop with the version it was found in, and only the loop
decides what is shown, so a closed or newer document never gets an older one's findings.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from opdev.lsp import diagnostics, settings
from opdev.lsp.analysis import Analyst, Report
from opdev.lsp.client import Client, Lang
from opdev.lsp.documents import Document, Documents
from opdev.lsp.elsewhere import Elsewhere
from opdev.lsp.glances import Glances
from opdev.lsp.listing import Listing
from opdev.lsp.operators import Operators
from opdev.lsp.refresh import Refresh
from opdev.lsp.rulebook import Rulebook
from opdev.lsp.runs import Runs
from opdev.lsp.uris import to_uri
from opdev.lsp.worker import Priority, Stop, Work, Worker
from opdev.project.places import Places
from opdev.rules.watchdog import Watchdog
from opdev.source import Source
from opdev.syntax.file import File

log = logging.getLogger("opdev.lsp")

_PAUSE = 0.1
"""Seconds without an edit after which the background has its turn."""
Notify = Callable[[str, Any], None]
Ask = Callable[[str, Any], "Future[Any]"]


@dataclass
class Shown:
    """The newest report of an open document, as the client gets it."""

    report: Report
    items: list[dict[str, Any]]
    lang: Lang

    @cached_property
    def result_id(self) -> str:
        """See ``diagnostics.result_id``."""
        return diagnostics.result_id(self.items)


class Session:
    """Documents, what is known of them, and who waits for it."""

    def __init__(
        self,
        client: Client,
        loop: asyncio.AbstractEventLoop,
        notify: Notify,
        ask: Ask,
        first: Callable[[], object] = lambda: None,
        backlog: Callable[[], int] = lambda: 0,
    ) -> None:
        """``first`` is called when the first document's findings are out; ``backlog`` says how many messages wait."""
        self.client = client
        self.loop = loop
        self.notify = notify
        self.ask = ask
        self.backlog = backlog
        self.began = time.time()
        """Runs that started later are news, however late their operator is met."""
        self._may_run = client.options.get("trusted") is not False
        self._first: Callable[[], object] | None = first
        self.settings = settings.read(client.options)
        self.documents = Documents(client)
        self.watchdog = Watchdog(self.settings.check_seconds)
        self.places = Places()
        self.operators = Operators(self.places, self.documents)
        self.rulebook = Rulebook(self.settings, self.watchdog)
        self.analyst = Analyst(self.rulebook, self.places, self.operators)
        self.operators.parsed = self._parsed
        self.worker = Worker()
        self.style = diagnostics.Style(client, self.source_of, self.uri_of)
        self.elsewhere = Elsewhere(self)
        self.listing = Listing(self)
        self._shown: dict[str, Shown] = {}
        self._waiting: dict[str, list[tuple[int, asyncio.Future[Shown | None]]]] = {}
        self._answered: dict[str, tuple[int, str]] = {}
        """(version, result id) of the last answer to a pull, by document."""
        self._problems: set[str] = set()
        self._refresh = Refresh(client, ask)
        self.glances = Glances(self)
        self.runs = Runs(self)

    def on_loop(self, call: Callable[..., object], *arguments: object) -> None:
        """Have the loop make a call, from any thread; once the session is over nobody does."""
        try:
            self.loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:
            log.debug("the loop has ended before %s", call)

    # Documents: on the loop.

    def opened(self, document: Document) -> None:
        """Lint a document that was opened."""
        self._shown.pop(document.key, None)
        self._answered.pop(document.key, None)
        self.runs.moved(document.path, document.source.data)
        self.elsewhere.opened(document)
        self.lint(document)

    def lint(self, document: Document) -> None:
        """Lint a document now, or as soon as the worker is free."""
        self.worker.submit(("document", document.key), Priority.DOCUMENT, lambda stop: self._own(document, stop))

    def closed(self, document: Document) -> None:
        """Forget a document; what stands on disk counts again."""
        key = document.key
        self._shown.pop(key, None)
        self._answered.pop(key, None)
        self.worker.forget(("document", key))
        self.worker.submit(("forget", key), Priority.DOCUMENT, lambda _: self._forget(key))
        for _, future in self._waiting.pop(key, []):
            if not future.done():
                future.set_result(None)
        self.publish(document.uri, document.path, [])
        if document.local:
            self.runs.changed([document.path])
            self.operator_changed(document.path)
            self.elsewhere.lint(document.path)

    def operator_changed(self, path: str) -> None:
        """Cross-file rules of the operator that holds ``path`` have to look again."""
        root = self.places.of(path).root
        if root is not None:
            self.worker.submit(("operator", root), Priority.OPERATOR, lambda stop: self._cross(root, stop))
            self.elsewhere.siblings(root)

    async def shown(self, document: Document) -> Shown | None:
        """The findings of the document's newest version; None if it is closed meanwhile."""
        version = document.version
        known = self._shown.get(document.key)
        if known is not None and known.report.version >= version:
            return known
        future: asyncio.Future[Shown | None] = self.loop.create_future()
        self._waiting.setdefault(document.key, []).append((version, future))
        return await future

    def now_shown(self, document: Document) -> Shown | None:
        """The findings of the newest version if they are there already (any thread)."""
        known = self._shown.get(document.key)
        return known if known is not None and known.report.version >= document.version else None

    def answered(self, document: Document, shown: Shown) -> None:
        """A pull was answered with this."""
        self._answered[document.key] = (shown.report.version, shown.result_id)

    def reload(self, changed: settings.Settings | None = None) -> None:
        """Configuration, rules or settings changed: everything is judged anew."""
        if changed is not None:
            self.settings = changed
            self.watchdog.limit = changed.check_seconds
        self.rulebook = rulebook = Rulebook(self.settings, self.watchdog, self.rulebook)
        self.places.forget()
        self.worker.submit("reload", Priority.DOCUMENT, lambda _: self._reload(rulebook))
        for document in self.documents.open.values():
            self.lint(document)
        self.look_around()

    def look_around(self) -> None:
        """Go through the workspace folders in the background."""
        self.elsewhere.begin()
        self.listing.scan()
        self.runs.begin()

    @property
    def trusted(self) -> bool:
        """Whether anything of the workspace may be run: what the client said of it, and what the user set."""
        return self._may_run and self.settings.trusted

    def trust(self, trusted: bool) -> None:
        """The client's user decided about the workspace."""
        self._may_run = trusted
        self.runs.trusted()

    def lang_of(self, project: str) -> Lang:
        """The language of messages under a project's configuration."""
        return settings.language(self.settings, project, self.client)

    # Answers for features: any thread.

    def source_of(self, path: str) -> Source | None:
        """The text of a file: the open buffer's, else the disk's."""
        document = self.documents.at_path(path)
        if document is not None:
            return document.source
        raw = self.documents.read(path)
        return Source.from_disk(path, raw) if raw is not None else None

    def uri_of(self, path: str) -> str:
        """The client's own spelling of a file's URI where it has shown one."""
        document = self.documents.at_path(path)
        return document.uri if document is not None else self.elsewhere.uris.get(path) or to_uri(path)

    def file_of(self, document: Document) -> File:
        """The document parsed, as the linter sees it where that is up to date."""
        from opdev.project.operators import kind_of

        found = self.analyst.file_of(document)
        if found is not None:
            return found
        source = document.source
        place = self.analyst.place(document.path, self.rulebook.of(document.path))
        return File(source, kind_of(source.path, source.data, in_operator=place.operator is not None), place)

    # The worker's thread.

    def _own(self, document: Document, stop: Stop) -> None:
        report = self.analyst.own(document, stop)
        self._hand_over(document, report)
        self.on_loop(self._follow_up, document, report, self.analyst.unsettled(document))

    def _settle(self, document: Document, stop: Stop) -> None:
        report = self.analyst.settle(document, stop)
        if report is not None:
            self._hand_over(document, report)

    def _alone(self, document: Document, whole: bool, stop: Stop) -> None:
        """What waits of a document in no operator: is it still of its kind, and what do cross-file rules say?"""
        if self.analyst.rekind(document):
            self.lint(document)
            return
        report = None if whole else self.analyst.cross(document, stop)
        if report is not None:
            self._hand_over(document, report)

    def _cross(self, root: str, stop: Stop) -> None:
        self.operators.changed(root)
        around = self.operators.lookers(root)
        for document in list(self.documents.open.values()):
            if document.local and (self.places.of(document.path).root == root or document.path in around):
                report = self.analyst.cross(document, stop)
                if report is not None:
                    self._hand_over(document, report)
        self.glances.look(root, stop)

    def _forget(self, key: str) -> None:
        if key not in self.documents.open:
            self.analyst.forget(key)

    def _reload(self, rulebook: Rulebook) -> None:
        self.operators.forget()
        self.analyst.reload(rulebook)

    def _parsed(self, path: str) -> File | None:
        document = self.documents.at_path(path)
        return self.analyst.file_of(document) if document is not None else None

    def _hand_over(self, document: Document, report: Report) -> None:
        lang = self.lang_of(report.lang)
        items = diagnostics.render(report.findings, document.uri, lang, self.style)
        self.on_loop(self._deliver, document, Shown(report, items, lang))

    # Back on the loop.

    def _follow_up(self, document: Document, report: Report, unsettled: bool) -> None:
        """What may wait until the typing pauses, so that none of it is in a keystroke's way."""
        version = report.version
        root = report.file.place.root if report.file is not None else None

        def after(seconds: float, name: str, key: str, work: Work) -> None:
            def submit() -> None:
                if document.version == version and self.documents.open.get(document.key) is document:
                    self.worker.submit((name, key), Priority.OPERATOR, work)

            self.loop.call_later(seconds, submit)

        if root is None:
            after(_PAUSE, "alone", document.key, lambda stop: self._alone(document, report.whole, stop))
        elif not report.whole:
            self.operators.changed(root)
            after(_PAUSE, "operator", root, lambda stop: self._cross(root, stop))
            self.elsewhere.siblings(root)
        if unsettled:
            after(3 * _PAUSE, "settle", document.key, lambda stop: self._settle(document, stop))

    def _deliver(self, document: Document, shown: Shown) -> None:
        if self.documents.open.get(document.key) is not document:
            return
        before = self._shown.get(document.key)
        if before is not None and before.report.version > shown.report.version:
            return
        self._shown[document.key] = shown
        left = []
        for version, future in self._waiting.pop(document.key, []):
            if version > shown.report.version:
                left.append((version, future))
            elif not future.done():
                future.set_result(shown)
        if left:
            self._waiting[document.key] = left
        if not self.client.pulls:
            self.publish(document.uri, document.path, shown.items, shown.report.version)
        else:
            version, identity = self._answered.get(document.key, (-1, ""))
            # A client pulls by itself after an edit, not after what else changes findings.
            if version == shown.report.version and identity != shown.result_id:
                self._refresh.ask()
        self.show_problems()
        if self._first is not None:
            first, self._first = self._first, None
            first()

    def publish(self, uri: str, path: str, items: Iterable[dict[str, Any]], version: int | None = None) -> None:
        """Push the diagnostics of a file."""
        listed = [*items, *self.runs.items(path)]
        problem = self.rulebook.problems.get(path)
        if problem is not None:
            listed.insert(0, diagnostics.of_problem(problem, self.lang_of("auto"), self.client))
        params: dict[str, Any] = {"uri": uri, "diagnostics": listed}
        if version is not None and self.client.can("textDocument.publishDiagnostics.versionSupport"):
            params["version"] = version
        self.notify("textDocument/publishDiagnostics", params)

    def republish(self, path: str) -> None:
        """Push what is known of a file once more: something besides the linter has changed."""
        document = self.documents.at_path(path)
        if document is None:
            before = self.elsewhere.pushed.get(path)
            self.publish(self.uri_of(path), path, before.items if before is not None else [])
            return
        shown = self._shown.get(document.key) if not self.client.pulls else None
        items, version = (shown.items, shown.report.version) if shown is not None else ([], None)
        self.publish(document.uri, path, items, version)

    def show_problems(self) -> None:
        """Push what is wrong with configuration files, and take back what no longer is."""
        now = set(self.rulebook.problems)
        for path in (self._problems | now) if now != self._problems else ():
            self.republish(path)
        self._problems = now
