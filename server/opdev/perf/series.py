"""Lines to launches, launches to series, series to a median and a spread.

A launch is one line of each PE.  PEs write in any order, and one may be several launches ahead: the k-th line of a PE
belongs to the k-th launch.  The median shown is always one that was measured, the slower one of two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from opdev.design.dtypes import fold_dtype
from opdev.perf.consistency import agrees
from opdev.perf.model import TIMES, Log, Measurement, Problem, Sample, Series

_SAME = ("payload_bytes", "bus_factor", "peak_bandwidth_GBps")


@dataclass(frozen=True, slots=True)
class Spread:
    """Of one metric over the launches of a series.  ``spread_pct`` is (high - low) / median, None for a single launch.

    From ten launches on, a tenth at either end is left out of ``low`` and ``high``.
    """

    median: float
    low: float
    high: float
    count: int

    @property
    def spread_pct(self) -> float | None:
        return (self.high - self.low) / self.median * 100 if self.count > 1 and self.median > 0 else None


def spread(values: Iterable[float], *, slower_is_higher: bool = False) -> Spread | None:
    """Median and range; None for no value.  Of an even number the slower of the middle two is the median."""
    found = sorted(values)
    if not found:
        return None
    middle = len(found) // 2 if slower_is_higher else (len(found) - 1) // 2
    cut = len(found) // 10
    return Spread(found[middle], found[cut], found[-1 - cut], len(found))


def spread_of(series: Series, name: str) -> Spread | None:
    """Of a metric over the launches that may be judged."""
    values = (v for s in series.good if (v := s.value(name)) is not None)
    return spread(values, slower_is_higher=name in TIMES)


def series_of(logs: Iterable[Log]) -> tuple[list[Series], list[Problem]]:
    """Everything that was measured, in the order in which it was met, and what is wrong with launches."""
    found: dict[tuple[object, ...], Series] = {}
    told: list[Problem] = []
    for log in logs:
        mine: dict[tuple[object, ...], None] = {}
        strays: dict[str, int] = {}
        for sample, problems in _samples(log):
            told += problems
            first = sample.measurements[0]
            payload = first["payload_bytes"] or 0.0
            if payload <= 0:
                strays[first.side] = strays.get(first.side, 0) + 1
            dtype = fold_dtype(log.dtype) or log.dtype
            key = (first.side, log.backend, log.n_pes, dtype, log.count, f"{payload:.5g}")
            mine[key] = None
            have = found.get(key)
            if have is None:
                have = Series(first.side, log.backend, log.n_pes, dtype, log.count, payload, (), first.api)
            found[key] = Series(
                have.side, have.backend, have.n_pes, have.dtype, have.count, have.payload_bytes, (*have.samples, sample),
                have.api or first.api, have.strays,
            )  # fmt: skip
        for one in mine:
            lost = log.lost + strays.get(found[one].side, 0)
            if lost and found[one].payload_bytes > 0:
                found[one] = replace(found[one], strays=found[one].strays + lost)
    return list(found.values()), told


def _samples(log: Log) -> Iterator[tuple[Sample, list[Problem]]]:
    launches: dict[tuple[str, float, int], list[Measurement]] = {}
    pes = _pes(log)
    turns: dict[tuple[str, float, int | None], int] = {}
    for one in log.measurements:
        payload = one["payload_bytes"] or 0.0
        turn = turns.get((one.side, payload, one.pe), 0)
        turns[one.side, payload, one.pe] = turn + 1
        launches.setdefault((one.side, payload, turn), []).append(one)
    for group in launches.values():
        yield _sample(tuple(group), log, pes)


def _pes(log: Log) -> int:
    """How many PEs should have told: what the run says, or the bus factor where it does, and no less than did tell."""
    seen = max((m.pe for m in log.measurements if m.pe is not None), default=0) + 1
    if log.n_pes:
        return log.n_pes
    factor = next((v for m in log.measurements if (v := m["bus_factor"]) is not None), None)
    return max(seen, pes_of(factor) or 1) if factor is not None else seen


def pes_of(factor: float) -> int | None:
    """The PEs of a bus factor of (n - 1) / n or twice that; None for 1, which says nothing, and for others."""
    share = factor / 2 if factor > 1 else factor
    if not 0 < share < 1 or factor >= 2:
        return None
    found = round(1 / (1 - share))
    return found if 2 <= found <= 4096 and abs((found - 1) / found - share) < 1e-3 / found else None


def _sample(group: tuple[Measurement, ...], log: Log, pes: int) -> tuple[Sample, list[Problem]]:
    told: list[Problem] = []
    first = group[0]
    there = {m.pe for m in group if m.pe is not None}
    # A line that names its PE speaks for that one; an old one that names none speaks for all.
    missing = [pe for pe in range(pes) if pe not in there] if there else []
    if missing:
        named = ", ".join(map(str, missing[:8])) + (" …" if len(missing) > 8 else "")
        told.append(Problem("pes-missing", "error", log.name, first.line, {"n_pes": str(pes), "pes": named}, log.run))
    for field in _SAME:
        values = [v for m in group if (v := m[field]) is not None]
        if values and not all(agrees(v, values[0], 0.0) for v in values):
            shown = ", ".join(f"{v:.6g}" for v in sorted(set(values))[:4])
            told.append(
                Problem("pes-differ", "error", log.name, first.line, {"field": field, "values": shown}, log.run)
            )
    whole = not told and all(m.usable for m in group)
    return Sample(group, whole), told
