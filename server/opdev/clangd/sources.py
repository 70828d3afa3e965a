"""The C++ files of an operator and the command clangd is told for each."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from opdev.clangd import torch
from opdev.clangd.headers import MARK, Headers, headers
from opdev.clangd.listing import Listing, listing
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.syntax.file import File

_INCLUDES_SHMEM = re.compile(rb'#\s*include\s*[<"](?:[\w/]*/)?shmem\w*\.h[">]|\baclshmem')
# CUDA without the toolkit: the only dialect of clang with launches.  Warnings of the dialect are nobody's.
_DIALECT = ("-xcuda", "--cuda-host-only", "-nocudainc", "-nocudalib")
_QUIET = (
    "-ferror-limit=0",  # silenced launches count
    "-fretain-comments-from-system-headers",  # what hover shows of a declaration
    "-Wno-pragma-once-outside-header", "-Wno-unknown-pragmas", "-Wno-unknown-attributes", "-Wno-ignored-attributes",
)  # fmt: skip
BINDINGS = "torch_binding"
"""The folder of bindings that operators share."""


@dataclass(frozen=True, slots=True)
class Sources:
    """``commands`` are (file, arguments) by path; ``left_out`` the bindings nothing can be said of without Torch."""

    headers: Headers
    commands: tuple[tuple[str, tuple[str, ...]], ...]
    left_out: tuple[str, ...]


def sources(root: str, environ: Mapping[str, str], python: str = "") -> Sources:
    """The files below the operator's folder ``root`` (absolute, forward slashes) with their commands."""
    places = Places()
    operator = Operator(root, places)
    files = list(operator.files("cpp"))
    repo = _repo(root, places)
    listed = listing(root, repo, operator.files("cmake"), environ)
    shmem = any(_INCLUDES_SHMEM.search(file.data) for file in files)
    found = headers(repo, environ, listed.arch, shmem=shmem)
    own = _folders(root, files, listed, found)
    bindings = [file for file in files if "torch-binding" in file.kind.names]
    of_torch = torch.folders(python, environ) if bindings else ()
    commands, left_out = [], []
    for file in files:
        path = file.source.path
        if file in bindings and not of_torch:
            left_out.append(path)
            continue
        commands.append((path, tuple(_command(file, listed, found, own, of_torch if file in bindings else ()))))
    return Sources(found, tuple(commands), tuple(left_out))


def _command(file: File, listed: Listing, found: Headers, own: list[str], of_torch: Iterable[str]) -> Iterator[str]:
    yield "clang++"
    # Torch's headers are no CUDA; a binding calls a launcher, as other hosts do.
    cuda = "torch-binding" not in file.kind.names or b"<<<" in file.code
    yield from _DIALECT if cuda else ("-xc++",)
    yield f"-std={listed.standard}"
    yield MARK
    yield from found.flags
    for folder in own:
        yield from ("-I", folder)
    for folder in of_torch:
        yield from ("-isystem", folder)
    yield from (f"-D{word}" for word in listed.definitions)
    yield from _QUIET
    yield file.source.path


def _folders(root: str, files: list[File], listed: Listing, found: Headers) -> list[str]:
    """Include folders: as CMake says, then every folder of the operator with a header in it."""
    here = dict.fromkeys(listed.folders)
    for file in files:
        if "header" in file.kind.names:
            here.setdefault(file.source.path.rpartition("/")[0])
    if root.rpartition("/")[2] == BINDINGS:
        here.update(dict.fromkeys(_beside(root)))
    seen = {found.flags[i + 1] for i, word in enumerate(found.flags) if word in ("-I", "-isystem")}
    return [folder for folder in here if folder not in seen and folder not in found.shadowed]


def _beside(root: str) -> Iterator[str]:
    """Where the operators that the shared bindings bind keep their headers."""
    parent = root.rpartition("/")[0]
    for name in sorted(os.listdir(parent)):
        for folder in (f"{parent}/{name}", f"{parent}/{name}/src", f"{parent}/{name}/include"):
            if name != BINDINGS and os.path.isdir(folder) and any(n.endswith(".h") for n in os.listdir(folder)):
                yield folder


def _repo(root: str, places: Places) -> str:
    found = places.of(f"{root}/CMakeLists.txt").shmem_repo
    if found:
        return found
    parent, _, _ = root.rpartition("/")
    return parent.rpartition("/")[0] if parent.endswith(("/custom-ops", "/examples")) else parent
