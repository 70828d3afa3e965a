"""The documents of the knowledge base: where they are, what they hash to, which places they have names for.

The knowledge base is no part of an operator; it stands where its skills are installed, above the operator.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from typing import Protocol

from opdev.design.markdown import headings

_BASES = (
    "kb", "knowledge", ".agents/skills/pypto-pro-op-kb", ".opencode/skills/pypto-pro-op-kb", ".claude/skills/pypto-pro-op-kb",
    "ops/pypto-pro-op-kb", "plugins-official/pypto-pro-op-orchestrator/skills/pypto-pro-op-kb", ".devkit/kb",
)  # fmt: skip
"""Where a knowledge base is looked for, in the operator's folder and in each above it."""
_INSTALLED = ("skills/pypto-pro-op-kb", "ops/pypto-pro-op-kb", "kb")
_NAMES = tuple(dict.fromkeys(name.rpartition("/")[2] for name in (*_BASES, *_INSTALLED)))
_VARIABLE = "CANNBOT_CONFIG_ROOT"
"""The root the newer generation is installed in."""
_CONTRACTS = ("KB_SELECTION.json", "DESIGN_BINDINGS.json")
_MOST_DOCUMENTS = 500
_UP = 6
_MOST_BYTES = 2_000_000
_ANCHOR = re.compile(rb"<a\s+(?:id|name)\s*=\s*[\"']([^\"'\s]+)[\"']|\{#([\w.:-]+)\}")
_SIGNS = re.compile(r"[^\w\- ]")


class Rooted(Protocol):
    """Something with a folder: an operator."""

    @property
    def root(self) -> str: ...

    def read(self, path: str) -> bytes | None: ...


def inside(path: str) -> bool:
    """Whether a path stays in the knowledge base."""
    parts = path.replace("\\", "/").split("/")
    return bool(path.strip()) and ".." not in parts and parts[0] != "" and ":" not in parts[0] and "\0" not in path


def places(root: str) -> list[str]:
    """Folders in which a knowledge base is looked for, the nearest first, whether they are there or not."""
    folders = []
    at = root
    for _ in range(_UP + 1):
        folders += [f"{at}/{name}" for name in _BASES]
        above = at.rpartition("/")[0]
        if not above or above == at:
            break
        at = above
    installed = os.environ.get(_VARIABLE, "").replace("\\", "/").rstrip("/")
    if installed:
        folders += [f"{installed}/{name}" for name in _INSTALLED]
    return folders


def may_hold(path: str) -> bool:
    """Whether a path could be in any operator's knowledge base, told by its folders' names alone."""
    return any(f"/{name}/" in path for name in _NAMES)


def bases(root: str) -> Iterator[str]:
    """Folders in which a knowledge base may be, the nearest first; only those that look like one."""
    for folder in places(root):
        for base in (folder, f"{folder}/references"):
            if os.path.isdir(f"{base}/constraints") or os.path.isdir(f"{base}/patterns"):
                yield base


def file_of(project: Rooted | None, path: str) -> str | None:
    """The file a path of the knowledge base names; None where there is none to be found."""
    if project is None or not inside(path):
        return None
    tail = path.removeprefix("./")
    return next((f"{base}/{tail}" for base in bases(project.root) if os.path.isfile(f"{base}/{tail}")), None)


def text_of(project: Rooted | None, path: str) -> bytes | None:
    """What a document of the knowledge base holds; None where it cannot be had."""
    found = file_of(project, path)
    data = project.read(found) if project is not None and found is not None else None
    return data if data is not None and len(data) <= _MOST_BYTES else None


def documents(root: str) -> Iterator[str]:
    """The knowledge base's files that an operator's contracts are held against; none for an operator without such."""
    try:
        folders = [root, *(e.path for e in os.scandir(root) if e.is_dir() and not e.name.startswith("."))]
    except OSError:
        return
    if not any(os.path.isfile(f"{folder}/{name}") for folder in folders for name in _CONTRACTS):
        return
    for base in bases(root):
        for folder in ("", "/constraints", "/patterns", "/references"):
            try:
                names = sorted(os.listdir(base + folder))[:_MOST_DOCUMENTS]
            except OSError:
                continue
            yield from (f"{base}{folder}/{name}" for name in names if name.endswith((".md", ".json")))


def digest(data: bytes) -> str:
    """As a selection writes it."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def anchors(data: bytes) -> list[str]:
    """What a document can be pointed into by: its headings, and the ids it gives."""
    titles = [h.title.strip() for h in headings(data, 0)]
    ids = [(m[1] or m[2]).decode("utf-8", "replace") for m in _ANCHOR.finditer(data)]
    return list(dict.fromkeys(t for t in (*titles, *ids) if t))


def has_anchor(data: bytes, anchor: str) -> bool:
    """Whether an anchor is in a document: as a heading, its number, its slug or an id; or as words that stand there."""
    wanted = anchor.strip().rpartition("#")[2].strip().lower()
    if not wanted:
        return False
    for name in anchors(data):
        low = name.lower()
        slug = _SIGNS.sub("", low).strip().replace(" ", "-")
        if wanted in (low, slug) or low.startswith((f"{wanted} ", f"{wanted}.", f"{wanted}、")) or wanted in low:
            return True
    return wanted in data.decode("utf-8", "replace").lower()
