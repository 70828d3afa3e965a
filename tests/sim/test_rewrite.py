"""What is rewritten, what is left alone, and what is told before the compiler sees it."""

from __future__ import annotations

import pytest

from opdev.sim.cxx_flags import parse
from opdev.sim.cxx_text import explain, missing_header
from opdev.sim.names import nearest, public_names
from opdev.sim.rewrite import cube_only, rewrite

KNOWN = frozenset(
    {
        "Add",
        "DataCopy",
        "GetBlockIdx",
        "aclrtMalloc",
        "aclshmem_my_pe",
        "aclshmem_putmem_nbi",
        "ACL_SUCCESS",
        "EVENT_ID0",
    }
)


def text_of(code: str) -> str:
    return f'# 1 "/std/vector" 1 3\nint launches<<<1>>>(2);\n# 1 "user.cpp" 2\n{code}'


def rewritten(code: str):
    return rewrite(text_of(code).encode(), lambda path: path.startswith("/ours/"), KNOWN, public_names())


def user(code: str) -> str:
    return rewritten(code).text.decode().split('# 1 "user.cpp" 2\n')[1]


def test_a_launch_becomes_a_call_and_keeps_its_arguments_in_place():
    code = "void go() { k<<<blocks, nullptr, stream>>>(a, f(b, 2)); }\n"

    assert user(code) == (
        'void go() { ::opdev_sim::kernel_call("k", ::opdev_sim::Cores::vector, [=](auto... opdev_sim_a) { k(opdev_sim_a...); }, '
        "blocks, nullptr, stream)(a, f(b, 2)); }\n"
    )


@pytest.mark.parametrize(
    ("written", "name", "called"),
    [
        ("k<T>", "k", "k<T>"),
        ("ns::k<T, 3>", "k", "ns::k<T, 3>"),
        ("k", "k", "k"),
    ],
)
def test_names_of_kernels(written, name, called):
    found = rewritten(f"template <class T> void go() {{ {written}<<<1, 0, s>>>(x); }}\n")

    assert found.launches == (name,)
    assert f"{{ {called}(opdev_sim_a...); }}".encode() in found.text


def test_lines_stay_where_they_are():
    code = (
        "void go()\n{\n    k\n        <<<blocks,\n           nullptr,\n           stream>>>(a,\n  b);\n    int x;\n}\n"
    )
    found = user(code)

    assert found.count("\n") == code.count("\n")
    assert found.splitlines()[7] == "    int x;"


def test_a_missing_stream_is_the_default_one():
    assert "(blocks, nullptr, nullptr)(a)" in user("void go() { k<<<blocks>>>(a); }\n").replace("}, ", "(")


def test_launches_in_comments_strings_and_foreign_headers_are_left_alone():
    code = '// k<<<1, 0, s>>>(x)\nconst char *text = "k<<<1, 0, s>>>(x)";\nint y = a << 3;\n'
    found = rewritten(code)

    assert found.text == text_of(code).encode()


def test_a_launch_in_a_macro():
    code = "#define GO(name, type) void go_##name() { run_##name##_x<<<b, nullptr, s>>>(p); }\nGO(one, int)\n"
    found = user(code)

    assert '::opdev_sim::kernel_call("run_name_x", ' in found
    assert "{ run_##name##_x(opdev_sim_a...); }, b, nullptr, s)(p); }" in found


@pytest.mark.parametrize(
    ("head", "cores"),
    [
        ("[[bisheng::core_ratio(0, 1)]] __global__ __aicore__", "vector"),
        ("[[bisheng::core_ratio(1, 2)]] __global__ __aicore__", "mix_1_2"),
        ("[[bisheng::core_ratio(1, 1)]] __global__ __aicore__", "mix_1_1"),
        ("[[bisheng::core_ratio(1, 0)]] __global__ __aicore__", "cube"),
        ("__global__ __vector__", "vector"),
        ("__global__ __cube__", "cube"),
        ("__global__ __mix__(1, 2)", "mix_1_2"),
        ("__global__ __aicore__", "vector"),
    ],
)
def test_the_cores_of_a_kernel_are_those_its_head_names(head, cores):
    found = user(f'extern "C" {head} void k(GM_ADDR a) {{ }}\nvoid go() {{ k<<<1, 0, s>>>(a); }}\n')

    assert f"Cores::{cores}, " in found


def test_a_kernel_that_asks_for_its_kind_of_core_has_both():
    found = user("__global__ __aicore__ void k() { if ASCEND_IS_AIC { f(); } }\nvoid go() { k<<<1, 0, s>>>(); }\n")

    assert "Cores::mix_1_2, " in found


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("p = reinterpret_cast<__ubuf__ T *>(1024);", "p = ::opdev_sim::ub_cast<__ubuf__ T *>(1024);"),
        ("p = reinterpret_cast<const __ubuf__ T *>(q);", "p = ::opdev_sim::ub_cast<const __ubuf__ T *>(q);"),
        ("p = (__ubuf__ int *)(32) + i * 16;", "p = ::opdev_sim::ub_cast<__ubuf__ int *>((32)) + i * 16;"),
        ("x = *(__ubuf__ int *)p->at;", "x = *::opdev_sim::ub_cast<__ubuf__ int *>(p->at);"),
        ("__ubuf__ T *p = nullptr; f((__gm__ T *)q);", "__ubuf__ T *p = nullptr; f((__gm__ T *)q);"),
    ],
)
def test_casts_to_ub(code, expected):
    assert user(f"void f() {{ {code} }}\n") == f"void f() {{ {expected} }}\n"


def test_inline_is_not_redefined_for_the_standard_library():
    assert user("#define inline inline attribute((always_inline))\nint x;\n") == "\nint x;\n"


def test_names_the_stand_in_lacks_are_told_where_they_stand():
    code = (
        "using namespace AscendC;\nvoid f()\n{\n    Mmad(a, b);\n    AscendC::Sort32(t, t, 1);\n    DataCopy(a, b);\n"
        "    aclrtCmoAsync(x);\n    aclshmemx_sdma_notify_record(y);\n    int e = ACL_RT_NEVER;\n"
        "    aclshmemi_kernel_abort(1);\n}\n"
    )
    found = [(m.path, m.line, m.column, m.name) for m in rewritten(code).missing]

    assert found == [
        ("user.cpp", 4, 5, "Mmad"),
        ("user.cpp", 5, 14, "Sort32"),
        ("user.cpp", 7, 5, "aclrtCmoAsync"),
        ("user.cpp", 8, 5, "aclshmemx_sdma_notify_record"),
        ("user.cpp", 9, 13, "ACL_RT_NEVER"),
        ("user.cpp", 10, 5, "aclshmemi_kernel_abort"),
    ]


def test_code_for_cube_cores_alone_is_told():
    both = b"#if defined(__DAV_C220_VEC__) || defined(__DAV_C220_CUBE__)\n#endif\n// #if __DAV_C220_CUBE__\n"
    alone = b"int a;\n  #ifdef __DAV_C220_CUBE__\n#elif defined( __DAV_C310_CUBE__ )\n#endif\n"

    assert list(cube_only("a.cpp", both)) == []
    assert [(m.line, m.column, m.name) for m in cube_only("a.cpp", alone)] == [
        (2, 10, "__DAV_C220_CUBE__"),
        (3, 16, "__DAV_C310_CUBE__"),
    ]


def test_the_users_own_names_are_not_the_stand_ins_to_lack():
    code = (
        "#define ACL_CHECK(x) do { if (x) return; } while (0)\n#define UNUSED(x) aclrtCmoAsync(x)\n"
        "void Broadcast(int x);\nint aclHelper(int x) { return x; }\nstruct Sigmoid { int a; };\n"
        "void f() { ACL_CHECK(aclHelper(1)); Broadcast(2); Sigmoid(); s.Mmad(3); // aclrtGone()\n}\n"
    )

    assert rewritten(code).missing == ()


def test_the_nearest_name_is_of_the_same_library():
    there = frozenset({"aclrtMemcpy", "aclrtMemcpyAsync", "aclshmem_my_pe", "Memcpy", "DataCopyPad"})

    assert nearest("aclrtMemcpy2dAsync", there) == "aclrtMemcpyAsync"
    assert nearest("aclshmem_my_pes", there) == "aclshmem_my_pe"
    assert nearest("Mmad", there) == ""


def test_bishengs_flags_are_dropped_and_gccs_kept():
    command = parse(
        [
            "-xcce",
            "--cce-aicore-arch=dav-c220",
            "-O2",
            "-mllvm",
            "-cce-aicore-stack-size=0x8000",
            "-Xhost-start",
            "-ftrapv",
            "-Xhost-end",
            "-Xaicore-start",
            "-DX",
            "-Xaicore-end",
            "-DA=1",
            "-I",
            "src",
            "-std=c++17",
            "-fPIC",
            "-MD",
            "-MT",
            "a.o",
            "-MF",
            "a.d",
            "-o",
            "a.o",
            "-c",
            "a.cpp",
        ]
    )

    assert command.device
    assert command.chip == ("-D__DAV_C220_VEC__", "-D__NPU_ARCH__=2201")
    assert command.compile_only
    assert command.flags == ["-O2", "-ftrapv", "-std=c++17", "-fPIC"]
    assert command.defines == ["-DA=1"]
    assert command.includes == ["-I", "src"]
    assert command.dependencies == ["-MD", "-MT", "a.o", "-MF", "a.d"]
    assert (command.sources, command.output) == (["a.cpp"], "a.o")


@pytest.mark.parametrize("flag", ["--cce-aicore-arch=dav-c310", "--npu-arch=dav-3510", "--cce-soc-version=Ascend950PR"])
def test_the_chip_is_the_one_the_flags_name(flag):
    assert "-D__DAV_C310_VEC__" in parse(["-xcce", flag, "-c", "a.cpp"]).chip


def test_a_link_keeps_the_order_of_its_inputs():
    command = parse(["-shared", "--cce-fatobj-link", "-o", "libk.so", "a.o", "-Lx", "-lshmem", "b.a", "-Wl,-rpath,/y"])

    assert command.link == ["-shared", "a.o", "-Lx", "-lshmem", "b.a", "-Wl,-rpath,/y"]
    assert not command.flags


def test_the_compilers_words_are_told_apart():
    undeclared = "a.cpp:3:5: error: ‘Mmad’ was not declared in this scope\n"
    mistyped = "a.cpp:3:5: error: ‘speling’ was not declared in this scope\n"

    assert explain(undeclared, KNOWN, public_names()).startswith(
        "a.cpp:3:5: error: not in the stand-in: Mmad\n" + undeclared
    )
    assert explain(mistyped, KNOWN, public_names()) == mistyped
    assert "not in the stand-in: header acl/acl_mdl.h" in missing_header(
        "m.cpp:1:10: fatal error: acl/acl_mdl.h: No such file or directory\n"
    )
    own = "m.cpp:1:10: fatal error: my_own.h: No such file or directory\n"
    assert missing_header(own) == own
