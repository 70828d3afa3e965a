"""Cycle-profile frames of a kernel: ids the buffer has a place for, and enough of them to see where the time goes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.cross_kernel import block_counts
from opdev.facts.report_tables import layout_of
from opdev.facts.reports import performance_report
from opdev.rules.context import Context
from opdev.rules.model import Hit
from opdev.syntax import cpp

FRAMES = 1024
"""Frames the profile has (FRAME_CNT)."""
BLOCKS = 64
"""Blocks the profile has rows for (MAX_BLOCK)."""
_WANTED = 5
_START = re.compile(rb"\bSHMEMI_PROF_START[ \t]*\([ \t]*(?P<id>[^()\r\n]{1,80}?)[ \t]*\)")


def out_of_range(context: Context) -> Iterator[Hit]:
    """A frame id the buffer has no place for: the device writes beside it."""
    constants = cpp.constants(context.file)
    for call in cpp.calls(context, "SHMEMI_PROF_START", "SHMEMI_PROF_END"):
        if len(call.args) != 1:
            continue
        text = context.text(call.args[0]).strip()
        value = (
            int(text, 0) if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]{1,8}|[1-9]\d{0,8}|0)", text) else constants.get(text)
        )
        if value is not None and not 0 <= value < FRAMES:
            yield Hit(call.args[0].start_byte, call.args[0].end_byte, args={"id": text, "value": str(value)})


def too_few(context: Context) -> Iterator[Hit]:
    """A kernel whose frames are too few to tell one phase from another, and no report that says why."""
    if context.project is None:
        return
    found = list(_START.finditer(context.code))
    ids = {match["id"] for match in found}
    if not ids or len(ids) >= _WANTED:
        return
    # An id that a caller or a loop decides may be any number of frames.
    constants = cpp.constants(context.file)
    if not all(name.isdigit() or name.decode("utf-8", "replace") in constants for name in ids) or _explained(context):
        return
    first = found[0]
    key, severity = ("one", None) if len(ids) == 1 else ("default", "info")
    yield Hit(first.start(), first.end(), key, {"count": str(len(ids))}, None, severity)  # type: ignore[arg-type]  # a severity


def _explained(context: Context) -> bool:
    """Whether section 3.4 of the performance report speaks of its frames in a sentence."""
    for file in context.project.files("report") if context.project is not None else ():
        if performance_report(file) is None:
            continue
        heading = next((h for h in layout_of(file).headings if h.number == "3.4"), None)
        if heading is not None and re.search(
            rb"(?m)^[ \t]*[^|\s<#>-][^\r\n]{8,}", file.data[heading.end : heading.stop]
        ):
            return True
    return False


def too_many_blocks(context: Context) -> Iterator[Hit]:
    """A profiled kernel started with more blocks than the profile has rows for."""
    project = context.project
    if project is None:
        return
    files = [context.file if f.path == context.file.path else f for f in project.files("kernel", "host")]
    if not any(b"SHMEMI_PROF_START" in file.code for file in files):
        return
    for one in block_counts(files):
        if one.file.path == context.file.path and one.value is not None and one.value > BLOCKS:
            yield Hit(one.dim.start, one.dim.end, args={"value": str(one.value)})
