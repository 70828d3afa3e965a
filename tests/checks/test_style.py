"""Style fixes at the edges a page cannot show: line ends, encodings, files without a last newline."""

import pytest

from opdev.kinds import classify
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.fixes import fix_to_the_end
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

LEVELS = ("safe", "unsafe", "suggestion")


def _fixed(rule: str, path: str, raw: bytes) -> bytes:
    rules = [r for r in store.load() if r.name == rule]
    linter = Linter(known=rules)

    def parse(source: Source) -> File:
        return File(source, classify(source.path, source.data, in_operator=True))

    source = Source.from_disk(path, raw)
    outcome = fix_to_the_end(source, lambda s: linter.lint(parse(s), Selection(tuple(rules))).findings, parse, LEVELS)
    assert not outcome.broke
    assert not outcome.fighting
    return source.to_disk(outcome.data)


def test_guard_keeps_crlf():
    fixed = _fixed("missing-header-guard", "/op/src/a_b.h", b"// x\r\nint f();\r\n")
    assert fixed == b"// x\r\n#ifndef A_B_H\r\n#define A_B_H\r\n\r\nint f();\r\n\r\n#endif  // A_B_H\r\n"


def test_guard_without_last_newline():
    assert _fixed("missing-header-guard", "/op/src/a.h", b"int f();").endswith(b"int f();\n\n#endif  // A_H\n")


def test_guard_of_a_header_that_starts_with_a_digit():
    assert b"#ifndef H_3D_H\n" in _fixed("missing-header-guard", "/op/src/3d.h", b"int f();\n")


def test_empty_header_is_left_alone():
    assert _fixed("missing-header-guard", "/op/src/a.h", b"\n") == b"\n"


@pytest.mark.parametrize(
    "lead", [b"#!/usr/bin/env python3\n", b"#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n", b""]
)
def test_licence_goes_behind_the_lines_that_must_be_first(lead):
    fixed = _fixed("missing-license-header", "/op/scripts/a.py", lead + b"import os\n")
    assert fixed.startswith(lead + b"# Copyright (c) ")
    assert fixed.endswith(b"\n\nimport os\n")


def test_licence_keeps_the_byte_order_mark():
    fixed = _fixed("missing-license-header", "/op/src/a.cpp", b"\xef\xbb\xbfint a;\n")
    assert fixed.startswith(b"\xef\xbb\xbf/**\n * Copyright")


def test_tabs_of_a_gb18030_file_keep_its_text():
    raw = "int f()\n{\n\t// 中文\n\treturn 1;\n}\n".encode("gb18030")
    assert _fixed("tab-indentation", "/op/src/a.cpp", raw) == raw.replace(b"\t", b"    ")


def test_tabs_behind_code_stay():
    raw = b"int a;\t// x\nint b;\n"
    assert _fixed("tab-indentation", "/op/src/a.cpp", raw) == raw
