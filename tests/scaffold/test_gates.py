"""The gates that a machine can open are open; the others say what is left to do."""

from __future__ import annotations

import pytest

from opdev.config import Configs
from opdev.phases.evidence import Evidence
from opdev.phases.find import operators
from opdev.phases.gates import gate


def judged(made, phase):
    (operator,) = operators(str(made.root))
    return gate(Evidence(operator, Configs()), phase)


@pytest.mark.parametrize("phase", ["1", "2"])
def test_design_and_tests_are_through(made, phase):
    answer = judged(made, phase)

    assert answer.state == "open", [(c.id, c.state) for c in answer.checks]


def test_of_the_code_only_what_must_be_run_is_left(made):
    answer = judged(made, "3")

    assert answer.state == "closed"
    assert {c.id: c.state for c in answer.checks if c.state not in ("ok", "not-applicable")} == {
        "code-build": "unknown",
        "code-smoke": "unknown",
    }


def test_of_the_binding_only_what_must_be_run_is_left(made):
    answer = judged(made, "5.5")

    assert {c.state for c in answer.checks} <= {"ok", "unknown", "not-applicable"}, [
        (c.id, c.state) for c in answer.checks
    ]


def test_nothing_was_invented(made):
    """Reports come from runs, and there was none."""
    assert not list(made.root.glob("docs/*report*.md"))
    assert not (made.root / "data").exists()
