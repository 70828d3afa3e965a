"""``opdev perf report``: docs/performance_report.md from run records, the design and the ledger of rounds."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

from opdev.facts.cases import matrix_of
from opdev.perf import cells, texts
from opdev.perf.consistency import agrees
from opdev.perf.document import Document, document, sources_of
from opdev.perf.model import Log
from opdev.perf.report import Decided, Facts, decided, sections
from opdev.perf.rows import RoundRow, StepRow
from opdev.perf.series import series_of
from opdev.phases.evidence import Evidence
from opdev.rounds.errors import Refused
from opdev.rounds.ledger import Retest
from opdev.rounds.measured import BUS, FIGURES, Measured
from opdev.rounds.overview import Row, overview
from opdev.rules.model import Lang
from opdev.runs import finding
from opdev.runs.marking import Marked, bring
from opdev.runs.measured import aim_of, kind_of, latest, logs_of, named, of_present, of_round_0
from opdev.runs.store import Run, runs
from opdev.runs.target import look

NAME = "docs/performance_report.md"
TAG = "perf"
_MOST_FILES = 8
_DECISIONS = {"base": "-", "open": "进行中", "kept": "keep", "reverted": "revert"}


def report(op: str | None, output: str | None, *, check: bool, lang: Lang) -> int:
    """Write the report, or with ``check`` only say whether it is up to date (1 where it is not)."""
    evidence = look(finding.one(op).root)
    path = os.path.abspath(os.path.expanduser(output)) if output else f"{evidence.root}/{NAME}"
    done, real = write(evidence, path, check=check)
    for kept in done.kept:
        sys.stderr.write(f"opdev perf: {texts.say('block-kept', lang, section=kept, path=named(path))}\n")
    said = ("report-old" if check else "report-written") if done.changed else "report-same"
    sys.stdout.write(texts.say(said, lang, path=named(path)) + "\n")
    if not check and not real:
        sys.stdout.write(texts.say("report-empty", lang) + "\n")
    return 1 if check and done.changed else 0


def write(evidence: Evidence, path: str, *, check: bool) -> tuple[Marked, bool]:
    """Bring the report at ``path`` up to date; whether hardware measured anything at all comes with it."""
    logs = latest(evidence.root, kind_of(evidence))
    base, now = (_measured(evidence, of(evidence.root)) for of in (of_round_0, of_present))
    made = sections(base, facts(evidence, logs), list(rounds(evidence.root)), now)
    done = bring(path, f"# 性能报告：{evidence.name}", made, TAG, check=check)
    return done, _real(logs)


def _measured(evidence: Evidence, of: Callable[[Run], bool]) -> Document:
    """What hardware measured of some code."""
    logs = latest(evidence.root, kind_of(evidence), of)
    return document([log for log in logs if log.backend == "hardware"], evidence.name, aim_of(evidence))


def measured(evidence: Evidence) -> bool:
    """Whether hardware measured anything that is on record."""
    return _real(latest(evidence.root, kind_of(evidence)))


def decision(evidence: Evidence) -> tuple[Decided | None, Facts, list[RoundRow]]:
    """What hardware says of the case that decides, with the design's words and the rounds."""
    logs = latest(evidence.root, kind_of(evidence))
    found = _measured(evidence, of_present(evidence.root))
    said, done = facts(evidence, logs), list(rounds(evidence.root))
    return decided(found, said), said, done


def _real(logs: list[Log]) -> bool:
    return any(log.backend == "hardware" and log.measurements for log in logs)


def facts(evidence: Evidence, logs: list[Log]) -> Facts:
    """What the design says of an operator, and which runs are simulated."""
    design = evidence.design

    def said(key: str) -> str:
        return " ".join(design.text(key).split()) if design is not None else ""

    matrix = matrix_of(evidence.project)
    shapes = {case.id: case.shape for case in matrix.cases if case.shape} if matrix is not None else {}
    dtypes = [n.text for n in design.items("source.user_confirmations.dtypes")] if design is not None else []
    socs = [n.text for n in design.items("meta.target_soc")] if design is not None else []
    return Facts(
        operator=evidence.name,
        dtypes=tuple(d for d in dtypes if d),
        soc="、".join(s for s in socs if s) or said("meta.target_soc"),
        target=said("performance.baseline_target"),
        baseline=said("performance.baseline"),
        search=said("performance.baseline_search"),
        shapes=shapes,
        simulated=tuple(dict.fromkeys(log.run for log in logs if log.backend == "sim" and log.run)),
        op_kind=said("meta.op_kind"),
    )


def rounds(root: str) -> Iterator[RoundRow]:
    """The optimisation rounds as the ledger has them; none where there is none that can be read."""
    try:
        found = overview(root)
    except Refused:
        return
    logs = _Logs(root)
    first = next((_real_of(row.measured) for row in found if row.round.number == 0), None)
    for row in found:
        yield _round(row, first, logs)


class _Logs:
    """What the runs of an operator measured, each read once however many rounds are held against it."""

    def __init__(self, root: str) -> None:
        self._runs = {run.id: run for run in runs(root)}
        self._read: dict[str, list[Log]] = {}

    def of(self, run: str) -> list[Log]:
        """Those of a run; none of one that was removed."""
        if run not in self._read:
            self._read[run] = logs_of(self._runs[run]) if run in self._runs else []
        return self._read[run]


def _real_of(found: Measured | None) -> Measured | None:
    """What hardware measured; what the stand-in did stays out."""
    return found if found is not None and not found.simulated else None


def _figures(found: Measured | None) -> dict[str, float]:
    return {} if found is None else {name: v for name in FIGURES if (v := found.value(name)) is not None}


def _step(number: int, idea: str, test: Retest, logs: _Logs) -> StepRow:
    real = _real_of(test.measured)
    sources = "" if real is None else _sources(real, real.run or test.run, logs)
    return StepRow(f"{number}.{test.number}", idea, _verdict(test.correctness), _figures(real), sources)


def _verdict(correctness: str) -> str:
    """PASS, FAIL, or a dash for what was not tested."""
    return correctness.upper() if correctness in ("pass", "fail") else "-"


def _sources(found: Measured, run: str, logs: _Logs, side: str = "shmem") -> str:
    """The run and the lines that a measurement was made of."""
    for one in series_of(logs.of(run))[0]:
        if one.side == side and one.n_pes in (found.n_pes, None) and agrees(one.payload_bytes, found.payload, 0.0):
            return cells.places(sources_of(one))
    return f"run `{run}`（日志已清理）" if run else ""


def _against(row: Row, first: Measured | None, logs: _Logs) -> tuple[str, dict[str, float], str]:
    """What a round is held against: its name, its medians, and where those are from; empty where nothing is comparable."""
    real = _real_of(row.measured)
    if real is None:
        return "", {}, ""
    if row.baseline is not None:
        base, name, side = row.baseline, "Baseline", "baseline"
    elif first is not None and first.key == real.key and first.same_payload(real):
        base, name, side = first, "Round 0", "shmem"
    else:
        return "", {}, ""
    return name, _figures(base), _sources(base, base.run, logs, side)


def _settings(row: Row) -> str:
    """What the round's step was measured with, and the files that the round changed."""
    real = _real_of(row.measured)
    if real is None:
        return ""
    said = [f"{real.n_pes} PE", real.dtype, f"{real.payload:.0f} B", f"设备 {real.devices}" if real.devices else ""]
    files = "、".join(f"`{path}`" for path in list(row.changed)[:_MOST_FILES])
    more = f" 等 {len(row.changed)} 个" if len(row.changed) > _MOST_FILES else ""
    return "，".join(one for one in said if one) + (f"；改动文件 {files}{more}" if files else "；没有改动文件")


def _round(row: Row, first: Measured | None, logs: _Logs) -> RoundRow:
    one = row.round
    real = _real_of(row.measured)
    steps = [_step(one.number, one.idea, r, logs) for r in one.retests]
    name, against, sources = _against(row, first, logs)
    mine = logs.of(row.retest.run) if row.retest is not None and real is not None else []
    return RoundRow(
        number=one.number,
        idea=one.idea,
        decision=_DECISIONS[one.state],
        reason=one.reason,
        correctness=_verdict(row.correctness),
        bus=real.value(BUS) if real is not None else None,
        e2e_us=real.value("e2e_us") if real is not None else None,
        vs_first=row.vs_first * 100 if row.vs_first is not None else None,
        vs_kept=row.vs_kept * 100 if row.vs_kept is not None else None,
        vs_baseline=(row.vs_baseline + 1) * 100 if row.vs_baseline is not None else None,
        run=row.retest.run if row.retest is not None else "",
        steps=steps,
        step=f"{one.number}.{row.retest.number}" if row.retest is not None else "",
        hypothesis=one.hypothesis,
        settings=_settings(row),
        against=against,
        against_name=name,
        against_sources=sources,
        frames=document(log for log in mine if log.backend == "hardware")["frames"],
    )
