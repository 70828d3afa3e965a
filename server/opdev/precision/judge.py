"""The verdict on one output, or on the outputs of all PEs, by either standard."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

import opdev
from opdev.design.derived import OpType, needs_reference, op_type
from opdev.design.dtypes import is_integer
from opdev.precision import causes, criteria, standards
from opdev.precision.files import NUMPY, Stored, decode, shown, stored
from opdev.precision.grid import grid_of
from opdev.precision.measure import allowed, measure, workers_here
from opdev.precision.measured import Measured
from opdev.precision.model import Both, Limits, Mismatch, Reason, Report, Result, Standard, Verdict
from opdev.precision.numbers import heat_of, histograms_of, metrics_of, number, worst_of
from opdev.precision.texts import PrecisionError, both
from opdev.precision.torchfile import SUFFIXES, unpack

_FILL = 0xFF
_LOOKED_AT = 4096
"""Wrong elements that causes are guessed from."""


@dataclass(frozen=True)
class Ask:
    """What is to be judged by what.  Nothing here can loosen a standard."""

    standard: Standard = "shmem"
    dtype: str | None = None
    golden_dtype: str | None = None
    judge_dtype: str | None = None
    """The dtype whose limits hold; the output's without it."""
    shape: tuple[int, ...] | None = None
    """That of raw files; a file of another size cannot be judged."""
    expected: tuple[int, ...] | None = None
    """The shape an output ought to have; one of another size fails."""
    op_type: OpType | None = None
    op_kind: str = ""
    op_name: str = ""
    compute_times: int | None = None
    rtol: float | None = None
    """A tighter one."""
    equal_inf: bool = False
    pes: int | None = None
    mismatches: int = 10
    dtypes: Mapping[str, str] = field(default_factory=dict)
    """Those of several results by their names."""
    torch_python: str | None = None


@dataclass(frozen=True)
class Pair:
    """Files of one output; ``received`` elements count, what follows has to keep its fill of 0xFF."""

    name: str
    output: str
    golden: str
    pe: int | None = None
    reference: str | None = None
    received: int | None = None
    notes: tuple[Both, ...] = ()
    which: str = ""
    """Which of several results it is."""
    dtype: str | None = None
    """Of this one, where it is another than that of the others; so are the two below."""
    judge_dtype: str | None = None
    expected: tuple[int, ...] | None = None


@dataclass
class Judged:
    """A result with what causes are guessed from."""

    result: Result
    output: Stored | None = None
    golden: Stored | None = None
    measured: Measured | None = None


def judge_pairs(
    pairs: Sequence[Pair], ask: Ask, *, operator: str | None = None, root: str | None = None,
    backend: str | None = None, notes: tuple[Both, ...] = (),
) -> Report:  # fmt: skip
    """Judge outputs.  What keeps one from being judged becomes its ``error``; the others are judged all the same."""
    began = time.perf_counter()
    found: list[Judged] = []
    with tempfile.TemporaryDirectory(prefix="opdev-precision-") as scratch:
        for at, pair in enumerate(pairs):
            folder = os.path.join(scratch, str(at))
            os.mkdir(folder)
            found += _pair(pair, ask, folder)
        together = causes.of_all(found)
    results = tuple(one.result for one in found)
    verdicts = {result.verdict for result in results}
    judged = any(r.metrics is not None and r.metrics.elements for r in results) or "fail" in verdicts
    verdict: Verdict = "error" if "error" in verdicts or not judged else "fail" if "fail" in verdicts else "pass"
    return Report(
        version=1, opdev=opdev.__version__, standard=ask.standard, verdict=verdict, operator=operator, root=root,
        backend="sim" if backend == "sim" else "npu" if backend == "npu" else None, engine="numpy",
        engine_note=both("engine", workers=workers_here()), seconds=round(time.perf_counter() - began, 3), results=results,
        hypotheses=together, notes=notes,
    )  # fmt: skip


def _own(pair: Pair, ask: Ask) -> Ask:
    """What one output is judged by: its own dtype, and no tolerance of other dtypes where it has to be equal."""
    if pair.dtype is None:
        return ask
    rtol = None if is_integer(pair.judge_dtype or pair.dtype) else ask.rtol
    return replace(ask, dtype=pair.dtype, judge_dtype=pair.judge_dtype, expected=pair.expected, rtol=rtol)


def _distinct(pair: Pair) -> None:
    """PrecisionError where an output is its own golden, or its own reference: it would always pass."""
    for role, other in (("golden", pair.golden), ("reference", pair.reference)):
        try:
            same = other is not None and os.path.samefile(pair.output, other)
        except OSError:
            continue  # What is missing is told where it is read.
        if same:
            raise PrecisionError(f"same-{role}", path=pair.output)


def _pair(pair: Pair, ask: Ask, scratch: str) -> list[Judged]:
    ask = _own(pair, ask)
    try:
        _distinct(pair)
        outputs = _tensors(pair.output, ask.dtype, ask, scratch, "output")
        goldens = _tensors(pair.golden, ask.golden_dtype or _golden_dtype(ask, outputs), ask, scratch, "golden")
        references = None
        if pair.reference is not None:
            references = _tensors(pair.reference, ask.dtype, ask, scratch, "reference")
    except PrecisionError as error:
        return [Judged(_error(pair, pair.name, error))]
    if len(outputs) != len(goldens):
        text = both("several-outputs", path=pair.output, output=len(outputs), golden=len(goldens))
        return [Judged(_blank(pair, pair.name, "fail", Reason("outputs", text)))]
    found = []
    for at, ((name, output), (_, golden)) in enumerate(zip(outputs, goldens, strict=True)):
        called = pair.name if len(outputs) == 1 else f"{pair.name}[{name if name is not None else at}]"
        reference = references[at][1] if references is not None and at < len(references) else None
        if output is None and golden is None:
            continue
        if output is None or golden is None:
            found.append(Judged(_blank(pair, called, "fail", Reason("none", both("none-output")))))
            continue
        try:
            found.append(_tensor(pair, called, output, golden, reference, ask))
        except PrecisionError as error:
            found.append(Judged(_error(pair, called, error), output, golden))
    return found or [Judged(_error(pair, pair.name, PrecisionError("no-elements", path=pair.output)))]


def _golden_dtype(ask: Ask, outputs: list[tuple[str | None, Stored | None]]) -> str | None:
    """A raw golden is of the output's dtype unless said otherwise; files with a header say it themselves."""
    return ask.dtype or next((s.dtype for _, s in outputs if s is not None), None)


def _tensors(path: str, dtype: str | None, ask: Ask, scratch: str, role: str) -> list[tuple[str | None, Stored | None]]:
    if path.endswith(SUFFIXES):
        folder = os.path.join(scratch, role)
        os.makedirs(folder, exist_ok=True)
        return unpack(path, folder, ask.torch_python)
    asked = dtype
    if role == "golden" and ask.golden_dtype is None and path.endswith(".npy"):
        asked = "bfloat16" if dtype == "bfloat16" and _void(path) else None
    return [(None, stored(path, asked, ask.shape if role == "output" else None))]


def _void(path: str) -> bool:
    """Whether a ``.npy`` holds the two nameless bytes that a bfloat16 becomes."""
    try:
        stored(path, None)
    except PrecisionError as error:
        return error.key == "void-dtype"
    return False


def limits_for(ask: Ask, dtype: str) -> Limits:
    """The limits of a dtype; PrecisionError where the standard has none."""
    if ask.standard == "pypto":
        return standards.pypto(dtype)
    judged = ask.judge_dtype or dtype
    kind = ask.op_type or op_type(ask.op_kind, judged, ask.op_name)
    return standards.shmem(kind, judged, ask.compute_times, rtol=ask.rtol, equal_inf=ask.equal_inf)


def _tensor(pair: Pair, name: str, output: Stored, golden: Stored, reference: Stored | None, ask: Ask) -> Judged:
    limits = limits_for(ask, output.dtype)
    notes = list(pair.notes)
    wanted = golden.count
    if ask.expected is not None:
        wanted = prod(ask.expected)
        if output.shape is None and output.count == wanted:
            output = replace(output, shape=ask.expected)
    base = replace(
        _blank(pair, name, "fail"), dtype=output.dtype, golden_dtype=golden.dtype, shape=output.shape or (output.count,), limits=limits,
    )  # fmt: skip
    if is_integer(output.dtype) != is_integer(golden.dtype):
        reason = Reason("dtype", both("r-dtype", output=output.dtype, golden=golden.dtype))
        return Judged(replace(base, reasons=(reason,), notes=tuple(notes)))
    if output.count != golden.count or output.count != wanted:
        times = golden.count / output.count if output.count else 0
        if ask.golden_dtype is None and output.dtype in ("float16", "bfloat16") and times in (2, 4):
            notes.append(both("n-twice", times=int(times), dtype="float32" if times == 2 else "float64"))
        reason = Reason(
            "size", both("r-size", output=output.count, golden=wanted if output.count == golden.count else golden.count)
        )
        return Judged(replace(base, reasons=(reason,), notes=tuple(notes)))
    shapes = output.shape, golden.shape
    if ask.standard == "pypto" and None not in shapes and shapes[0] != shapes[1]:
        reason = Reason("shape", both("r-shape", output=list(shapes[0] or ()), golden=list(shapes[1] or ())))
        return Judged(replace(base, reasons=(reason,)))
    reasons: list[Reason] = []
    if pair.received is not None and pair.received < output.count:
        if not _filled(output, pair.received):
            reasons.append(Reason("sentinel", both("r-sentinel", received=pair.received)))
        output, golden = output.first(pair.received), golden.first(pair.received)
        reference = reference.first(pair.received) if reference is not None else None
        notes.append(both("n-received", received=pair.received))
    elif output.count == 0 and ask.standard == "shmem":
        raise PrecisionError("no-elements", path=output.name)
    parts = ask.pes if output.shape is None or len(output.shape) < 2 else None
    grid = grid_of(output.shape or golden.shape, output.count, parts)
    found = measure(output, golden, limits, grid, keep=max(_LOOKED_AT, ask.mismatches))
    criteria.usable(found, limits, golden)
    if ask.standard == "pypto":
        reasons += criteria.pypto(found, limits)
        basic, against = None, None
        if found.nan_golden and found.nan_golden > found.nan_apart:
            notes.append(both("n-nan-equal", count=(found.nan_golden + found.nan_output - found.nan_apart) // 2))
        passed = not reasons
    else:
        first = criteria.shmem(found, limits)
        basic = not first
        against = None if pair.reference is None else criteria.against(found, reference, golden, limits, pair.reference)
        passed = not reasons and (basic or (against is not None and against.passed))
        if not passed or not basic:
            reasons += first
        if against is not None and not against.passed and not basic:
            which = ", ".join(f"{r.name} {r.ratio} > {r.limit:g}" for r in against.ratios if not r.passed)
            why = against.why or Both(which, which)
            zh, en = both("r-reference", which=why.zh).zh, both("r-reference", which=why.en).en
            reasons.append(Reason("reference", Both(zh, en)))
        if passed and not basic:
            notes.append(both("n-by-reference"))
        if pair.reference is None and needs_reference(ask.op_kind):
            notes.append(both("n-reference"))
        if limits.equal_inf and found.inf_golden:
            notes.append(both("n-inf-equal", count=found.inf_golden))
    result = replace(
        base,
        verdict="pass" if passed else "fail", reasons=() if passed else tuple(reasons), notes=tuple(notes),
        metrics=metrics_of(found), basic=basic, reference=against, mismatch_count=found.elements - found.within,
        mismatches=_mismatches(found, output, golden, limits, ask.mismatches), histograms=histograms_of(found),
        heat=heat_of(found, grid), worst_tiles=worst_of(found, grid),
    )  # fmt: skip
    if not passed:
        guesses = causes.of_one(output, golden, found, limits, grid, ask.pes, pair.output, pair.golden)
        result = replace(result, hypotheses=guesses)
    return Judged(result, output, golden, found)


def _filled(output: Stored, start: int) -> bool:
    """Whether everything from ``start`` on still has every bit set."""
    size, step = output.count, 1 << 20
    with output.open() as reading:
        for at in range(start, size, step):
            buffer = np.empty(min(step, size - at), NUMPY[output.dtype])
            if (reading.read(at, buffer).view(np.uint8) != _FILL).any():
                return False
    return True


def _mismatches(found: Measured, output: Stored, golden: Stored, limits: Limits, most: int) -> tuple[Mismatch, ...]:
    indices = np.array(found.wrong[:most], np.int64)
    if not indices.size:
        return ()
    raws = output.at(indices), golden.at(indices)
    actual, expected = shown(raws[0], output.dtype), shown(raws[1], golden.dtype)
    wide = decode(raws[1], golden.dtype)
    with np.errstate(all="ignore"):
        bounds = np.zeros(indices.size) if limits.exact else allowed(np.abs(wide), limits)
    shape = output.shape or (output.count,)
    rows = []
    for at, index in enumerate(found.wrong[:most]):
        where = tuple(int(i) for i in np.unravel_index(index, shape))
        off: Any = abs(actual[at] - expected[at])
        rows.append(
            Mismatch(index, where, number(actual[at]), number(expected[at]), number(off), number(float(bounds[at])))
        )
    return tuple(rows)


def _blank(pair: Pair, name: str, verdict: Verdict, *reasons: Reason) -> Result:
    return Result(
        name, pair.pe, pair.output, pair.golden, verdict, reasons, pair.notes, None, None, None, None, None, None, None, 0, (), (), None,
        (), (),
    )  # fmt: skip


def _error(pair: Pair, name: str, error: PrecisionError) -> Result:
    return _blank(pair, name, "error", Reason(error.key, error.text))
