"""Where a PyPTO operator stands: what its state file says, checked against what its stages left on disk."""

from __future__ import annotations

from collections.abc import Iterator

from opdev.phases.model import Check, Gate, Phase, Spot, Title, both, gate_of
from opdev.phases.pypto_checks import FAMILIES, PyptoEvidence
from opdev.phases.pypto_classic import CHECKS
from opdev.phases.pypto_graph import STAGES
from opdev.phases.pypto_pro import PRO, PRO4
from opdev.phases.situation import Glance, Situation, Status
from opdev.phases.verdicts import Verdicts, by_rule, words_of
from opdev.pypto.statefile import NAME
from opdev.pypto.states import DONE, RefusedError, current, status
from opdev.rules.model import Text

_CHECKS = {"classic": CHECKS, "pro": PRO, "pro4": PRO4}
_STATE = Title("state-file", "状态文件可用", "the state file can be used")
_WHOLE = both("没有错误级别的问题", "nothing of severity error")
_ALWAYS = frozenset({"OL24", "PL10"})
"""Rows of rules on the state file that every gate asks for."""
_OF_STAGE = {"5": frozenset({"OL44"}), "6": frozenset({"OL13", "OL14"})}
WORKFLOWS = {"classic": "pypto-classic", "pro": "pypto-pro", "pro4": "pypto-pro-4"}


def stage_gate(evidence: PyptoEvidence, stage: str) -> Gate:
    """The gate of a stage; KeyError for one there is none of."""
    phase = next((one for one in STAGES[evidence.kind] if one.id == stage), None)
    if phase is None:
        raise KeyError(stage)
    return gate_of(phase, [*_faults(evidence, stage), *_CHECKS[evidence.kind][stage](evidence)])


def _faults(evidence: PyptoEvidence, stage: str) -> Iterator[Check]:
    """What is wrong with the state file; what it says of phases and deliverables is its stage's own business."""
    fault = evidence.state_fault
    if fault is not None:
        yield _STATE.failed(fault.text, both("改正状态文件", "mend the state file"), evidence.at(NAME))
        return
    file = evidence.files.get(NAME)
    if file is not None:
        verdicts = Verdicts(evidence, [file], FAMILIES)
        rows = _ALWAYS | (_OF_STAGE.get(stage, frozenset()) if evidence.kind == "classic" else frozenset())
        errors = [f for f in verdicts.errors if words_of(f.rule) & rows]
        if errors:
            yield from by_rule(errors)
        elif verdicts.on & rows:
            yield _STATE.ok(_WHOLE, evidence.at(NAME))


def _standing(evidence: PyptoEvidence, stage: Phase) -> str:
    """What the state file says of a stage; empty without one."""
    if evidence.state is None:
        return ""
    try:
        return status(evidence.state, int(stage.id))
    except RefusedError:
        return ""


def standing(evidence: PyptoEvidence) -> Status:
    """Everything there is to say about a PyPTO operator's progress."""
    stages = STAGES[evidence.kind]
    found: list[Gate] = []
    at: Phase | None = None
    if evidence.state is not None:
        last = min(current(evidence.state), len(stages))
        at = stages[last - 1]
        found = [stage_gate(evidence, stage.id) for stage in stages[:last]]
        complete = all(_standing(evidence, stage) in DONE for stage in stages)
    else:
        for stage in stages:
            found.append(stage_gate(evidence, stage.id))
            if found[-1].state == "closed":
                at = stage
                break
        complete = at is None
        at = at or stages[-1]
    return Status(
        evidence.name, evidence.root, _situation(evidence, at, found, complete), tuple(found),
        phases=stages, workflow=WORKFLOWS[evidence.kind],
    )  # fmt: skip


def _situation(evidence: PyptoEvidence, at: Phase, gates: list[Gate], complete: bool) -> Situation:
    closed = [g for g in gates if g.state == "closed"]
    if complete and not closed:
        return Situation(
            at,
            None,
            both("全部阶段都已完成", "every stage is done"),
            both("可以交付", "it can be delivered"),
            at.worker,
            complete=True,
        )
    said = _standing(evidence, at)
    mine = gates[-1]
    if complete:
        # The state file says that all is done, and the artifacts say otherwise: the first that does is to be mended.
        mine, at = closed[0], closed[0].phase
    why = (
        both(f"状态文件：第 {at.id} 阶段 {said}", f"the state file has stage {at.id} as {said}")
        if said
        else both("没有状态文件，按产物判断", "there is no state file: judged by what is there")
    )
    if mine.state == "closed":
        first = mine.closed_by[0]
        why = both(f"{why['zh']}；{first.detail['zh']}", f"{why['en']}; {first.detail['en']}")
        return Situation(at, None, why, first.opens, at.worker, first.place)
    return Situation(at, None, why, _move(said, at), at.worker, _file(evidence))


def _move(said: str, at: Phase) -> Text:
    if said == "in_progress":
        return both(
            f"门禁已开：opdev state complete-stage {at.id}", f"its gate is open: `opdev state complete-stage {at.id}`"
        )
    if not said:
        return both("记下进度：opdev state init", "keep the progress: `opdev state init`")
    return both(f"opdev state start-stage {at.id}", f"`opdev state start-stage {at.id}`")


def _file(evidence: PyptoEvidence) -> Spot | None:
    return evidence.at(NAME) if evidence.state is not None else None


def glanced(evidence: PyptoEvidence) -> Glance:
    """One line on a PyPTO operator."""
    found = standing(evidence)
    at, gate = found.at, found.gates[-1]
    count = len(gate.closed_by)
    text = both(
        f"第 {at.phase.id} 阶段 {at.phase.title['zh']}，" + (f"门禁关闭（{count} 项）：{at.why['zh']}" if count else f"门禁已开：{at.why['zh']}"),
        f"Stage {at.phase.id}, {at.phase.title['en']}: " + (f"gate closed by {count}: {at.why['en']}" if count else f"gate open: {at.why['en']}"),
    )  # fmt: skip
    return Glance(at.phase.id, None, open=not count, failed=count, text=text, complete=at.complete)
