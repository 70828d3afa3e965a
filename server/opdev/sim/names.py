"""The public names opdev knows of, to tell what the stand-in lacks from what the user mistyped."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path


@cache
def public_names() -> frozenset[str]:
    """Every public name of SHMEM, and of AscendC as far as opdev knows."""
    from opdev.api import table

    return frozenset(table.names()) | ascendc_names()


@cache
def ascendc_names() -> frozenset[str]:
    """Names of the AscendC kernel interface."""
    text = (Path(__file__).parent / "ascendc_names.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def nearest(name: str, there: Iterable[str]) -> str:
    """The name in ``there`` that looks most like ``name``, of the same library; empty when none does."""
    public = public_names()
    family = next((head for head in ("aclshmem", "ACLSHMEM", "aclrt", "ACL_", "acl") if name.startswith(head)), "")
    pool = [other for other in there if (other.startswith(family) if family else other in public)]
    found = get_close_matches(name, pool, 1, 0.72)
    return found[0] if found else ""
