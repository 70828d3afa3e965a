"""Every row of the recovery matrix is told by whole operators, and by nothing before it."""

from __future__ import annotations

import os
import time

import pytest
import recipes
from build import OPERATORS, RECIPES, finished

from opdev.phases.evidence import Evidence
from opdev.phases.recovery import recover
from opdev.phases.status import glance, situation, status
from opdev.project.operators import Operator
from opdev.project.places import Places

# The phase each row leaves open; row 9 goes where the flag of Phase 6 says.
PHASE = {1: "1", 2: "1", 3: "2", 4: "3", 5: "4", 6: "4", 7: "5", 8: "5.5", 10: "6", 11: "6.5", 12: "6.5", 13: "6.5", 14: "regression"}  # fmt: skip
CASES = [(row, what, name, make) for row, made in sorted(RECIPES.items()) for what, name, make in made]


def project(op):
    return Operator(op.root.as_posix(), Places())


def test_every_row_has_three_operators_and_more_than_one_kind():
    assert set(RECIPES) == set(range(1, 15))
    for row, made in RECIPES.items():
        assert len({name for _, name, _ in made}) >= 3, row


@pytest.mark.parametrize(("row", "what", "name", "make"), CASES, ids=[f"{r}-{n}-{m.__name__}" for r, _, n, m in CASES])
def test_the_row_is_told(tmp_path, row, what, name, make):
    op = make(tmp_path, name)

    found = recover(Evidence(project(op)))

    assert found is not None, what
    assert found.row == row, (what, found.why)
    assert found.phase == PHASE.get(row, found.phase)
    for text in (found.why, found.next):
        assert text["zh"]
        assert text["en"]
        assert text["zh"] != text["en"]
    at = glance(project(op))
    assert (at.phase, at.row, at.open) == (found.phase, row, False) or row in (9, 11, 12)


def test_row_9_goes_by_the_flag_of_phase_6(tmp_path):
    wanted = recover(Evidence(project(recipes.no_torch_wanted(tmp_path / "a", "allgather"))))
    unwanted = recover(Evidence(project(recipes.neither_wanted(tmp_path / "b", "alltoallv"))))

    assert (wanted.phase, unwanted.phase) == ("6", "7")


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"torch": False},
        {"perf": False},
        {"torch": False, "perf": False},
        {"optimise": True, "met": True},
        {"met": False},
        {"optimise": True, "met": False, "rounds": 5},
        {"torch": False, "optimise": True, "met": False, "rounds": 5},
    ],
    ids=str,
)
def test_a_delivered_operator_fits_no_row(tmp_path, name, how):
    op = finished(tmp_path, name, **how)

    at = situation(Evidence(project(op)))

    assert (at.row, at.phase.id, at.complete) == (None, "7", True), at.why
    assert glance(project(op)).complete


def test_skipped_phases_come_with_their_reason(tmp_path):
    found = status(project(finished(tmp_path, "allgather", torch=False, perf=False)))

    assert list(found.skipped) == ["5.5", "6", "6.5", "regression"]
    assert "torch_required" in found.skipped["5.5"]["en"]
    assert "未做性能验证" in found.skipped["6"]["zh"]


def test_an_answer_by_file_time_says_so(tmp_path):
    found = recover(Evidence(project(recipes.stale_report(tmp_path, "allgather"))))

    assert "file time" in found.why["en"]
    assert "文件时间" in found.why["zh"]


def test_a_flag_nobody_answered_is_asked_for(tmp_path):
    op = recipes.reviewed(tmp_path, "allgather")
    op.replace("docs/design.md", "  torch_required: true\n", "")

    at = situation(Evidence(project(op)))

    assert (at.phase.id, at.row) == ("5.5", None)
    assert "torch_required" in at.why["en"]


def test_a_reviewed_operator_with_a_closed_gate_is_not_complete(tmp_path):
    op = finished(tmp_path, "allgather")
    assert status(project(op)).at.complete
    op.remove("README.md")

    at = status(project(op)).at

    assert (at.complete, at.phase.id) == (False, "3")
    assert "README.md" in at.why["en"]


def test_a_source_dated_in_the_future_is_named(tmp_path):
    op = finished(tmp_path, "allgather")
    ahead = time.time() + 86_400
    os.utime(op.root / "src" / "main.cpp", (ahead, ahead))

    found = recover(Evidence(project(op)))

    assert found.row == 5
    assert "touch src/main.cpp" in found.why["en"]
    assert "将来" in found.why["zh"]
