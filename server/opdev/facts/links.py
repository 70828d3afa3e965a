"""Paths an operator's documents speak of that exist: what an editor can open with a click."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from opdev.syntax.file import File

_MOST = 400
"""Paths of one document that are looked for on disk."""
_PATH = re.compile(
    rb"(?<![\w./\-}])(?:\$\{?(?P<variable>\w+)\}?/)?(?P<path>(?:\.{1,2}/)*[A-Za-z_][\w.+-]*(?:/[\w.+-]+)*/?)"
)
_FOLDERS = (
    "src/",
    "scripts/",
    "docs/",
    "data/",
    "baseline/",
    "output/",
    "examples/",
    "custom-ops/",
    "include/",
    "../",
    "./",
)
_FILE = re.compile(r"[\w+-][\w.+-]*\.(?:cpp|h|hpp|cc|py|sh|md|json|yaml|yml|cmake|txt|log|bin)\Z")
_REPOSITORY = frozenset({"SHMEM_REPO", "SHMEM_HOME_PATH", "PROJECT_ROOT", "REPO_ROOT"})


@dataclass(frozen=True, slots=True)
class Link:
    """The bytes ``[start, end)`` speak of ``target``, the absolute path of a file."""

    start: int
    end: int
    target: str


def links(file: File, is_there: Callable[[str], bool]) -> Iterator[Link]:
    """The paths in a Markdown document of an operator that ``is_there`` (for files) finds, in text order.

    They are looked for below the document's folder, the operator's, and the SHMEM checkout's.
    """
    known: dict[str, str | None] = {}
    bases = _bases(file)
    for match in _PATH.finditer(file.data):
        text = match["path"].decode("ascii", "replace").rstrip(".")
        if not (text.startswith(_FOLDERS) or _FILE.fullmatch(text) or "/" in text.strip("/")):
            continue
        variable = (match["variable"] or b"").decode()
        if variable and variable not in _REPOSITORY:
            continue
        key = f"{variable}/{text}"
        if key not in known:
            if len(known) >= _MOST:
                return
            known[key] = _find(text, bases[-1:] if variable else bases, is_there)
        target = known[key]
        if target is not None and target != file.path:
            yield Link(match.start(), match.start("path") + len(text.encode()), target)


def _bases(file: File) -> list[str]:
    """The document's folder, the operator's and its subfolders for sources, the checkout."""
    folder = file.path.rpartition("/")[0]
    root = file.place.root
    found = [folder]
    if root is not None:
        found += [root, f"{root}/src", f"{root}/scripts", f"{root}/docs"]
    above = root.rpartition("/")[0] if root is not None else folder
    if above.endswith(("/custom-ops", "/examples")):
        above = above.rpartition("/")[0]
    found.append(file.place.shmem_repo or above)
    return list(dict.fromkeys(found))


def _find(text: str, bases: list[str], is_there: Callable[[str], bool]) -> str | None:
    plain = text.rstrip("/")
    last = plain.rpartition("/")[2]
    # An editor opens files: a folder is shown by what is read first in it.
    inside = () if "." in last else ("README.md", f"{last}_kernel.cpp", f"src/{last}_kernel.cpp", "main.cpp", "run.sh")
    for base in bases:
        path = _normal(f"{base}/{plain}")
        if text == plain and is_there(path):
            return path
        for name in inside:
            if is_there(f"{path}/{name}"):
                return f"{path}/{name}"
    return None


def _normal(path: str) -> str:
    """Without ``.`` and ``..``; a symlink stays what it is called."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1]:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
