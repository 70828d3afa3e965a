"""Writes the old ``shmem_*`` names of the stand-in from opdev's table of the interface.

``python -m opdev.sim.aliases`` prints include/opdev_sim/shmem/alias.h; a test holds the file to it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

INCLUDE = Path(__file__).parent / "include"
_WORD = re.compile(r"\w+")
_TYPED = re.compile(r"(?<=aclshmem_)(?:half|bfloat16|float|double|u?int(?:8|16|32|64)|char)(?=_)")


def declared() -> frozenset[str]:
    """Words of the stand-in's own headers; families made by macros are written ``aclshmem_##N##_…`` there."""
    words: set[str] = set()
    for file in sorted((INCLUDE / "opdev_sim" / "shmem").glob("*.h")):
        if file.name != "alias.h":
            words.update(
                _WORD.findall(file.read_text(encoding="utf-8").replace("##", "").replace("aclshmem_N_", "aclshmem_T_"))
            )
    return frozenset(words)


def aliases() -> Iterator[tuple[str, str]]:
    """Old name and what it stands for, where the stand-in has that."""
    from opdev.api import table

    there = declared()
    for old, targets in sorted(table.aliases().items()):
        for new in targets:
            if _there(new, there):
                yield old, new
                break


def _there(name: str, words: Iterable[str]) -> bool:
    generic = _TYPED.sub("T", name)
    return any(form in words for form in (name, generic, re.sub(r"_nbi$", "", generic)))


def header() -> str:
    """The text of alias.h."""
    lines = "".join(f"#define {old} {new}\n" for old, new in aliases())
    return f"// The old names of the interface.  Written by `python -m opdev.sim.aliases`.\n#pragma once\n\n{lines}"


if __name__ == "__main__":
    sys.stdout.write(header())
