"""Puts ``tensors`` within reach of the tests here, and writes pairs of files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tensors import encode


@pytest.fixture
def pair(tmp_path):
    """Writes an output and a golden, gives their paths."""

    def write(output, golden, dtype, golden_dtype=None):
        paths = tmp_path / "output.bin", tmp_path / "golden.bin"
        encode(output, dtype).tofile(paths[0])
        encode(golden, golden_dtype or dtype).tofile(paths[1])
        return str(paths[0]), str(paths[1])

    return write
