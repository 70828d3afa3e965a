"""What a user may get wrong: each is said before anything runs, with the place and what to do, and none is a traceback."""

from __future__ import annotations

import pytest
from fakes import of

WRONG = [
    (("run", "9"), "no phase 9; there are all, 0, 1"),
    (("run", "codee"), "no phase codee"),
    (("run", "3", "--pes", "0"), "--pes is a whole number from 1 to 1024"),
    (("run", "3", "--pes", "2,,8"), "--pes is a whole number from 1 to 1024"),
    (("run", "3", "--op", "nowhere"), "nowhere: no such folder"),
    (("run", "3", "--op", "CMakeLists.txt"), "CMakeLists.txt is a file"),
    (("run", "3", "--op", "../.."), "Name one with --op"),
    (("run", "3", "--executor", "dockr"), "invalid choice: 'dockr'"),
    (("run", "3", "--executor", "docker"), "no container is named"),
    (("run", "3", "--container", "gone", "--handover"), "gone"),
    (("run", "3", "--container", "gone"), "as [run] engine, which was not run"),
]


@pytest.mark.parametrize(("argv", "said"), WRONG, ids=[" ".join(w[0]) for w in WRONG])
def test_a_wrong_command_line_is_said_and_starts_nothing(make, argv, said):
    op = make()
    other = make("other")
    (op.repo / "engine").write_text("#!/bin/sh\necho 'Error: No such container: gone' >&2\nexit 1\n")
    (op.repo / "engine").chmod(0o755)
    (op.repo / "opdev.toml").write_text(f"[run]\nengine = ['{op.repo}/engine']\n")

    done = op.cli(*argv)

    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert op.runs() == other.runs() == []


def test_where_phases_cannot_run_it_is_said(make, tmp_path):
    """The command line on a system that is no Linux."""
    op = make()
    # What is imported first may look at the system itself.
    (tmp_path / "sitecustomize.py").write_text("import sys\nimport opdev.runs.cli\nsys.platform = 'darwin'\n")

    for lang, said in (("en", "phases run on Linux only, on the CPU stand-in too"), ("zh", "需要 Linux")):
        done = op.cli("run", "3", "--executor", "sim", "--lang", lang, PYTHONPATH=str(tmp_path))

        assert done.returncode == 2
        assert said in done.stderr
    assert op.runs() == []


@pytest.mark.parametrize(
    ("design", "said"),
    [
        (b"", "design.md"),
        (b"\xff\xfe\x00\x01" * 200, "design.md"),
        (b"# x\n\n## 2. Canonical DSL\n\n```yaml\nmeta:\n  op_name: demo\n bad: [\n```\n", "docs/design.md:"),
        (None, "docs/design.md"),
    ],
    ids=["empty", "binary", "bad-yaml", "folder"],
)
def test_a_broken_design_is_the_gates_to_say(make, design, said):
    op = make()
    if design is None:
        (op.root / "docs/design.md").mkdir()
    else:
        op.write("docs/design.md", design)

    done = op.cli("run", "1")

    assert done.returncode == 1
    assert said in done.stdout
    assert "gate closed" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    # Whatever it is, it is the user's and stays.
    if design is not None:
        assert (op.root / "docs/design.md").read_bytes() == design


def test_a_broken_record_of_the_intake_is_no_missing_one(make):
    op = make()
    op.write("docs/phase0_intake.yaml", "phase0_intake: [1,\n")

    run, found = op.go("3")

    assert run.status.now == "blocked"
    assert "docs/phase0_intake.yaml" in of(found, "phase-ended")[0]["why"]["en"]
    assert "--reconfirm" in of(found, "manual")[0]["what"]["en"]


def test_a_folder_below_the_operator_means_the_operator(make):
    op = make()
    op.write("docs/design.md", "x\n")

    done = op.cli("run", "2", "--op", "docs")

    assert done.stdout.startswith("demo: run 2")
