"""What is carried from one version of a file to the next is what a fresh look at the text finds."""

from __future__ import annotations

import random
import re

import pytest

from opdev.kinds import classify
from opdev.source import Source
from opdev.syntax.file import File
from opdev.syntax.view import View

CPP = """\
#include "shmem.h"
constexpr int A = 3; // 😀 shmem
template <typename T>
__aicore__ inline void first(__gm__ T *x) { AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(EVENT_ID0); }
namespace a {
/* 中文 shmem */
__aicore__ void second() { aclshmem_quiet(); }
class B { void third() { shmem(); } };
}
void last() {}
"""
PYTHON = """\
import os  # 😀 shmem
A = 3


class B:
    def first(self):
        return "shmem"


@jit
def second(x):
    \"\"\"中文\"\"\"
    return shmem(x)


second(A)
"""
WORD = re.compile(rb"\w*shmem\w*")
PARTS = ["", "x", "\n", "{", "}", '"', "'''", "/*", "*/", "#", "(", ")", "shmem", "中", "void f() { shmem(); }\n", "def g():\n    shmem()\n"]  # fmt: skip


def typed(text: bytes, path: str) -> File:
    file = File(Source(path, text), classify(path, text, in_operator=True))
    file.typed = True
    return file


def length(piece) -> int:
    return len(piece.data)


def speaks(text: bytes) -> bool:
    return b"shmem" in text


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("path", "text"), [("/w/a/src/a_kernel.cpp", CPP), ("/w/a/test_a.py", PYTHON)])
def test_after_any_edits_pieces_and_what_is_made_of_them_are_those_of_the_text(path, text, seed):
    choose = random.Random(seed)
    file = typed(text.encode(), path)
    for _ in range(25):
        # Not every version is asked everything.
        if choose.random() < 0.7:
            file.each(length, length)
        size = len(file.data)
        start = choose.randrange(size + 1)
        end = min(size, start + choose.choice([0, 0, 1, 4, 40]))
        new = choose.choice(PARTS).encode()
        file = file.edited(file.source.spliced(start, end, new), start, end, start + len(new))

        assert b"".join(piece.data for _, piece in file.pieces) == file.data
        assert b"".join(piece.code for _, piece in file.pieces) == file.code
        assert [(start, len(piece.data)) for start, piece in file.pieces] == [(s, e - s) for s, e, _ in file.segments]
        view = View(file, 0, len(file.data))
        assert file.each(length, length) == [len(piece.data) for _, piece in file.pieces]
        assert view.spans(WORD, "data") == [
            (start + m.start(), start + m.end()) for start, piece in file.pieces for m in WORD.finditer(piece.data)
        ]
        assert view.holds(speaks) == any(speaks(piece.data) for _, piece in file.pieces)
        assert view.holds_in_lines(speaks) == speaks(file.data)
        assert list(view.find("shmem")) == list(View(typed_not(file), 0, len(file.data)).find("shmem"))


def typed_not(file: File) -> File:
    """The same text, read once: nothing of it is kept by pieces."""
    plain = File(file.source, file.kind)
    plain.__dict__["_blanked"] = (file.code, file.nocomment)
    return plain


def test_an_edit_makes_one_piece_new_and_asks_it_alone():
    file = typed(CPP.encode(), "/w/a/src/a_kernel.cpp")
    asked: list[bytes] = []

    def ask(piece) -> int:
        asked.append(piece.data)
        return len(piece.data)

    before = [piece for _, piece in file.pieces]
    file.each(ask, ask)
    assert len(asked) == len(before)
    asked.clear()

    at = CPP.encode().index(b"aclshmem_quiet")
    file = file.edited(file.source.spliced(at, at, b"x"), at, at, at + 1)
    new = [piece for _, piece in file.pieces]
    file.each(ask, ask)
    assert [len(piece.data) for piece in new] == file.each(ask, ask)
    assert len(asked) == 1
    assert b"xaclshmem_quiet" in asked[0]
    assert sum(one is not other for one, other in zip(before, new, strict=True)) == 1
