"""One pass over an output and its golden that gathers everything a verdict, a histogram and a heat map need.

Both are read in blocks that fit the processor's cache, by a few threads (numpy lets go of the interpreter), and compared
in float64, whole numbers by themselves.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from math import isfinite
from threading import Event

import numpy as np
from numpy.typing import NDArray

from opdev.design.dtypes import is_integer
from opdev.precision.files import NUMPY, Array, Stored, decode
from opdev.precision.grid import Grid
from opdev.precision.measured import EXPONENTS, TINY, Floats, Measured
from opdev.precision.model import Limits

BLOCK = 1 << 15
"""Elements compared at once: five float64 arrays of it stay in a second-level cache."""
_MOST_WORKERS = 4
Mask = NDArray[np.bool_]


def workers_here() -> int:
    """Threads worth having: the processors this process may use, a few at most."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        count = os.cpu_count() or 1
    return max(1, min(_MOST_WORKERS, count))


def measure(
    output: Stored,
    golden: Stored,
    limits: Limits,
    grid: Grid,
    *,
    keep: int = 10,
    workers: int | None = None,
    block: int = BLOCK,
) -> Measured:
    """Compare two tensors of the same number of elements; PrecisionError when a file cannot be read to its end."""
    count = output.count
    blocks = -(-count // block)
    several = max(1, min(workers or workers_here(), blocks))
    cuts = [blocks * i // several * block for i in range(several)] + [count]
    spans = [(cuts[i], min(cuts[i + 1], count)) for i in range(several)]

    stop = Event()

    def work(span: tuple[int, int]) -> Measured:
        try:
            return _Worker(output, golden, limits, grid, keep, block).run(*span, stop)
        except BaseException:
            stop.set()
            raise

    if several == 1:
        return work(spans[0])
    with ThreadPoolExecutor(several) as pool:
        try:
            parts = list(pool.map(work, spans))
        except BaseException:
            # Ctrl-C, or one half cannot be read: the others need not go on to the end of a large file.
            stop.set()
            raise
    for part in parts[1:]:
        parts[0].add(part, keep)
    return parts[0]


class _Worker:
    """One thread's buffers and findings."""

    def __init__(self, output: Stored, golden: Stored, limits: Limits, grid: Grid, keep: int, block: int) -> None:
        self._output, self._golden, self._limits, self._grid = output, golden, limits, grid
        self._keep, self._block = keep, block
        self._whole = is_integer(output.dtype) and is_integer(golden.dtype)
        self._most = float(np.finfo(output.dtype).max) if output.dtype.startswith("float") else 3.3895313892515355e38
        self._found = Measured(grid.down * grid.across)
        self._raw = [np.empty(block, np.dtype(NUMPY[s.dtype])) for s in (output, golden)]
        self._a, self._g, self._e, self._t = (np.empty(block) for _ in range(4))
        self._w = np.empty(block, np.bool_)
        self._i = np.empty(block, np.int64)

    def run(self, begin: int, end: int, stop: Event) -> Measured:
        with self._output.open() as output, self._golden.open() as golden, np.errstate(all="ignore"):
            for start in range(begin, end, self._block):
                if stop.is_set():
                    break
                size = min(self._block, end - start)
                actual = output.read(start, self._raw[0][:size])
                expected = golden.read(start, self._raw[1][:size])
                self._one(start, actual, expected)
        return self._found

    def _one(self, start: int, actual: Array, expected: Array) -> None:
        found, size = self._found, actual.size
        found.elements += size
        same = actual.dtype == expected.dtype and self._output.dtype == self._golden.dtype
        if same and np.array_equal(actual.view(np.uint8), expected.view(np.uint8)):
            g = decode(expected, self._golden.dtype, self._g)
            np.abs(g, out=self._t[:size])
            most = float(self._t[:size].max())
            if isfinite(most):
                found.compared += size
                found.within += size
                found.max_golden = max(found.max_golden, most)
                found.absolute[0] += size
                found.relative[0] += size
                found.nonzero = found.nonzero or most > 0
                return
        a = decode(actual, self._output.dtype, self._a)
        g = decode(expected, self._golden.dtype, self._g)
        found.nonzero = found.nonzero or bool(a.any())
        e = np.subtract(a, g, out=self._e[:size])
        total = float(e.sum())
        skip: Mask | None = None
        good: Mask | None = None
        if not isfinite(total):
            skip, good = self._unusual(start, a, g)
            np.subtract(a, g, out=e)
            total = float(e.sum())
        unequal = np.not_equal(actual, expected) if self._whole else None
        self._numbers(start, a, g, e, total, skip, good, unequal, actual)

    def _unusual(self, start: int, a: Floats, g: Floats) -> tuple[Mask, Mask]:
        """Positions that are not compared, and those of them that count as equal; ``a`` and ``g`` are made finite there."""
        found, limits = self._found, self._limits
        na, ng, ia, ig = np.isnan(a), np.isnan(g), np.isinf(a), np.isinf(g)
        found.nan_output += int(na.sum())
        found.nan_golden += int(ng.sum())
        found.inf_output += int(ia.sum())
        found.inf_golden += int(ig.sum())
        strange = ng | ig
        if found.first_golden is None and strange.any():
            found.first_golden = start + int(strange.argmax())
        both = ia & ig
        equal = both & (a == g)
        found.nan_apart += int((na ^ ng).sum())
        found.inf_apart += int((both & ~equal).sum())
        if limits.standard == "pypto":
            skip, good = na | ng | both, (na & ng) | equal
            # Inf on one side only is the largest number of the dtype, and then it is compared.
            for side in (a, g):
                np.clip(side, -self._most, self._most, out=side, where=np.isinf(side) & ~skip)
        else:
            skip = na | ng | ia | ig
            good = equal if limits.equal_inf else np.zeros_like(equal)
        a[skip] = 0
        g[skip] = 0
        return skip, good

    def _numbers(
        self,
        start: int,
        a: Floats,
        g: Floats,
        e: Floats,
        total: float,
        skip: Mask | None,
        good: Mask | None,
        unequal: Mask | None,
        actual: Array,
    ) -> None:
        found, limits, size = self._found, self._limits, a.size
        t, within = self._t[:size], self._w[:size]
        skipped = 0 if skip is None else int(skip.sum())
        found.compared += size - skipped
        found.error.append(total)
        # Not ``dot``: BLAS has threads of its own, which spin and fight with ours.
        np.multiply(e, e, out=t)
        found.square.append(float(t.sum()))
        np.abs(e, out=e)
        if unequal is not None:
            # Whole numbers beyond 2^53 may differ and yet be the same float64.
            np.maximum(e, unequal, out=e)
        np.abs(g, out=g)
        found.max_abs = max(found.max_abs, float(e.max()))
        found.max_golden = max(found.max_golden, float(g.max()))
        if limits.exact:
            np.equal(e, 0, out=within)
        else:
            np.less_equal(e, allowed(g, limits, t), out=within)
        if skip is not None and good is not None:
            within[skip] = good[skip]
        np.maximum(g, TINY, out=g)
        np.divide(e, g, out=t)
        found.max_rel = max(found.max_rel, float(t.max()))
        found.rel.append(float(t.sum()))
        for errors, counts in ((e, found.absolute), (t, found.relative)):
            np.right_shift(errors.view(np.int64), 52, out=self._i[:size])
            counts += np.bincount(self._i[:size], minlength=EXPONENTS)
            counts[0] -= skipped
        begins, cells = self._grid.pieces(start, size)
        np.maximum.at(found.worst, cells, np.maximum.reduceat(e, begins))
        count = int(np.count_nonzero(within))
        found.within += count
        if count < size:
            self._mismatches(start, within, begins, cells, actual)

    def _mismatches(
        self, start: int, within: Mask, begins: NDArray[np.intp], cells: NDArray[np.intp], actual: Array
    ) -> None:
        found = self._found
        wrong = np.logical_not(within, out=within)
        np.add.at(found.bad, cells, np.add.reduceat(wrong, begins, dtype=np.int64))
        where = np.flatnonzero(wrong)
        found.last = max(found.last, start + int(where[-1]))
        if len(found.wrong) < self._keep:
            found.wrong += [start + int(at) for at in where[: self._keep - len(found.wrong)]]
        bits = actual[where].view(f"u{actual.dtype.itemsize}")
        top = np.iinfo(bits.dtype).max
        found.wrong_zero += int(np.count_nonzero((bits if self._whole else bits & (top >> 1)) == 0))
        found.wrong_ones += int(np.count_nonzero(bits == top))


def allowed(golden: Floats, limits: Limits, into: Floats | None = None) -> Floats:
    """How far each element may be off; ``golden`` holds absolute values."""
    out = np.empty_like(golden) if into is None else into
    if limits.standard == "pypto":
        np.multiply(golden, limits.rtol, out=out)
        out += limits.atol
        return out
    np.maximum(golden, 1, out=out)
    out *= limits.rtol
    if limits.atol > limits.rtol:
        np.maximum(out, limits.atol, out=out)
    return out
