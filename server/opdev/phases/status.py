"""Where an operator stands: the phase that is open, why, what comes next, what is passed over.

``situation`` is the recovery matrix's answer alone; ``status`` adds the gates of all phases; ``glance`` is
what an editor shows above a design, and looks at one gate only.
"""

from __future__ import annotations

from collections.abc import Callable

from opdev.config import Configs
from opdev.phases import design, gates, review
from opdev.phases.evidence import DESIGN, Evidence
from opdev.phases.graph import BY_ID, ORDER, skipped
from opdev.phases.model import Gate, both
from opdev.phases.pypto_checks import evidence_of
from opdev.phases.pypto_status import glanced
from opdev.phases.pypto_status import standing as pypto_standing
from opdev.phases.recovery import Match, recover
from opdev.phases.rounds_ledger import standing
from opdev.phases.routing import Returned, returned
from opdev.phases.situation import Glance, Situation, Status
from opdev.rules.context import Project

_FLAG_PHASE = "5.5"
_AFTER_FAILURE = (5, 6, 8, 10, 12, 13, 14)
"""The rows where something is to be built or run again: there the last failure says more than the row."""


def situation(evidence: Evidence) -> Situation:
    """Where work on an operator goes on."""
    match = recover(evidence)
    if match is None or match.row >= 9:
        unknown = _unknown_flag(evidence)
        if unknown is not None:
            return unknown
    if match is not None:
        return _of(match, returned(evidence) if match.row in _AFTER_FAILURE else None)
    left = [check for check in review.final(evidence) if not check.holds]
    if not left:
        return Situation(
            BY_ID["7"],
            None,
            both("全部阶段都已完成，最终走读已通过", "every phase is done and the final review passed"),
            both("可以交付", "it can be delivered"),
            BY_ID["7"].worker,
            complete=True,
        )
    return Situation(
        BY_ID["7"],
        None,
        both(f"前面的阶段都已完成，交付还差：{left[0].detail['zh']}", f"all phases before it are done; for the delivery: {left[0].detail['en']}"),
        left[0].opens,
        BY_ID["7"].worker,
        left[0].place,
    )  # fmt: skip


def _of(match: Match, failed: Returned | None) -> Situation:
    if failed is None:
        return Situation(BY_ID[match.phase], match.row, match.why, match.next, match.worker, match.place)
    worker = BY_ID[failed.phase].worker
    return Situation(BY_ID[match.phase], match.row, failed.why, failed.next, worker, failed.place, back=failed.phase)


def _unknown_flag(evidence: Evidence) -> Situation | None:
    """Phase 5.5 and 6 hang on flags: without an answer nobody may guess the way."""
    for key, question in (("torch_required", 3), ("performance_required", 4)):
        if evidence.said(key) is None:
            return Situation(
                BY_ID[_FLAG_PHASE if key == "torch_required" else "6"],
                None,
                both(f"不知道 {key}", f"{key} is not known"),
                both(
                    f"回到启动确认的第 {question} 个问题，把答案写进 design.md 的 meta",
                    f"go back to intake question {question} and write the answer into the design's meta",
                ),
                "—",
                evidence.at(DESIGN),
            )
    return None


def _not_yet(closed: list[Gate]) -> Situation:
    """The work is done and reviewed, and gates before the delivery are closed all the same: the first is the open phase."""
    names = [g.phase.id for g in closed]
    phase, check = closed[0].phase, closed[0].closed_by[0]
    return Situation(
        phase,
        None,
        both(
            f"最终走读已通过，但 Phase {'、'.join(names)} 的门禁没有开：{check.detail['zh']}",
            f"the final review passed, and gates are closed all the same ({', '.join(names)}): {check.detail['en']}",
        ),
        check.opens,
        phase.worker,
        check.place,
    )


def status(project: Project, configs: Configs | None = None) -> Status:
    """Everything there is to say about an operator's progress."""
    pypto = evidence_of(project, configs)
    if pypto is not None:
        return pypto_standing(pypto)
    return judged(Evidence(project, configs))


def judged(evidence: Evidence) -> Status:
    """``status`` of an operator whose artifacts are at hand."""
    at = situation(evidence)
    index = ORDER.index(at.phase.id)
    found = tuple(gates.gate(evidence, name) for name in ORDER[: index + 1])
    closed = [g for g in found if g.state == "closed"]
    if at.complete and closed:
        at = _not_yet(closed)
    return Status(evidence.name, evidence.root, at, found, skipped(evidence.flags), standing(evidence.root))


def glance(project: Project, configs: Configs | None = None, cancelled: Callable[[], bool] | None = None) -> Glance:
    """One line on an operator, from its parsed files and a few file times.

    Rules that look at other files are left out of the design's gate: the editor shows their findings anyway,
    and they would cost more than the line may.  Raises Cancelled once ``cancelled`` says so.
    """
    pypto = evidence_of(project, configs, cancelled)
    if pypto is not None:
        return glanced(pypto)
    evidence = Evidence(project, configs, cancelled)
    at = situation(evidence)
    name = at.phase.id
    if at.complete:
        text = both("最终走读已通过，可以交付", "the final review passed: ready for delivery")
        return Glance(name, None, open=True, failed=0, text=text, complete=True)
    if name == "1":
        closed = [check for check in design.checks(evidence, project=False) if not check.holds]
    else:
        closed = gates.gate(evidence, name).closed_by
    head = both(f"Phase {name} {at.phase.title['zh']}", f"Phase {name}, {at.phase.title['en']}")
    if name == "regression":
        head = both(at.phase.title["zh"], at.phase.title["en"])
    count = len(closed)
    tail = (
        both(f"门禁关闭（{count} 项）：{at.why['zh']}", f"gate closed by {count}: {at.why['en']}")
        if count
        else both(f"门禁已开：{at.why['zh']}", f"gate open: {at.why['en']}")
    )
    text = both(f"{head['zh']}，{tail['zh']}", f"{head['en']}: {tail['en']}")
    return Glance(name, at.row, open=not count, failed=count, text=text)


__all__ = ["Glance", "Situation", "Status", "glance", "judged", "situation", "status"]
