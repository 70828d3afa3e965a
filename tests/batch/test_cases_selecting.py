"""Selections mean what the field's grammar says, and what cannot be selected is named."""

from __future__ import annotations

import os

import pytest
from cases_made import bench
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.bench.model import BenchError
from opdev.bench.selecting import op_of, select
from opdev.bench.texts import both


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("bench")
    bench(root, {
        "level1": ["1_Square", "2_Matmul", "10_Conv", "19_ReLU", "19_relu6", "100_Loss", "unnumbered"],
        "level10": ["1_A"], "level2": ["7_B", "3_C"], "own": ["5_乘加"], "level3": [],
    })  # fmt: skip
    (root / "level1" / "__init__.py").touch()
    (root / "level1" / "notes.txt").touch()
    (root / "level1" / "4_folder.py").mkdir()
    return str(root)


def keys(folder, text, limit=None):
    return [case.key for case in select(folder, text, limit)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("level1=19_ReLU", ["level1/19_ReLU"]),
        ("level1=19", ["level1/19_ReLU", "level1/19_relu6"]),
        ("level1=019", ["level1/19_ReLU", "level1/19_relu6"]),
        ("level1=2:19", ["level1/2_Matmul", "level1/10_Conv", "level1/19_ReLU", "level1/19_relu6"]),
        ("level1=10:10", ["level1/10_Conv"]),
        ("level1=100, 1,unnumbered,1_Square", ["level1/1_Square", "level1/100_Loss", "level1/unnumbered"]),
        (" level10 = 1 ; level2= ;", ["level2/3_C", "level2/7_B", "level10/1_A"]),
        ("own=;level2=7", ["level2/7_B", "own/5_乘加"]),
        ("level2=,", ["level2/3_C", "level2/7_B"]),
        ("level2=1:99999999999999999999999999", ["level2/3_C", "level2/7_B"]),
    ],
)
def test_a_selection_is_sorted_by_level_and_number(folder, text, expected):
    assert keys(folder, text) == expected


def test_a_whole_level_is_cut_by_the_limit_and_nothing_else_is(folder):
    assert keys(folder, "level1=;level2=3,7", 1) == ["level1/1_Square", "level2/3_C", "level2/7_B"]
    assert len(keys(folder, "level1=")) == 7


def test_a_case_knows_its_file_and_its_operator(folder):
    (case,) = select(folder, "own=5")

    assert os.path.isfile(case.path)
    assert (case.level, case.id, case.op, case.key) == ("own", "5_乘加", "乘加", "own/5_乘加")


@pytest.mark.parametrize(
    ("text", "key", "told"),
    [
        ("", "c-nothing-selected", "level1=19_ReLU"),
        (" ; ;", "c-nothing-selected", "level1="),
        ("level1=1;19_ReLU", "c-no-equals", "'19_ReLU'"),
        ("=1", "c-no-level-name", "'=1'"),
        ("level1=1;level1=2", "c-level-twice", "level1"),
        ("1=1", "c-no-level", "there are: level1, level2, level10, own"),
        ("../level1=1", "c-no-level", "../level1"),
        ("level3=", "c-empty-level", "level3"),
        ("level1=4:2", "c-range-down", "write 2:4"),
        ("level1=a:2", "c-bad-range", "'a:2'"),
        ("level1=1:2:3", "c-bad-range", "'1:2:3'"),
        ("level1=1,42,nothing", "c-unknown-cases", "no case 42, nothing; there are: 1_Square"),
        ("level1=4_folder", "c-unknown-cases", "4_folder"),
        ("level1=50:60", "c-unknown-cases", "50:60"),
    ],
)
def test_what_cannot_be_selected_is_named(folder, text, key, told):
    with pytest.raises(BenchError) as caught:
        select(folder, text)

    assert caught.value.key == key
    assert told in both(key, **caught.value.values)["en"]


def test_no_more_than_ten_of_what_is_there_are_named(tmp_path):
    bench(tmp_path, {"level1": [f"{n}_Op{n}" for n in range(1, 31)]})

    with pytest.raises(BenchError) as caught:
        select(str(tmp_path), "level1=31")

    assert caught.value.values["there"].count("_Op") == 10
    assert caught.value.values["there"].endswith("(+20)")


def test_a_folder_above_the_levels_is_told_where_they_are(tmp_path):
    bench(tmp_path / "KernelBench", {"level1": ["1_A"]})

    with pytest.raises(BenchError) as caught:
        select(str(tmp_path), "level1=1")

    assert "KernelBench" in caught.value.values["there"]
    with pytest.raises(BenchError) as caught:
        select(str(tmp_path / "nowhere"), "level1=1")
    assert caught.value.key == "c-no-bench"


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("19_ReLU", "ReLU"), ("12_Matmul_with_diagonal_matrices_", "Matmul_with_diagonal_matrices"),
        ("10_3D_tensor_matrix", "op_3D_tensor_matrix"), ("3Dconv", "op_3Dconv"), ("7", "op_7"), ("1_", "op"),
        ("2_a-b.c d", "a_b_c_d"), ("9_²x", "x"), ("___", "op"), ("5_乘加", "乘加"), ("1_-1", "op_1"),
    ],
)  # fmt: skip
def test_an_operators_name_is_made_of_its_cases(stem, name):
    assert op_of(stem) == name


@given(st.text(max_size=40))
def test_every_operators_name_can_be_one(stem):
    assert op_of(stem).isidentifier()


@settings(max_examples=200, deadline=2000)
@given(
    st.lists(st.sampled_from([*"0149:,;= _-\u0664\x00/乘", "level1", "level2", "19_ReLU", ".."]), max_size=12).map(
        "".join
    )
)
def test_any_text_is_a_selection_or_an_error_that_can_be_said(folder, text):
    found, told = [], ""
    try:
        found = select(folder, text, 3)
    except BenchError as error:
        told = both(error.key, **error.values)["zh"]
    assert bool(found) != bool(told)
    assert len({case.key for case in found}) == len(found)
