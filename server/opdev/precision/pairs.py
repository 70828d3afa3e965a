"""Which output belongs to which golden, from what was named: a file, a folder, or a path with ``{pe}``."""

from __future__ import annotations

import os

from opdev.precision import layouts
from opdev.precision.judge import Pair
from opdev.precision.texts import PrecisionError

SLOT = "{pe}"
_MOST_PES = 1024


def pairs_of(output: str, golden: str, reference: str | None = None, pes: int | None = None) -> list[Pair]:
    """The pairs; PrecisionError where a folder has none, one lacks its golden, or a PE is left out."""
    if SLOT not in output and not os.path.isdir(output):
        pe = layouts.pe_of(output)
        if os.path.isdir(golden):
            golden = layouts.golden_for(output, golden)
        golden = golden.replace(SLOT, str(pe if pe is not None else 0))
        if reference is not None:
            reference = _like(reference, output, pe)
        return [Pair(os.path.basename(output), output, golden, None, reference)]
    if SLOT not in output and SLOT not in golden and os.path.isdir(golden):
        return layouts.folders(
            output, golden, lambda path, pe: None if reference is None else _like(reference, path, pe), pes
        )
    found = _slotted(output, pes) if SLOT in output else layouts.one_each(output, pes)
    made = []
    for pe, path in found:
        own = golden.replace(SLOT, str(pe))
        if os.path.isdir(own):
            own = layouts.golden_for(path, own, pe)
        made.append(Pair(f"PE {pe}", path, own, pe, _like(reference, path, pe) if reference is not None else None))
    return made


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
    # One left out is one that wrote nothing.
    missing = next((pe for pe in range(there[-1]) if pe not in there), None)
    if missing is not None:
        raise PrecisionError("pe-gap", path=output, there=there[-1], missing=missing)
    return [(pe, output.replace(SLOT, str(pe))) for pe in there]
