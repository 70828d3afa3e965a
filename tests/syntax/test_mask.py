"""Masked AscendC parses as CUDA C++, byte for byte in place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opdev.syntax.blank import blank_cpp
from opdev.syntax.languages import parser
from opdev.syntax.mask import mask_ascendc
from opdev.syntax.tree import errors

DIALECT = [
    'extern "C" __global__ __aicore__ void k(GM_ADDR x, __gm__ uint8_t *y) { }\n',
    "ACLSHMEM_DEVICE void f(__gm__ int32_t *a) { __ubuf__ half *b = (__ubuf__ half *)(32); }\n",
    "__global__ [aicore] void k(__gm__ void *__restrict__ p);\n",
    "void g() { if ASCEND_IS_AIV { h(); } else { i(); } }\n",
    "void g() { if constexpr (x) { h(); } if ASCEND_IS_NOT_AIC { i(); } }\n",
    "DEFINE_KERNELS(int8, int8_t)\nDEFINE_KERNELS(half, half)\nvoid f();\n",
    "#define inline inline attribute((always_inline))\nvoid f();\n",
    "#define LOG(fmt, args...) printf(fmt, ##args)\nvoid f();\n",
    "#define MANY(NAME) \\\n    void NAME##_do(int a) \\\n    { if (a) { NAME(a); }\nvoid f();\n",
    '#ifdef __cplusplus\nextern "C" {\n#endif\nvoid f();\n#ifdef __cplusplus\n}\n#endif\n',
    "__attribute__((always_inline)) inline __aicore__ int f(int a) { return a; }\n",
    "void h() { k<<<8, nullptr, stream>>>(x); }\n",
    "template <typename T>\n__simt_vf__ __launch_bounds__(1024) inline void f(__gm__ T *x) {}\n",
]


def parse(text: str):
    data = text.encode()
    masked = mask_ascendc(data, blank_cpp(data)[0])
    return data, masked, parser("cpp").parse(masked)


@pytest.mark.parametrize("text", DIALECT)
def test_dialect_parses_without_errors(text):
    data, masked, tree = parse(text)

    assert errors(tree.root_node) == []
    assert len(masked) == len(data)


def test_all_of_it_together_parses():
    assert errors(parse("".join(DIALECT))[2].root_node) == []


def test_statement_macros_inside_functions_stay():
    _, masked, _ = parse("void f()\n{\n    x();\nCHECK(a)\n    y();\n}\n")

    assert b"CHECK(a)" in masked


def test_a_macro_before_a_body_is_a_definition_and_stays():
    _, masked, _ = parse("TEST_F(Suite, Case)\n{\n    run();\n}\n")

    assert b"TEST_F(Suite, Case)" in masked


@given(
    st.lists(
        st.sampled_from([*DIALECT, "// 中文 __gm__\n", "{", "}", '"', "/*", "\0", "\u00a0", "ASCEND_IS_AIV", "\r\n"]),
        max_size=8,
    )
)
def test_masking_never_moves_a_byte(pieces):
    text = "".join(pieces)
    data, masked, _ = parse(text)

    assert len(masked) == len(data)
    assert [i for i, b in enumerate(masked) if b == 10] == [i for i, b in enumerate(data) if b == 10]
