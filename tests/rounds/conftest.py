"""Puts ``trees`` within reach of the tests here, and gives them an operator's folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from trees import write


@pytest.fixture
def op(tmp_path):
    """An operator's folder, of files of every sort."""
    root = tmp_path / "repo" / "custom-ops" / "demo"
    write(root, {
        "docs/design.md": "# 设计\n", "docs/performance_report.md": "rounds\n", "src/demo_kernel.cpp": "int a;\n", "src/main.cpp": "int b;\n",
        "scripts/run.sh": "#!/bin/sh\n", "scripts/数据.py": "print()\n", "CMakeLists.txt": "project(demo)\n", "build/bin/demo": b"\x7fELF\0",
        "data/perf/x.log": "log\n", "output/0.bin": b"\0\1", ".git/HEAD": "ref\n", "baseline/src/b.cpp": "int c;\n", "baseline/build/x": "x",
    })  # fmt: skip
    (root / "scripts/run.sh").chmod(0o755)
    (root / "src/link.h").symlink_to("main.cpp")
    (root / "empty").mkdir(mode=0o750)
    os.chmod(root / "empty", 0o750)
    return root
