"""CMake commands with their arguments, whatever the quoting."""

from __future__ import annotations

import pytest

from opdev.kinds import Kind
from opdev.source import Source
from opdev.syntax import cmake
from opdev.syntax.file import File
from opdev.syntax.view import View


def commands(text, *names):
    data = text.encode()
    return cmake.commands(
        View(File(Source("CMakeLists.txt", data), Kind("cmake", frozenset({"cmake"}))), 0, len(data)), *names
    )


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        ("", ()),
        ("a b", ("a", "b")),
        ('"a b" c', ("a b", "c")),
        ('"say \\"hi\\""', ('say \\"hi\\"',)),
        ("a;b", ("a;b",)),
        ("${X}/y $ENV{HOME}", ("${X}/y", "$ENV{HOME}")),
        ('"${X} 中文"', ("${X} 中文",)),
        ("$<TARGET_FILE:op> $<$<CONFIG:Debug>:-g>", ("$<TARGET_FILE:op>", "$<$<CONFIG:Debug>:-g>")),
        ('"$<1:a b>"', ("$<1:a b>",)),
        ("[[raw ${x}]] [=[b ]] c]=]", ("raw ${x}", "b ]] c")),
        ("[[\nline\n]]", ("line\n",)),
        ('-DX="a b" y', ('-DX="a b"', "y")),
        ("a\n  # comment\n  b # tail\n  c", ("a", "b", "c")),
        ("NOT (A OR B)", ("NOT", "A", "OR", "B")),
        ('""', ("",)),
    ],
)
def test_arguments(arguments, texts):
    text = f"set({arguments})\n"
    [command] = commands(text)

    assert command.texts == texts
    assert command.name == "set"


def test_ranges_are_those_of_the_text():
    text = '# 中文\nTarget_Link_Libraries( op PRIVATE "a b" -DX="1 2" )\n'
    data = text.encode()
    [command] = commands(text, "target_link_libraries")

    assert data[command.start : command.end].decode() == text.splitlines()[1]
    assert [data[a.start : a.end].decode() for a in command.args] == ["op", "PRIVATE", '"a b"', '-DX="1 2"']
    assert data[command.name_node.start_byte : command.name_node.end_byte] == b"Target_Link_Libraries"


def test_control_flow_is_commands_too_in_text_order():
    text = """if(NOT DEFINED ENV{ASCEND_HOME_PATH})
  message(FATAL_ERROR "x")
elseif(A)
else()
endif()
foreach(i IN LISTS L)
  f(${i})
endforeach()
function(g a)
  while(1)
    break()
  endwhile()
endfunction()
macro(h)
endmacro()
block()
endblock()
"""
    assert [(c.name, c.texts) for c in commands(text)] == [
        ("if", ("NOT", "DEFINED", "ENV{ASCEND_HOME_PATH}")),
        ("message", ("FATAL_ERROR", "x")),
        ("elseif", ("A",)), ("else", ()), ("endif", ()),
        ("foreach", ("i", "IN", "LISTS", "L")), ("f", ("${i}",)), ("endforeach", ()),
        ("function", ("g", "a")), ("while", ("1",)), ("break", ()), ("endwhile", ()), ("endfunction", ()),
        ("macro", ("h",)), ("endmacro", ()), ("block", ()), ("endblock", ()),
    ]  # fmt: skip


def test_names_choose_and_comments_are_no_commands():
    text = "# set(a)\n#[[ set(b) ]]\nSET(c)\nmessage([[set(d)]])\nunset(e)\n"

    assert [c.texts for c in commands(text, "set", "unset")] == [("c",), ("e",)]


def test_broken_text_still_gives_what_stands_before():
    assert [c.texts for c in commands("set(a b)\nset(c \n")][:1] == [("a", "b")]
