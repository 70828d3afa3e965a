"""One slip in a case list is one finding, and no slip in a field goes untold."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from opdev.lint.session import Options, Session

CLEAN = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops"


@pytest.fixture(scope="module")
def allgather(tmp_path_factory):
    root = tmp_path_factory.mktemp("cases") / "custom-ops"
    shutil.copytree(CLEAN / "allgather", root / "allgather")
    return root / "allgather"


def told(op, change):
    """(file, rule, message's key) of all findings in the case list and the design, the first case changed."""
    path = op / "scripts" / "cases.json"
    before = path.read_text()
    cases = json.loads(before)
    change(cases)
    path.write_text(json.dumps(cases, ensure_ascii=False, indent=1))
    try:
        session = Session(Options(isolated=True, cwd=str(op)))
        found = [r for name in (path, op / "docs" / "design.md") for r in session.lint_path(str(name)).records]
    finally:
        path.write_text(before)
    return [(Path(r.path).name, r.rule, r.key) for r in found]


def test_the_whole_list_has_none(allgather):
    assert told(allgather, len) == []


@pytest.mark.parametrize(
    ("field", "value", "rule", "key"),
    [
        ("n_pes", "two", "incomplete-case", "unread-n_pes"),
        ("n_pes", 0, "incomplete-case", "unread-n_pes"),
        ("n_pes", [2, 8], "incomplete-case", "unread-n_pes"),
        ("n_pes", None, "incomplete-case", "default"),
        ("dtype", "flaot16", "incomplete-case", "unread-dtype"),
        ("dtype", "", "incomplete-case", "default"),
        ("rtol", "tight", "incomplete-case", "unread-tolerance"),
        ("atol", None, "incomplete-case", "default"),
        ("scale", "tiny", "wrong-scale", "unknown"),
        ("scale", "M", "wrong-scale", "default"),
        ("category", "functionel", "unknown-case-category", "near"),
        ("category", "xyz", "unknown-case-category", "default"),
        ("category", None, "unknown-case-category", "missing"),
    ],
)
def test_one_slip_is_one_finding(allgather, field, value, rule, key):
    def change(cases):
        cases[0][field] = value

    assert told(allgather, change) == [("cases.json", rule, key)]


@pytest.mark.parametrize("field", ["n_pes", "dtype", "rtol", "atol"])
def test_a_field_that_is_not_there_is_missing(allgather, field):
    def change(cases):
        del cases[0][field]

    assert told(allgather, change) == [("cases.json", "incomplete-case", "default")]


@pytest.mark.parametrize("value", ["2", " 2 ", 2])
def test_a_number_may_be_quoted(allgather, value):
    def change(cases):
        cases[0]["n_pes"] = value

    assert told(allgather, change) == []
