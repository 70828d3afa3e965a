"""Where in a tensor errors lie: the tensor as a grid of tiles, fit to be drawn as a heat map.

Errors come in flat blocks; a block is cut at the borders of tiles, so that each piece is reduced at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 64
"""Cells along one side of a grid."""
_NARROWEST = 32
_FLAT_ROWS = 32


@dataclass(frozen=True)
class Grid:
    """``rows`` × ``columns`` elements in tiles of ``high`` × ``wide``; the last row of elements may be short."""

    rows: int
    columns: int
    high: int
    wide: int

    @property
    def down(self) -> int:
        return -(-self.rows // self.high)

    @property
    def across(self) -> int:
        return -(-self.columns // self.wide)

    def pieces(self, start: int, count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the pieces of a flat block begin, from 0, and the cell each belongs to."""
        rows = np.arange(start // self.columns, (start + count - 1) // self.columns + 1)
        across = np.arange(self.across)
        begins = (rows[:, None] * self.columns + across * self.wide).ravel()
        cells = ((rows // self.high)[:, None] * self.across + across).ravel()
        first = int(np.searchsorted(begins, start, "right")) - 1
        last = int(np.searchsorted(begins, start + count, "left"))
        begins = begins[first:last] - start
        begins[0] = 0
        return begins, cells[first:last]

    def elements(self, row: int, column: int, count: int) -> int:
        """How many of ``count`` elements lie in a cell."""
        wide = min(self.wide, self.columns - column * self.wide)
        rows = range(row * self.high, min((row + 1) * self.high, self.rows))
        whole = count // self.columns
        full = max(0, min(rows.stop, whole) - rows.start)
        rest = count - whole * self.columns - column * self.wide
        return full * wide + (max(0, min(rest, wide)) if rows.start <= whole < rows.stop else 0)


def grid_of(shape: Sequence[int] | None, count: int, parts: int | None = None) -> Grid:
    """The grid of a tensor: its last dimensions are the columns; a flat one is folded into ``parts`` rows where that comes out even."""
    columns = 0
    if shape is not None and len(shape) > 1 and prod(shape) == count:
        columns = 1
        for length in reversed(shape):
            columns *= length
            if columns >= _NARROWEST:
                break
    elif parts and parts > 1 and count % parts == 0 and count // parts >= 1:
        columns = count // parts
    if columns <= 0 or (columns == count and count > _NARROWEST * 2):
        columns = max(_NARROWEST, -(-count // _FLAT_ROWS))
    columns = max(1, min(columns, max(count, 1)))
    rows = max(1, -(-count // columns))
    across = min(MOST, max(1, columns // _NARROWEST))
    return Grid(rows, columns, -(-rows // min(MOST, rows)), -(-columns // across))


def rows_of(cells: NDArray[Any], grid: Grid) -> list[list[Any]]:
    """Flat cells as rows."""
    found: list[list[Any]] = cells.reshape(grid.down, grid.across).tolist()
    return found
