"""Every move from every status, of stages and of their parts: what the workflow allows, and nothing else."""

from __future__ import annotations

import itertools

import pytest

from opdev.pypto.moves import Move, actions, applied
from opdev.pypto.states import PARTS, STATUSES, RefusedError, workflow

KINDS = {"classic": {"max_stage": 7, "schema_version": "2.0"}, "pro": {"max_stage": 5, "schema_version": "2.2"},
         "pro4": {"max_stage": 4, "schema_version": "2.0"}, "no max_stage": {"schema_version": "2.0"},
         "2.2 without max_stage": {"schema_version": "2.2"}}  # fmt: skip


def state(kind, current, status, before="completed"):
    stages = {str(n): before for n in range(1, current)} | {str(current): status}
    return {"operator_name": "demo", **KINDS[kind], "current_stage": current, "stage_status": stages, "其他": [1]}


def may(found, *words, **more):
    """Whether a move is made; a refusal says why in both languages and touches nothing."""
    why = None
    try:
        made = applied(found, Move(*words, **more))
    except RefusedError as error:
        made, why = None, error.text
    if why is not None:
        assert why["zh"]
        assert why["en"]
        return None
    assert made["其他"] == [1]
    return made


def test_each_kind_is_told_by_its_file():
    assert [workflow(state(kind, 1, "pending")) for kind in KINDS] == ["classic", "pro", "pro4", "classic", "pro"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", sorted(STATUSES))
def test_a_stage_from_each_status(kind, status):
    found = state(kind, 2, status)

    started = may(found, "start-stage", stage=2)
    completed = may(found, "complete-stage", stage=2)
    failed = may(found, "fail-stage", stage=2)

    assert (started is not None) == (status not in ("completed", "skipped"))
    assert (completed is not None) == (failed is not None) == (status == "in_progress")
    if started is not None:
        assert (started["stage_status"]["2"], started["current_stage"]) == ("in_progress", 2)
    if completed is not None:
        assert (completed["stage_status"]["2"], completed["stage_status"]["3"]) == ("completed", "in_progress")
        assert completed["current_stage"] == 3
        assert failed["stage_status"]["2"] == "failed"
        assert (failed["stage_retry_count"]["2"], failed["current_stage"]) == (1, 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("before", sorted(STATUSES))
def test_a_stage_begins_when_the_one_before_it_is_done(kind, before):
    found = state(kind, 2, before) | {"stage_status": {"1": "completed", "2": before, "3": "pending"}}

    assert (may(found, "start-stage", stage=3) is not None) == (before in ("completed", "skipped"))


@pytest.mark.parametrize("kind", KINDS)
def test_stages_there_are_none_of(kind):
    found = state(kind, 2, "in_progress")

    for action, stage in itertools.product(("start-stage", "complete-stage", "fail-stage", "rollback"), (0, -1, 8, 99)):
        assert may(found, action, stage=stage, reason="x") is None
    for action in ("complete-stage", "fail-stage"):
        assert may(found, action, stage=1) is None
        assert may(found, action, stage=3) is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", [1, 2, 3, 4])
@pytest.mark.parametrize("reason", ["", "  ", "要重做"])
def test_a_rollback_goes_back_and_says_why(kind, target, reason):
    made = may(state(kind, 3, "blocked"), "rollback", stage=target, reason=reason)

    assert (made is not None) == (target < 3 and bool(reason.strip()))
    if made is not None:
        assert made["stage_status"][str(target)] == "in_progress"
        assert {made["stage_status"][str(n)] for n in range(target + 1, 4)} == {"pending"}
        assert made["rollback_history"][-1]["to_stage"] == target


def test_the_design_is_submitted_in_the_classic_stage_4_alone():
    for kind, status in itertools.product(KINDS, sorted(STATUSES)):
        made = may(state(kind, 4, status), "submit-design", stage=4)
        assert (made is not None) == (workflow(state(kind, 4, status)) == "classic" and status == "in_progress")


PHASES = {
    "start-phase": PARTS - {"verified", "blocked"},
    "submit-phase": {"in_progress", "in_debug"},
    "complete-phase": {"in_progress", "in_debug", "awaiting_verify"},
    "fail-phase": {"in_progress", "in_debug", "awaiting_verify"},
}
MODULES = {
    "start-module": {"pending", "not_started", "blocked"},
    "submit-module": {"in_progress", "in_debug"},
    "complete-module": {"in_progress", "in_debug", "awaiting_verify"},
    "fail-module": PARTS - {"verified"},
}
LEADS = {"start": "in_progress", "submit": "awaiting_verify", "complete": "verified", "fail": "in_debug"}


@pytest.mark.parametrize("action", PHASES)
@pytest.mark.parametrize("status", sorted(PARTS))
@pytest.mark.parametrize("stage", ["in_progress", "blocked", "pending"])
def test_a_phase_from_each_status(action, status, stage):
    found = state("classic", 5, stage)
    found["stage5_phases"] = {"active_phase": None, "phase_status": {"M_1": {"status": status, "cycles": 2, "own": 1}}}

    made = may(found, action, phase="M1")

    assert (made is not None) == (stage == "in_progress" and status in PHASES[action])
    if made is not None:
        entry = made["stage5_phases"]["phase_status"]["M_1"]
        assert (entry["status"], entry["own"]) == (LEADS[action.split("-")[0]], 1)
        assert entry["cycles"] == (3 if action == "fail-phase" else 2)


@pytest.mark.parametrize("action", MODULES)
@pytest.mark.parametrize("status", sorted(PARTS))
@pytest.mark.parametrize("path", ["L1", "L0", None])
def test_a_module_from_each_status(action, status, path):
    found = state("pro", 4, "in_progress")
    found["stage4_path"] = path
    found["stage4_modules"] = {"module_count": 2, "module_status": {"1": status, "2": "pending"}, "own": 1}

    made = may(found, action, module=1)

    assert (made is not None) == (path == "L1" and status in MODULES[action])
    assert may(found, action, module=3) is None
    if made is not None:
        ledger = made["stage4_modules"]
        assert (ledger["module_status"]["1"], ledger["own"]) == (LEADS[action.split("-")[0]], 1)
        assert ledger["module_status"]["2"] == "pending"


@pytest.mark.parametrize("status", sorted(PARTS))
def test_a_stage_with_parts_is_completed_when_all_are_verified(status):
    classic = state("classic", 5, "in_progress")
    classic["stage5_phases"] = {"phase_status": {"M1": {"status": "verified"}, "M2": {"status": status}}}
    pro = state("pro", 4, "in_progress") | {"stage4_path": "L1"}
    pro["stage4_modules"] = {"module_count": 2, "module_status": {"1": "verified", "2": status}}

    assert (may(classic, "complete-stage") is not None) == (status == "verified")
    assert (may(pro, "complete-stage") is not None) == (status == "verified")
    assert may(classic | {"stage5_phases": {"phase_status": {}}}, "complete-stage") is not None
    assert may(pro | {"stage4_modules": {"module_count": 2, "module_status": {}}}, "complete-stage") is None


def test_a_workflow_has_its_own_actions():
    assert {a for a in actions("classic") if a.endswith("phase")} == set(PHASES)
    for kind in ("pro", "pro4"):
        assert {a for a in actions(kind) if a.endswith("-module")} == set(MODULES)
        assert may(state(kind, 4, "in_progress"), "start-phase", phase="M1") is None
    assert may(state("classic", 4, "in_progress"), "plan-modules", fusion=False) is None
