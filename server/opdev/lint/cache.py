"""What was found last time, by metadata: a warm run on an unchanged tree opens no source file.

An entry holds while the file's size and time, its configuration, its place, the rules and (for
files of an operator) every other file of that operator are what they were.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from opdev.lint.collect import Found
from opdev.lint.record import from_json, to_json
from opdev.lint.session import FileResult, Session
from opdev.project.operators import Operator
from opdev.rules import store

_FORMAT = 2


class Cache:
    """The cache of one working directory and one set of options."""

    def __init__(self, session: Session, *, enabled: bool = True) -> None:
        self._session = session
        options = session.options
        identity = repr((_FORMAT, store.fingerprint(), options.cwd, options))
        name = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self._path = store.cache_folder() / "lint" / f"{name}.json"
        self._enabled = enabled
        self._entries: dict[str, Any] = self._read() if enabled else {}
        self._folders: dict[str, str] = {}
        self._operators: dict[str, str] = {}
        self._changed = False

    def _read(self) -> dict[str, Any]:
        try:
            data = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def get(self, found: Found) -> FileResult | None:
        """The result of an unchanged file."""
        entry = self._entries.get(found.path) if self._enabled else None
        if (
            entry is None
            or entry[0] != found.mtime_ns
            or entry[1] != found.size
            or entry[2] != self._setting(found.path)
        ):
            return None
        return FileResult(found.path, [from_json(r) for r in entry[4]], suppressed=entry[5], ours=entry[3])

    def put(self, found: Found, result: FileResult) -> None:
        """Keep a result; one that could not be had is not kept."""
        if not self._enabled or result.problem is not None or any(r.rule == "internal-error" for r in result.records):
            return
        setting = self._setting(found.path)
        self._entries[found.path] = [
            found.mtime_ns, found.size, setting, result.ours, [to_json(r) for r in result.records], result.suppressed
        ]  # fmt: skip
        self._changed = True

    def save(self) -> None:
        """Write what changed; a cache that cannot be written is no reason to fail."""
        if not self._enabled or not self._changed:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._path.with_suffix(f".{os.getpid()}.tmp")
            # ASCII: names that are not UTF-8 are kept as escapes and read back as they were.
            temporary.write_text(json.dumps(self._entries, separators=(",", ":")), encoding="ascii")
            temporary.replace(self._path)
        except OSError:
            return

    def _setting(self, path: str) -> str:
        folder = path.rpartition("/")[0]
        known = self._folders.get(folder)
        if known is None:
            config = self._session.configs.for_path(path)
            place = self._session.places.of(path)
            parts = repr(
                (
                    config.settings,
                    [_folder_stamp(f) for f in config.settings.rules],
                    place.profile,
                    place.root,
                    place.shmem_repo,
                )
            )
            if place.root is not None:
                parts += self._operator(place.root)
            known = self._folders[folder] = hashlib.sha256(parts.encode("utf-8", "surrogateescape")).hexdigest()[:20]
        return known

    def _operator(self, root: str) -> str:
        known = self._operators.get(root)
        if known is None:
            digest = hashlib.sha256()
            operator = Operator(root, self._session.places)
            # Rules ask whether a file is there whatever its name: a name that comes or goes counts.
            digest.update("\n".join(operator.names()).encode("utf-8", "surrogateescape"))
            for path in sorted({*operator.walk(), *operator.neighbours()}):
                try:
                    stat = os.stat(path)
                except OSError:
                    continue
                digest.update(f"{path}\0{stat.st_mtime_ns}\0{stat.st_size}\n".encode("utf-8", "surrogateescape"))
            known = self._operators[root] = digest.hexdigest()
        return known


def _folder_stamp(folder: str) -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*.md")):
        stat = path.stat()
        digest.update(f"{path}\0{stat.st_mtime_ns}\0{stat.st_size}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
