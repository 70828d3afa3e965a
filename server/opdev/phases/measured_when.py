"""When Phase 6 was measured, by the records of runs: after correctness was passed, and apart from the baseline.

Rules look at texts; when something was run only a run's record says.  An operator measured by hand has none, and then nothing is
said: file times do not tell when a program was started.
"""

from __future__ import annotations

from opdev.phases.evidence import Evidence
from opdev.phases.model import Check, Spot, Title, both
from opdev.phases.records import Record

APART = 30.0
"""Seconds between the end of the baseline and the start of the operator: HCCL lets go of links and memory only then."""
_SLACK = 0.5
_AFTER = Title(
    "perf-after-correctness", "测性能前正确性已通过", "correctness was passed before performance was measured"
)
_APART = Title("perf-apart", "基线与 SHMEM 隔开测量", "baseline and SHMEM were measured apart")
_NONE = both("没有性能的运行记录", "no measurement is on record")


def after_correctness(evidence: Evidence) -> Check:
    """Whether the measured code had passed its cases when it was measured (SH93B)."""
    record = _measured(evidence)
    if record is None:
        return _AFTER.skipped(_NONE)
    tested = [r for r in evidence.records if r.step == "matrix" and r.result == "pass" and r.backend != "sim"]
    before = [r for r in tested if r.time <= _start(record) + _SLACK and _same(evidence, r, record)]
    if before:
        return _AFTER.ok(
            both("测量前，同一份代码的用例矩阵已通过", "the case matrix of the same code had passed before"),
            _spot(before[-1]),
        )
    again = both("先 opdev run 4，通过后再 opdev run 6", "`opdev run 4` first, and once it passes `opdev run 6`")
    if not tested:
        from opdev.phases import correctness

        if correctness.proof(evidence).good:
            return _AFTER.skipped(
                both(
                    "用例矩阵不是由 opdev 运行的，没有先后的记录",
                    "the case matrix was not run by opdev: no record of what was first",
                )
            )
    return _AFTER.failed(
        both("测性能时，这份代码还没有通过的用例矩阵：结果可能是错的，快慢没有意义", "no case matrix of that code had passed when it was measured: what is wrong may be as fast as it likes"),
        again, _spot(record),
    )  # fmt: skip


def apart(evidence: Evidence) -> Check:
    """Whether the operator was started 30 s behind the baseline, or more (SH905)."""
    if _measured(evidence) is None:
        return _APART.skipped(_NONE)
    measured = [r for r in evidence.records if r.step in ("perf", "baseline") and r.seconds is not None]
    last = next((r for r in reversed(measured) if r.step == "perf" and r.result == "pass"), None)
    if last is None:
        return _APART.skipped(both("运行记录里没有起止时间", "no record says when it was begun"))
    before = [r for r in measured if r.step == "baseline" and r.time <= last.time]
    if not before:
        return _APART.skipped(both("没有基线的运行记录", "no measurement of a baseline is on record"))
    gap = _start(last) - before[-1].time
    if gap >= APART - _SLACK:
        return _APART.ok(both(f"相隔 {gap:.0f} 秒", f"{gap:.0f} s apart"), _spot(last))
    return _APART.failed(
        both(f"基线结束后 {max(gap, 0):.0f} 秒就开始测 SHMEM（至少 {APART:.0f} 秒）：HCCL 还占着链路和显存，SHMEM 会偏慢", f"SHMEM was started {max(gap, 0):.0f} s behind the end of the baseline ({APART:.0f} s at least): HCCL still holds links and memory, which slows it down"),
        both("隔 30 秒单独重测：opdev run 6", "measure again, 30 s later: `opdev run 6`"),
        _spot(last),
    )  # fmt: skip


def _measured(evidence: Evidence) -> Record | None:
    """The newest measurement that came to its end: of one that failed there are no figures."""
    return next((r for r in reversed(evidence.records) if r.step == "perf" and r.result == "pass"), None)


def _start(record: Record) -> float:
    return record.time - (record.seconds or 0.0)


def _same(evidence: Evidence, one: Record, other: Record) -> bool:
    """Whether two records are of the same code; by the sources both name."""
    if not one.sources or not other.sources:
        return True
    return all(one.sources.get(name) == other.sources.get(name) for name in evidence.sources)


def _spot(record: Record) -> Spot:
    return Spot(record.path, record.line)
