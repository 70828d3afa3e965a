"""What an operator was rendered from: .opdev/template.json, and the rendered files themselves below .opdev/template/.

The base is kept whole: a three-way merge needs its lines, and a template of an older version cannot be rendered
again.  Shared files are nobody's, so they are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import opdev
from opdev.scaffold.options import Options, options_of
from opdev.scaffold.render import Rendered
from opdev.scaffold.texts import ScaffoldError
from opdev.scaffold.write import put

RECORD, BASE = ".opdev/template.json", ".opdev/template"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Record:
    """The options an operator was rendered with and its files as the template had them, by path."""

    options: Options
    base: Mapping[str, str]


def save(root: str, options: Options, files: Sequence[Rendered]) -> None:
    """Keeps the base; the record itself is written last, so that a crash leaves the old one in force."""
    own = [file for file in files if not file.shared]
    for file in own:
        put(f"{root}/{BASE}/{_kept(file.path)}", file.text)
    data = {
        "format": FORMAT,
        "opdev": opdev.__version__,
        "options": options.as_json(),
        "files": sorted(file.path for file in own),
    }
    put(f"{root}/{RECORD}", json.dumps(data, ensure_ascii=False, indent=1) + "\n")


def _below(path: str) -> str:
    """A path without the one step out of the operator it may begin with."""
    return path.removeprefix("../")


def _kept(path: str) -> str:
    """Where the base of a file is kept; files beside the operator have a folder of their own."""
    return f"_beside/{_below(path)}" if path.startswith("../") else path


def load(root: str) -> Record:
    """The record of the operator at ``root``; a ScaffoldError where there is none or it cannot be used."""
    path = Path(root, RECORD)
    if not path.is_file():
        raise ScaffoldError("no-record", path=root)
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise ScaffoldError("bad-record", path=path, why=f"format {data['format']}")
        base = {}
        for name in data["files"]:
            if name.startswith("/") or ".." in _below(name).split("/"):
                raise ScaffoldError("bad-record", path=path, why=name)
            base[name] = Path(root, BASE, _kept(name)).read_bytes().decode("utf-8")
        return Record(options_of(data["options"]), base)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ScaffoldError("bad-record", path=path, why=f"{type(error).__name__}: {error}") from error
