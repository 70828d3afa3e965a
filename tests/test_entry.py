"""The installed commands: a reader that goes away ends them quietly."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("name", "argv"),
    [
        ("opdev", ["sim", "--help"]),
        ("opdev", ["rule", "--help"]),
        ("opdev", ["status", "--print-schema"]),
        ("opdev", ["gate", "--help"]),
        ("opdev", ["--help"]),
        ("lint", ["rules"]),
        ("lint", ["--help"]),
    ],
)
@pytest.mark.parametrize("buffered", [True, False])
def test_output_nobody_reads_is_no_fault(tmp_path, name, argv, buffered):
    code = f"import sys, opdev.entry; sys.argv = ['opdev', *sys.argv[1:]]; sys.exit(opdev.entry.{name}())"
    inner, outer = os.pipe()
    os.close(inner)
    try:
        done = subprocess.run(
            [sys.executable, *([] if buffered else ["-u"]), "-c", code, *argv], stdout=outer, stderr=subprocess.PIPE, text=True,
            cwd=tmp_path, check=False,
        )  # fmt: skip
    finally:
        os.close(outer)

    # Of those that answer for themselves some give 0: what they had to say was not wanted.
    assert done.stderr == ""
    assert done.returncode in (0, 141)
