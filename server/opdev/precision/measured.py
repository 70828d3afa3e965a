"""What a pass over an output and its golden finds; what several threads found is one finding.

Sums are kept a block each and added exactly (``fsum``), so the result depends neither on the number of threads nor on who
came first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum, inf, sqrt

import numpy as np
from numpy.typing import NDArray

TINY = float(np.finfo(np.float64).tiny)
"""Divisor of the relative error where the golden is 0."""
EXPONENTS = 2048
Floats = NDArray[np.float64]


@dataclass
class Measured:
    """What was found; sums are lists of block sums until ``close``."""

    cells: int
    elements: int = 0
    compared: int = 0
    within: int = 0
    max_abs: float = 0.0
    max_rel: float = 0.0
    max_golden: float = 0.0
    rel: list[float] = field(default_factory=list)
    square: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    nan_output: int = 0
    nan_golden: int = 0
    inf_output: int = 0
    inf_golden: int = 0
    nan_apart: int = 0
    inf_apart: int = 0
    first_golden: int | None = None
    """Where the golden first is NaN or Inf."""
    wrong: list[int] = field(default_factory=list)
    """The first elements out of tolerance."""
    last: int = -1
    """The last one."""
    wrong_zero: int = 0
    """Elements out of tolerance whose output is 0."""
    wrong_ones: int = 0
    """Elements out of tolerance whose output has every bit set: what buffers are filled with before a run."""
    nonzero: bool = False
    """Whether any output is not 0."""
    absolute: NDArray[np.int64] = field(default_factory=lambda: np.zeros(EXPONENTS, np.int64))
    relative: NDArray[np.int64] = field(default_factory=lambda: np.zeros(EXPONENTS, np.int64))
    worst: Floats = field(default_factory=lambda: np.zeros(0))
    bad: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        self.worst = np.zeros(self.cells)
        self.bad = np.zeros(self.cells, np.int64)

    @property
    def mean_rel(self) -> float:
        return _sum(self.rel) / max(self.compared, 1)

    @property
    def rmse(self) -> float:
        return sqrt(_sum(self.square) / max(self.compared, 1))

    @property
    def mean_error(self) -> float:
        return _sum(self.error) / max(self.compared, 1)

    @property
    def eb(self) -> float:
        return abs(self.mean_error) / max(self.max_golden, TINY)

    def add(self, other: Measured, keep: int) -> None:
        """Take in what another thread found."""
        for name in ("elements", "compared", "within", "nan_output", "nan_golden", "inf_output", "inf_golden", "nan_apart",
                     "inf_apart", "wrong_zero", "wrong_ones"):  # fmt: skip
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("max_abs", "max_rel", "max_golden", "last"):
            setattr(self, name, max(getattr(self, name), getattr(other, name)))
        firsts = [at for at in (self.first_golden, other.first_golden) if at is not None]
        self.first_golden = min(firsts, default=None)
        self.rel += other.rel
        self.square += other.square
        self.error += other.error
        self.wrong = sorted(self.wrong + other.wrong)[:keep]
        self.nonzero |= other.nonzero
        self.absolute += other.absolute
        self.relative += other.relative
        np.maximum(self.worst, other.worst, out=self.worst)
        self.bad += other.bad


def _sum(values: list[float]) -> float:
    try:
        return fsum(values)
    except (OverflowError, ValueError):
        # Beyond float64: relative errors where the golden is 0.
        return inf
