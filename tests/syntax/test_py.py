"""Python as checks see it: imports of every form, calls by dotted name, literals."""

from __future__ import annotations

import pytest

from opdev.kinds import Kind
from opdev.source import Source
from opdev.syntax import py
from opdev.syntax.file import File
from opdev.syntax.tree import walk
from opdev.syntax.view import View


def view(text):
    data = text.encode()
    return View(File(Source("a.py", data), Kind("python", frozenset({"python"}))), 0, len(data))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a", [("a", None, "a")]),
        ("import a.b.c", [("a.b.c", None, "a")]),
        ("import a.b as ab, c", [("a.b", None, "ab"), ("c", None, "c")]),
        ("from m import x", [("m", "x", "x")]),
        ("from m.n import x as y, z", [("m.n", "x", "y"), ("m.n", "z", "z")]),
        ("from m import (\n    x,  # 注释\n    y as w,\n)", [("m", "x", "x"), ("m", "y", "w")]),
        ("from . import r", [(".", "r", "r")]),
        ("from ..k import s as t", [("..k", "s", "t")]),
        ("from m import *", [("m", "*", "*")]),
        ("try:\n    import a\nexcept ImportError:\n    a = None", [("a", None, "a")]),
        ("def f():\n    from m import x", [("m", "x", "x")]),
        ("if TYPE_CHECKING:\n    import a", [("a", None, "a")]),
        ("from __future__ import annotations", []),
        ("# import a\n'import b'", []),
        ("importlib.import_module('a')", []),
    ],
)
def test_imports(text, expected):
    here = view(text + "\n")
    found = py.imports(here)

    assert [(i.module, i.name, i.bound) for i in found] == expected
    assert all(here.text(i.node).startswith(("import", "from")) for i in found)


def test_calls_with_their_arguments():
    here = view("a . b . c(1, *args, k=2, **kw)  # 中文\n")
    [call] = py.all_calls(here)

    assert (call.dotted, call.name) == ("a.b.c", "c")
    assert [here.text(n) for n in call.args] == ["1", "*args", "**kw"]
    assert {name: here.text(n) for name, n in call.keywords.items()} == {"k": "2"}
    assert here.data[call.start : call.end] == b"a . b . c(1, *args, k=2, **kw)"


@pytest.mark.parametrize(
    ("text", "names", "found"),
    [
        ("f(1)", ["f"], ["f"]),
        ("torch.ops.npu.f(1)", ["f"], ["torch.ops.npu.f"]),
        ("torch.ops.npu.f(1)", ["npu.f"], ["torch.ops.npu.f"]),
        ("torch.ops.npu.f(1)", ["torch.ops.npu.f", "npu.f", "f"], ["torch.ops.npu.f"]),
        ("xnpu.f(1)", ["npu.f"], []),
        ("other.f(1)", ["npu.f"], []),
        ("g(f)", ["f"], []),
        ("x = f", ["f"], []),
        ("f.g()", ["f"], []),
        ("'f()'  # f()", ["f"], []),
        ("f(f(1))", ["f"], ["f", "f"]),
        ("a[0].f()", ["f"], ["a[0].f"]),
        ("h().f()", ["f"], ["h().f"]),
        ("@f(1)\ndef g(): pass", ["f"], ["f"]),
        ("f(i for i in z)", ["f"], ["f"]),
        ("b()\na()", ["a", "b"], ["b", "a"]),
    ],
)
def test_calls_by_name(text, names, found):
    assert [c.dotted for c in py.calls(view(text + "\n"), *names)] == found


def test_a_view_is_a_range():
    whole = view("f(1)\nf(2)\n")
    second = View(whole.file, 5, len(whole.data))

    assert [second.text(c.node) for c in py.calls(second, "f")] == ["f(2)"]
    assert [second.text(c.node) for c in py.all_calls(second)] == ["f(2)"]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ('"a"', "a"),
        ("'中文'", "中文"),
        ("''", ""),
        ('"""a\nb"""', "a\nb"),
        ("r'a\\d'", "a\\d"),
        ("rb'a'", "a"),
        ("'a\\n'", "a\\n"),
        ("'it\"s'", 'it"s'),
        ("\"a\" 'b'", "ab"),
        ('f"a"', "a"),
        ('f"{a}"', None),
        ('"a" f"{b}"', None),
        ("name", None),
        ("1", None),
        ("'a' + 'b'", None),
    ],
)
def test_string_value(literal, value):
    here = view(f"x = {literal}\n")
    node = next(n for n in walk(here.root) if n.type == "assignment").child_by_field_name("right")

    assert py.string_value(here.file, node) == value


def test_module_level_and_enclosing_function():
    here = view("a()\nif x:\n    b()\nclass C:\n    c()\n    def m(self):\n        d()\ne = lambda: f()\n")
    calls = {c.name: c.node for c in py.all_calls(here)}

    assert [name for name, node in calls.items() if py.is_module_level(node)] == ["a", "b", "c"]
    assert py.function_of(calls["d"]).type == "function_definition"
    assert py.function_of(calls["f"]).type == "lambda"
    assert py.function_of(calls["a"]) is None
