"""Puts ``tensors`` within reach of the tests here, writes pairs of files, and finds a Python that has torch."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "pyptosim"))

from scaled import wheels
from tensors import encode


@pytest.fixture(scope="session")
def torch_python():
    """The Python that PyPTO is simulated with: opdev itself never imports torch, and neither do its tests."""
    return wheels()


@pytest.fixture
def pair(tmp_path):
    """Writes an output and a golden, gives their paths."""

    def write(output, golden, dtype, golden_dtype=None):
        paths = tmp_path / "output.bin", tmp_path / "golden.bin"
        encode(output, dtype).tofile(paths[0])
        encode(golden, golden_dtype or dtype).tofile(paths[1])
        return str(paths[0]), str(paths[1])

    return write
