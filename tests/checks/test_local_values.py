"""Arithmetic on names: what a variable is worth, and when nobody may say."""

import pytest

from opdev.facts.local_values import value
from opdev.kinds import Kind
from opdev.rules.context import Context
from opdev.source import Source
from opdev.syntax import cpp
from opdev.syntax.file import File


def _context(text: str) -> Context:
    data = text.encode()
    file = File(Source("/op/src/k.cpp", data), Kind("cpp", frozenset({"cpp", "kernel"})))
    return Context(file, 0, len(data))


def _seen(text: str, name: str = "n") -> int | None:
    """The value of ``name`` where ``use(`` stands."""
    context = _context(text)
    return value(context, name, context.data.index(b"use("))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("uint32_t n = 4 * 8; use(n);", 32),
        ("uint32_t n = kTotal / 2; use(n);", 512),
        ("uint32_t m = kTotal; uint32_t n = m + 1; use(n);", 1025),
        ("uint32_t n = 4; n = 5; use(n);", None),
        ("uint32_t n = 4; n += 5; use(n);", None),
        ("uint32_t n = 4; ++n; use(n);", None),
        ("uint32_t n = 4; n--; use(n);", None),
        ("uint32_t n = 4; fill(&n); use(n);", None),
        ("uint32_t n = 4; use(n & 3);", 4),
        ("uint32_t n = 4; if (n == 4) { use(n); }", 4),
        ("if (a) { uint32_t n = 4; } use(n);", None),
        ("uint32_t n = 4; { uint32_t n = 8; use(n); }", 8),
        ("uint32_t n = 4; if (a) n = 1; else n = 2; use(n);", None),
        ("uint32_t n = f(4); use(n);", None),
        ("use(n); uint32_t n = 4;", None),
        ("std::vector<int> n = 4; use(n);", 4),
        ("x.n = 4; use(n);", None),
    ],
)
def test_locals(body, expected):
    text = "constexpr uint32_t kTotal = 1024;\nvoid f(int a)\n{\n    " + body + "\n}\n"
    assert _seen(text) == expected


def test_a_local_of_another_function_is_not_seen():
    assert _seen("void g()\n{\n    uint32_t n = 4;\n}\nvoid f()\n{\n    use(n);\n}\n") is None


def test_a_cycle_ends():
    assert _seen("void f()\n{\n    int n = m;\n    int m = n;\n    use(n);\n}\n") is None


def test_constants_with_two_values_have_none():
    context = _context(
        "#if A\n#define kN 4\n#else\n#define kN 8\n#endif\nconstexpr int kM = 2;\nconstexpr int kM = 2;\n"
    )
    assert cpp.constants(context.file) == {"kM": 2}


def test_constants_back_to_back():
    text = "constexpr int a = 1;constexpr int b = a + 1;\nstatic const uint64_t c = 1UL << 4;\n#  define D (c * 2)\n"
    assert cpp.constants(_context(text).file) == {"a": 1, "b": 2, "c": 16, "D": 32}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sizeof(int32_t) * 4", 16),
        ("sizeof(AscendC::half)", 2),
        ("sizeof(T) * 4", None),
        ("static_cast<uint64_t>(1024 + 32)", 1056),
        ("(uint32_t)5 * 1'000", 5000),
        ("010 + 0x10", 24),
        ("a + x01", 4),
        ("f(3)", None),
        ("1 / 0", None),
        ("", None),
        ("a ? 1 : 2", None),
        ("(1, 2)", None),
    ],
)
def test_evaluate(text, expected):
    assert cpp.evaluate(text, {"a": 3, "x01": 1}) == expected
