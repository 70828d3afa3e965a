"""The cycle-profile table of ``aclshmemx_get_prof``: a rule, a header, a rule, rows, a rule.

Columns are 10, 10, 15, 15 and 15 wide.  A number that fills its column touches the next one: then the columns decide.
Other programs' lines may stand between the rows.
"""

from __future__ import annotations

import re

COLUMNS = ("block", "frame", "cycles", "count", "avg_us")
_RULE = re.compile(rb"={60}\s*\Z")
_HEADER = re.compile(rb"BlockID\s{0,9}FrameID\s{0,9}Cycles\s{0,15}Count\s{0,15}AvgTime\(us\)")
_ROW = re.compile(rb"(\d{1,4})\s+(\d{1,5})\s+(-?\d{1,18})\s+(\d{1,18})\s+(-?\d{1,18}\.\d{3})\s*\Z")
_CELL = re.compile(rb"-?\d{1,18}(?:\.\d{1,9})?\Z")
_WIDTHS = ((0, 10), (10, 20), (20, 35), (35, 50), (50, 65))
_LONGEST = 200


def is_header(line: bytes) -> bool:
    """Whether a line is the head of a table."""
    return _HEADER.search(line) is not None


def is_rule(line: bytes) -> bool:
    """Whether a line is the rule that ends a table."""
    return _RULE.match(line.strip()) is not None


def row(line: bytes) -> list[float]:
    """``[block, frame, cycles, count, average in us]``; empty for what is no row."""
    if len(line) > _LONGEST:
        return []
    match = _ROW.match(line)
    cells = list(match.groups()) if match else [line[a:b].strip() for a, b in _WIDTHS]
    if not all(_CELL.match(cell) for cell in cells):
        return []
    return [*(float(cell) if b"." in cell else int(cell) for cell in cells)]
