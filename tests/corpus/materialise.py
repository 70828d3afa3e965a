"""Operators with known offences, made from the clean ones and a small patch.

``clean/`` holds complete operators nothing may be reported in.  ``seeded/<variant>.yaml`` says what a
hurried author would have written instead and what must then be found::

    operator: custom-ops/allgather      # the folder that is linted, below clean/
    also: [custom-ops/torch_binding]    # further ones, where edits reach into them
    edits:
      - file: scripts/run.sh            # below the operator; ../ leads out of it
        replace:
          - find: 'text that occurs once'
            with: 'its replacement'
      - file: scripts/new.sh            # a file that clean/ has not
        content: ...
    expect:                             # every finding there is, no more and no fewer
      - {file: scripts/run.sh, at: 'part of one line only', name: lost-exit-status, severity: error, fixed: true}
    after_fix: []                       # findings that exist only after the safe fixes

``fixed`` says that the safe fixes take a finding away; all others must still be there afterwards.

``python tests/corpus/materialise.py VARIANT FOLDER`` writes one for trying things by hand.
"""

from __future__ import annotations

import posixpath
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
CLEAN = HERE / "clean"
SEEDED = HERE / "seeded"


@dataclass(frozen=True)
class Expected:
    """A finding that has to be there: ``at`` is part of exactly one line of ``file`` as seeded."""

    file: str
    at: str
    name: str
    severity: str
    fixed: bool = False


@dataclass(frozen=True)
class Variant:
    """One seeded operator; paths are relative to the folder it is written to."""

    name: str
    operator: str
    also: tuple[str, ...] = ()
    edits: tuple[dict[str, Any], ...] = ()
    expect: tuple[Expected, ...] = ()
    after_fix: tuple[Expected, ...] = field(default=())

    def path(self, file: str) -> str:
        """A file named by an edit or an expectation, relative to the whole tree."""
        return posixpath.normpath(f"{self.operator}/{file}")

    @property
    def folders(self) -> tuple[str, ...]:
        return (self.operator, *self.also)


def names() -> list[str]:
    """All variants there are."""
    return sorted(path.stem for path in SEEDED.glob("*.yaml"))


def load(name: str) -> Variant:
    """Read one variant; a misspelt key is an error."""
    data = yaml.safe_load((SEEDED / f"{name}.yaml").read_text(encoding="utf-8"))
    for key in ("expect", "after_fix"):
        data[key] = tuple(Expected(**entry) for entry in data.get(key) or ())
    data["edits"] = tuple(data.get("edits") or ())
    data["also"] = tuple(data.get("also") or ())
    return Variant(name=name, **data)


def materialise(variant: Variant, folder: Path) -> Path:
    """Write clean/ with the variant's edits to ``folder``, which must not exist yet.

    Raises ValueError for an edit that does not fit the clean text any more.
    """
    shutil.copytree(CLEAN, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for edit in variant.edits:
        path = folder / variant.path(edit["file"])
        if "content" in edit:
            if path.exists():
                raise ValueError(f"{variant.name}: {edit['file']} exists already, replace parts of it")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(edit["content"], encoding="utf-8")
            continue
        text = path.read_text(encoding="utf-8")
        for change in edit["replace"]:
            count = text.count(change["find"])
            if count != 1:
                raise ValueError(f"{variant.name}: {edit['file']} has {change['find']!r} {count} times, not once")
            text = text.replace(change["find"], change["with"])
        path.write_text(text, encoding="utf-8")
    return folder


def line_of(text: str, at: str) -> int:
    """The 1-based number of the only line that holds ``at``."""
    lines = [number for number, line in enumerate(text.splitlines(), 1) if at in line]
    if len(lines) != 1:
        raise ValueError(f"{at!r} is on lines {lines}, not on one")
    return lines[0]


def main(arguments: list[str]) -> int:
    if len(arguments) != 2 or arguments[0] not in names():
        print(f"usage: materialise.py VARIANT FOLDER\nvariants: {' '.join(names())}", file=sys.stderr)
        return 2
    print(materialise(load(arguments[0]), Path(arguments[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
