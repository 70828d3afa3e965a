"""What an operator's CMakeLists.txt say a file is compiled with, as far as they say it plainly.

Folders and definitions of all targets count for all files: which target a header belongs to, nobody knows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from opdev.facts.build import variables
from opdev.syntax import cmake
from opdev.syntax.file import File
from opdev.syntax.view import View

_REFERENCE = re.compile(r"\$(ENV)?\{(\w+)\}")
_BUILD_INTERFACE = re.compile(r"\$<BUILD_INTERFACE:([^<>]*)>")
_WORDS = frozenset({"PRIVATE", "PUBLIC", "INTERFACE", "SYSTEM", "BEFORE", "AFTER"})
_NAME = re.compile(r"(?:-D)?([A-Za-z_]\w*)(=[^\s\"'$]*)?\Z")
_ARCH = re.compile(r"--cce-aicore-arch=([\w-]+)")
_STANDARD = re.compile(r"-std=((?:c|gnu)\+\+\w+)\Z")
_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Listing:
    """Include folders that are there, definitions (``NAME`` or ``NAME=VALUE``), the standard, the device."""

    folders: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    standard: str = "c++17"
    arch: str = ""


def listing(root: str, repo: str, files: Iterable[File], environ: Mapping[str, str]) -> Listing:
    """Read the CMake files of the operator at ``root``; the folder of examples around it may be among them."""
    folders: dict[str, None] = {}
    definitions: dict[str, str] = {}
    standard, arch = "", ""
    for file in files:
        known = _known(file, root, repo)
        for command in cmake.commands(View(file, 0, len(file.data))):
            if command.name in ("include_directories", "target_include_directories"):
                first = 1 if command.name.startswith("target") else 0
                for text in _given(command.texts[first:], known, environ):
                    path = os.path.normpath(os.path.join(known["CMAKE_CURRENT_SOURCE_DIR"], text)).replace("\\", "/")
                    if os.path.isdir(path):
                        folders.setdefault(path)
            elif command.name in ("add_compile_definitions", "add_definitions", "target_compile_definitions"):
                first = 1 if command.name.startswith("target") else 0
                _define(_given(command.texts[first:], known, environ), definitions)
            elif command.name == "set" and command.texts[:1] == ("CMAKE_CXX_STANDARD",) and len(command.texts) > 1:
                number = _filled(command.texts[1], known, environ)
                standard = standard or (f"c++{number}" if number in ("11", "14", "17", "20", "23") else "")
            for text in command.texts:
                if match := _ARCH.search(text):
                    arch = arch or match[1]
                if command.name.endswith("compile_options") and (match := _STANDARD.match(text)):
                    standard = standard or match[1]
    if standard in ("c++11", "c++14", "gnu++11", "gnu++14"):
        standard = ""  # the headers need C++17 whatever a program around them was begun with
    return Listing(tuple(folders), tuple(n + v for n, v in definitions.items()), standard or "c++17", arch)


def _known(file: File, root: str, repo: str) -> dict[str, str]:
    here = file.source.path.rpartition("/")[0]
    own = any(True for _ in cmake.commands(View(file, 0, len(file.data)), "project"))
    top = here if own else repo
    if here != root and root.startswith(f"{here}/"):
        # The list of all examples: its functions are called from the example's folder, with its name.
        here = root
    return {
        **variables(file), "CMAKE_CURRENT_SOURCE_DIR": here, "CMAKE_CURRENT_LIST_DIR": here, "CMAKE_SOURCE_DIR": top,
        "PROJECT_SOURCE_DIR": top, "NAME": root.rpartition("/")[2], "SHMEM_REPO": repo,
    }  # fmt: skip


def _given(texts: Iterable[str], known: Mapping[str, str], environ: Mapping[str, str]) -> Iterator[str]:
    for text in texts:
        if text not in _WORDS:
            for part in _filled(text, known, environ).split(";"):
                if part and "$" not in part:
                    yield part


def _filled(text: str, known: Mapping[str, str], environ: Mapping[str, str]) -> str:
    text = _BUILD_INTERFACE.sub(r"\1", text)
    for _ in range(_DEPTH):
        new = _REFERENCE.sub(lambda m: (environ if m[1] else known).get(m[2], m[0]), text)
        if new == text:
            break
        text = new
    return text


def _define(texts: Iterable[str], into: dict[str, str]) -> None:
    """The first value wins: of branches of an `if`, one has to."""
    for text in texts:
        match = _NAME.match(text)
        if match is not None:
            into.setdefault(match[1], match[2] or "")
