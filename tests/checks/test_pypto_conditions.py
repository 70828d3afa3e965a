"""Each condition of the existing PyPTO linters has a page here, found by its id, that shows what is reported and what is not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from opdev.config import expand_word
from opdev.lint.decisions import DECISIONS
from opdev.lint.explain import explain
from opdev.rules import store
from opdev.rules.page import read_page

sys.path.insert(0, str(Path(__file__).parent))
from test_pypto_conformance import BASE, CASES, DESIGN, SPEC, found, impl, loops, with_files

# OL27, OL35, OL36 and OL38 were never given out.
CLASSIC = [f"OL{number:02}" for number in range(1, 63) if number not in (27, 35, 36, 38)]
# PL06, PL12 and PL14 were taken back.
PRO = [f"PL{number:02}" for number in range(1, 17) if number not in (6, 12, 14)]
# What the knowledge base of PyPTO-Pro holds.
KNOWN = [f"K{number:02}" for number in range(1, 51)]
CONSOLIDATED = {
    1: "missing-pro-import classic-import-in-pro-test", 2: "not-one-pro-kernel",
    3: "hand-made-rotation manual-sync-of-locked-tile unsynchronised-tile disabled-auto-mutex",
    4: "invalid-tile-group invalid-event-id", 5: "tile-arithmetic-without-vf",
    6: "narrow-vector-tile unaligned-tile unrotated-tile-group loop-invariant-mask power-of-two-block-stride scatter-index-type"
       " gather-index-type unsupported-register-type",
    7: "tile-constant-in-kernel", 8: "top-level-dev-import", 9: "device-not-from-golden",
    10: "own-tolerance missing-precision-helper missing-cpu-golden", 11: "too-few-pro-cases untested-design-case",
    12: "wrapper-beyond-boundary missing-pro-wrapper not-one-launch bypassed-wrapper lost-wrapper-default",
    13: "golden-imports-pypto golden-imports-staged-test", 14: "pasted-test-result",
    15: "loop-without-pl-range invalid-tiling-parameter mixed-keyword-generations",
    16: "invalid-pypto-state wrong-max-stage broken-module-suffix golden-imports-staged-test",
    17: "infinite-module-constant tensor-list-parameter refused-kernel-statement", 18: "golden-fallback",
}  # fmt: skip
"""The consolidated list of what can be told of PyPTO-Pro without running it, by number: the rules for it."""

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


@pytest.mark.parametrize("row", KNOWN)
def test_what_is_known_of_kernels_has_a_page_or_a_reason_why_not(row, rules):
    table = store.by_name(rules)
    names = expand_word(row, table, rules) if row.lower() in table else frozenset()
    texts = {lang: explain(row, rules, lang) for lang in ("zh", "en")}

    assert {status for _, status in texts.values()} == {0}
    assert bool(names) != (row in DECISIONS)
    for lang, (text, _) in texts.items():
        assert row in text
        if row in DECISIONS:
            assert DECISIONS[row][lang] in text
    root = store.rules_folder()
    for name in names:
        roles = {example.role for example in read_page(root / table[name].page, root).examples}
        assert {"bad", "good"} <= roles


def test_a_reason_is_of_a_row_without_a_page_and_names_only_rules_there_are(rules):
    table = store.by_name(rules)
    names = {rule.name for rule in rules}
    assert not [row for row in DECISIONS if row.lower() in table]
    for row, why in DECISIONS.items():
        assert set(why) == {"zh", "en"}
        for text in why.values():
            words = {word.strip("，。；:,;") for word in text.replace("见 ", " ").split()}
            told = {
                word for word in words if word.count("-") >= 2 and word.isascii() and word.replace("-", "").isalpha()
            }
            assert told <= names, (row, told - names)


def test_the_consolidated_list_is_covered_number_by_number(rules):
    names = {rule.name for rule in rules}
    assert list(CONSOLIDATED) == list(range(1, 19))
    for number, listed in CONSOLIDATED.items():
        assert set(listed.split()) <= names, number
