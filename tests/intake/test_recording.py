"""The record: exact text, in place in what is there, never a confirmed answer lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from opdev.facts.intake import FIELDS
from opdev.intake import Probe, record
from opdev.intake import recording as store
from opdev.intake.recording import Existing, RecordError
from opdev.intake.resolving import Setting

READY = Probe(
    ascend_home="/opt/cann", session_script="/opt/cann/set_env.sh", bisheng="/b", npu_smi="/n", conda_env="npu",
    shmem_repo="/opt/shmem", repo_from="folder", installed=True, skills_root="/opt/skills",
    candidates=(("/usr/local/Ascend/ascend-toolkit/set_env.sh", True),),
)  # fmt: skip
RING = Setting(name="ring", around="custom-ops")
FIVE = {"cann": "session", "build_mode": "custom_ops", "torch": "yes", "perf": "yes", "perf_auto_optim": "no"}
EXACT = """\
phase0_intake:
  op_name: ring
  build_mode: independent_project
  torch_required: true
  performance_required: true
  performance_auto_optim: false
  cann_set_env: /opt/cann/set_env.sh
  cann_source_mode: session_preconfigured
  conda_env: npu
  shmem_repo: /opt/shmem
  skills_root: /opt/skills
  askquestion_completed: [1, 2, 3, 4, 5]
  cann_set_env_pending: false
  docker_container: null
  docker_workdir: null
  docker_exec_required: false
"""


def made(probe=READY, setting=RING, there=(), before=None, **answers):
    text, remarks = record({**FIVE, **answers}, probe, setting, before, sees=lambda _kind, path: path in there)
    problems = [(r.code, r.id) for r in remarks if r.kind == "problem"]
    notes = {r.code for r in remarks if r.kind == "note"}
    return (yaml.safe_load(text) or {}).get("phase0_intake") if text else None, problems, notes


def test_the_exact_text():
    text, remarks = record(FIVE, READY, RING)

    assert text == EXACT
    assert [r.code for r in remarks] == ["repo-found"]
    assert list(yaml.safe_load(text)["phase0_intake"]) == list(FIELDS)


@pytest.mark.parametrize("lacking", list(FIVE))
def test_each_of_the_five_is_needed(lacking):
    text, remarks = record({k: v for k, v in FIVE.items() if k != lacking}, READY, RING)

    assert text == ""
    assert [(r.code, r.id) for r in remarks if r.kind == "problem"] == [("missing", lacking)]


def test_optimisation_without_measurements_is_forced_off_and_told():
    values, problems, notes = made(perf="no", perf_auto_optim="yes")

    assert problems == []
    assert values["performance_auto_optim"] is False
    assert "forced-auto-optim" in notes
    assert made(perf="yes", perf_auto_optim="yes")[0]["performance_auto_optim"] is True


def test_a_path_that_comes_later_leaves_question_1_open():
    values, problems, notes = made(cann="later")

    assert problems == []
    assert (values["cann_set_env"], values["cann_source_mode"], values["cann_set_env_pending"]) == (
        "pending",
        "user_custom",
        True,
    )
    assert values["askquestion_completed"] == [2, 3, 4, 5]
    assert "cann-later" in notes


@pytest.mark.parametrize(
    ("answer", "there", "recorded", "problem"),
    [
        ("/x/set_env.sh", ("/x/set_env.sh",), "/x/set_env.sh", None),
        ("/x/set_env.sh", (), None, "no-cann-file"),
        ("/x", ("/x/set_env.sh",), "/x/set_env.sh", None),
        ("/x/", ("/x/set_env.sh",), "/x/set_env.sh", None),
        ("/x", (), None, "not-set-env"),
        ("x/set_env.sh", ("x/set_env.sh",), None, "relative-cann"),
        ("没有", (), None, "relative-cann"),
    ],
)  # fmt: skip
def test_custom_paths_are_looked_at(answer, there, recorded, problem):
    values, problems, _ = made(cann=answer, there=there)

    if problem:
        assert problems == [(problem, "cann")]
    else:
        assert (values["cann_set_env"], values["cann_source_mode"]) == (recorded, "user_custom")


def test_the_systems_cann_is_the_first_there_is():
    two = (("/a/set_env.sh", False), ("/b/set_env.sh", True))
    probe = Probe(bisheng="/b", candidates=two, shmem_repo="/r")

    assert made(probe, cann="default")[0]["cann_set_env"] == "/b/set_env.sh"
    none = Probe(bisheng="/b", candidates=(("/a/set_env.sh", False),), shmem_repo="/r")
    assert made(none, cann="default")[1] == [("no-default-cann", "cann")]


def test_without_npu_tools_a_path_is_recorded_unseen_and_told():
    values, problems, notes = made(Probe(), cann="/x/set_env.sh")

    assert problems == []
    assert values["cann_set_env"] == "/x/set_env.sh"
    assert {"cann-elsewhere", "no-container", "repo-later"} <= notes
    assert (values["shmem_repo"], values["conda_env"], values["skills_root"]) == ("pending", "none", "none")


def test_the_session_needs_a_session():
    assert made(Probe(bisheng="/b"), cann="session")[1] == [("session-unset", "cann")]
    values, problems, notes = made(Probe(bisheng="/b", ascend_home="/odd"), cann="session")
    assert (problems, values["cann_set_env"]) == ([], "")
    assert "no-script" in notes


def test_a_container_has_its_own_paths():
    there = ("/w/set_env.sh", "/w/shmem/include", "/w/shmem/src", "/w/shmem/install/set_env.sh")
    values, problems, _ = made(cann="/w/set_env.sh", container="dev_1", shmem_repo="/w/shmem", there=there)

    assert problems == []
    assert (values["docker_container"], values["docker_workdir"], values["docker_exec_required"]) == (
        "dev_1",
        "/w/shmem",
        True,
    )
    assert made(cann="/w/set_env.sh", container="dev_1")[1] == [("no-cann-inside", "cann")]
    assert made(container="a b")[1] == [("bad-container", "container")]
    assert ("relative-workdir", "workdir") in made(container="dev", workdir="w")[1]


def test_the_folder_and_question_2_agree():
    assert made(build_mode="in_tree")[1] == [("mode-folder", "build_mode")]
    assert made(setting=Setting("ring", "examples"), build_mode="in_tree")[0]["build_mode"] == "in_tree_example"
    assert made(setting=Setting("ring", "work"), build_mode="in_tree")[1] == []


@pytest.mark.parametrize("name", ["All", "1ring", "all-gather", "环"])
def test_names_that_are_none(name):
    assert made(setting=Setting(name, "custom-ops"))[1] == [("bad-name", "op_name")]


def test_recorded_values_mean_what_was_typed():
    values, _, _ = made(conda="3.10", semantics="全收集：每个 PE # 收齐", skills_root="/x: y")

    assert (values["conda_env"], values["semantics"], values["skills_root"]) == (
        "3.10",
        "全收集：每个 PE # 收齐",
        "/x: y",
    )


OLD = """\
# 启动确认 🚀
owner: 张三            # 别的键
phase0_intake:
    op_name: "ring"    # 引号留着
    reviewer: 李四
    build_mode: independent_project
    torch_required: no
    askquestion_completed:
        - 1
        - 3
    docker_container: ~
tail: [1, 2]
"""


def test_comments_quotes_and_other_keys_stay():
    text, remarks = record(FIVE, READY, RING, OLD.encode())

    assert not [r for r in remarks if r.kind == "problem"]
    assert yaml.safe_load(text)["phase0_intake"] == {**yaml.safe_load(EXACT)["phase0_intake"], "reviewer": "李四"}
    for line in (
        "# 启动确认 🚀",
        "owner: 张三            # 别的键",
        '    op_name: "ring"    # 引号留着',
        "    reviewer: 李四",
        "tail: [1, 2]",
    ):
        assert line in text.splitlines()
    again, _ = record(FIVE, READY, RING, text.encode())
    assert again == text


@pytest.mark.parametrize(
    "old",
    ["", "# 只有注释\n", "owner: x\n", "owner: x", "phase0_intake:\n", "phase0_intake: {}\n", "phase0_intake: {op_name: x, note: '1'}\n",
     "phase0_intake:\r\n  op_name: ring # c\r\n", "op_name: ring\nbuild_mode: in_tree_example\n"],
)  # fmt: skip
def test_whatever_was_there_the_record_says_what_was_answered(old):
    text, remarks = record(FIVE, READY, RING, old.encode())

    assert not [r for r in remarks if r.kind == "problem"]
    top = yaml.safe_load(text)
    found = top.get("phase0_intake", top)
    assert {k: found[k] for k in FIELDS} == yaml.safe_load(EXACT)["phase0_intake"]
    assert ("\r\n" in old) == ("\r\n" in text)
    assert text.replace("\r\n", "").count("\r") == 0
    for word in ("# 只有注释", "owner: x", "note: '1'", "# c"):
        assert (word in old) == (word in text)


@pytest.mark.parametrize("old", ["- 1\n", "{a: 1}\n", "phase0_intake: &a {op_name: ring}\nb: *a\n", "phase0_intake: [1]\n", "phase0_intake:\n  op_name: |\n    ring\n", "just text\n"])  # fmt: skip
def test_what_cannot_be_changed_in_place_is_said_or_done_right(old):
    text, remarks = record(FIVE, READY, RING, old.encode())

    if text:
        assert yaml.safe_load(text)["phase0_intake"]["conda_env"] == "npu"
    else:
        assert [r.code for r in remarks if r.kind == "problem"] == ["uneditable"]


def test_a_damaged_record_is_not_touched():
    text, remarks = record(FIVE, READY, RING, b"phase0_intake:\n  op_name: 'ring\n  torch_required: true\n")

    assert text == ""
    assert [r.code for r in remarks if r.kind == "problem"] == ["unreadable"]


def test_what_was_wrong_may_change_freely_what_was_confirmed_may_not():
    before = store.parsed(
        "/x",
        b"phase0_intake:\n  torch_required: true\n  performance_required: maybe\n  conda_env: pending\n  op_name: ring\n",
    )

    values = {"torch_required": False, "performance_required": False, "conda_env": "npu", "op_name": "ring"}
    assert store.differences(before, values) == [("torch_required", "true", "false")]


def test_encodings_and_modes_stay(tmp_path):
    path = tmp_path / "docs" / "phase0_intake.yaml"
    path.parent.mkdir()
    path.write_bytes("# 记录\nphase0_intake:\n  op_name: ring # 名字\n".encode("gb18030"))
    path.chmod(0o640)
    store.write(store.existing(str(tmp_path)), {"op_name": "ring", "torch_required": True})

    assert (
        path.read_bytes().decode("gb18030")
        == "# 记录\nphase0_intake:\n  op_name: ring # 名字\n  torch_required: true\n"
    )
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(path.parent) == ["phase0_intake.yaml"]


def test_somebody_elses_change_is_not_overwritten(tmp_path):
    before = store.existing(str(tmp_path))
    path = tmp_path / "docs" / "phase0_intake.yaml"
    path.parent.mkdir()
    path.write_text("phase0_intake:\n  op_name: other\n", encoding="utf-8")

    with pytest.raises(RecordError) as failed:
        store.write(before, {"op_name": "ring"})
    assert failed.value.key == "changed-meanwhile"
    assert "other" in path.read_text(encoding="utf-8")


def test_a_damaged_file_is_kept_beside_when_recorded_anew(tmp_path):
    path = tmp_path / "phase0_intake.yaml"
    path.write_bytes(b"phase0_intake: [1\n")
    (tmp_path / "phase0_intake.yaml.old1").write_text("older", encoding="utf-8")
    before = store.existing(str(tmp_path))

    assert before == Existing(str(path), b"phase0_intake: [1\n", before.intake, before.damaged)
    with pytest.raises(RecordError):
        store.write(before, {"op_name": "ring"})
    kept = store.write(before, {"op_name": "ring"}, anew=True)
    assert (kept, Path(kept).read_bytes()) == (f"{path}.old2", b"phase0_intake: [1\n")
    assert path.read_text(encoding="utf-8") == "phase0_intake:\n  op_name: ring\n"
