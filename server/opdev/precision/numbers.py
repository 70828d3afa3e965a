"""Measurements as the plain data of ``model``: metrics, ratios, histograms, heat maps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from opdev.precision.grid import Grid, rows_of
from opdev.precision.measured import TINY, Measured
from opdev.precision.model import Bin, Heat, Histogram, Metrics, Number, Ratio, Tile

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BIAS = 1023
_LOWEST, _HIGHEST = -40, 24
"""Exponents of two that have bins of their own; what is beyond goes into the first or the last."""
_WORST = 5


def number(value: float) -> Number:
    """A number, or the word for what JSON cannot say."""
    if isinstance(value, int) or math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def metrics_of(found: Measured) -> Metrics:
    """The figures of one output."""
    share = found.within / found.elements if found.elements else 1.0
    return Metrics(
        elements=found.elements, compared=found.compared, within=found.within, precision_percent=100 * share, matched_ratio=share,
        max_abs=number(found.max_abs), max_rel=number(found.max_rel), mean_rel=number(found.mean_rel), rmse=number(found.rmse),
        mean_error=number(found.mean_error), eb=number(found.eb), max_golden=number(found.max_golden),
        nan_output=found.nan_output, nan_golden=found.nan_golden, inf_output=found.inf_output, inf_golden=found.inf_golden,
        nan_apart=found.nan_apart, inf_apart=found.inf_apart,
    )  # fmt: skip


def ratio_of(name: str, output: float, reference: float, limit: float) -> Ratio:
    """One comparison of the second pass; multiplied, not divided, so that a reference without error asks for none."""
    passed = output <= limit * reference
    ratio = output / max(reference, TINY) if output or reference else 1.0
    named = cast("Literal['MARE', 'MERE', 'RMSE']", name)
    return Ratio(named, number(output), number(reference), number(ratio), limit, passed)


def histograms_of(found: Measured) -> tuple[Histogram, ...]:
    """Absolute and relative errors in bins of powers of two."""
    uncompared = found.elements - found.compared
    return (
        Histogram("absolute", int(found.absolute[0]), uncompared, _bins(found.absolute)),
        Histogram("relative", int(found.relative[0]), uncompared, _bins(found.relative)),
    )


def _bins(counts: NDArray[np.int64]) -> tuple[Bin, ...]:
    merged: dict[int, int] = {}
    for biased in np.flatnonzero(counts[1:]) + 1:
        exponent = min(max(int(biased) - _BIAS, _LOWEST), _HIGHEST)
        merged[exponent] = merged.get(exponent, 0) + int(counts[biased])
    if not merged:
        return ()
    return tuple(
        Bin(
            0.0 if exponent == _LOWEST else 2.0**exponent,
            None if exponent == _HIGHEST else 2.0 ** (exponent + 1),
            merged.get(exponent, 0),
        )
        for exponent in range(min(merged), max(merged) + 1)
    )


def heat_of(found: Measured, grid: Grid) -> Heat | None:
    """The grid of an output; None where nothing was compared."""
    if not found.elements:
        return None
    worst = tuple(tuple(number(float(v)) for v in row) for row in rows_of(found.worst, grid))
    bad = tuple(tuple(int(v) for v in row) for row in rows_of(found.bad, grid))
    return Heat((grid.rows, grid.columns), (grid.high, grid.wide), (grid.down, grid.across), worst, bad)


def worst_of(found: Measured, grid: Grid) -> tuple[Tile, ...]:
    """The tiles with errors, most elements out of tolerance first, then the largest error."""
    order = np.lexsort((np.arange(found.worst.size), -found.worst, -found.bad))[:_WORST]
    tiles = []
    for cell in order:
        row, column = divmod(int(cell), grid.across)
        if found.worst[cell] > 0 or found.bad[cell]:
            rows = row * grid.high, min((row + 1) * grid.high, grid.rows)
            columns = column * grid.wide, min((column + 1) * grid.wide, grid.columns)
            elements = grid.elements(row, column, found.elements)
            tiles.append(Tile(rows, columns, elements, int(found.bad[cell]), number(float(found.worst[cell]))))
    return tuple(tiles)
