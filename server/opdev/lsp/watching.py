"""Hearing of changes on disk: from the client's watcher where it has one, else from our own."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from opdev import config
from opdev.kinds import SUFFIXES, has_known_suffix
from opdev.lsp import settings
from opdev.lsp.rulebook import GITIGNORE
from opdev.lsp.uris import to_path
from opdev.rules import store

if TYPE_CHECKING:
    from concurrent.futures import Future

    from opdev.lsp.session import Session

log = logging.getLogger("opdev.lsp")

_EVENTS = ("created", "modified", "deleted", "moved", "closed")
_DELETED = 4
"""``WatchKind.Delete``: of a folder that goes, only the folder is reported."""
_RECORD = "/.opdev/phase0_intake.yaml"
"""Of our own folder the one file that findings depend on."""
_DELAY = 0.1
"""Seconds in which the events of one save or checkout come together."""


def globs() -> list[str]:
    """What to watch."""
    kinds = ",".join(sorted(suffix[1:] for suffix in SUFFIXES))
    return [f"**/{{{','.join((*config.NAMES, GITIGNORE))}}}", f"**/*.{{{kinds},toml,log}}", "**/CMakeLists.txt"]


class Watching:
    """Configuration, rules and files, kept up to date."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._observer: Any = None
        self._farther: Any = None
        """Watches folders outside the workspace that findings rest on."""
        self._beyond: set[str] = set()
        self._waiting: list[str] = []
        self._starting = threading.Lock()
        self._pending: set[str] = set()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin, once the client is ready for requests."""
        client = self._session.client
        self._session.operators.asked_for = self._asked_for
        registrations: list[dict[str, Any]] = []
        if client.can("workspace.didChangeWatchedFiles.dynamicRegistration"):
            watchers: list[dict[str, Any]] = [{"globPattern": glob} for glob in globs()]
            watchers.append({"globPattern": "**/*", "kind": _DELETED})
            registrations.append(
                {
                    "id": "opdev-files",
                    "method": "workspace/didChangeWatchedFiles",
                    "registerOptions": {"watchers": watchers},
                }
            )
        else:
            threading.Thread(target=self._observe, name="opdev-lsp-observe", daemon=True).start()
        if client.can("workspace.didChangeConfiguration.dynamicRegistration"):
            registrations.append(
                {
                    "id": "opdev-settings",
                    "method": "workspace/didChangeConfiguration",
                    "registerOptions": {"section": "opdev"},
                }
            )
        if registrations:
            self._session.ask("client/registerCapability", {"registrations": registrations})
        self.ask_settings()

    def stop(self) -> None:
        """No more events."""
        self._end(self._observer)
        self._end(self._farther)
        self._observer = self._farther = None

    @staticmethod
    def _end(observer: Any) -> None:
        if observer is not None:
            observer.unschedule_all()
            observer.stop()

    def folders_changed(self) -> None:
        """Watch the folders of now."""
        if self._observer is not None:
            self._end(self._observer)
            self._observer = None
            threading.Thread(target=self._observe, name="opdev-lsp-observe", daemon=True).start()

    def ask_settings(self) -> None:
        """Ask the client for its settings, where it has them."""
        if self._session.client.can("workspace.configuration"):
            future = self._session.ask("workspace/configuration", {"items": [{"section": "opdev"}]})
            future.add_done_callback(self._settings)

    def settings_changed(self, section: object) -> None:
        """``didChangeConfiguration``: what it brings, or a reason to ask."""
        if isinstance(section, dict) and section:
            self._apply(section)
        else:
            self.ask_settings()

    def _settings(self, answer: Future[Any]) -> None:
        if answer.cancelled() or answer.exception() is not None:
            return
        result = answer.result()
        if isinstance(result, list) and result and isinstance(result[0], dict):
            self._apply(result[0])

    def _apply(self, section: dict[str, Any]) -> None:
        changed = settings.read(self._session.client.options, section)
        if changed != self._session.settings:
            self._session.reload(changed)

    def files_changed(self, paths: Iterable[str]) -> None:
        """Files came, went or changed on disk (on the loop)."""
        session = self._session
        listed = sorted(set(paths))
        shipped = store.rules_folder().as_posix()
        if any(path.endswith(".md") and config.below(path, shipped) is not None for path in listed):
            store.forget()
            session.reload()
        elif any(session.rulebook.depends_on(path) for path in listed):
            session.reload()
        session.places.forget()
        session.listing.noticed(listed)
        session.runs.changed(listed)
        for path in listed:
            if has_known_suffix(path.rpartition("/")[2]):
                session.operator_changed(path)
                session.elsewhere.lint(path)
                session.elsewhere.rested_on(path)
            elif not os.path.exists(path):
                # A folder, of whose files nobody reports each.
                session.operator_changed(f"{path}/*")
                session.elsewhere.gone(path)
                session.elsewhere.rested_on(path, is_folder=True)
        session.elsewhere.replaced()

    def _observe(self) -> None:
        observer = self._observer = self._started()
        if observer is not None:
            self._schedule(observer, self._session.documents.folder_paths, recursive=True)

    def _asked_for(self, path: str) -> None:
        """An operator was judged by a file (on the worker's thread): outside the workspace no client watches it."""
        folder = path.rpartition("/")[0]
        if folder in self._beyond:
            return
        self._beyond.add(folder)
        inside = (f"{one.rstrip('/')}/" for one in self._session.documents.folder_paths)
        if os.path.isdir(folder) and not any(f"{folder}/".startswith(one) for one in inside):
            self._waiting.append(folder)
            threading.Thread(target=self._observe_beyond, name="opdev-lsp-observe", daemon=True).start()

    def _observe_beyond(self) -> None:
        with self._starting:
            if self._farther is None:
                self._farther = self._started()
            folders, self._waiting = self._waiting, []
            if self._farther is not None:
                self._schedule(self._farther, folders, recursive=False)

    def _started(self) -> Any:
        """A running observer; None where there is none to be had."""
        try:
            from watchdog.observers import Observer
        except ImportError:
            log.warning("no file watcher: configuration is read again when the server starts")
            return None
        observer = Observer()
        observer.daemon = True
        observer.start()
        return observer

    def _schedule(self, observer: Any, folders: list[str], *, recursive: bool) -> None:
        from watchdog.events import FileSystemEvent, FileSystemEventHandler

        seen = self._event

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                wanted = ("deleted", "moved") if event.is_directory else _EVENTS
                if event.event_type in wanted:
                    seen(str(event.src_path), str(event.dest_path or ""))

        for folder in folders:
            try:
                observer.schedule(Handler(), folder, recursive=recursive)
            except OSError as error:
                log.warning("%s cannot be watched: %s", folder, error)
        log.info("watching %s", ", ".join(folders))

    def _event(self, *paths: str) -> None:
        """On the observer's thread."""
        named = [path.replace("\\", "/") for path in paths if path]
        wanted = [p for p in named if "/.git/" not in p and ("/.opdev/" not in p or p.endswith(_RECORD))]
        if not wanted:
            return
        with self._lock:
            first = not self._pending
            self._pending.update(wanted)
        if first:
            self._session.on_loop(self._session.loop.call_later, _DELAY, self._flush)

    def _flush(self) -> None:
        with self._lock:
            paths, self._pending = self._pending, set()
        self.files_changed(paths)


def paths_of(uris: Iterable[str]) -> list[str]:
    """Paths of the URIs a client's watcher reports."""
    return [path for uri in uris if (path := to_path(uri)) is not None]
