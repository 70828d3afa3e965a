"""Where a new operator goes, what an intake of it said before, and its entry among the examples of a SHMEM tree."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

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


class Entry(NamedTuple):
    """A line a list of the SHMEM tree needs: the file, the line, and whether it was put in."""

    path: str
    line: str
    done: bool


def register(base: str, options: Options, *, dry_run: bool = False) -> list[Entry]:
    """Puts an example (and its Torch binding) into the tree's CMake lists.

    What is listed already is left out; a list that is missing or written otherwise is the user's to change.
    """
    if not options.in_tree:
        return []
    entries = [_entry(f"{base}/examples/CMakeLists.txt", options.op, f"add_subdirectory({options.op})", None, dry_run)]
    if options.torch:
        source = f"src/torch_bind_{options.op}.cpp"
        listed = f"{base}/examples/torch_binding/CMakeLists.txt"
        entries.append(_entry(listed, source, f"    {source}", _BINDING_SOURCE, dry_run))
    return [entry for entry in entries if entry is not None]


_BINDING_SOURCE = re.compile(r"^[ \t]*src/torch_bindings\.cpp[ \t]*(?=\r?$)", re.MULTILINE)
"""The line below which a binding's source goes."""


def _entry(path: str, word: str, line: str, below: re.Pattern[str] | None, dry_run: bool) -> Entry | None:
    """One line, at the file's end or below what ``below`` finds; None where ``word`` stands there already."""
    todo = Entry(path, line.strip(), done=False)
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return todo
    if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", re.sub(r"#[^\n]*", "", text)):
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    if below is None:
        changed = f"{text}{'' if text.endswith(newline) or not text else newline}{line}{newline}"
    else:
        found = below.search(text)
        if found is None:
            return todo
        changed = f"{text[: found.end()]}{newline}{line}{text[found.end() :]}"
    if not dry_run:
        put(path, changed)
    return todo._replace(done=True)
