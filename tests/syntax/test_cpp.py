"""AscendC C++ as checks see it: calls however they are spelt, constants as the compiler computes them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opdev.kinds import Kind
from opdev.source import Source
from opdev.syntax import cpp
from opdev.syntax.file import File
from opdev.syntax.tree import walk
from opdev.syntax.view import View


def view(text):
    data = text.encode()
    return View(File(Source("k.cpp", data), Kind("cpp", frozenset({"cpp", "kernel"}))), 0, len(data))


def body(statement):
    return view(f"// 中文\nvoid host() {{ {statement} }}\n")


CALLS = [
    # statement, name, callee, namespace, template arguments, arguments
    ("f(1, 2);", "f", "f", "", [], ["1", "2"]),
    ("f (/* 注释 */ 1);", "f", "f", "", [], ["1"]),
    ("A::B::f(x);", "f", "A::B::f", "A::B", [], ["x"]),
    ("::f(x);", "f", "::f", "", [], ["x"]),
    ("f<T>(x);", "f", "f<T>", "", ["T"], ["x"]),
    ("f<3 + 4, half>(x);", "f", "f<3 + 4, half>", "", ["3 + 4", "half"], ["x"]),
    ("A::f<int>(x);", "f", "A::f<int>", "A", ["int"], ["x"]),
    ("A<int>::f(x);", "f", "A<int>::f", "A<int>", [], ["x"]),
    ("A<int>::B<Q>::f<R>(x);", "f", "A<int>::B<Q>::f<R>", "A<int>::B<Q>", ["R"], ["x"]),
    ("T::template f<int>(x);", "f", "T::template f<int>", "T", ["int"], ["x"]),
    ("o.f(x);", "f", "o.f", "", [], ["x"]),
    ("p->f(x);", "f", "p->f", "", [], ["x"]),
    ("this->f<T>(x);", "f", "this->f<T>", "", ["T"], ["x"]),
    ("o.template f<T>(x);", "f", "o.template f<T>", "", ["T"], ["x"]),
    ("a.b.f(x);", "f", "a.b.f", "", [], ["x"]),
    ("g(1).f(x);", "f", "g(1).f", "", [], ["x"]),
    ("f<<<8, nullptr, s>>>(x);", "f", "f", "", [], ["x"]),
    ("auto y = f(x);", "f", "f", "", [], ["x"]),
    ("f(a[i * 2], {1, 2}, sizeof(T));", "f", "f", "", [], ["a[i * 2]", "{1, 2}", "sizeof(T)"]),
    ("SetFlag<HardEvent::MTE2_V>(EVENT_ID0);", "SetFlag", "SetFlag<HardEvent::MTE2_V>", "", ["HardEvent::MTE2_V"], ["EVENT_ID0"]),
    ("f((__gm__ half *)x);", "f", "f", "", [], ["(__gm__ half *)x"]),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "name", "callee", "namespace", "targs", "args"), CALLS)
def test_calls(statement, name, callee, namespace, targs, args):
    here = body(statement)
    [call] = cpp.calls(here, name)

    assert (call.name, call.callee, call.namespace, call.targs, call.arg_texts) == (
        name,
        callee,
        namespace,
        targs,
        args,
    )
    assert here.data[call.start : call.end].decode() == statement.removeprefix("auto y = ").rstrip(";")
    assert call.is_statement == (not statement.startswith("auto"))
    assert here.text(call.statement).endswith(";")
    assert cpp.function_name(here.file, call.function) == "host"
    every = [c for c in cpp.all_calls(here) if c.name == name]
    assert [(c.start, c.namespace, c.targs) for c in every] == [(call.start, namespace, targs)]
    assert [c.start for c in cpp.calls_matching(here, re.compile(rb"\b%s\b" % name.encode()))] == [call.start]


@pytest.mark.parametrize(
    "statement",
    [
        "int f = 3;", "g(f);", "f.g();", "f->g();", "f::g();", "x = f;", '"f(1)"; // f(1)', "T<f>(1);", "goto f; f: ;", "auto p = &f;",
        "xf(1);", "f1(1);", "return;\n#if 0\nf(1);\n#endif\n",
    ],
)  # fmt: skip
def test_a_mere_mention_is_no_call(statement):
    assert cpp.calls(body(statement), "f") == []


def test_several_names_come_in_text_order_and_within_the_view():
    here = view("void a() { g(); f(); }\nvoid b() { f(g()); }\n")
    second = View(here.file, here.data.index(b"void b"), len(here.data))

    assert [c.name for c in cpp.calls(here, "f", "g")] == ["g", "f", "f", "g"]
    assert [c.name for c in cpp.calls(second, "f", "g")] == ["f", "g"]
    assert [c.name for c in cpp.all_calls(second)] == ["f", "g"]


FUNCTIONS = """
#define M(x) x
extern "C" __global__ __aicore__ void kernel(GM_ADDR a, __gm__ uint8_t *b) { }
ACLSHMEM_DEVICE void dev(int32_t n = 4) { }
template <typename T>
__aicore__ inline T Klass<T>::Method(const LocalTensor<half> &t) const { return t; }
namespace n { class C { public: C() { } ~C() { } int Get(int arr[4]) { return 1; } bool operator==(int o) { return true; } }; }
int main(int argc, char **argv) { return 0; }
"""


def test_functions_with_names_sides_and_parameters():
    here = view(FUNCTIONS)
    found = cpp.functions(here)

    assert [cpp.function_name(here.file, f) for f in found] == [
        "kernel", "dev", "Method", "C", "~C", "Get", "operator==", "main",
    ]  # fmt: skip
    assert [cpp.is_device(here.file, f) for f in found] == [True, True, True, *[False] * 5]
    assert [cpp.is_kernel_entry(here.file, f) for f in found] == [True, *[False] * 7]
    assert [cpp.parameters(here.file, f) for f in found] == [
        [("GM_ADDR", "a"), ("__gm__ uint8_t *", "b")],
        [("int32_t", "n")],
        [("const LocalTensor<half> &", "t")],
        [], [],
        [("int", "arr")],
        [("int", "o")],
        [("int", "argc"), ("char **", "argv")],
    ]  # fmt: skip
    assert (cpp.is_device(here.file, None), cpp.is_kernel_entry(here.file, None)) == (False, False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0), ("42", 42), ("+3", 3), ("-3", -3), ("~0", -1), ("(7)", 7),
        ("0x1F", 31), ("0XffULL", 255), ("0b1'01u", 5), ("1'024", 1024), ("010", 8), ("190 * 1024", 194560), ("1'0uLL", 10),
        ("7 / 2", 3), ("-7 / 2", -3), ("7 / -2", -3), ("-7 / -2", 3), ("7 % 3", 1), ("-7 % 3", -1), ("7 % -3", 1),
        ("(1 << 62) / 3", (1 << 62) // 3), ("5 / 0", None), ("5 % 0", None),
        ("1 << 5", 32), ("-5 >> 1", -3), ("1 << 200", None), ("1 << -1", None),
        ("6 & 3", 2), ("6 | 3", 7), ("6 ^ 3", 5), ("2 + 3 * 4", 14), ("(2 + 3) * 4", 20), ("10 - 4 - 3", 3),
        ("sizeof(half)", 2), ("sizeof (float) * 8", 32), ("sizeof(AscendC::bfloat16_t)", 2), ("sizeof(T)", None), ("sizeof(x + 1)", None),
        ("(uint64_t)1 << 40", 1 << 40), ("(unsigned long)3", 3), ("(int)(4)", 4), ("uint32_t(5) + 1", 6),
        ("static_cast<uint32_t>(3) * 4", 12), ("static_cast<size_t>(N)", 8),
        ("static_cast<float>(3) / 2", None), ("(float)3 / 2", None), ("float(3) / 2", None),
        ("N", 8), ("N * M", None), ("A::N", None), ("N[0]", None), ("N()", None), ("N.x", None),
        ("1.5", None), ("1e3", None), ("2.0f", None), ("1, 2", None), ("x ? 1 : 2", None), ("1 && 1", None), ("1 < 2", None), ("!1", None),
        ("2 ** 3", None), ("1 if 1 else 2", None), ("True", None), ("None", None), ("", None), ("'a'", None), ('"a"', None),
        ("((1)", None), ("1 +", None), ("__import__", None), ("9" * 500, None),
    ],
)  # fmt: skip
def test_evaluate(text, value):
    assert cpp.evaluate(text, {"N": 8}) == value


@given(st.integers(-(1 << 70), 1 << 70), st.integers(-(1 << 70), 1 << 70))
def test_division_is_that_of_cpp(left, right):
    quotient, rest = cpp.evaluate(f"({left}) / ({right})"), cpp.evaluate(f"({left}) % ({right})")

    if right == 0:
        assert (quotient, rest) == (None, None)
    else:
        assert quotient * right + rest == left
        assert abs(rest) < abs(right)
        assert rest == 0 or (rest < 0) == (left < 0)


@given(st.text(alphabet="0123456789abxXuUlLN+-*/%()<>&|^~': \n", max_size=40))
def test_evaluate_never_raises(text):
    assert cpp.evaluate(text, {"N": 8}) is None or isinstance(cpp.evaluate(text, {"N": 8}), int)


def test_constants():
    here = view(
        """// constexpr int COMMENT = 1;
constexpr uint32_t TILE = 16 * 1024;
static constexpr int64_t DOUBLE = TILE * 2, NEXT = 3;
const int BRACED{7};
#define HEX 0x40u  // 注释
#  define WITH_TYPE (sizeof(half) * TILE)
#define CALL(x) x
#define LATER 5
#define EMPTY
constexpr auto UNKNOWN = f();
constexpr float SCALE = 0.5f;
const char *NAME = "constexpr int IN_STRING = 1;";
void f(const int PARAM = 4);
int variable = 9;
"""
    )

    assert dict(cpp.constants(here.file)) == {
        "TILE": 16384, "BRACED": 7, "HEX": 64, "WITH_TYPE": 32768, "LATER": 5,
    }  # fmt: skip


def test_a_constant_with_two_values_is_none():
    here = view(
        "#if A\n#define N 1\n#define SAME 3\n#else\n#define N 2\n#define SAME 3\n#endif\nconstexpr int USES = N;\n"
    )

    assert dict(cpp.constants(here.file)) == {"SAME": 3}


def test_last_name_is_that_of_every_call():
    here = view("".join(f"void g{i}() {{ {c[0]} }}\n" for i, c in enumerate(CALLS)))
    names = [
        here.text(cpp.last_name(n.child_by_field_name("function")))
        for n in walk(here.root)
        if n.type == "call_expression"
    ]

    assert [n for n in names if n != "g"] == [c[1] for c in CALLS]
