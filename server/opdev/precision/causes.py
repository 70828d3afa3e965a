"""What may be behind wrong outputs: guesses with what speaks for them.

Each guess is tried on elements read from the files (never on all of them) and told as a hypothesis.  None of them has a
say in the verdict.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from opdev.design.dtypes import SIZES
from opdev.precision.cause_texts import guess
from opdev.precision.files import NUMPY, Stored, decode
from opdev.precision.grid import Grid
from opdev.precision.measure import allowed
from opdev.precision.measured import Measured
from opdev.precision.model import Both, Confidence, Hypothesis, Limits
from opdev.precision.texts import PrecisionError

if TYPE_CHECKING:
    from opdev.precision.judge import Judged

_SAMPLE = 256
_MOST = 4
_NEARLY = 0.95
_MOST_PARTS = 64
_SHIFTS = (*range(1, 65), 128, 256, 512, 1024, 2048, 4096)
_TIMES_ALLOWED = 8
_OLDER = 2.0
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def of_one(
    output: Stored, golden: Stored, found: Measured, limits: Limits, grid: Grid, parts: int | None, output_path: str, golden_path: str
) -> tuple[Hypothesis, ...]:  # fmt: skip
    """Guesses about one output, the likeliest first."""
    if found.elements == found.within and not found.nan_output and not found.inf_output:
        return ()
    try:
        tried = [*_contents(output, found), *_age(output_path, golden_path)]
        if not any(one.confidence == "strong" and one.cause in ("all-zero", "never-written") for one in tried):
            with np.errstate(all="ignore"):
                tried += _places(output, golden, found, limits, grid, parts)
                tried += _values(output, golden, found, limits)
    except PrecisionError:
        return ()
    return tuple(sorted(tried, key=lambda one: one.confidence != "strong")[:_MOST])


def _contents(output: Stored, found: Measured) -> Iterator[Hypothesis]:
    wrong = found.elements - found.within
    if not found.nonzero:
        yield guess("all-zero", "strong", count=found.elements)
    elif wrong and found.wrong_ones >= _NEARLY * found.elements:
        yield guess("never-written", "strong", count=found.wrong_ones, all=found.elements)
    elif wrong and found.wrong_ones >= _NEARLY * wrong and SIZES[output.dtype] > 1:
        yield guess("not-written-part", "strong", "fill", count=found.wrong_ones, wrong=wrong)
    elif wrong and found.wrong_zero >= _NEARLY * wrong:
        yield guess("not-written-part", "weak", "zero", count=found.wrong_zero, wrong=wrong)
    if found.nan_output or found.inf_output:
        yield guess("not-finite", "weak", nan=found.nan_output, inf=found.inf_output, most=f"{found.max_golden:.6g}")


def _age(output: str, golden: str) -> Iterator[Hypothesis]:
    try:
        older = os.path.getmtime(golden) - os.path.getmtime(output)
    except OSError:
        return
    if older > _OLDER:
        yield guess("stale-file", "weak", seconds=round(older, 1), output=output, golden=golden)


def _places(
    output: Stored, golden: Stored, found: Measured, limits: Limits, grid: Grid, parts: int | None
) -> Iterator[Hypothesis]:
    count, wrong = found.elements, found.elements - found.within
    if not found.wrong:
        return
    first, last = found.wrong[0], found.last
    cut = parts is not None and 1 < parts <= _MOST_PARTS and count % parts == 0 and count >= parts
    if cut and parts is not None:
        yield from _blocks(output, golden, limits, parts)
        size = count // parts
        if first // size == last // size:
            share = f"{100 * wrong / size:.3g}"
            sure: Confidence = "strong" if wrong >= size / 2 else "weak"
            yield guess("one-block", sure, block=first // size, parts=parts, first=first, last=last, share=share)
        ends = found.bad.reshape(grid.down, grid.across)
        hit = ends.any(axis=1)
        if grid.rows == parts and grid.high == 1 and grid.across > 1 and hit.sum() > 1 and not ends[:, :-1].any():
            yield guess("tail-of-blocks", "strong", rows=int(hit.sum()), parts=parts, wide=grid.wide, size=size)
    shape = output.shape or ()
    if not cut and len(shape) > 1 and 1 < shape[0] <= _MOST_PARTS:
        yield from _blocks(output, golden, limits, shape[0])
    span = count - first
    if last == count - 1 and span <= count // 4 and wrong >= 0.5 * span:
        yield guess("tail", "strong" if wrong == span else "weak", span=span, first=first, count=count, wrong=wrong)
    yield from _shift(output, golden, limits, first, count)


def _blocks(output: Stored, golden: Stored, limits: Limits, parts: int) -> Iterator[Hypothesis]:
    """Whether blocks of the output are blocks of the golden that belong elsewhere."""
    size = output.count // parts
    inside = _spread(size)
    where = (np.arange(parts)[:, None] * size + inside).ravel()
    mine = decode(output.at(where), output.dtype).reshape(parts, -1)
    right = decode(golden.at(where), golden.dtype).reshape(parts, -1)
    held: list[int | None] = []
    for block in range(parts):
        alike = [other for other in range(parts) if _alike(mine[block], right[other], limits)]
        held.append(block if block in alike else alike[0] if alike else None)
    yield from _moved(held, "block")


def _moved(held: list[int | None], what: str) -> Iterator[Hypothesis]:
    """What a mapping says: ``held[i]`` is whose data stand where those of ``i`` should."""
    count = len(held)
    moved = {at: whose for at, whose in enumerate(held) if whose is not None and whose != at}
    if not moved:
        return
    listed = ", ".join(f"{at} ← {whose}" for at, whose in list(moved.items())[:8])
    if None not in held and len(set(held)) == count:
        steps = {(whose - at) % count for at, whose in moved.items()}
        if len(moved) == count and len(steps) == 1 and count > 2:
            step = next(iter(steps))
            yield guess(
                "shifted-by-rank", "strong", what, step=step if step <= count // 2 else step - count, listed=listed
            )
        else:
            yield guess("swapped-blocks", "strong", what, listed=listed)
    else:
        yield guess("stale-repeat", "weak", what, listed=listed)


def _shift(output: Stored, golden: Stored, limits: Limits, first: int, count: int) -> Iterator[Hypothesis]:
    """Whether from the first wrong element on everything stands some elements off."""
    length = min(_SAMPLE, count - first)
    if length < 16:
        return
    mine = decode(output.at(np.arange(first, first + length)), output.dtype)
    parts = (count // n for n in (2, 4, 8, 16) if count % n == 0)
    for size in dict.fromkeys((*_SHIFTS, *parts)):
        for step in (size, -size):
            low, high = max(0, first + step), min(count, first + length + step)
            if high - low < 16:
                continue
            theirs = decode(golden.at(np.arange(low, high)), golden.dtype)
            own = mine[low - step - first : high - step - first]
            if _alike(own, theirs, limits) and np.ptp(theirs) > 0:
                yield guess("shifted-elements", "strong", step=-step, first=first, length=high - low)
                return


def _values(output: Stored, golden: Stored, found: Measured, limits: Limits) -> Iterator[Hypothesis]:
    if not found.wrong:
        return
    where = np.array(found.wrong, np.int64)
    raw = output.at(where)
    mine, right = decode(raw, output.dtype), decode(golden.at(where), golden.dtype)
    size = np.abs(right)
    bounds = np.zeros(size.size) if limits.exact else allowed(size.copy(), limits)
    off = np.abs(mine - right)
    clear = size > np.maximum(bounds * 4, 1e-30)
    if clear.sum() >= 8:
        ratio = mine[clear] / right[clear]
        times = int(np.clip(np.rint(np.nan_to_num(np.median(ratio))), -1e6, 1e6))
        near = float((np.abs(ratio - times) <= 0.02 * max(times, 1)).mean())
        if times >= 2 and near >= _NEARLY:
            yield guess("accumulated-again", "strong", times=times, share=f"{100 * near:.3g}", count=int(clear.sum()))
    for other in _same_size(output.dtype):
        read = decode(raw.view(NUMPY[other]), other)
        if np.ptp(right) > 0 and _alike(read, right, limits):
            yield guess("wrong-dtype", "strong", dtype=output.dtype, other=other, count=where.size)
    if not limits.exact and np.isfinite(off).all():
        most = float((off / bounds).max())
        if most <= _TIMES_ALLOWED:
            up = float((mine > right).mean())
            yield guess("rounding", "weak", most=f"{most:.3g}", up=f"{100 * up:.3g}", count=where.size)


def _same_size(dtype: str) -> tuple[str, ...]:
    return {
        "float16": ("bfloat16",), "bfloat16": ("float16",), "float32": ("int32",), "int32": ("float32",),
    }.get(dtype, ())  # fmt: skip


def _spread(count: int) -> Indices:
    """Some positions below ``count``, the same each time: evenly spread, moved off round numbers."""
    if count <= _SAMPLE:
        return np.arange(count, dtype=np.int64)
    where = np.linspace(0, count - 1, _SAMPLE).astype(np.int64)
    return np.unique(np.minimum(where + np.arange(_SAMPLE) % 7, count - 1))


def _alike(mine: Floats, right: Floats, limits: Limits) -> bool:
    """Whether nearly all of one is the other, within what is allowed."""
    if not mine.size:
        return False
    bounds = np.zeros(right.size) if limits.exact else allowed(np.abs(right), limits)
    return float((np.abs(mine - right) <= bounds).mean()) >= _NEARLY


def of_all(found: Sequence[Judged]) -> tuple[Hypothesis, ...]:
    """Guesses about the PEs together; those about one of several results name it."""
    results: dict[str, list[Judged]] = {}
    verdicts: dict[int, set[str]] = {}
    for one in found:
        if one.result.pe is not None and one.result.metrics is not None:
            results.setdefault(one.result.name.partition("[")[2].removesuffix("]"), []).append(one)
            verdicts.setdefault(one.result.pe, set()).add(one.result.verdict)
    failed = [pe for pe, said in verdicts.items() if "fail" in said]
    if len(verdicts) < 2 or not failed:
        return ()
    told: list[Hypothesis] = []
    if len(failed) == 1:
        others = ", ".join(str(pe) for pe in verdicts if pe != failed[0])
        told.append(guess("one-pe", "strong", pe=failed[0], others=others))
    for name, judged in results.items():
        if len(judged) < 2 or all(one.result.verdict != "fail" for one in judged):
            continue
        try:
            with np.errstate(all="ignore"):
                told += [_named(one, name) if len(results) > 1 else one for one in _across(judged)]
        except PrecisionError:
            continue
    return tuple(told[:_MOST])


def _named(one: Hypothesis, name: str) -> Hypothesis:
    return replace(one, evidence=Both(f"{name}：{one.evidence.zh}", f"{name}: {one.evidence.en}"))


def _across(judged: Sequence[Judged]) -> Iterator[Hypothesis]:
    """Whether PEs have the data of other PEs."""
    stored = [(one.output, one.golden, one.result.limits) for one in judged]
    counts = {output.count for output, _, _ in stored if output is not None}
    if len(counts) != 1 or len(stored) > _MOST_PARTS:
        return
    where = _spread(counts.pop())
    mine: list[Floats] = []
    right: list[Floats] = []
    for output, golden, limits in stored:
        if output is None or golden is None or limits is None or not where.size:
            return
        mine.append(decode(output.at(where), output.dtype))
        right.append(decode(golden.at(where), golden.dtype))
    bounds = stored[0][2]
    if bounds is None or all(_alike(right[0], other, bounds) for other in right[1:]):
        return  # All PEs ought to have the same.
    held: list[int | None] = []
    for at, own in enumerate(mine):
        alike = [other for other in range(len(right)) if _alike(own, right[other], bounds)]
        held.append(at if at in alike else alike[0] if alike else None)
    yield from _moved(held, "pe")
