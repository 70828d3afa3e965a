"""The Markdown reports of an operator, brought up to date one after another.

The operator's own run_case_matrix.py writes the reports of cases, too: it keeps to the same blocks, and what an older one
wrote without them is taken over.  Review and delivery summary are begun elsewhere, by their phases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opdev.blocks import Section
from opdev.phases import correctness, holes, review
from opdev.phases.evidence import Evidence
from opdev.reporting import documents
from opdev.reporting.documents import Found
from opdev.runs import perf_report
from opdev.runs.marking import Marked, bring

TAG = "report"
NAMES = ("matrix", "correctness", "performance", "review", "summary")


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one report: ``marked``, or ``why`` (a key of ``texts``) it was passed over, for which phase."""

    path: str
    marked: Marked | None = None
    why: str = ""
    phase: str = ""


@dataclass(frozen=True, slots=True)
class _Kind:
    path: str
    title: str
    sections: Callable[[Found], list[Section]]
    begun_by: str = ""


def write(evidence: Evidence, found: Found, names: Sequence[str], *, check: bool) -> list[Done]:
    """Bring the named reports up to date, or with ``check`` only compare them; UsageError where a file cannot be used."""
    kinds = _kinds(evidence)
    out: list[Done] = []
    for name in NAMES:
        if name not in names:
            continue
        if name == "performance":
            out.append(_performance(evidence, check=check))
            continue
        kind = kinds[name]
        if not found.results.rows:
            out.append(Done(kind.path, why="no-matrix"))
        elif kind.begun_by and not evidence.exists(kind.path):
            out.append(Done(kind.path, why="not-begun", phase=kind.begun_by))
        else:
            made = bring(evidence.path(kind.path), kind.title, kind.sections(found), TAG, check=check)
            out.append(Done(kind.path, made))
    return out


def _kinds(evidence: Evidence) -> dict[str, _Kind]:
    name = evidence.name
    reviewed = next((n for n in review.NAMES if evidence.exists(n)), review.NAMES[0])
    return {
        "matrix": _Kind(correctness.MATRIX, f"# {name} 用例矩阵", documents.matrix),
        "correctness": _Kind(correctness.REPORT, f"# 正确性报告：{name}", documents.correctness),
        "review": _Kind(reviewed, f"# {name} 走读报告", documents.review, "5"),
        "summary": _Kind(holes.SUMMARY, f"# {name} 交付总结", documents.summary, "7"),
    }


def _performance(evidence: Evidence, *, check: bool) -> Done:
    if evidence.said("performance_required") is False:
        return Done(perf_report.NAME, why="not-wanted")
    if not evidence.exists(perf_report.NAME) and not perf_report.measured(evidence):
        # An empty one would say that the phase was begun.
        return Done(perf_report.NAME, why="no-performance")
    done, measured = perf_report.write(evidence, evidence.path(perf_report.NAME), check=check)
    return Done(perf_report.NAME, done, "" if measured else "unmeasured")
