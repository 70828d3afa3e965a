"""The workflow's moves: every guard of both generations, what each move leaves, and what nobody may lose."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.pypto.moves import Move, actions, allowed, applied
from opdev.pypto.statefile import parsed
from opdev.pypto.states import RefusedError, phases, repaired, workflow


def begun(**more):
    return applied(None, Move("init", operator="demo", **more))


def at(state, stage):
    """A state whose stages before ``stage`` are completed."""
    for _ in range(1, stage):
        if workflow(state) == "pro" and state["current_stage"] == 4:
            state = applied(state, Move("plan-modules", fusion=False))
        state = applied(state, Move("complete-stage"))
    return state


def refused(state, *words, **more):
    with pytest.raises(RefusedError) as caught:
        applied(state, Move(*words, **more))
    assert caught.value.text["zh"]
    assert caught.value.text["en"]
    return caught.value.code


def test_a_new_state_is_in_stage_1_with_every_stage_named():
    state = begun()

    assert state["schema_version"] == "2.0"
    assert state["max_stage"] == 7
    assert state["current_stage"] == 1
    assert state["stage_status"] == {"1": "in_progress", **{str(n): "pending" for n in range(2, 8)}}
    assert state["operator_name"] == "demo"


@pytest.mark.parametrize(("kind", "schema", "stages"), [("classic", "2.0", 7), ("pro", "2.2", 5), ("pro4", "2.0", 4)])
def test_each_workflow_has_its_schema_and_stages(kind, schema, stages):
    state = begun(workflow=kind)

    assert (state["schema_version"], state["max_stage"], len(state["stage_status"])) == (schema, stages, stages)
    assert workflow(state) == kind


def test_init_begins_with_stage_1_alone():
    assert refused(None, "init", stage=2) == "not-first"


def test_init_clears_nothing_while_a_stage_is_in_progress():
    assert refused(begun(), "init", again=True) == "running"


def test_init_judges_stages_beyond_the_last_too():
    state = {**begun(workflow="pro"), "stage_status": {"1": "completed", "7": "in_progress"}}

    assert refused(state, "init", again=True) == "running"


def test_init_does_not_throw_progress_away_by_mistake():
    state = applied(applied(begun(), Move("complete-stage")), Move("fail-stage"))

    assert refused(state, "init") == "has-progress"
    again = applied({**state, "我的": [1]}, Move("init", again=True))
    assert again["stage_status"]["1"] == "in_progress"
    assert again["我的"] == [1]


def test_init_does_not_change_the_workflow_of_a_file():
    state = applied(begun(), Move("fail-stage"))

    assert refused(state, "init", workflow="pro") == "other-workflow"


def test_completing_a_stage_begins_the_next():
    state = applied(begun(), Move("complete-stage", stage=1))

    assert state["current_stage"] == 2
    assert state["stage_status"]["1"] == "completed"
    assert state["stage_status"]["2"] == "in_progress"


def test_the_last_stage_stays_the_current_one():
    state = applied(at(begun(), 7), Move("complete-stage"))

    assert state["current_stage"] == 7
    assert set(state["stage_status"].values()) == {"completed"}


def test_missing_keys_do_not_stop_the_advance():
    state = applied({**begun(), "stage_status": {"1": "in_progress"}}, Move("complete-stage"))

    assert state["stage_status"]["2"] == "in_progress"


@pytest.mark.parametrize(
    ("action", "stage", "code"),
    [
        ("complete-stage", 2, "not-current"),
        ("fail-stage", 3, "not-current"),
        ("start-stage", 2, "running"),
        ("start-stage", 8, "no-stage"),
        ("start-stage", 0, "no-stage"),
        ("rollback", 1, "not-back"),
        ("submit-design", 4, "not-current"),
        ("dance", None, "no-action"),
        ("start-module", None, "no-action"),
    ],
)
def test_what_the_first_stage_does_not_allow(action, stage, code):
    assert refused(begun(), action, stage=stage, reason="x") == code


def test_a_failed_stage_is_counted_and_can_be_started_again():
    state = applied(begun(), Move("fail-stage"))

    assert state["stage_status"]["1"] == "failed"
    assert state["stage_retry_count"]["1"] == 1
    assert refused(state, "complete-stage") == "not-running"
    assert applied(state, Move("start-stage", stage=1))["stage_status"]["1"] == "in_progress"


def test_stages_go_one_by_one():
    state = applied(begun(), Move("fail-stage"))

    assert refused(state, "start-stage", stage=3) == "too-early"
    assert refused(at(begun(), 3), "start-stage", stage=1) == "running"
    assert refused(applied(at(begun(), 3), Move("fail-stage")), "start-stage", stage=2) == "completed"


@pytest.mark.parametrize("status", ["not_started", "blocked", "pending", "failed"])
def test_statuses_of_real_files_can_be_started(status):
    state = begun()
    state["stage_status"] = {"1": "completed", "2": status}

    assert applied(state, Move("start-stage", stage=2))["stage_status"]["2"] == "in_progress"


def test_a_file_without_max_stage_has_seven_stages():
    state = {"operator_name": "demo", "current_stage": 2, "stage_status": {"1": "completed", "2": "in_progress"}}

    assert workflow(state) == "classic"
    assert applied(state, Move("complete-stage"))["current_stage"] == 3


def test_the_design_is_submitted_in_stage_4_and_changes_nothing():
    state = at(begun(), 4)
    made = applied(state, Move("submit-design"))

    assert {**made, "last_updated": 0} == {**state, "last_updated": 0}


def phase(state, action, name="M1", **more):
    return applied(state, Move(f"{action}-phase", phase=name, **more))


def test_a_phase_from_its_start_to_its_verification():
    state = phase(at(begun(), 5), "start")
    assert state["stage5_phases"]["active_phase"] == "M1"
    assert state["stage5_phases"]["phase_status"]["M1"] == {"status": "in_progress", "cycles": 0}
    assert refused(state, "complete-stage") == "phases-open"
    assert refused(state, "start-phase", phase="M2") == "running"

    state = phase(state, "submit")
    assert state["stage5_phases"]["phase_status"]["M1"]["status"] == "awaiting_verify"

    state = phase(state, "complete", now="2030-01-01T00:00:00Z")
    assert state["stage5_phases"]["active_phase"] is None
    assert state["stage5_phases"]["phase_status"]["M1"]["verified_at"] == "2030-01-01T00:00:00Z"
    assert refused(state, "start-phase", phase="M1") == "wrong-status"
    assert applied(state, Move("complete-stage"))["current_stage"] == 6


def test_ten_failures_block_a_phase():
    state = phase(at(begun(), 5), "start")
    for count in range(1, 11):
        state = phase(state, "fail", category="precision_failure", error="0.3 > 0.1")
        entry = state["stage5_phases"]["phase_status"]["M1"]
        assert entry["cycles"] == count
        assert entry["status"] == ("blocked" if count == 10 else "in_debug")
    assert entry["failing_module_boundary"] is None
    assert entry["last_error"] == "0.3 > 0.1"
    assert state["stage5_phases"]["active_phase"] == "M1"
    assert refused(state, "start-phase", phase="M1") == "wrong-status"


def test_a_phase_is_found_however_it_is_spelt():
    state = at(begun(), 5)
    state["stage5_phases"] = {"active_phase": None, "phase_status": {"M_1": {"status": "in_progress", "note": "x"}}}

    made = phase(state, "submit", "M1")

    assert made["stage5_phases"]["phase_status"] == {"M_1": {"status": "awaiting_verify", "note": "x"}}


@pytest.mark.parametrize("name", ["", "X1", "M0", "M1; rm", "M²"])
def test_what_is_no_phase_is_refused(name):
    assert refused(at(begun(), 5), "start-phase", phase=name) == "no-phase"


def test_a_phase_belongs_to_stage_5():
    assert refused(at(begun(), 4), "start-phase", phase="M1") == "not-current"


def test_what_was_never_begun_neither_fails_nor_is_verified():
    state = at(begun(), 5)
    for action in ("fail-phase", "complete-phase", "submit-phase"):
        assert refused(state, action, phase="M3") == "wrong-status"


def test_a_rollback_opens_what_follows_and_says_why():
    state = at(begun(), 5)
    for name in ("spec_md", "golden_py", "design_md", "module_interfaces_yaml", "mine"):
        state = applied(state, Move("record-hash", name=name, hash="ab"))
    state = phase(state, "start")

    made = applied(state, Move("rollback", stage=2, reason="golden 不对", category="golden_failure", now="T"))

    assert made["current_stage"] == 2
    assert made["stage_status"]["2"] == "in_progress"
    assert {made["stage_status"][str(n)] for n in range(3, 8)} == {"pending"}
    assert made["stage_retry_count"]["2"] == 1
    assert made["artifact_hashes"] == {"spec_md": "ab", "golden_py": "ab", "mine": "ab"}
    assert made["stage5_phases"]["phase_status"] == {}
    assert made["rollback_history"] == [
        {"from_stage": 5, "from_phase": "M1", "to_stage": 2, "reason": "golden 不对", "failure_category": "golden_failure", "timestamp": "T"}
    ]  # fmt: skip
    again = applied(at(made, 2), Move("rollback", stage=1, reason="y"))
    assert len(again["rollback_history"]) == 2


def test_a_rollback_says_why():
    assert refused(at(begun(), 3), "rollback", stage=2, reason="  ") == "no-reason"


def test_a_hash_needs_a_name_and_a_value():
    assert refused(begun(), "record-hash", name="spec_md", hash=" ") == "empty"


def module(state, action, number, **more):
    return applied(state, Move(f"{action}-module", module=number, **more))


def test_modules_of_a_fused_pro_operator():
    state = at(begun(workflow="pro"), 4)
    assert refused(state, "start-module", module=1) == "no-plan"
    assert refused(state, "plan-modules") == "no-path"
    assert refused(state, "plan-modules", fusion=True, modules=0) == "no-modules"

    state = applied(state, Move("plan-modules", fusion=True, modules=2))
    assert refused(state, "complete-stage") == "modules-open"
    assert refused(state, "start-module", module=3) == "no-module"
    for number in (1, 2):
        state = module(module(module(state, "start", number), "submit", number), "complete", number)
    assert state["stage4_modules"]["modules_verified"] == [1, 2]
    assert refused(state, "fail-module", module=1) == "wrong-status"

    assert applied(state, Move("complete-stage"))["current_stage"] == 5


def test_ten_failures_block_a_module_and_it_may_start_again():
    state = module(applied(at(begun(workflow="pro"), 4), Move("plan-modules", fusion=True, modules=1)), "start", 1)
    for _ in range(10):
        state = module(state, "fail", 1)
    assert state["stage4_modules"]["module_status"] == {"1": "blocked"}
    assert refused(state, "submit-module", module=1) == "wrong-status"
    assert module(state, "start", 1)["stage4_modules"]["module_status"] == {"1": "in_progress"}


@pytest.mark.parametrize("count", [0, -1, True, "2", None, float("nan"), [1], 1.5])
def test_a_ledger_edited_by_hand_completes_nothing(count):
    state = at(begun(workflow="pro"), 4)
    state["stage4_path"] = "L1"
    state["stage4_modules"] = {"module_count": count, "module_status": {"1": "verified"}}

    assert refused(state, "complete-stage") == "damaged"


def test_verified_modules_are_counted_to_the_last():
    state = at(begun(workflow="pro"), 4)
    state["stage4_path"] = "L1"
    state["stage4_modules"] = {"module_count": 2, "module_status": {"1": "verified"}}

    assert refused(state, "complete-stage") == "modules-open"


def test_stages_of_an_old_seven_stage_map_are_pruned_from_a_pro_state():
    state = begun(workflow="pro")
    state["stage_status"] |= {"6": "pending", "7": "pending"}

    assert list(applied(state, Move("complete-stage"))["stage_status"]) == ["1", "2", "3", "4", "5"]


def test_a_pro_rollback_before_stage_4_forgets_the_modules():
    state = applied(at(begun(workflow="pro"), 4), Move("plan-modules", fusion=True, modules=2))

    made = applied(state, Move("rollback", stage=3, reason="x"))

    assert "stage4_modules" not in made
    assert "stage4_path" not in made


@pytest.mark.parametrize(
    "change",
    [
        {"stage_status": []},
        {"stage_status": {"1": "done"}},
        {"stage_status": {"1": 3}},
        {"current_stage": 9},
        {"current_stage": "1"},
        {"current_stage": True},
        {"stage_retry_count": "x"},
    ],
)
def test_a_damaged_state_moves_nowhere_and_is_said(change):
    assert refused({**begun(), **change}, "complete-stage") == "damaged"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"a": NaN}', '{"a": 1, "a": 2}', "\xff", "null", '{"a":' * 100_000, "9" * 5000],
    ids=["empty", "list", "half", "nan", "twice", "latin", "null", "deep", "long"],
)
def test_what_is_no_state_file_is_told_with_its_name(text):
    with pytest.raises(RefusedError) as caught:
        parsed(text.encode("latin-1"), "op/.orchestrator_state.json")

    assert "op/.orchestrator_state.json" in caught.value.text["en"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 12) | st.floats() | st.sampled_from(["completed", "in_progress", "M1", "L1", "verified", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["1", "2", "M1", "status", "module_count", "module_status", "phase_status", "x"]), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip
STATE_KEYS = st.sampled_from(
    ["operator_name", "max_stage", "current_stage", "stage_status", "stage_retry_count", "stage5_phases", "stage4_modules",
     "stage4_path", "artifact_hashes", "rollback_history", "schema_version", "extra"]
)  # fmt: skip
ACTIONS = sorted({"init", *actions("classic"), *actions("pro")})


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(STATE_KEYS, VALUES, max_size=8), st.sampled_from(ACTIONS), st.none() | st.integers(-1, 9),
    st.none() | st.sampled_from(["M1", "M2", "x"]), st.none() | st.integers(-1, 3),
)  # fmt: skip
def test_any_state_is_moved_or_refused_and_never_touched(state, action, stage, name, number):
    before = copy.deepcopy(state)
    try:
        made = applied(
            state,
            Move(
                action, stage=stage, phase=name, module=number, reason="r", name="n", hash="h", fusion=True, modules=1
            ),
        )
    except RefusedError:
        pass
    else:
        assert json.dumps(made, sort_keys=True, default=str).count('"extra"') == json.dumps(before, default=str).count(
            '"extra"'
        )
        assert repaired(made)["current_stage"] == made["current_stage"]
        allowed(made)
    assert repr(state) == repr(before)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["classic", "pro", "pro4"]),
    st.lists(
        st.tuples(
            st.sampled_from(ACTIONS[1:] if ACTIONS[0] == "complete-module" else ACTIONS),
            st.integers(1, 7),
            st.sampled_from(["M1", "M2"]),
            st.integers(1, 2),
        ),
        max_size=25,
    ),
)
def test_no_walk_of_moves_leaves_two_stages_in_progress(kind, walk):
    state = begun(workflow=kind)
    for action, stage, name, number in walk:
        try:
            state = applied(
                state,
                Move(
                    action,
                    stage=stage,
                    phase=name,
                    module=number,
                    reason="r",
                    name="n",
                    hash="h",
                    fusion=True,
                    modules=2,
                ),
            )
        except RefusedError:
            continue
        stages = [s for s in state["stage_status"].values() if s == "in_progress"]
        assert len(stages) <= 1
        assert sum(e.get("status") == "in_progress" for e in phases(state).values()) <= 1
