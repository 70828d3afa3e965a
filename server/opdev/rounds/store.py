"""Where snapshots are: ``<operator>/.opdev/rounds/``, contents by their SHA-256, states as small JSON files.

    objects/ab/cdef…     a content, once
    <n>/base.json        what round n started from        <n>/step-<k>.json   what its k-th retest tested
    <n>/end.json         what it was when it was decided   saved/<name>.json   what a restore replaced
    rounds.json          the ledger                        restoring.json      a restore that is going on

Contents are written before the state that names them, each by a rename: whenever this is cut off, what was there before
still is.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from typing import Any

from opdev.atomic import write_bytes
from opdev.rounds.errors import Refused
from opdev.rounds.scan import Limits, Scan, scan
from opdev.rounds.tree import Tree

_SAVED = 20
_NAME = re.compile(r"(?:\d{1,4}/(?:base|end|step-\d{1,4})|saved/before-[0-9a-z-]{1,60})\Z")


class Store:
    """The snapshots of the operator at ``root``."""

    def __init__(self, root: str, limits: Limits | None = None) -> None:
        self.root = root
        self.folder = f"{root}/.opdev/rounds"
        self.limits = limits or Limits()

    def prepare(self) -> None:
        """Make the folder; OSError where that cannot be."""
        os.makedirs(f"{self.folder}/objects", exist_ok=True)
        ignore = f"{self.root}/.opdev/.gitignore"
        if not os.path.exists(ignore):
            write_bytes(ignore, b"*\n")

    def put(self, data: bytes) -> str:
        """Keep a content; its SHA-256."""
        name = hashlib.sha256(data).hexdigest()
        path = self._object(name)
        with contextlib.suppress(OSError):
            if os.path.getsize(path) == len(data):
                return name
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=folder)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        return name

    def get(self, name: str) -> bytes:
        """A content; Refused where it is gone or not what it was."""
        try:
            with open(self._object(name), "rb") as stream:
                data = stream.read()
        except OSError as error:
            raise Refused("damaged", path=self._object(name), why=error.strerror) from error
        if hashlib.sha256(data).hexdigest() != name:
            raise Refused("damaged", path=self._object(name), why="SHA-256")
        return data

    def _object(self, name: str) -> str:
        return f"{self.folder}/objects/{name[:2]}/{name[2:]}"

    def present(self) -> Scan:
        """The operator's own files as they are, nothing kept."""
        return scan(self.root, self.limits)

    def take(self, name: str) -> Scan:
        """Keep the present state under a name; what the name stood for before is gone only when this is whole."""
        self.prepare()
        found = scan(self.root, self.limits, self.put)
        self.write(name, found.tree)
        return found

    def write(self, name: str, tree: Tree) -> None:
        """Let a name stand for a state whose contents are kept."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_json(path, tree.data())

    def tree(self, name: str) -> Tree:
        """The state of a name; Refused where there is none that can be read."""
        path = self.path(name)
        try:
            with open(path, "rb") as stream:
                return Tree.read(json.load(stream))
        except (OSError, ValueError, RecursionError) as error:
            raise Refused("damaged", path=path, why=error) from error

    def has(self, name: str) -> bool:
        return os.path.isfile(self.path(name))

    def path(self, name: str) -> str:
        if not _NAME.match(name):
            raise Refused("no-state", name=name)
        return f"{self.folder}/{name}.json"

    def saved(self) -> list[str]:
        """The names of what restores replaced, oldest first."""
        with contextlib.suppress(OSError):
            return sorted(n[:-5] for n in os.listdir(f"{self.folder}/saved") if n.endswith(".json"))
        return []

    def save(self) -> tuple[str, Scan]:
        """Keep the present state before it is replaced; its name."""
        while True:
            moment = time.time()
            micro = int(moment % 1 * 1_000_000)
            name = f"saved/before-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(moment))}-{micro:06d}"
            if not self.has(name):
                return name, self.take(name)

    def prune(self) -> None:
        """Forget the oldest of what restores replaced, and contents that nothing names any more."""
        old = self.saved()[:-_SAVED]
        for name in old:
            with contextlib.suppress(OSError):
                os.unlink(f"{self.folder}/saved/{name}.json")
        if old:
            self._sweep()

    def _sweep(self) -> None:
        named: set[str] = set()
        for here, _, names in os.walk(self.folder):
            if here.startswith(f"{self.folder}/objects"):
                continue
            for name in names:
                if name in ("rounds.json", "restoring.json") or not name.endswith(".json"):
                    continue
                try:
                    with open(f"{here}/{name}", "rb") as stream:
                        named |= {e.content for _, e in Tree.read(json.load(stream)).items() if e.kind == "file"}
                except (OSError, ValueError, RecursionError):
                    return
        for here, _, names in os.walk(f"{self.folder}/objects"):
            for name in names:
                if os.path.basename(here) + name not in named:
                    with contextlib.suppress(OSError):
                        os.unlink(f"{here}/{name}")

    def forget(self, number: int) -> None:
        """Drop the states of a round."""
        shutil.rmtree(f"{self.folder}/{number}", ignore_errors=True)


def write_json(path: str, value: dict[str, Any]) -> None:
    """Replace a JSON file whole; names that are no UTF-8 are escaped and survive."""
    write_bytes(path, (json.dumps(value, indent=1) + "\n").encode())
