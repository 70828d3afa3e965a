"""Which output belongs to which golden, from what was named: a file, a folder, or a path with ``{pe}``."""

from __future__ import annotations

import os
import re

from opdev.precision.judge import Pair
from opdev.precision.texts import PrecisionError

SLOT = "{pe}"
_MOST_PES = 1024
_PE = re.compile(r"(?:\A|[_\-.])(?:pe|rank)[_\-]?(\d{1,4})(?=\.[a-z]+\Z)", re.IGNORECASE)
_SUFFIXES = (".bin", ".npy", ".pt", ".pth")
_NOT_OUTPUTS = ("golden", "input", "plan")


def pairs_of(output: str, golden: str, reference: str | None = None, pes: int | None = None) -> list[Pair]:
    """The pairs; PrecisionError where a folder has none, one lacks its golden, or a PE is left out."""
    if SLOT not in output and not os.path.isdir(output):
        if os.path.isdir(golden):
            pe = pe_of(output)
            golden = _golden(golden, pe if pe is not None else 0)
        pe = pe_of(output)
        golden = golden.replace(SLOT, str(pe if pe is not None else 0))
        if reference is not None:
            reference = _like(reference, output, pe)
        return [Pair(os.path.basename(output), output, golden, None, reference)]
    found = _slotted(output, pes) if SLOT in output else _folder(output, pes)
    made = []
    for pe, path in found:
        own = (
            golden.replace(SLOT, str(pe))
            if SLOT in golden
            else _golden(golden, pe)
            if os.path.isdir(golden)
            else golden
        )
        made.append(Pair(f"PE {pe}", path, own, pe, _like(reference, path, pe) if reference is not None else None))
    return made


def pe_of(path: str) -> int | None:
    """The PE that a file's name says."""
    match = _PE.search(os.path.basename(path))
    return int(match[1]) if match else None


def _like(reference: str, output: str, pe: int | None) -> str:
    if SLOT in reference:
        return reference.replace(SLOT, str(pe if pe is not None else 0))
    return os.path.join(reference, os.path.basename(output)) if os.path.isdir(reference) else reference


def _slotted(output: str, pes: int | None) -> list[tuple[int, str]]:
    if pes is not None:
        return [(pe, output.replace(SLOT, str(pe))) for pe in range(pes)]
    there = [pe for pe in range(_MOST_PES) if os.path.exists(output.replace(SLOT, str(pe)))]
    if not there:
        raise PrecisionError("missing", path=output.replace(SLOT, "0"))
    return [(pe, output.replace(SLOT, str(pe))) for pe in _whole(there, output)]


def _folder(folder: str, pes: int | None) -> list[tuple[int, str]]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise PrecisionError("unreadable", path=folder, why=error.strerror or error) from error
    found: dict[int, str] = {}
    for name in names:
        pe = pe_of(name)
        if pe is not None and name.endswith(_SUFFIXES) and not name.startswith(_NOT_OUTPUTS):
            found.setdefault(pe, name)
    if not found:
        raise PrecisionError("no-pairs", path=folder)
    wanted = list(range(pes)) if pes is not None else _whole(sorted(found), folder)
    missing = next((pe for pe in wanted if pe not in found), None)
    if missing is not None:
        raise PrecisionError("pe-gap", path=folder, there=max(found), missing=missing)
    return [(pe, os.path.join(folder, found[pe])) for pe in wanted]


def _whole(there: list[int], path: str) -> list[int]:
    """All PEs up to the highest: one left out is one that wrote nothing."""
    missing = next((pe for pe in range(there[-1]) if pe not in there), None)
    if missing is not None:
        raise PrecisionError("pe-gap", path=path, there=there[-1], missing=missing)
    return there


def _golden(folder: str, pe: int) -> str:
    stems = (f"golden_pe{pe}", f"golden_pe_{pe}", f"golden_rank{pe}", f"golden_rank_{pe}", f"golden_{pe}", "golden")
    for stem in stems:
        for suffix in _SUFFIXES:
            path = os.path.join(folder, stem + suffix)
            if os.path.isfile(path):
                return path
    for suffix in _SUFFIXES:
        for name in (f"golden{suffix}", f"output_pe{pe}{suffix}"):
            path = os.path.join(folder, f"rank_{pe}", name)
            if os.path.isfile(path):
                return path
    raise PrecisionError("no-golden-file", path=folder, name=f"golden_pe{pe}.bin")
