"""What ``opdev new`` was asked for, validated: a name, a kind, dtypes, where, and for which phases."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from opdev.design.dtypes import fold_dtype, split_dtypes
from opdev.scaffold.dtypes import DTYPES, Dtype
from opdev.scaffold.texts import ScaffoldError

KINDS = ("allgather", "alltoall", "alltoallv", "reduce-scatter", "broadcast", "put-get", "custom")
BUILD_MODES = ("independent_project", "in_tree_example")
NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
LONGEST_NAME = 32
# Names the shared folders have, and words C++ would not take as a namespace or function.
_TAKEN = frozenset({
    "scripts", "torch_binding", "build", "data", "output", "docs", "src", "baseline", "examples", "test", "tests",
    "main",
    "auto", "bool", "break", "case", "catch", "char", "class", "const", "continue", "default", "delete", "do",
    "double", "else", "enum", "explicit", "export", "extern", "float", "for", "friend", "goto", "if", "inline", "int",
    "long", "namespace", "new", "operator", "private", "protected", "public", "register", "return", "short", "signed",
    "sizeof", "static", "struct", "switch", "template", "this", "throw", "try", "typedef", "union", "unsigned",
    "using", "virtual", "void", "volatile", "while",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """The answers a template is rendered from.  ``confirmed`` is where name and dtypes were confirmed."""

    op: str
    kind: str
    dtypes: tuple[str, ...]
    build_mode: str = "independent_project"
    torch: bool = False
    perf: bool = True
    auto_optim: bool = False
    shmem_repo: str = ""
    skills_root: str = ""
    docker_container: str = ""
    docker_workdir: str = ""
    confirmed: str = field(default="confirmed_by_user")
    open: bool = False
    """Whether the algorithm is a hole to be filled: the design is somebody's own, and no kind is known to be it."""

    @property
    def in_tree(self) -> bool:
        return self.build_mode == "in_tree_example"

    @property
    def op_root(self) -> str:
        """The operator's folder below the repository."""
        return f"{'examples' if self.in_tree else 'custom-ops'}/{self.op}"

    @property
    def op_type(self) -> str:
        """The name in PascalCase, as classes and types have it."""
        return "".join(word[:1].upper() + word[1:] for word in self.op.split("_"))

    def known(self) -> list[Dtype]:
        """The dtypes with their sizes and names."""
        return [DTYPES[name] for name in self.dtypes]

    def as_json(self) -> dict[str, Any]:
        """What .opdev/template.json keeps."""
        return {f.name: list(v) if isinstance(v := getattr(self, f.name), tuple) else v for f in fields(self)}


def options_of(data: dict[str, Any]) -> Options:
    """The inverse of ``Options.as_json``; unknown keys of another version are dropped, missing ones take defaults."""
    names = {f.name for f in fields(Options)}
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in data.items() if key in names
    }
    return Options(**given)


def check_name(name: str) -> str:
    """``name``, or a ScaffoldError that says what is wrong with it."""
    if not NAME.match(name):
        raise ScaffoldError("bad-name", name=name, hint=_suggested(name))
    if len(name) > LONGEST_NAME:
        raise ScaffoldError("long-name", name=name, most=LONGEST_NAME)
    if name in _TAKEN:
        raise ScaffoldError("taken-name", name=name)
    return name


def _suggested(name: str) -> str:
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    plain = re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")
    return plain if NAME.match(plain) else "my_op"


def check_dtypes(texts: Sequence[str], supported: Sequence[str], kind: str) -> tuple[str, ...]:
    """Dtypes under their full names, in the order given; a ScaffoldError for one that is none or not the kind's."""
    found: list[str] = []
    for text in texts:
        for word in split_dtypes(text):
            dtype = fold_dtype(word)
            if dtype is None:
                raise ScaffoldError("bad-dtype", dtype=word, known=", ".join(supported))
            if dtype not in supported:
                raise ScaffoldError("unsupported-dtype", dtype=dtype, kind=kind, known=", ".join(supported))
            if dtype not in found:
                found.append(dtype)
    if not found:
        raise ScaffoldError("no-dtype", known=", ".join(supported))
    return tuple(found)


def find_repo(start: str) -> str:
    """The SHMEM repository above a folder (it has include/ and src/), else the folder itself; absolute, with ``/``."""
    here = os.path.abspath(start)
    folder = here
    while True:
        if os.path.isdir(os.path.join(folder, "include")) and os.path.isdir(os.path.join(folder, "src")):
            return folder.replace("\\", "/")
        parent = os.path.dirname(folder)
        if parent == folder:
            return here.replace("\\", "/")
        folder = parent
