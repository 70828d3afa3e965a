"""When an operator was measured, by its run records: behind a passed matrix of the same code, and 30 s behind the baseline."""

from __future__ import annotations

import hashlib
import json

import pytest
from build import PERF, finished

from opdev.phases.evidence import Evidence
from opdev.phases.gates import gate
from opdev.project.operators import Operator
from opdev.project.places import Places


def evidence(op):
    return Evidence(Operator(op.root.as_posix(), Places()))


def checks(op):
    return {c.id: c for c in gate(evidence(op), "6").checks}


@pytest.fixture
def op(tmp_path):
    return finished(tmp_path, "allgather")


def recorded(op, *lines, run="r1"):
    """Records as runs leave them; times are seconds, ``seconds`` how long it took."""
    now = {s: hashlib.sha256((op.root / s).read_bytes()).hexdigest() for s in evidence(op).sources}
    text = "".join(json.dumps({"result": "pass", "n_pes": 8, "sources": now, **line}) + "\n" for line in lines)
    op.write(f".opdev/runs/{run}/events.jsonl", text, PERF)


MATRIX = {"step": "matrix", "time": 1000.0, "seconds": 60.0}
OTHER = {"sources": {"src/main.cpp": "0" * 64}}


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        ([MATRIX, {"step": "perf", "time": 1100.0, "seconds": 50.0}], "ok"),
        ([{"step": "perf", "time": 900.0, "seconds": 50.0}, MATRIX], "failed"),
        # It ended behind the matrix and was begun before it.
        ([MATRIX, {"step": "perf", "time": 1010.0, "seconds": 50.0}], "failed"),
        ([{**MATRIX, "result": "fail"}, {"step": "perf", "time": 1100.0, "seconds": 50.0}], "failed"),
        ([{**MATRIX, "backend": "sim"}, {"step": "perf", "time": 1100.0, "seconds": 50.0}], "not-applicable"),
        ([{**MATRIX, **OTHER}, {"step": "perf", "time": 1100.0, "seconds": 50.0}], "failed"),
        ([MATRIX, {"step": "perf", "time": 1100.0, "seconds": 50.0, "backend": "sim"}], "not-applicable"),
        # Reports by hand say that it passed, and no run which was first.
        ([{"step": "perf", "time": 1100.0, "seconds": 50.0}], "not-applicable"),
        ([MATRIX], "not-applicable"),
        # Of what failed there are no figures.
        (
            [
                {"step": "perf", "time": 900.0, "seconds": 50.0, "result": "fail"},
                MATRIX,
                {"step": "perf", "time": 1100.0, "seconds": 9.0},
            ],
            "ok",
        ),
        (
            [
                MATRIX,
                {"step": "perf", "time": 1100.0, "seconds": 9.0},
                {**OTHER, "step": "perf", "time": 1200.0, "result": "fail"},
            ],
            "ok",
        ),
    ],
)
def test_performance_is_measured_of_what_is_right(op, lines, state):
    recorded(op, *lines)

    one = checks(op)["perf-after-correctness"]

    assert one.state == state, one.detail
    if state == "failed":
        assert one.place.path.endswith("events.jsonl")
        assert "opdev run 4" in one.opens["zh"]


@pytest.mark.parametrize(
    ("gap", "state"), [(30.0, "ok"), (29.6, "ok"), (29.4, "failed"), (0.0, "failed"), (-5.0, "failed"), (3600.0, "ok")]
)
def test_the_operator_waits_for_hccl_to_let_go(op, gap, state):
    recorded(op, MATRIX, {"step": "baseline", "time": 1200.0, "seconds": 20.0})
    # Of another run: whoever starts a second one at once does not wait, either.
    recorded(op, {"step": "perf", "time": 1200.0 + gap + 50.0, "seconds": 50.0}, run="r2")

    one = checks(op)["perf-apart"]

    assert one.state == state, one.detail
    if state == "failed":
        assert f"{max(gap, 0):.0f} 秒" in one.detail["zh"]


def test_measured_before_the_baseline_is_apart_enough(op):
    recorded(
        op,
        MATRIX,
        {"step": "perf", "time": 1100.0, "seconds": 50.0},
        {"step": "baseline", "time": 1200.0, "seconds": 20.0},
    )

    assert checks(op)["perf-apart"].state == "not-applicable"


@pytest.mark.parametrize("seconds", [None, "fast", -1, 1e400, True])
def test_a_record_that_does_not_say_when_it_was_begun(op, seconds):
    line = {"step": "perf", "time": 1200.0}
    recorded(
        op,
        MATRIX,
        {"step": "baseline", "time": 1199.0, "seconds": 20.0},
        {**line, "seconds": seconds} if seconds is not None else line,
    )

    assert checks(op)["perf-apart"].state == "not-applicable"


def test_without_records_nothing_is_said(op):
    found = checks(op)

    assert {found[name].state for name in ("perf-after-correctness", "perf-apart")} == {"not-applicable"}
