"""Where a new operator goes, what an intake of it said before, and its entry among the examples of a SHMEM tree."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opdev.facts.intake import HOMES
from opdev.scaffold.options import Options, find_repo
from opdev.scaffold.texts import ScaffoldError
from opdev.scaffold.write import put

_HOLDERS = ("custom-ops", "examples")
FLAGS = {"torch": "torch_required", "perf": "performance_required", "auto_optim": "performance_auto_optim"}
"""Options by the names the intake gives them."""


def base_folder(asked: str | None) -> str:
    """The repository the operator goes into, absolute with ``/``: ``--dir``, else the one around the current folder.

    ``custom-ops`` and ``examples`` themselves stand for the folder they are in.
    """
    folder = os.path.abspath(os.path.expanduser(asked or "."))
    if not os.path.isdir(folder):
        raise ScaffoldError("no-folder", path=asked)
    if os.path.basename(folder) in _HOLDERS:
        folder = os.path.dirname(folder)
    if asked is None:
        parts = Path(folder).parts
        inside = next((i for i in range(len(parts) - 1, 0, -1) if parts[i] in _HOLDERS), None)
        folder = find_repo(folder) if inside is None else str(Path(*parts[:inside]))
    return folder.replace("\\", "/")


def intake_beside(root: str) -> tuple[str, Mapping[str, Any]] | None:
    """The intake's record of the operator at ``root``: its path and what it says; None where there is none."""
    import yaml

    for home in HOMES:
        path = Path(root, home)
        if not path.is_file():
            continue
        try:
            read = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise ScaffoldError("no-read", usage=False, path=path, why=str(error).partition("\n")[0]) from error
        said = read.get("phase0_intake", read) if isinstance(read, dict) else None
        return (path.as_posix(), said) if isinstance(said, dict) else None
    return None


def agreed(path: str, said: Mapping[str, Any], field: str, given: object) -> Any:
    """The record's value of a field where none was given on the command line; two that differ are a ScaffoldError."""
    recorded = said.get(field)
    if given is None:
        return recorded
    if recorded is not None and recorded != given:
        raise ScaffoldError("intake-differs", path=path, field=field, recorded=_word(recorded), given=_word(given))
    return given


def _word(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def check_tree(base: str) -> None:
    """A ScaffoldError where an example has no SHMEM tree to go into."""
    if not all(os.path.isdir(f"{base}/{name}") for name in ("include", "src")):
        raise ScaffoldError("not-tree", path=base)


def register(base: str, options: Options, *, dry_run: bool = False) -> tuple[str, str, bool] | None:
    """Adds an example to examples/CMakeLists.txt; the file, the line, and whether it was done.

    None where the example is listed there already.  A tree without that file is left to the user.
    """
    path, line = f"{base}/examples/CMakeLists.txt", f"add_subdirectory({options.op})"
    if not os.path.isfile(path):
        return path, line, False
    data = Path(path).read_bytes()
    if re.search(rb"(?<![\w-])" + options.op.encode() + rb"(?![\w-])", re.sub(rb"#[^\n]*", b"", data)):
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return path, line, False
    newline = "\r\n" if "\r\n" in text else "\n"
    if not dry_run:
        put(path, f"{text}{'' if text.endswith(newline) or not text else newline}{line}{newline}")
    return path, line, True
