"""A requirement says what a case says, in a form other tools read; what a user wrote is never lost."""

from __future__ import annotations

import os

import pytest
import yaml
from cases_made import RELU
from hypothesis import given
from hypothesis import strategies as st

from opdev.bench import requirement
from opdev.bench.model import Case, CaseSpec, Tensor
from opdev.facts import pypto_docs

CASE = Case("level1", "19_ReLU", "ReLU", "/cases/level1/19_ReLU.py")
SPEC = CaseSpec(
    CASE, RELU, "def __init__(self): ...", "def forward(self, x): ...", "[1, 'a|b']",
    inputs=(Tensor("x0", (16, 64), "float32"), Tensor("x1", (64,), "float16")), outputs=(Tensor("y0", (16, 64), "float32"),),
    dtypes=("float32", "float16"), p0_shapes=(((16, 64), (64,)),), p1_shapes=(((1, 2), (2,)), ((0, 3), ())),
    dynamic_axis=("batch", "列: #"), formula="y = ```x```", tolerance=4e-3,
    warnings=({"zh": "输出\n没有", "en": "none"},),
)  # fmt: skip


def front(text):
    _, head, body = text.split("---\n", 2)
    return yaml.safe_load(head), body


def test_the_front_matter_is_the_fields():
    head, _ = front(requirement.text(SPEC))

    assert head == {
        "schema_version": 1, "op_name": "ReLU", "supported_dtypes": ["float32", "float16"],
        "p0_shapes": [[[16, 64], [64]]], "p1_shapes": [[[1, 2], [2]], [[0, 3], []]],
        "tolerance": {"rtol": 0.004, "atol": 0.004}, "dynamic_axis": ["batch", "列: #"],
    }  # fmt: skip
    assert list(front(requirement.text(CaseSpec(CASE, RELU)))[0]) == [
        "schema_version", "op_name", "supported_dtypes", "p0_shapes", "tolerance",
    ]  # fmt: skip
    assert pypto_docs.shapes(head["p0_shapes"]) is not None
    assert pypto_docs.tolerance_mode(head["tolerance"]) is not None


def test_the_body_says_it_all_in_chinese():
    body = front(requirement.text(SPEC))[1]

    assert [line[3:] for line in body.splitlines() if line.startswith("## ")] == [
        "元数据", "公式", "输入输出", "形状约束", "数据类型", "初始化参数", "调用约定", "初始化源码", "前向源码",
        "精度要求", "开发约束", "原始源码", "未能确定的内容",
    ]  # fmt: skip
    assert "| x1 | [64] | float16 |" in body
    assert "````text\ny = ```x```\n````" in body
    assert "P1（希望通过）：[1, 2]、[2]；[0, 3]、[]" in body
    assert "outputs = ModelNew(*get_init_inputs())(*get_inputs())" in body
    assert "- 输出 没有\n" in body
    assert RELU in body


def test_files_are_written_once_and_only_when_they_change(tmp_path):
    requirement.write(SPEC, str(tmp_path))
    before = {name: os.stat(tmp_path / name).st_ino for name in ("REQUIRE.md", "task_desc.py")}

    assert (tmp_path / "task_desc.py").read_text() == RELU
    requirement.write(SPEC, str(tmp_path))
    assert {name: os.stat(tmp_path / name).st_ino for name in before} == before
    requirement.write(CaseSpec(CASE, RELU), str(tmp_path))
    assert front((tmp_path / "REQUIRE.md").read_text(encoding="utf-8"))[0]["p0_shapes"] == []
    assert sorted(os.listdir(tmp_path)) == ["REQUIRE.md", "task_desc.py"]


def test_what_somebody_changed_is_kept_beside(tmp_path):
    requirement.write(SPEC, str(tmp_path))
    ours = (tmp_path / "REQUIRE.md").read_bytes()
    edited = ours.replace("必须通过".encode(), b"P0")
    for text in (edited, b"my own\n", edited):
        (tmp_path / "REQUIRE.md").write_bytes(text)
        (tmp_path / "task_desc.py").write_bytes(text)
        requirement.write(SPEC, str(tmp_path))

        assert (tmp_path / "REQUIRE.md").read_bytes() == ours
        assert (tmp_path / "task_desc.py").read_text() == RELU
    kept = {name: (tmp_path / name).read_bytes() for name in sorted(os.listdir(tmp_path)) if name[-1].isdigit()}
    assert kept == {
        "REQUIRE.md.1": edited, "REQUIRE.md.2": b"my own\n", "task_desc.py.1": edited, "task_desc.py.2": b"my own\n",
    }  # fmt: skip


def test_what_is_no_file_is_moved_aside_and_not_written_through(tmp_path):
    """A program that wrote an operator here may have left anything."""
    (tmp_path / "mine").write_text("mine\n")
    folder = tmp_path / "op"
    folder.mkdir()
    (folder / "REQUIRE.md").symlink_to(tmp_path / "mine")
    (folder / "REQUIRE.md.1").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "task_desc.py")

    requirement.write(SPEC, str(folder))

    assert (tmp_path / "mine").read_text() == "mine\n"
    assert sorted(os.listdir(folder)) == [
        "REQUIRE.md",
        "REQUIRE.md.1",
        "REQUIRE.md.2",
        "task_desc.py",
        "task_desc.py.1",
    ]
    assert os.readlink(folder / "REQUIRE.md.2") == str(tmp_path / "mine")
    assert (folder / "task_desc.py").read_text() == RELU
    assert not (folder / "REQUIRE.md").is_symlink()


def test_a_folder_that_is_none_is_told(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(OSError, match="file"):
        requirement.write(SPEC, str(tmp_path / "file"))


@given(
    st.text(), st.lists(st.text(min_size=1), max_size=3), st.text(max_size=30), st.lists(st.integers(0, 9), max_size=3)
)
def test_any_text_keeps_the_form(formula, axes, name, shape):
    spec = CaseSpec(
        CASE, formula, init_args=name, formula=formula, dynamic_axis=tuple(axes), dtypes=(name,),
        inputs=(Tensor(name, tuple(shape), name),), p0_shapes=((tuple(shape),),), warnings=({"zh": name, "en": name},),
    )  # fmt: skip
    head, body = front(requirement.text(spec))

    clean = [axis.encode("utf-8", "replace").decode() for axis in axes]
    assert [a.encode("utf-8", "replace").decode() for a in head.get("dynamic_axis", [])] == clean
    assert (head["op_name"], head["p0_shapes"]) == ("ReLU", [[shape]])
    assert "\n## 原始源码\n" in body
