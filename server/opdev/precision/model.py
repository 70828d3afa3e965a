"""What a judgement of precision consists of: plain data, so that text, JSON, HTML and panels show the same.

``schema.py`` makes the JSON Schema from these types and their docstrings.  Fields are never taken away or given
another meaning; new ones may come.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Standard = Literal["shmem", "pypto"]
Verdict = Literal["pass", "fail", "error"]
"""``error``: it could not be judged (a file is missing, empty, of another dtype …), which is never a pass."""
Number = int | float | Literal["nan", "inf", "-inf"]
"""A number; what JSON has no number for is a word."""
Confidence = Literal["strong", "weak"]
Cause = Literal[
    "all-zero", "never-written", "not-written-part", "not-finite", "stale-file", "shifted-by-rank", "swapped-blocks",
    "one-block", "one-pe", "tail", "tail-of-blocks", "shifted-elements", "accumulated-again", "stale-repeat",
    "wrong-dtype", "rounding", "size",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Both:
    """A text in both languages."""

    zh: str
    en: str


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a verdict is what it is."""

    code: str
    """Stable name: `precision-percent`, `eb`, `not-finite`, `size`, `dtype`, `nan-positions`, `matched-ratio`, …"""
    text: Both


@dataclass(frozen=True, slots=True)
class Limits:
    """What is held against the numbers; none of it can be loosened from outside."""

    standard: Standard
    dtype: str
    """The dtype whose limits these are."""
    op_type: str | None
    """Class of the SHMEM standard; null for PyPTO."""
    compute_times: int | None
    """PEs × elements accumulated on each; null: not known, the wider of the two tolerances holds."""
    exact: bool
    """Whether elements have to be equal."""
    rtol: float
    atol: float
    eb: float | None
    """Most the error balance |mean(a−g)| / max|g| may be (SHMEM)."""
    max_abs: float | None
    """Most an element may be off (PyPTO)."""
    matched_ratio: float
    """Share of elements that have to be within tolerance: 1, or 0.99 for PyPTO's floats."""
    equal_inf: bool
    """Whether an Inf where the golden has the same one counts as equal."""
    source: Both
    """Where the tolerance comes from."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """Errors of one output against its golden, computed in float64."""

    elements: int
    compared: int
    """Elements with a number on both sides."""
    within: int
    """Elements within tolerance, equal NaN and Inf included where the standard counts them."""
    precision_percent: float
    """100 × within / elements."""
    matched_ratio: float
    """within / elements."""
    max_abs: Number
    max_rel: Number
    """MARE: the largest |a−g| / |g|."""
    mean_rel: Number
    """MERE: the mean of |a−g| / |g|."""
    rmse: Number
    """Root of the mean of (a−g)²."""
    mean_error: Number
    """Mean of a−g: which way the output leans."""
    eb: Number
    """|mean(a−g)| / max|g|."""
    max_golden: Number
    nan_output: int
    nan_golden: int
    inf_output: int
    inf_golden: int
    nan_apart: int
    """Positions where exactly one side is NaN."""
    inf_apart: int
    """Positions where both are Inf of opposite sign."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """One of the three comparisons of the reference pass."""

    name: Literal["MARE", "MERE", "RMSE"]
    output: Number
    reference: Number
    ratio: Number
    """Output over reference; 1 where both are 0."""
    limit: float
    passed: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """The second pass of the SHMEM standard: no more wrong than what Torch makes of the same input."""

    path: str
    passed: bool
    ratios: tuple[Ratio, ...]
    """Empty where the reference could not be compared."""
    why: Both | None
    """Why it could not be compared."""


def place(coordinates: Iterable[int]) -> str:
    """Where an element stands, as every face shows it: ``[3, 17]``."""
    return f"[{', '.join(map(str, coordinates))}]"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An element out of tolerance."""

    index: int
    """Flat, row-major, from 0."""
    coordinates: tuple[int, ...]
    actual: Number
    expected: Number
    difference: Number
    allowed: Number
    """How far it may be off; 0 where elements have to be equal."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Elements with ``low`` <= error < ``high``; the first bin begins at 0, the last has no end (null)."""

    low: float
    high: float | None
    count: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """Errors in bins of powers of two."""

    kind: Literal["absolute", "relative"]
    exact: int
    """Elements without any error; they are in no bin."""
    uncompared: int
    """Elements with NaN or Inf; they are in no bin."""
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Heat:
    """The output as a grid of tiles, row-major; what a heat map draws."""

    view: tuple[int, int]
    """The output as rows × columns: the last dimension is the columns; a flat output is folded (PEs × part of each)."""
    tile: tuple[int, int]
    """Rows and columns of one cell; those at the edges may be smaller."""
    grid: tuple[int, int]
    """Rows and columns of cells."""
    worst: tuple[tuple[Number, ...], ...]
    """The largest |a−g| in each cell."""
    mismatches: tuple[tuple[int, ...], ...]
    """Elements out of tolerance in each cell."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One of the worst tiles: half-open ranges of rows and columns of ``Heat.view``."""

    rows: tuple[int, int]
    columns: tuple[int, int]
    elements: int
    mismatches: int
    worst: Number


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What may be behind it: a guess to look into, with what speaks for it; never part of the verdict."""

    cause: Cause
    confidence: Confidence
    text: Both
    evidence: Both


@dataclass(frozen=True, slots=True)
class Result:
    """One output of one PE."""

    name: str
    pe: int | None
    output: str
    golden: str
    verdict: Verdict
    reasons: tuple[Reason, ...]
    """Empty for a pass."""
    notes: tuple[Both, ...]
    dtype: str | None
    golden_dtype: str | None
    shape: tuple[int, ...] | None
    limits: Limits | None
    metrics: Metrics | None
    """Null where nothing could be compared."""
    basic: bool | None
    """The first pass of the SHMEM standard; PyPTO has only this one."""
    reference: Reference | None
    mismatch_count: int
    mismatches: tuple[Mismatch, ...]
    """The first ones, by index."""
    histograms: tuple[Histogram, ...]
    heat: Heat | None
    worst_tiles: tuple[Tile, ...]
    hypotheses: tuple[Hypothesis, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All outputs of one run of an operator."""

    version: Literal[1]
    opdev: str
    standard: Standard
    verdict: Verdict
    """`error` if any output could not be judged, else `fail` if any failed."""
    operator: str | None
    root: str | None
    backend: Literal["sim", "npu"] | None
    """`sim`: the outputs come from the CPU stand-in; null: not known."""
    engine: str
    """What did the arithmetic."""
    engine_note: Both
    seconds: float
    results: tuple[Result, ...]
    hypotheses: tuple[Hypothesis, ...]
    """About all PEs together."""
    notes: tuple[Both, ...]
