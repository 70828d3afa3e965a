"""`opdev new`: what it refuses, what it leaves alone, what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from needed import held_by_modes

from opdev.scaffold.cli import main

BASE = ["--kind", "custom", "--dtypes", "fp16"]


def run(capsys, *argv):
    status = main("new", list(argv))
    out = capsys.readouterr()
    return status, out.out, out.err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["My-Op", *BASE], "my_op would do"),
        (["9op", *BASE], "my_op would do"),
        (["../x", *BASE], "x would do"),
        (["x" * 33, *BASE], "at most 32"),
        (["scripts", *BASE], "shared folder"),
        (["template", *BASE], "C++ keyword"),
        (["op", "--kind", "custom", "--dtypes", "fp17"], "fp17 is no dtype"),
        (["op", "--kind", "reduce-scatter", "--dtypes", "uint8"], "does not support uint8"),
        (["op", "--kind", "custom", "--dtypes", ","], "no dtype was given"),
        (["op", *BASE, "--dir", "nowhere"], "no such folder"),
        (["op", *BASE, "--build-mode", "in_tree_example"], "no SHMEM tree"),
        (["op", *BASE, "--no-perf", "--auto-optim"], "performance phase"),
        (["op", *BASE, "--docker-container", "c"], "go together"),
        (["op", *BASE, "--shmem-repo", "relative"], "absolute path"),
        (["op", "--kind", "custom", "--dtypes", "uint16", "--torch"], "uint16"),
    ],
)
def test_wrong_usage_writes_nothing(tmp_path, monkeypatch, capsys, argv, said):
    monkeypatch.chdir(tmp_path)

    status, out, err = run(capsys, *argv)

    assert (status, out) == (2, "")
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_dtypes_are_folded_and_keep_their_order(tmp_path, capsys):
    run(capsys, "op", "--kind", "custom", "--dtypes", "bf16,half", "float", "fp16", "--dir", str(tmp_path))

    record = json.loads((tmp_path / "custom-ops/op/.opdev/template.json").read_text(encoding="utf-8"))
    assert record["options"]["dtypes"] == ["bfloat16", "float16", "float32"]


def test_a_folder_with_files_is_refused(tmp_path, capsys):
    kept = tmp_path / "custom-ops" / "op" / "notes.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine", encoding="utf-8")

    status, _, err = run(capsys, "op", *BASE, "--dir", str(tmp_path))

    assert status == 1
    assert "notes.txt" in err
    assert [p.name for p in kept.parent.iterdir()] == ["notes.txt"]
    assert run(capsys, "op", *BASE, "--dir", str(tmp_path), "--lang", "zh")[2].count("已有内容") == 1


def test_force_adds_and_never_overwrites(tmp_path, capsys):
    root = tmp_path / "custom-ops" / "op"
    root.mkdir(parents=True)
    (root / "README.md").write_text("mine", encoding="utf-8")

    status, out, _ = run(capsys, "op", *BASE, "--dir", str(tmp_path), "--force")

    assert status == 0
    assert "untouched" in out
    assert (root / "README.md").read_text(encoding="utf-8") == "mine"
    assert (root / "src" / "main.cpp").is_file()


def test_a_file_in_the_folders_place_is_said(tmp_path, capsys):
    (tmp_path / "custom-ops").mkdir()
    (tmp_path / "custom-ops" / "op").write_text("", encoding="utf-8")

    assert run(capsys, "op", *BASE, "--dir", str(tmp_path), "--force")[0] == 1


def test_shared_scripts_are_written_once(tmp_path, capsys):
    run(capsys, "one", *BASE, "--dir", str(tmp_path))
    shared = tmp_path / "custom-ops" / "scripts" / "build.sh"
    shared.write_text("#!/bin/bash\n# ours\n", encoding="utf-8")

    status, out, _ = run(capsys, "two", *BASE, "--dir", str(tmp_path))

    assert status == 0
    assert "build.sh" in out
    assert "# ours" in shared.read_text(encoding="utf-8")


def test_dry_run_lists_and_writes_nothing(tmp_path, capsys):
    status, out, _ = run(capsys, "op", *BASE, "--dir", str(tmp_path), "--dry-run")

    assert status == 0
    assert "docs/design.md" in out
    assert list(tmp_path.iterdir()) == []


def test_inside_custom_ops_the_repository_is_above(tmp_path, monkeypatch, capsys):
    (tmp_path / "custom-ops" / "other").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "custom-ops" / "other")

    assert run(capsys, "op", *BASE)[0] == 0
    assert (tmp_path / "custom-ops" / "op" / "CMakeLists.txt").is_file()


def test_the_intake_before_it_is_followed(tmp_path, capsys):
    home = tmp_path / "custom-ops" / "op" / "docs" / "phase0_intake.yaml"
    home.parent.mkdir(parents=True)
    home.write_text(
        "phase0_intake:\n  op_name: op\n  build_mode: independent_project\n  torch_required: true\n"
        "  performance_required: false\n  performance_auto_optim: false\n  shmem_repo: /srv/shmem\n"
        "  skills_root: pending\n  docker_container: npu\n  docker_workdir: /w\n",
        encoding="utf-8",
    )

    status, _, err = run(capsys, "op", *BASE, "--dir", str(tmp_path), "--perf")
    assert (status, "performance_required = false" in err) == (2, True)
    assert run(capsys, "op", *BASE, "--dir", str(tmp_path))[0] == 0

    design = (tmp_path / "custom-ops/op/docs/design.md").read_text(encoding="utf-8")
    for line in ("torch_required: true", "performance_required: false", "shmem_repo: /srv/shmem",
                 "skills_root: /srv/shmem/.agents/skills", "docker_container: npu", "op_name: phase0_intake"):  # fmt: skip
        assert f" {line}\n" in design
    assert (tmp_path / "custom-ops/op/scripts/torch_test_op.py").is_file()


def test_an_example_is_put_into_the_trees_lists_once(tmp_path, capsys):
    for name in ("include", "src", "examples/torch_binding"):
        (tmp_path / name).mkdir(parents=True)
    listed = tmp_path / "examples" / "CMakeLists.txt"
    listed.write_bytes(b"# ring is to come\r\nadd_subdirectory(other)")
    binding = tmp_path / "examples" / "torch_binding" / "CMakeLists.txt"
    binding.write_bytes(b"add_library(aclshmem_torch SHARED\r\n    src/torch_bindings.cpp\r\n)\r\n")
    argv = ["ring", *BASE, "--dir", str(tmp_path), "--build-mode", "in_tree_example", "--torch"]

    status, out, _ = run(capsys, *argv)
    again, out_again, _ = run(capsys, *argv, "--force")

    assert (status, again) == (0, 0)
    assert listed.read_bytes() == b"# ring is to come\r\nadd_subdirectory(other)\r\nadd_subdirectory(ring)\r\n"
    assert b"src/torch_bindings.cpp\r\n    src/torch_bind_ring.cpp\r\n)" in binding.read_bytes()
    assert out.count("registered:") == 2
    assert "registered" not in out_again


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    tmp_path.chmod(0o500)
    argv = held_by_modes(sys.executable, "-m", "opdev.cli", "new", "op", *BASE, "--dir", str(tmp_path))
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    finally:
        tmp_path.chmod(0o700)

    assert done.returncode == 1
    assert str(Path(tmp_path, "custom-ops")) in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_whole_is_not_written(tmp_path, capsys):
    (tmp_path / "custom-ops").mkdir()
    # Where a folder for all operators should go, there is a file.
    (tmp_path / "custom-ops" / "scripts").write_text("mine")
    status, _, err = run(
        capsys, "mover", "--kind", "put-get", "--dtypes", "float16", "--dir", str(tmp_path), "--lang", "en"
    )

    assert status == 1
    assert "cannot be written" in err
    assert [p.name for p in (tmp_path / "custom-ops").iterdir()] == ["scripts"]
