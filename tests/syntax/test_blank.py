"""Blanking keeps every byte's place and takes out exactly comments and strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opdev.syntax import blank

PIECES = st.lists(
    st.sampled_from(
        [
            "//",
            "/*",
            "*/",
            '"',
            "'",
            "\\",
            "\n",
            "\r\n",
            "#",
            "# ",
            "#if 0\n",
            "#endif\n",
            'R"(',
            ')"',
            "中",
            "x ",
            "1'0",
            '"""',
            "$",
            "${a#b}",
        ]
    ),
    max_size=25,
).map("".join)
BLANKERS = [blank.blank_cpp, blank.blank_python, blank.blank_bash, blank.blank_cmake]


@given(PIECES, st.sampled_from(BLANKERS))
def test_length_and_line_ends_never_change(text, blanker):
    data = text.encode()

    for out in blanker(data):
        assert len(out) == len(data)
        assert [i for i, b in enumerate(out) if b in b"\r\n"] == [i for i, b in enumerate(data) if b in b"\r\n"]
        assert all(b in (a, 32) for a, b in zip(data, out, strict=True))


@pytest.mark.parametrize(
    ("text", "code", "nocomment"),
    [
        ("a // b\nc", "a     \nc", "a     \nc"),
        ('f("x // y"); // z', "f(        );     ", 'f("x // y");     '),
        ("a /* b\nc */ d", "a     \n     d", "a     \n     d"),
        ("n = 1'000'000; char c = '\\''; x", "n = 1'000'000; char c =     ; x", "n = 1'000'000; char c = '\\''; x"),
        ('R"(a // " b)" c', "              c", 'R"(a // " b)" c'),
        (
            "#if 0\nbad();\n#else\nok();\n#endif",
            "#if 0\n      \n#else\nok();\n#endif",
            "#if 0\n      \n#else\nok();\n#endif",
        ),
        (
            "#if 0\n#if X\na\n#endif\nb\n#endif\nc",
            "#if 0\n     \n \n      \n \n#endif\nc",
            "#if 0\n     \n \n      \n \n#endif\nc",
        ),
        ("a \\\n// b\nc", "a \\\n    \nc", "a \\\n    \nc"),
        ('"unterminated\nnext', "             \nnext", '"unterminated\nnext'),
    ],
)
def test_cpp(text, code, nocomment):
    assert tuple(b.decode() for b in blank.blank_cpp(text.encode())) == (code, nocomment)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("echo a # b", "echo a    "),
        ('echo "a # b"', 'echo "a # b"'),
        ("echo 'a # b' # c", "echo 'a # b'    "),
        ("x=${a#b} # c", "x=${a#b}    "),
        ("x=$#; y=a#b", "x=$#; y=a#b"),
        ("#!/bin/bash\nx", "           \nx"),
        ("echo \"don't\" # a\n# b\nx='c # d'", "echo \"don't\"    \n   \nx='c # d'"),
        ('echo "a\\"b" # c', 'echo "a\\"b"    '),
    ],
)
def test_bash(text, left):
    assert blank.blank_bash(text.encode())[0].decode() == left


def test_python_strings_and_comments():
    code, nocomment = blank.blank_python(b'x = "a # b"  # c\n"""doc\nstring"""\ny')

    assert code == b"x =" + b" " * 13 + b"\n" + b" " * 6 + b"\n" + b" " * 9 + b"\ny"
    assert nocomment == b'x = "a # b"' + b" " * 5 + b'\n"""doc\nstring"""\ny'


def test_cmake_bracket_comment():
    assert blank.blank_cmake(b"#[[ a\nb ]] set(x 1) # c")[0] == b"     \n     set(x 1)    "


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('message("can\'t")\n# a\nset(x) # b', 'message("can\'t")\n   \nset(x)    '),
        ("message([[a # b]]) # c", "message([[a # b]])    "),
        ('set(x "two\n# lines") # c', 'set(x "two\n# lines")    '),
        ("it's: 'a # b' # c", "it's: 'a # b'    "),
    ],
)
def test_cmake_and_yaml_quotes(text, left):
    assert blank.blank_cmake(text.encode())[0].decode() == left
