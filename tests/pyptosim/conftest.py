"""Puts ``scaled`` within reach of the tests here, and gives them operators."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scaled import GOLDEN, HEAD, IMPL, Operator, wheels


@pytest.fixture
def bare(tmp_path):
    """An operator run by this Python, which has no pypto."""
    made = Operator(tmp_path / "custom" / "scale", sys.executable, tmp_path / "cache")
    for name, text in (("scale_impl.py", IMPL), ("scale_golden.py", GOLDEN), ("test_scale.py", HEAD)):
        made.write(name, text)
    return made


@pytest.fixture
def operator(tmp_path):
    """An operator run by the Python with the wheels; the interpreter that is built lies beside them."""
    python = wheels()
    made = Operator(tmp_path / "custom" / "scale", python, Path(python).parents[1] / "share" / "opdev-cache")
    for name, text in (("scale_impl.py", IMPL), ("scale_golden.py", GOLDEN)):
        made.write(name, text)
    return made
