"""SHMEM's own files against git's index: the same answer as git's, without git, for every form of index."""

from __future__ import annotations

import os
import subprocess

import pytest
from build import finished
from needed import needs

from opdev.phases import upstream
from opdev.phases.evidence import Evidence
from opdev.phases.gates import gate
from opdev.phases.git_index import changed
from opdev.project.operators import Operator
from opdev.project.places import Places

pytestmark = needs("git")
BELOW = ("docs/", "include/", "src/")


def git(repo, *words):
    quiet = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
        cwd=repo,
        env=quiet,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def made(repo, *words):
    repo.mkdir(parents=True, exist_ok=True)
    git(repo, "init", "-q", *words)
    for name in (
        "docs/a.md",
        "docs/中文 名.md",
        "docs/deep/er/b.md",
        "include/x.h",
        "src/x.cpp",
        "README.md",
        f"docs/{'n' * 150}.md",
    ):
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(f"{name}\n", encoding="utf-8")
    os.symlink("a.md", repo / "docs/link.md")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "x")
    return repo


def of_git(repo):
    """What git says; it looks at contents, too."""
    return sorted(name for name in git(repo, "diff", "--name-only", "-z", "--", *BELOW).split("\0") if name)


@pytest.mark.parametrize("version", [2, 4])
@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_the_answer_is_gits(tmp_path, version, form):
    repo = made(tmp_path / "r", f"--object-format={form}")
    git(repo, "update-index", "--index-version", str(version))
    assert changed(str(repo), BELOW) == of_git(repo) == []

    (repo / "docs/a.md").write_text("x\n")
    (repo / "docs/deep/er/b.md").unlink()
    (repo / "README.md").write_text("not asked for\n")
    (repo / "docs/new.md").write_text("nobody's yet\n")
    os.utime(repo / "docs/中文 名.md", (1, 1))  # Touched, and the same.
    (repo / "docs/link.md").unlink()
    os.symlink("deep", repo / "docs/link.md")
    (repo / "src/x.cpp").write_text("src/y.cpp\n")  # The same size.
    os.utime(repo / "src/x.cpp", (2, 2))
    expected = ["docs/a.md", "docs/deep/er/b.md", "docs/link.md", "src/x.cpp"]

    assert sorted(changed(str(repo), BELOW)) == of_git(repo) == expected
    git(repo, "add", "-A")
    assert changed(str(repo), BELOW) == []


def test_flags_of_entries(tmp_path):
    repo = made(tmp_path / "r")
    for name in ("docs/a.md", "src/x.cpp", "include/x.h"):
        (repo / name).write_text("other\n")
    git(repo, "update-index", "--assume-unchanged", "docs/a.md")
    git(repo, "update-index", "--skip-worktree", "src/x.cpp")
    (repo / "docs/later.md").write_text("x\n")
    git(repo, "add", "-N", "docs/later.md")

    assert changed(str(repo), BELOW) == ["include/x.h"]


def test_line_ends_of_the_platform_are_no_change(tmp_path):
    repo = made(tmp_path / "r")
    (repo / "docs/a.md").write_bytes(b"docs/a.md\r\n")
    assert changed(str(repo), BELOW) == []
    (repo / "docs/a.md").write_bytes(b"docs/b.md\r\n")
    assert changed(str(repo), BELOW) == ["docs/a.md"]


def test_a_linked_worktree_has_an_index_of_its_own(tmp_path):
    repo = made(tmp_path / "r", "--object-format=sha256")
    git(repo, "worktree", "add", "-q", str(tmp_path / "w"))
    (tmp_path / "w/docs/a.md").write_text("x\n")

    assert changed(str(tmp_path / "w"), BELOW) == ["docs/a.md"]
    assert changed(str(repo), BELOW) == []


def test_what_cannot_be_told_is_not(tmp_path):
    repo = made(tmp_path / "r")
    (repo / "docs/a.md").write_text("x\n")
    git(repo, "update-index", "--split-index")
    assert changed(str(repo), BELOW) is None
    git(repo, "update-index", "--no-split-index")
    assert changed(str(repo), BELOW) == ["docs/a.md"]
    (repo / ".gitattributes").write_text("*.md filter=lfs\n")
    assert changed(str(repo), BELOW) == []
    assert changed(str(tmp_path), BELOW) is None
    (tmp_path / ".git").write_bytes(b"\xff\xfe")
    assert changed(str(tmp_path), BELOW) is None


def test_a_damaged_index_is_never_a_fault(tmp_path):
    repo = made(tmp_path / "r")
    index = repo / ".git/index"
    data = index.read_bytes()
    for cut in range(0, len(data), 7):
        index.write_bytes(data[:cut])
        changed(str(repo), BELOW)
        index.write_bytes(data[:cut] + b"\xff" * (len(data) - cut))
        changed(str(repo), BELOW)


@pytest.fixture
def op(tmp_path):
    """A finished operator within a checkout of SHMEM."""
    found = finished(tmp_path / "shmem", "allgather")
    made(tmp_path / "shmem")
    return found


def check(op):
    return upstream.untouched(Evidence(Operator(op.root.as_posix(), Places())))


def test_the_gate_of_delivery_names_what_was_edited(op, tmp_path):
    assert check(op).state == "ok"
    (tmp_path / "shmem/docs/a.md").write_text("x\n")
    (tmp_path / "shmem/src/x.cpp").write_text("x\n")

    one = check(op)
    (same,) = [c for c in gate(Evidence(Operator(op.root.as_posix(), Places())), "7").checks if c.id == one.id]
    assert same == one
    assert (one.state, "docs/a.md, src/x.cpp" in one.detail["zh"]) == ("failed", True)
    assert one.place.path.endswith("shmem/docs/a.md")
    # A gap that the library has to fill is the design's to name.
    op.replace("docs/design.md", "| 可复用 |", "| 需新实现 |")
    assert "src/x.cpp" not in check(op).detail["en"]


def test_outside_a_checkout_nothing_is_said(tmp_path):
    assert check(finished(tmp_path, "allgather")).state == "not-applicable"
