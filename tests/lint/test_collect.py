"""Which files are linted: walked once, ignored folders never entered, odd trees survived."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from opdev.config import Configs
from opdev.lint import collect as module
from opdev.lint.collect import ALWAYS_SKIPPED, collect
from opdev.lint.formats import NAMES


def make(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x\n")


def found(root, *paths, **options):
    result = collect([str(root / p) for p in paths] or [str(root)], Configs(), **options)
    assert result.problems == []
    return [os.path.relpath(f.path, root) for f in result.files]


@pytest.fixture
def entered(monkeypatch):
    """The folders that were looked into."""
    seen = []
    real = os.scandir

    def scandir(folder):
        seen.append(folder)
        return real(folder)

    monkeypatch.setattr(module.os, "scandir", scandir)
    return seen


def test_files_of_known_kinds_in_path_order_with_their_metadata(tmp_path):
    make(tmp_path, "b.sh", "a/z.cpp", "a/CMakeLists.txt", "a.bin", "c.txt", "Makefile", "a/b/c.PY", ".hidden.sh")

    result = collect([str(tmp_path)], Configs())

    assert [os.path.relpath(f.path, tmp_path) for f in result.files] == [
        ".hidden.sh", "a/CMakeLists.txt", "a/b/c.PY", "a/z.cpp", "b.sh",
    ]  # fmt: skip
    stat = os.stat(tmp_path / "b.sh")
    assert (result.files[-1].mtime_ns, result.files[-1].size) == (stat.st_mtime_ns, 2)


def test_a_file_named_twice_and_through_its_folder_is_taken_once(tmp_path):
    make(tmp_path, "a/x.sh")

    assert found(tmp_path, "a/x.sh", "a", "a/../a/x.sh", "") == ["a/x.sh"]


def test_links_between_folders_are_not_followed_and_loops_do_no_harm(tmp_path):
    make(tmp_path, "a/x.sh", "real/y.sh")
    os.symlink(tmp_path, tmp_path / "a" / "up", target_is_directory=True)
    os.symlink("../a", tmp_path / "a" / "self", target_is_directory=True)
    os.symlink(tmp_path / "real", tmp_path / "linked.sh", target_is_directory=True)
    os.symlink("nowhere.sh", tmp_path / "broken.sh")
    os.symlink("../real/y.sh", tmp_path / "a" / "y.sh")

    assert found(tmp_path) == ["a/x.sh", "a/y.sh", "real/y.sh"]


def test_a_link_to_itself_is_said_not_hidden(tmp_path):
    os.symlink("loop.sh", tmp_path / "loop.sh")
    make(tmp_path, "x.sh")

    result = collect([str(tmp_path)], Configs())

    assert [os.path.basename(f.path) for f in result.files] == ["x.sh"]
    assert [(os.path.basename(p), "symbolic links" in why) for p, why in result.problems] == [("loop.sh", True)]


def test_an_ignored_folder_of_20000_files_is_never_entered(tmp_path, entered):
    make(tmp_path, "x.sh")
    build = tmp_path / "build"
    for part in range(20):
        (build / f"p{part}").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("build/\n")
    for number in range(20_000):
        os.close(os.open(build / f"p{number % 20}" / f"{number}.cpp", os.O_CREAT | os.O_WRONLY))

    assert found(tmp_path) == ["x.sh"]
    assert entered == [str(tmp_path)]

    (tmp_path / ".gitignore").unlink()
    (tmp_path / "opdev.toml").write_text('exclude = ["build/"]\n')
    entered.clear()
    assert found(tmp_path) == ["x.sh"]
    assert entered == [str(tmp_path)]


def test_folders_that_are_nobodys_are_never_entered(tmp_path, entered):
    make(tmp_path, *(f"{name}/x.sh" for name in ALWAYS_SKIPPED), "x.sh")

    assert found(tmp_path) == ["x.sh"]
    assert entered == [str(tmp_path)]


def test_nested_gitignores_and_what_they_take_back(tmp_path):
    (tmp_path / ".git").mkdir()
    make(
        tmp_path,
        "a.sh",
        "keep.sh",
        "sub/a.sh",
        "sub/keep.sh",
        "sub/deep/a.sh",
        "out/a.sh",
        "out/keep.sh",
        "gen/x/a.sh",
        "gen/x/keep.sh",
    )
    (tmp_path / ".gitignore").write_text("*.sh\n!keep.sh\nout/\ngen/*\n!gen/x/\n")
    (tmp_path / "sub" / ".gitignore").write_text("!a.sh\nkeep.sh\n")
    (tmp_path / "sub" / "deep" / ".gitignore").write_text("/a.sh\n")
    (tmp_path / "out" / ".gitignore").write_text("!*\n")

    assert found(tmp_path) == ["gen/x/keep.sh", "keep.sh", "sub/a.sh"]
    assert found(tmp_path, "sub") == ["sub/a.sh"]
    assert found(tmp_path, "sub/deep") == []


def test_what_is_named_outright_is_taken_whatever_ignores_it(tmp_path):
    (tmp_path / ".git").mkdir()
    make(tmp_path, "out/a.sh", "out/b.sh", "a.txt")
    (tmp_path / ".gitignore").write_text("out/\n")

    assert found(tmp_path) == []
    assert found(tmp_path, "out/a.sh", "a.txt") == ["a.txt", "out/a.sh"]
    assert found(tmp_path, "out") == ["out/a.sh", "out/b.sh"]


def test_exclude_of_a_file_named_outright_counts_when_asked(tmp_path):
    make(tmp_path, "gen/a.sh", "b.sh")
    (tmp_path / "opdev.toml").write_text('exclude = ["gen/"]\n')

    assert found(tmp_path) == ["b.sh"]
    assert found(tmp_path, "gen/a.sh") == ["gen/a.sh"]
    assert found(tmp_path, "gen/a.sh", "b.sh", force_exclude=True) == ["b.sh"]


@pytest.mark.parametrize("mark", ["folder", "file"])
def test_a_repository_does_not_hear_the_one_around_it(tmp_path, mark):
    make(tmp_path, "a.sh", "inner/a.sh", "inner/sub/a.sh")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("a.sh\n")
    if mark == "folder":
        (tmp_path / "inner" / ".git").mkdir()
    else:
        (tmp_path / "inner" / ".git").write_text("gitdir: ../.git/modules/inner\n")

    assert found(tmp_path) == ["inner/a.sh", "inner/sub/a.sh"]
    assert found(tmp_path, "inner") == ["inner/a.sh", "inner/sub/a.sh"]
    assert found(tmp_path, "inner/sub") == ["inner/sub/a.sh"]


def test_outside_a_repository_the_folders_above_do_not_count(tmp_path):
    make(tmp_path, "sub/a.sh")
    (tmp_path / ".gitignore").write_text("a.sh\n")

    assert found(tmp_path) == []
    assert found(tmp_path, "sub") == ["sub/a.sh"]


def test_respect_gitignore_can_be_off_for_a_part(tmp_path):
    make(tmp_path, "a.sh", "sub/a.sh")
    (tmp_path / ".gitignore").write_text("a.sh\n")
    (tmp_path / "opdev.toml").write_text("respect-gitignore = false\n")

    assert found(tmp_path) == ["a.sh", "sub/a.sh"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_not_utf8(tmp_path):
    os.makedirs(os.fsencode(tmp_path) + b"/custom-ops/op\xff")
    for name in (b"custom-ops/op\xff/r\xe9.sh", b"custom-ops/op\xff/gone\xff.sh", b"\xd6\xd0.sh"):
        with open(os.fsencode(tmp_path) + b"/" + name, "wb") as file:
            file.write(b"IPPORT=tcp://127.0.0.1:27010\n")
    (tmp_path / ".gitignore").write_bytes(b"gone\xff.sh\n")

    assert [os.fsencode(p) for p in found(tmp_path)] == [b"custom-ops/op\xff/r\xe9.sh", b"\xd6\xd0.sh"]

    report = tmp_path / "report"
    for name in NAMES:
        done = subprocess.run(
            [sys.executable, "-m", "opdev.lint.cli", "--no-cache", "--isolated", "--select", "hardcoded-endpoint", "--profile", "custom-ops",
             "--format", name, "--output", str(report), "."],
            cwd=tmp_path, capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (1, b""), name
        text = report.read_bytes().decode()
        if name in ("json", "gitlab", "sarif", "rdjson"):
            json.loads(text)
    done = subprocess.run(
        [sys.executable, "-m", "opdev.lint.cli", "--show-files"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.stdout == b"custom-ops/op\\udcff/r\\udce9.sh\n\\udcd6\\udcd0.sh\n"


def test_what_cannot_be_looked_at_is_said(tmp_path, monkeypatch):
    make(tmp_path, "a/x.sh", "b/y.sh")
    real = os.scandir

    def refuse(folder):
        if folder.endswith("/a"):
            raise PermissionError(13, "Permission denied", folder)
        return real(folder)

    monkeypatch.setattr(module.os, "scandir", refuse)
    result = collect([str(tmp_path), str(tmp_path / "none")], Configs())

    assert [os.path.relpath(f.path, tmp_path) for f in result.files] == ["b/y.sh"]
    assert result.problems == [
        (str(tmp_path / "a"), "Permission denied"), (str(tmp_path / "none"), "No such file or directory"),
    ]  # fmt: skip
