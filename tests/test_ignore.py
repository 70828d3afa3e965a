"""gitignore patterns mean here what they mean to git."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opdev.config import Configs
from opdev.ignore import Patterns
from opdev.lint.collect import collect

NAMES = ["a", "b.sh", "build", "x.cpp", "ab", "run.sh", "中.sh", ".h.sh", "a b.sh", "[x].sh"]
PIECES = ["a", "b", "*", "?", "**", "/", "!", "build", ".sh", "x.cpp", "[ab]", "[!a]", "[^b]", "[a-c]", "[[:alpha:]]", "[[:digit:]-]", "[]a]", "\\", "中", " ", "#", "\\ ", "[", "]",
          "run.sh", "*.sh", "/**/", "**/", "/**", "-", "."]  # fmt: skip
LINES_OF_PEOPLE = [
    "build/", "!build/", "*.sh", "!run.sh", "/a", "a/b.sh", "a/**", "**/a", "a/*", "!*/", "*", "!a/", "# c", "\\#", "\\!a", "b.sh ",
    "b.sh\\ ", "*/a", "a/**/b.sh", "[", "**", "a**b", "/*", "!/a", "/", "//", "!", "build/*", "!build/x.cpp", "!a/*", "!a/b.sh",
]  # fmt: skip
LINES = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join),
    st.sampled_from(LINES_OF_PEOPLE),
)
PATHS = st.lists(
    st.tuples(st.lists(st.sampled_from(["a", "build", "ab", "中"]), max_size=3), st.sampled_from(NAMES)).map(
        lambda p: "/".join([*p[0], p[1]])
    ),
    min_size=1,
    max_size=6,
    unique=True,
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    return folder


def git_ignores(repository, lines, paths):
    (repository / ".gitignore").write_bytes("\n".join(lines).encode() + b"\n")
    done = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=repository, input="\0".join(paths).encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return set(filter(None, done.stdout.decode().split("\0")))


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES, max_size=5), PATHS)
def test_random_patterns_ignore_what_git_ignores(repository, lines, paths):
    ours = {p for p in paths if Patterns(lines).match(p)}

    assert ours == git_ignores(repository, lines, paths)


@settings(max_examples=200, deadline=None)
@given(st.lists(LINES, max_size=5), PATHS)
def test_walking_decisions_are_those_of_whole_paths(lines, paths):
    """Asking folder by folder, as a walk does, is asking for the whole path."""
    patterns = Patterns(lines)
    for path in paths:
        parts = path.split("/")
        above = any(patterns.decide("/".join(parts[:n]), folder=True) for n in range(1, len(parts)))
        assert patterns.match(path) == (above or patterns.decide(path) is True)


@pytest.mark.parametrize(
    ("lines", "path", "folder", "ignored"),
    [
        (["build/"], "build", False, False),
        (["build/"], "build", True, True),
        (["build/"], "src/build/x.cpp", False, True),
        (["/build"], "src/build", True, False),
        (["*", "!*/", "!*.sh"], "a/x.cpp", False, True),
        (["*", "!*/", "!*.sh"], "a/x.sh", False, False),
        (["build/", "!build/keep.sh"], "build/keep.sh", False, True),
        (["build/*", "!build/keep.sh"], "build/keep.sh", False, False),
        (["?.sh"], "中.sh", False, False),
        (["中*"], "a/中文.sh", False, True),
        (["[z-a]"], "a", False, False),
        (["[[:nonsense:]]"], "a", False, False),
        (["!"], "a", False, False),
        (["/"], "a", False, False),
        ([], "a", False, False),
    ],
)
def test_cases(lines, path, folder, ignored):
    assert Patterns(lines).match(path, folder=folder) is ignored


def test_a_file_may_have_a_mark_windows_line_ends_odd_blanks_and_bytes():
    patterns = Patterns.of_file(b"\xef\xbb\xbfa.sh\r\nb.sh \r\nc\\ \nd\x0ce\n\xffoo\n")

    assert [patterns.match(p) for p in ("a.sh", "b.sh", "b.sh ", "c ", "c", "d", "e", "d\x0ce", "\udcffoo")] == [
        True, True, False, True, False, False, False, True, True,
    ]  # fmt: skip


# A tree to be walked: every file below it that git would not ignore is found, and none else.
GITIGNORES = st.dictionaries(
    st.sampled_from(["", "a", "a/build", "build", "中"]), st.lists(LINES, min_size=1, max_size=3), max_size=3
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(GITIGNORES, PATHS)
def test_nested_gitignores_are_honoured_as_git_does(tmp_path_factory, gitignores, paths):
    root = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    files = [p for p in paths if p.endswith((".sh", ".cpp")) and not any(q.startswith(p + "/") for q in paths)]
    for path in files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x\n")
    for folder, lines in gitignores.items():
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / ".gitignore").write_bytes("\n".join(lines).encode() + b"\n")

    found = collect([str(root)], Configs(isolated=True))

    listed = subprocess.run(
        ["git", "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"],
        cwd=root, capture_output=True, check=True,
    ).stdout.decode().split("\0")  # fmt: skip
    assert found.problems == []
    assert [os.path.relpath(f.path, root) for f in found.files] == sorted(p for p in listed if p in files)
