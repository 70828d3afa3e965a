"""The installed commands: a reader that goes away ends them quietly."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from opdev import cli


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


def help_of(*argv, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "opdev.cli", *argv], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_help_names_every_command_in_the_language_asked_for(lang):
    said = help_of("--help", OPDEV_LANG=lang)
    code = (Path(cli.__file__)).read_text(encoding="utf-8")
    named = set(re.findall(r"^    ([a-z]+) {2,}", said, re.MULTILINE))

    assert named == {*cli._COMMANDS, "rule"}
    # Whatever is dispatched is listed, and the other way round.
    assert all(f'"{name}"' in code.partition("def main(")[2] for name in cli._COMMANDS)
    assert ("算子" in said) == (lang == "zh")


def test_the_language_may_stand_before_the_command():
    assert "精度标准" in help_of("--lang", "zh", "precision", "--help", OPDEV_LANG="en")
    assert "规则页" in help_of("--lang", "zh", "rule", "--help", OPDEV_LANG="en")
