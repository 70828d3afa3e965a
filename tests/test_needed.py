"""A tool that is missing fails a test in CI and skips it elsewhere, with what to install; nothing is skipped unsaid."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from needed import held_by_modes

HERE = Path(__file__).parent
CASES = """
import pytest
from needed import needs, package


@needs("sh", "no-such-program")
def test_program():
    pass


@pytest.mark.skipif(False, reason="")
def test_there():
    pass
"""
BOX = """
import box


def test_box(tmp_path):
    with box.box(tmp_path, str(tmp_path / "cache")):
        pass
"""


def run(tmp_path, text, *options, **environment):
    """pytest on a test file beside the real conftest; its exit status and output."""
    (tmp_path / "conftest.py").write_text((HERE / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "needed.py").write_text((HERE / "needed.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  needs: programs\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(text, encoding="utf-8")
    env = {k: v for k, v in os.environ.items() if k not in ("CI", "OPDEV_NO_CONTAINERS") and not k.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-r", "s", "-p", "no:cacheprovider", *options, "test_it.py"], cwd=tmp_path,
        env={**env, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(HERE / "runs"), **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "1")])
def test_a_missing_program_fails_in_ci_and_is_named_elsewhere(tmp_path, options):
    for ci, status, count in (
        ("", 0, "1 passed, 1 skipped"),
        ("true", 1, "1 passed, 1 error"),
        ("false", 0, "1 skipped"),
    ):
        code, out = run(tmp_path, CASES, *options, CI=ci)
        assert (code, count in out) == (status, True), out
        assert "no-such-program is missing: apt-get install no-such-program" in out


def test_a_missing_package_fails_in_ci_and_skips_its_module_elsewhere(tmp_path):
    text = 'from needed import package\n\npackage("no_such_package")\n'
    code, out = run(tmp_path, text, CI="1")
    assert code != 0
    assert "no_such_package is missing" in out
    assert "1 skipped" in run(tmp_path, text)[1]


def test_containers_are_left_out_for_a_reason_alone_and_the_summary_says_it(tmp_path):
    nothing = tmp_path / "bin"
    nothing.mkdir()
    code, out = run(tmp_path, BOX, CI="true", PATH=str(nothing))
    assert code == 1
    assert "podman is missing" in out
    code, out = run(tmp_path, BOX, CI="true", OPDEV_NO_CONTAINERS="the build farm has no namespaces")
    assert code == 0
    assert "CONTAINERS WERE NOT TESTED (OPDEV_NO_CONTAINERS): the build farm has no namespaces" in out


def test_a_kernel_without_namespaces_is_said_to_be_one(tmp_path):
    """An engine that fails as podman does there, and the kernel's own word for it."""
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\ncat >/dev/null\necho 'cannot clone: Operation not permitted' >&2\nexit 125\n")
    engine.chmod(0o755)
    code, out = run(tmp_path, BOX, CI="true", OPDEV_TEST_ENGINE=str(engine))
    assert code == 1
    assert "cannot clone: Operation not permitted" in out
    assert "OPDEV_NO_CONTAINERS=REASON" in out
    refusing = BOX.replace(
        "import box\n", "import box\n\nbox._no_namespaces = lambda: 'unshare: Operation not permitted'\n"
    )
    code, out = run(tmp_path, refusing, CI="true", OPDEV_TEST_ENGINE=str(engine))
    assert "this kernel lets no container be started (unshare: Operation not permitted)" in out


def test_modes_hold_root_back_where_a_test_asks_for_it(tmp_path):
    tmp_path.chmod(0o555)
    done = subprocess.run(
        held_by_modes("sh", "-c", 'echo x >"$0/file"', str(tmp_path)), capture_output=True, check=False
    )
    tmp_path.chmod(0o755)

    assert done.returncode != 0
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_skipped_for_want_of_a_tool_but_by_the_one_that_fails_in_ci():
    wanting = re.compile(r"importorskip\(|skipif\([^)]*(?:which|find_spec)|skip\([^)]*(?:install|missing|lacks)")
    found = [
        f"{path.relative_to(HERE)}:{number}"
        for path in HERE.rglob("*.py")
        if "clean" not in path.parts and path.name not in ("needed.py", "test_needed.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if wanting.search(line)
    ]

    assert found == []
