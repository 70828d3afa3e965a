"""What a phase lacks, begun from templates before anybody is asked to do it.

The gates know what is missing, the templates what it looks like; here the one is given to the other.
"""

from __future__ import annotations

from collections.abc import Callable

from opdev.design.document import DesignDocument
from opdev.phases import code, correctness, review, tests, torch
from opdev.phases.evidence import DESIGN, Evidence
from opdev.phases.intake import answers
from opdev.phases.records import last_backend
from opdev.scaffold import missing, reports
from opdev.scaffold.missing import Made

_COMMANDS = ("command", "run_command", "matrix_command")
_MOST_RECORDS = 12


def prepare(evidence: Evidence, phase: str) -> Made:
    """Write what a phase lacks and templates have; never over anything.  ScaffoldError where that cannot be done."""
    begin = _BEGIN.get(phase)
    return begin(evidence) if begin is not None else Made()


def _design(e: Evidence) -> Made:
    return Made() if e.exists(DESIGN) else missing.design(e.root, e.name, answers(e))


def _tests(e: Evidence) -> Made:
    if e.in_tree or e.design is None:
        # An example of SHMEM's own tree has its scripts under other names and in other places.
        return Made()
    return missing.files(e.root, [f"scripts/{name}" for name in tests.missing(e)], e.design)


def _code(e: Evidence) -> Made:
    if e.in_tree or e.design is None:
        return Made()
    lacking = [*code.missing(e), *([] if e.exists("README.md") else ["README.md"])]
    return missing.files(e.root, lacking, e.design)


def _torch(e: Evidence) -> Made:
    if e.in_tree or e.design is None or e.said("torch_required") is not True:
        return Made()
    lacking = [] if torch.test_script(e) is not None else [f"scripts/torch_test_{e.name}.py"]
    lacking += [] if torch.binding(e) is not None else [f"../torch_binding/src/torch_bind_{e.name}.cpp"]
    return missing.files(e.root, lacking, e.design)


def _review(e: Evidence) -> Made:
    there = any(e.exists(name) for name in review.NAMES)
    return Made() if there or not e.code or correctness.report(e) is None else reports.review(_known(e))


def _delivery(e: Evidence) -> Made:
    return Made() if e.exists(reports.SUMMARY) or review.report(e) is None else reports.summary(_known(e))


def _known(e: Evidence) -> reports.Known:
    socs = [node.text for node in e.design.items("meta.target_soc")] if e.design is not None else []
    return reports.Known(
        root=e.root, name=e.name, socs=socs, torch=e.said("torch_required"), perf=e.said("performance_required"),
        simulated=last_backend(e.root) == "sim", report=correctness.report(e), records=_records(e),
        commands=_contract(e.design) if e.design is not None else {},
    )  # fmt: skip


def _records(e: Evidence) -> list[str]:
    """The newest record of each step, as a line of a report."""
    newest = {(r.step, r.n_pes): r for r in e.records}
    found = sorted(newest.values(), key=lambda r: r.time)[-_MOST_RECORDS:]
    return [
        f"{r.step}{f'，{r.n_pes} PE' if r.n_pes else ''}：{r.result}（{r.path.split('/')[-2]}）{r.message}"
        for r in found
    ]


def _contract(document: DesignDocument) -> dict[str, str]:
    """The commands of the design's section 6."""
    found: dict[str, str] = {}
    for table in document.tables:
        if table.heading is None or not table.heading.number.startswith("6"):
            continue
        for row in table.rows:
            key = row[0].text.strip("` ") if row else ""
            if key in _COMMANDS and len(row) > 1 and key not in found:
                found[key] = row[1].text.strip()
    return found


_BEGIN: dict[str, Callable[[Evidence], Made]] = {
    "1": _design, "2": _tests, "3": _code, "5": _review, "5.5": _torch, "7": _delivery,
}  # fmt: skip
