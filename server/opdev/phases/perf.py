"""Phase 6: what was measured, against what, and whether the line is met.

What counts
    data        docs/performance_report.md with a kernel_bus_bandwidth_GBps number in section 3 and a decision;
                logs alone are the beginning of it
    decision    section 3.5, column 达标 of its kernel_bus row (PASS or FAIL); without it the ratio of the two
                numbers of that row against 80 %
    logs        data/perf/*.log with [PERF] lines, and with [BASELINE_PERF] lines unless the baseline is metric_only
    as old      while nothing is being optimised, report or logs must be no older than any source; a ``perf`` record
                that names its sources wins over file times
Not judged: that the tables were shown in the chat.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.phases.evidence import Evidence
from opdev.phases.model import Spot, both
from opdev.phases.proofs import Proof, by_time, recorded, stale_text
from opdev.rules.model import Text
from opdev.syntax.file import File

if TYPE_CHECKING:
    from opdev.facts.report_performance import PerformanceReport, Round

REPORT = "docs/performance_report.md"
_SIMULATED = b"[SIM] backend=sim"
"""What a log of the CPU stand-in holds: its times say nothing of an NPU."""
_UNDECIDED = re.compile(r"无法判断|未测|不可比|too noisy|not measured", re.IGNORECASE)
ROUNDS = 5
BUS = "kernel_bus_bandwidth_GBps"
_LINE = 80.0


def report(evidence: Evidence) -> tuple[File, PerformanceReport] | None:
    """The performance report and its file; None where there is none that can be read."""
    from opdev.facts.reports import performance_report

    file = evidence.file(REPORT)
    found = performance_report(file) if file is not None else None
    return (file, found) if file is not None and found is not None else None


@dataclass(frozen=True, slots=True)
class Logs:
    """The perf logs, by what they hold, as paths below the operator."""

    shmem: tuple[str, ...] = ()
    baseline: tuple[str, ...] = ()


def logs(evidence: Evidence) -> Logs:
    """Logs with measurements."""
    from opdev.facts.logs import perf_lines

    shmem, baseline = [], []
    for relative in evidence.logs:
        data = evidence.log(relative)
        if b"PERF]" not in data or _SIMULATED in data:
            continue
        lines = perf_lines(data)
        if any(not line.baseline for line in lines):
            shmem.append(relative)
        if any(line.baseline for line in lines):
            baseline.append(relative)
    return Logs(tuple(shmem), tuple(baseline))


def simulated_logs(evidence: Evidence) -> list[str]:
    """Logs with measurements of the CPU stand-in: they prove nothing here, and it is worth saying so."""
    return [r for r in evidence.logs if b"PERF]" in evidence.log(r) and _SIMULATED in evidence.log(r)]


def begun(evidence: Evidence) -> bool:
    """Whether there is any data of Phase 6."""
    return evidence.file(REPORT) is not None or bool(logs(evidence).shmem) or evidence.record("perf") is not None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether Round 0 meets its line; None where nothing says so."""

    met: bool | None
    text: Text
    place: Spot | None = None


def decision(evidence: Evidence) -> Decision:
    """What section 3.5 says."""
    from opdev.facts.report_tables import layout_of, plain, result

    nothing = both("§3.5 没有写是否达标", "section 3.5 does not say whether the line is met")
    both_of = report(evidence)
    if both_of is None:
        return Decision(None, both(f"没有 {REPORT}", f"there is no {REPORT}"), evidence.at(REPORT))
    file, found = both_of
    undecided: Decision | None = None
    for table in layout_of(file).tables:
        if table.heading is None or table.heading.number != "3.5":
            continue
        column = table.column("达标")
        for cells in table.rows:
            if "kernelbus" not in plain(cells[0].text) or column is None or column >= len(cells):
                continue
            said = result(cells[column].text)
            if said in ("PASS", "FAIL"):
                met = said == "PASS"
                text = both("达标", "the line is met") if met else both("未达标", "the line is not met")
                return Decision(met, text, evidence.spot(file, cells[column].start))
            if _UNDECIDED.search(said):
                text = both(f"§3.5 写的是“{said[:60]}”", f"section 3.5 says {said[:60]!r}")
                undecided = Decision(None, text, evidence.spot(file, cells[column].start))
    if undecided is not None:
        # A median above the line is no answer where the report says that nobody can tell.
        return undecided
    ours, theirs = (
        next((m.figure for m in found.measured if m.section == "3.5" and m.metric == BUS and m.who == who), None)
        for who in ("shmem", "baseline")
    )
    if ours is not None and theirs is not None and ours.value is not None and theirs.value:
        ratio = ours.value / theirs.value * 100
        text = both(
            f"SHMEM 是基线的 {ratio:.1f}%（线为 {_LINE:.0f}%）",
            f"SHMEM reaches {ratio:.1f} % of the baseline (line: {_LINE:.0f} %)",
        )
        return Decision(ratio >= _LINE, text, evidence.spot(file, ours.start))
    return Decision(None, nothing, evidence.spot(file))


def holds_numbers(found: PerformanceReport) -> bool:
    """Whether section 3 holds the number that decides."""
    return any(m.section.startswith("3") and m.metric == BUS and m.figure.value is not None for m in found.measured)


def data(evidence: Evidence, *, current: bool) -> Proof:
    """Whether Phase 6 left its data; ``current``: of the present code."""
    both_of = report(evidence)
    if both_of is None:
        there = logs(evidence).shmem
        if there:
            return Proof(
                "missing",
                both(f"有日志 {there[0]}，没有 {REPORT}", f"there is a log ({there[0]}), and no {REPORT}"),
                evidence.at(REPORT),
            )
        simulated = simulated_logs(evidence)
        if simulated:
            text = both(
                f"只有模拟数据（{simulated[0]}），不能作为性能证据",
                f"there are simulated figures only ({simulated[0]}), and they prove nothing of performance",
            )
            return Proof("missing", text, evidence.at(REPORT))
        return Proof("missing", both("没有性能数据", "there is no performance data"), evidence.at(REPORT))
    file, found = both_of
    if not holds_numbers(found):
        return Proof(
            "missing", both(f"{REPORT} 的 §3 没有数据", f"section 3 of {REPORT} holds no data"), evidence.spot(file)
        )
    decided = decision(evidence)
    if decided.met is None:
        return Proof("failed", decided.text, decided.place)
    if current:
        old = stale(evidence)
        if old is not None:
            return old
    return Proof("ok", decided.text, decided.place)


def stale(evidence: Evidence) -> Proof | None:
    """Why the data is not of the present code; None where it is."""
    record = evidence.record("perf")
    if record is not None and evidence.matches(record) is not None:
        proof = recorded(evidence, record, "性能测试", "performance run")
        return None if proof.good else proof
    measured = evidence.newest([REPORT, *logs(evidence).shmem])
    if measured is not None and evidence.older(measured.time, evidence.newest_source):
        return Proof("stale", stale_text(evidence, measured.path), evidence.at(measured.path))
    return None


def rounds_of(evidence: Evidence) -> tuple[Round, ...]:
    """The optimisation rounds of the report; Round 0 is the baseline and none of them."""
    both_of = report(evidence)
    return tuple(r for r in both_of[1].rounds if r.number > 0) if both_of is not None else ()


def rounds_begun(evidence: Evidence) -> bool:
    """Whether a round was run; the template's empty headings are no round."""
    return any(
        r.executed and (decided(r) or any(step.correctness or step.change for step in r.steps))
        for r in rounds_of(evidence)
    )


def decided(found: Round) -> str | None:
    """``keep`` or ``revert``; None while the template's choice of both, or nothing, stands there."""
    text = found.decision.text.lower() if found.decision is not None else ""
    words = [w for w in ("keep", "revert") if w in text] or [
        w for w, zh in (("keep", "保留"), ("revert", "撤回"), ("revert", "回退")) if zh in text
    ]
    return words[0] if len(words) == 1 else None


def finished(found: Round) -> bool:
    """Whether a round is behind us: decided, or not run for a reason that is given."""
    return decided(found) is not None if found.executed else bool(found.reason)


def optimising(evidence: Evidence) -> bool:
    """Whether Phase 6.5 was entered, or has to be."""
    if evidence.said("performance_required") is False:
        return False
    if rounds_begun(evidence):
        return True
    from opdev.phases.rounds_ledger import ledger

    found = ledger(evidence.root)
    if found is not None and found.open is not None:
        return True
    return evidence.said("performance_auto_optim") is True and decision(evidence).met is False


def unfinished(evidence: Evidence) -> bool:
    """Whether the optimisation still has something to do: a round, or the final comparison."""
    if not optimising(evidence):
        return False
    both_of = report(evidence)
    return next_number(evidence) <= wanted(evidence) or both_of is None or not both_of[1].final


def design_limit(evidence: Evidence) -> int | None:
    """``performance.max_opt_rounds`` of the design; None where it says nothing that is a number."""
    text = evidence.design.text("performance.max_opt_rounds").strip() if evidence.design is not None else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else None


def wanted(evidence: Evidence) -> int:
    """How many rounds there have to be: five, or the fewer that the design sets."""
    return min(design_limit(evidence) or ROUNDS, ROUNDS)


def next_number(evidence: Evidence) -> int:
    """The first round that is not finished; ``wanted`` + 1 after the last."""
    done = {r.number for r in rounds_of(evidence) if finished(r)}
    last = wanted(evidence)
    return next((n for n in range(1, last + 1) if n not in done), last + 1)


def next_round(evidence: Evidence) -> tuple[int, Text, Spot | None]:
    """The round to do next, why, and where the report speaks of it; ``wanted`` + 1 for the final comparison."""
    number, last = next_number(evidence), wanted(evidence)
    both_of = report(evidence)
    file = both_of[0] if both_of is not None else None
    if number > last:
        spot = evidence.spot(file) if file is not None else None
        return (
            number,
            both(
                f"{last} 轮都做完了，§6 最终对比还没有填",
                f"all rounds ({last}) are done; the final comparison (section 6) is not filled",
            ),
            spot,
        )
    done = number - 1
    there = next((r for r in rounds_of(evidence) if r.number == number), None)
    spot = evidence.spot(file, there.start if there is not None else 0) if file is not None else None
    if there is not None and there.executed and there.steps:
        return number, both(f"Round {number} 还没有决策", f"Round {number} has no decision yet"), spot
    return (
        number,
        both(f"未达标，优化做完 {done} 轮，共 {last} 轮", f"the line is not met; {done} of {last} rounds are done"),
        spot,
    )


def retested(evidence: Evidence) -> tuple[Text, Spot] | None:
    """A round's own retest that speaks for the present code; None where there is none."""
    both_of = report(evidence)
    if both_of is None or evidence.older(evidence.time(REPORT), evidence.newest_source):
        return None
    done = [r for r in rounds_of(evidence) if finished(r) and any(_passes(s.correctness) for s in r.steps)]
    if not done:
        return None
    last = done[-1]
    text = both(f"Round {last.number} 复测通过", f"Round {last.number} was retested and passes")
    return by_time(text), evidence.spot(both_of[0], last.start)


def _passes(text: str | None) -> bool:
    return (text or "").strip().upper() == "PASS"
