"""Which of an operator's files are run: its test, and the folders that its imports are looked for in."""

from __future__ import annotations

import os
from dataclasses import dataclass

from opdev.pypto.finding import name_of

_FOLDERS = ("", "tests", "src", "golden", "modules")
_MOST_SOURCES = 100


@dataclass(frozen=True, slots=True)
class Layout:
    """Absolute paths.  ``test`` is empty where there is none; ``tests`` are those that were found instead."""

    root: str
    name: str
    test: str
    tests: tuple[str, ...]
    folders: tuple[str, ...]
    sources: tuple[str, ...]


def layout(root: str) -> Layout:
    """What an operator's folder holds."""
    root = os.path.abspath(root)
    name = name_of(root)
    folders = [path for folder in _FOLDERS if os.path.isdir(path := os.path.join(root, folder).rstrip("/"))]
    named = [path for folder in folders if os.path.isfile(path := f"{folder}/test_{name}.py")]
    every = [
        f"{folder}/{file}"
        for folder in folders
        for file in _files(folder)
        if file.startswith("test_") and "_module" not in file
    ]
    test = named[0] if named else every[0] if len(every) == 1 else ""
    sources = [f"{folder}/{file}" for folder in folders for file in _files(folder)]
    return Layout(root, name, test, tuple(every), tuple(folders), tuple(sources[:_MOST_SOURCES]))


def alone(test: str) -> Layout:
    """A test or an example that is no operator's."""
    path = os.path.abspath(test)
    folder = os.path.dirname(path)
    return Layout(folder, os.path.basename(path).removesuffix(".py"), path, (path,), (folder,), (path,))


def _files(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".py"))
    except OSError:
        return []
