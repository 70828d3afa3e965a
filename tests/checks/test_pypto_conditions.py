"""Each condition of the existing PyPTO linters has a page here, found by its id, that shows what is reported and what is not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from opdev.config import expand_word
from opdev.lint.explain import explain
from opdev.rules import store
from opdev.rules.page import read_page

sys.path.insert(0, str(Path(__file__).parent))
from test_pypto_conformance import BASE, CASES, DESIGN, SPEC, found, impl, loops, with_files

# OL27, OL35, OL36 and OL38 were never given out.
CLASSIC = [f"OL{number:02}" for number in range(1, 63) if number not in (27, 35, 36, 38)]
# PL06, PL12 and PL14 were taken back.
PRO = [f"PL{number:02}" for number in range(1, 17) if number not in (6, 12, 14)]

STATE = '{"operator_name": "demo", "max_stage": 7, "current_stage": 6, "stage_status": {"5": "completed"}}'
DYNAMIC = "    pypto.set_vec_tile_shapes(32, 128)\n    for i in pypto.loop(x.shape[0]):\n        y[:] = pypto.exp(x)\n"
WRAPPED = "\n\ndef demo_wrapper(x, y):\n"
SIDES = [
    ("OL11", "no such function", with_files(golden="def other(x):\n    return x\n"), ["demo_golden.py"]),
    ("OL12", "headings missing", BASE, ["DESIGN.md"]),
    ("OL13", "all there", with_files(**{".orchestrator_state.json": STATE}), []),
    ("OL14", "5 is done", with_files(**{".orchestrator_state.json": STATE}), []),
    ("OL23", "a loop", with_files(impl=impl(DYNAMIC)), []),
    ("OL28", "sigmoid of BF16", with_files(impl=impl(loops("y[:] = pypto.sigmoid(x)"))), ["demo_impl.py"]),
    ("OL28", "cast before", with_files(impl=impl(loops("t = pypto.cast(x, pypto.DT_FP32)", "y[:] = pypto.sigmoid(t)"))), []),
    ("OL29", "a dynamic axis", BASE, []),
    ("OL29", "none", with_files(impl=impl(signature="(x: pypto.Tensor([8, 8], pypto.DT_BF16), y: pypto.Tensor([8, 8], pypto.DT_BF16))")), ["demo_impl.py"]),
    ("OL32", "drifted", with_files(**{"SPEC.md": SPEC.replace("0.001", "0.00001")}), ["test_demo.py"] * 2),
    ("OL41", "nothing pasted", BASE, []),
    ("OL43", "an axis and no loop", with_files(**{"DESIGN.md": DESIGN}), ["demo_impl.py"]),
    ("OL43", "an axis and a loop", with_files(impl=impl(DYNAMIC)), []),
    ("OL45", "launched in a range", with_files(impl=impl(wrapper=WRAPPED + "    for i in range(4):\n        demo_kernel(x, y)\n")), ["demo_impl.py"]),
    ("OL45", "launched once", with_files(impl=impl(wrapper=WRAPPED + "    demo_kernel(x, y)\n")), []),
    ("OL46", "a loop of one", with_files(impl=impl(loops("for i in pypto.loop(1):", "    for j in pypto.loop(8):", "        y[:] = pypto.exp(x)"))), ["demo_impl.py"]),
    ("OL46", "a loop of two", with_files(impl=impl(loops("for i in pypto.loop(2):", "    for j in pypto.loop(8):", "        y[:] = pypto.exp(x)"))), []),
    ("OL52", "two and three", with_files(impl=impl(loops("t = pypto.view(x, [8, 8], [0, 0, 0])", "y[:] = t"))), ["demo_impl.py"]),
    ("OL52", "two and two", with_files(impl=impl(loops("t = pypto.view(x, [8, 8], [0, 0])", "y[:] = t"))), []),
    ("OL53", "open", with_files(**{"MEMORY.md": "# pypto\n\n## Golden function inventory\n\n| name | done |\n|---|---|\n| a | TODO |\n"}), ["MEMORY.md"]),
    ("OL53", "done", with_files(**{"MEMORY.md": "# pypto\n\n## Golden function inventory\n\n| name | done |\n|---|---|\n| a | ✓ |\n"}), []),
    ("OL59", "no table", with_files(**{"GOLDEN_PERF_REPORT.md": "# pypto\n"}), ["GOLDEN_PERF_REPORT.md"]),
    ("OL59", "the table", with_files(**{"GOLDEN_PERF_REPORT.md": "# pypto\n\n| op | count | mean_duration | total |\n|---|---|---|---|\n| add | 1 | 2 | 2 |\n"}), []),
]  # fmt: skip


@pytest.fixture(scope="module")
def rules():
    # Whoever read them while tests were collected read them into another cache.
    store.forget()
    return store.load()


@pytest.mark.parametrize("row", [*CLASSIC, *PRO])
def test_a_condition_is_explained_by_its_id_and_shown_from_both_sides(row, rules):
    table = store.by_name(rules)
    names = expand_word(row, table, rules)
    text, status = explain(row, rules, "en")

    assert (status, bool(names)) == (0, True)
    assert row in text
    root = store.rules_folder()
    for name in names:
        roles = {example.role for example in read_page(root / table[name].page, root).examples}
        assert {"bad", "good"} <= roles


@pytest.mark.parametrize(("row", "case", "files", "where"), SIDES, ids=[f"{row}-{case}" for row, case, *_ in SIDES])
def test_the_other_side_of_a_condition(row, case, files, where):
    assert [path for path, *_ in found(files, row)] == where


def test_the_rows_with_a_case_have_both_sides():
    every = [(row, bool(where)) for row, _, _, where in (*CASES, *SIDES)]
    one_sided = {row for row, _ in every if len({where for other, where in every if other == row}) == 1}

    assert not one_sided
