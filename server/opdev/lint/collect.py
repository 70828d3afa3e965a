"""Finding the files to lint: folders walked once, ignore files honoured, links not followed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opdev.config import Configs
from opdev.ignore import Patterns
from opdev.kinds import has_known_suffix

ALWAYS_SKIPPED = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".ruff_cache",
     ".pytest_cache", ".opdev", ".idea", ".vscode-test"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """A file to lint: absolute path with forward slashes, and what its metadata said."""

    path: str
    mtime_ns: int
    size: int


@dataclass
class Collected:
    """The files, in path order, and what could not be looked at: (path, why)."""

    files: list[Found] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)


def absolute(path: str) -> str:
    """An absolute path with forward slashes, links in it left alone."""
    return os.path.abspath(path).replace("\\", "/")


def collect(paths: Sequence[str], configs: Configs, *, force_exclude: bool = False) -> Collected:
    """The files below ``paths``.  A file named outright is taken whatever ignores it."""
    result = Collected()
    taken: dict[str, Found] = {}
    for given in paths:
        path = absolute(given)
        try:
            stat = os.stat(path)
        except OSError as error:
            result.problems.append((given, error.strerror or str(error)))
            continue
        if os.path.isdir(path):
            for found in _walk(path, configs, result.problems):
                taken.setdefault(found.path, found)
        elif not (force_exclude and configs.for_path(path).excluded(path)):
            taken.setdefault(path, Found(path, stat.st_mtime_ns, stat.st_size))
    result.files = [taken[path] for path in sorted(taken)]
    return result


def _walk(top: str, configs: Configs, problems: list[tuple[str, str]]) -> Iterator[Found]:
    stack: list[tuple[str, list[tuple[str, Patterns]]]] = [(top, _ignores_above(top))]
    while stack:
        folder, ignores = stack.pop()
        config = configs.for_folder(folder)
        try:
            entries = list(os.scandir(folder))
        except OSError as error:
            problems.append((folder, error.strerror or str(error)))
            continue
        if config.settings.respect_gitignore:
            ignores = _with_gitignore(folder, entries, ignores)
        for entry in entries:
            name = entry.name
            path = f"{folder.rstrip('/')}/{name}"
            try:
                if entry.is_dir(follow_symlinks=False):
                    if name not in ALWAYS_SKIPPED and not _skip(path, ignores, config.excluded, folder=True):
                        stack.append((path, ignores))
                    continue
                if not has_known_suffix(name) or not entry.is_file():
                    continue
                if _skip(path, ignores, config.excluded, folder=False):
                    continue
                stat = entry.stat()
            except OSError as error:
                problems.append((path, error.strerror or str(error)))
                continue
            yield Found(path, stat.st_mtime_ns, stat.st_size)


def _skip(path: str, ignores: list[tuple[str, Patterns]], excluded: Callable[..., bool], *, folder: bool) -> bool:
    if excluded(path, folder=folder):
        return True
    for base, patterns in reversed(ignores):
        verdict = patterns.decide(path[len(base) :], folder=folder)
        if verdict is not None:
            return verdict
    return False


def _with_gitignore(
    folder: str, entries: list[os.DirEntry[str]], ignores: list[tuple[str, Patterns]]
) -> list[tuple[str, Patterns]]:
    if any(e.name == ".git" for e in entries):
        ignores = []
    if any(e.name == ".gitignore" for e in entries):
        patterns = _read(f"{folder}/.gitignore")
        if patterns is not None:
            return [*ignores, (folder.rstrip("/") + "/", patterns)]
    return ignores


def _ignores_above(top: str) -> list[tuple[str, Patterns]]:
    """The .gitignore files between the repository's root and ``top``, outermost first."""
    found: list[tuple[str, Patterns]] = []
    here = top.rpartition("/")[0]
    if os.path.exists(f"{top}/.git"):
        return found
    while here:
        if os.path.isfile(f"{here}/.gitignore"):
            patterns = _read(f"{here}/.gitignore")
            if patterns is not None:
                found.append((here + "/", patterns))
        if os.path.exists(f"{here}/.git"):
            return list(reversed(found))
        here = here.rpartition("/")[0]
    return []


def _read(path: str) -> Patterns | None:
    try:
        return Patterns.of_file(Path(path).read_bytes())
    except OSError:
        return None
