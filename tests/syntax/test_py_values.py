"""Integer constants of Python modules: what a shape in a kernel is judged by."""

from __future__ import annotations

import pytest

from opdev.kinds import Kind
from opdev.source import Source
from opdev.syntax.file import File
from opdev.syntax.py_values import constants, evaluate


def file(text):
    return File(Source("/w/custom/demo/test_demo.py", text.encode()), Kind("python", frozenset({"pypto-pro"})))


def test_constants_of_a_module():
    text = '''"""A = 1"""
TILE_M = 128
TILE_N: int = TILE_M // 2  # 半块
ROWS, COLS = 8, 1 << 6
TWICE = 1
TWICE = 2
LATER = UNKNOWN * 2
HALF = 3 / 2
FLAG = True


def kernel():
    INNER = 3


class Config:
    FIELD = 4


AFTER = (TILE_M +
         1)
LAST = -TILE_N % 7
'''
    assert constants(file(text)) == {"TILE_M": 128, "TILE_N": 64, "ROWS": 8, "COLS": 64, "LAST": 6}


def test_constants_follow_an_edit():
    before = file("A = 2\nB = A * 3\n\n\ndef f():\n    pass\n")
    before.typed = True
    assert constants(before) == {"A": 2, "B": 6}
    after = before.edited(Source(before.path, before.data.replace(b"A = 2", b"A = 20")), 5, 5, 6)
    assert constants(after) == {"A": 20, "B": 60}


@pytest.mark.parametrize("text", ["1 // 0", "1 << 99", "x.y", "f(1)", "2 ** 3", "(", "9" * 400, "1.5", "True", ""])
def test_what_is_no_integer(text):
    assert evaluate(text) is None
