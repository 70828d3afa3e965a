"""The code side of an operator's facts: what is read, and that damage neither raises nor leads outside the file."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opdev.facts import bindings, build, calls, dispatch, kernels, names, scripts
from opdev.kinds import Place, classify
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.source import Source
from opdev.syntax.file import File

CLEAN = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops"


def file(path, text):
    data = text if isinstance(text, bytes) else text.encode()
    return File(Source.from_disk(path, data), classify(path, data, in_operator=True), Place())


def cpp(text):
    return file("custom-ops/demo/src/demo_kernel.cpp", text)


def written(one, start, end):
    return one.data[start:end].decode()


class TestKernels:
    def test_a_macro_defines_kernels_by_its_calls(self):
        one = cpp(
            '#define K(s, t) \\\n    extern "C" __global__ __aicore__ void demo_##s(GM_ADDR x) \\\n    { run<t>(x); }\n'
            "K(fp16, half)\nK(fp32, float)\n"
        )

        found = kernels.kernels(one)

        assert [(k.name, written(one, k.start, k.end)) for k in found] == [
            ("demo_fp16", "K(fp16, half)"),
            ("demo_fp32", "K(fp32, float)"),
        ]

    def test_a_declaration_is_told_from_a_definition(self):
        one = cpp(
            "__global__ __aicore__ void a(GM_ADDR x);\n__aicore__ __global__ void b(GM_ADDR x)\n{\n    { }\n}\nint c;\n"
        )

        assert [(k.name, k.defined) for k in kernels.kernels(one)] == [("a", False), ("b", True)]
        last = kernels.kernels(one)[-1]
        assert written(one, last.whole_start, last.whole_end).endswith("{ }\n}")

    def test_the_number_of_blocks_is_followed(self):
        one = cpp(
            "constexpr uint32_t N = 4 * 5;\n__global__ __aicore__ void a(GM_ADDR x) {}\n"
            "void f(void *s, GM_ADDR x)\n{\n    const uint32_t blocks = N / 2;\n    a<<<blocks, nullptr, s>>>(x);\n}\n"
            "void g(uint32_t n, void *s, GM_ADDR x) { b<half, 2><<<n, nullptr, s>>>(x); }\n"
        )

        first, second = kernels.launches(one)

        assert (first.kernel, first.dim.text, first.value, first.function) == ("a", "blocks", 10, "f")
        assert (second.kernel, second.targs, second.parameter, second.value) == ("b", "half, 2", 0, None)
        assert [(x.name, x.dim) for x in kernels.launchers(one)] == [("f", None), ("g", 0)]

    def test_arguments_behind_chinese_text_have_their_places(self):
        one = cpp('void f()\n{\n    g("核函数", 多, N);  // 数\n}\n')

        (call,) = kernels.host_calls(one, "g")

        assert written(one, call.args[-1].start, call.args[-1].end) == "N"


class TestCalls:
    @pytest.mark.parametrize(
        ("name", "act"),
        [
            ("aclshmemx_mte_put_nbi", "put"), ("aclshmem_float_p", "put"), ("aclshmem_int32_get_nbi", "get"),
            ("aclshmem_getmem", "get"), ("aclshmem_putmem_signal_nbi", "put-signal"), ("aclshmemx_signal_op", "signal"),
            ("aclshmem_signal_wait_until", "wait"), ("aclshmem_int32_test_any", "wait"), ("aclshmem_barrier_all", "barrier"),
            ("aclshmem_sync", "barrier"), ("aclshmemx_roce_quiet", "quiet"), ("aclshmem_fence", "fence"),
            ("aclshmem_int32_atomic_add", "atomic"), ("aclshmem_malloc", "allocate"), ("aclshmemx_get_prof", "other"),
            ("util_get_ffts_config", "other"), ("aclshmem_get128", "get"), ("aclshmemx_get_heap_base", "other"),
        ],
    )  # fmt: skip
    def test_what_a_call_does(self, name, act):
        assert calls.act_of(name) == act

    def test_old_spellings_are_the_same_calls(self):
        one = cpp("__aicore__ inline void f(GM_ADDR d, int pe) { shmem_putmem_nbi(d, d, 4, pe); }\n")

        (call,) = calls.api_calls(one)

        assert (call.name, call.engine, call.device) == ("aclshmem_putmem_nbi", "any", True)

    def test_signals_and_waits_with_their_values(self):
        one = cpp(
            "constexpr int32_t READY = 3;\n__aicore__ inline void f(__gm__ int32_t *a, int pe)\n{\n"
            "    aclshmemx_signal_op(a, READY, ACLSHMEM_SIGNAL_SET, pe);\n"
            "    aclshmem_putmem_signal(a, a, 4, a, 1, ACLSHMEM_SIGNAL_ADD, pe);\n"
            "    aclshmem_signal_wait_until(a, ACLSHMEM_CMP_GE, READY + 1);\n}\n"
        )

        found = [(s.how, s.address, s.number, s.compare) for s in calls.signals(one)]

        assert found == [("set", "a", 3, ""), ("add", "a", 1, ""), ("wait", "a", 4, "GE")]


class TestDispatch:
    @pytest.mark.parametrize(
        ("label", "dtype"),
        [
            ("ReduceType::FLOAT16", "float16"), ("at::kHalf", "float16"), ("at::ScalarType::Long", "int64"), ("kBFloat16", "bfloat16"),
            ('"bf16"', "bfloat16"), ("ACL_FLOAT", "float32"), ("HCCL_DATA_TYPE_FP32", "float32"), ("DT_INT8", "int8"),
            ("FLOAT_16", "float16"), ("MODE_FAST", None), ("kernel", None), ("Other", None), ("Long", None),
        ],
    )  # fmt: skip
    def test_labels(self, label, dtype):
        assert dispatch.dtype_label(label) == dtype

    @pytest.mark.parametrize(
        ("body", "closed", "refuses"),
        [
            ("switch (type) { case T::FP16: a(); break; }", True, False),
            ("switch (type) { case T::FP16: a(); break; default: b(); }", False, False),
            ('switch (type) { case T::FP16: a(); break; default: TORCH_CHECK(false, "no"); }', True, True),
            ("switch (type) { case T::FP16: a(); break; case T::SPECIAL: b(); }", False, False),
            ('if (type == "fp16") { return 0; } return -1;', True, True),
            ('if (type == "fp16") { return 2; } return 4;', False, False),
            ('if (type == "fp16") { a(); } else { b(); }', False, False),
            ('if (type != "fp16" && type != "fp32") { throw 1; }', True, True),
            ('TORCH_CHECK(x.scalar_type() == at::kHalf || x.scalar_type() == at::kFloat, "no");', True, True),
            ('auto n = type == "fp16" ? 2 : 4;', False, False),
        ],
    )
    def test_what_is_left_over(self, body, closed, refuses):
        (found,) = dispatch.dispatches(cpp(f"int f() {{ {body} }}\n"))

        assert (found.closed, found.refuses) == (closed, refuses)


class TestScripts:
    def test_names_held_in_variables(self):
        one = file(
            "custom-ops/demo/scripts/run.sh",
            'OP=demo\nBIN="${ROOT}/build/bin/${OP}"\n"${BIN}" "$IPPORT"\n/usr/bin/python3 x.py\n',
        )

        (found,) = scripts.binaries(one)

        assert (found.name, written(one, found.start, found.end)) == ("demo", "${OP}")

    def test_tolerances_by_way_of_a_case(self):
        one = file(
            "custom-ops/demo/scripts/run.sh",
            'case "$T" in\n  fp16|half) R=2^-8 ;;\n  *) R="1e-4" ;;\nesac\npython3 c.py --rtol=$R --atol 0\n',
        )

        found = [(g.option, g.value, g.dtypes, written(one, g.start, g.end)) for g in scripts.tolerances(one)]

        assert found == [
            ("rtol", 2**-8, ("float16",), "2^-8"),
            ("rtol", 1e-4, (), '"1e-4"'),
            ("atol", 0.0, (), "0"),
        ]


class TestBuild:
    def test_outputs_with_prefix_folder_and_new_name(self):
        one = file(
            "custom-ops/demo/CMakeLists.txt",
            "project(demo)\nset(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\nadd_executable(${PROJECT_NAME} a.cpp)\n"
            'add_library(k SHARED k.cpp)\nset_target_properties(k PROPERTIES PREFIX "" OUTPUT_NAME kernels)\n'
            "set_property(TARGET k PROPERTY LIBRARY_OUTPUT_DIRECTORY out)\n",
        )

        found = [(o.name, o.folder, written(one, o.start, o.end)) for o in build.outputs(one)]

        assert found == [("demo", "${CMAKE_BINARY_DIR}/bin", "${PROJECT_NAME}"), ("kernels.so", "out", "kernels")]


@pytest.fixture(scope="module")
def sites():
    return names.name_sites(Operator((CLEAN / "reduce_scatter").as_posix(), Places()))


class TestNames:
    def test_each_role_is_found(self, sites):
        assert {site.role for site in sites} >= {
            "design-name", "design-root", "design-command", "folder", "file", "cmake-project", "cmake-target", "cmake-source",
            "binary", "script", "kernel", "identifier", "include", "binding-class", "binding-list", "readme-command", "prose",
        }  # fmt: skip

    def test_each_site_is_the_name(self, sites):
        for site in sites:
            if site.role not in ("folder", "file"):
                assert Path(site.path).read_bytes()[site.start : site.end].decode() == site.text
                assert site.text == names.styled("reduce_scatter", site.style)

    def test_what_others_call_so_is_left_out(self):
        one = cpp("HcclReduceScatter(a); aclnn_reduce_scatter(b); launch_reduce_scatter(c); reduce_scatters(d);\n")

        assert [written(one, s.start - 7, s.end) for s in names.sites_in(one, "reduce_scatter")] == [
            "launch_reduce_scatter"
        ]

    def test_a_name_that_is_part_of_another_word_is_none(self):
        one = cpp("int gather(); int allgather_v(); int xgather; int gather2;\n")

        assert [s.start for s in names.sites_in(one, "gather")] == [4]


READERS = {
    ".cpp": (
        kernels.macros, kernels.kernels, kernels.launches, kernels.launchers, calls.api_calls, calls.signals,
        dispatch.dispatches, bindings.binding_classes, bindings.registrations,
    ),
    ".sh": (scripts.binaries, scripts.tolerances, scripts.pe_defaults, scripts.dtype_cases),
    ".txt": (build.targets, build.outputs),
    ".py": (bindings.test_dtypes,),
    ".md": (),
}  # fmt: skip
SAMPLES = sorted(
    p
    for p in CLEAN.rglob("*")
    if p.is_file() and p.suffix in READERS and p.parent.parent.name in ("reduce_scatter", "torch_binding", "custom-ops")
)


def read_all(one, suffix):
    size = len(one.data)
    for reader in READERS[suffix]:
        for found in reader(one):
            for low, high in (("start", "end"), ("whole_start", "whole_end")):
                if hasattr(found, low):
                    assert 0 <= getattr(found, low) <= getattr(found, high) <= size, (reader.__name__, found)
    for site in names.sites_in(one, "reduce_scatter"):
        assert one.data[site.start : site.end].lower().replace(b"_", b"") == b"reducescatter"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SAMPLES), st.randoms(use_true_random=False))
def test_damaged_text_is_read(path, chance):
    data = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(data) + 1)
        if chance.random() < 0.5:
            del data[at : at + chance.randint(1, 60)]
        else:
            data[at:at] = chance.choice(
                [b"(", b"<<<", b">>>", b'"', b"{", b"}", b"\xff", b"\r", b"#define K(", b"`", b"\\\n", b"\xe6\xa0"]
            )

    read_all(file(f"custom-ops/reduce_scatter/x/{path.name}", bytes(data)), path.suffix)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(sorted(READERS)))
def test_any_bytes_are_read(data, suffix):
    name = "CMakeLists.txt" if suffix == ".txt" else f"torch_bind{suffix}"

    read_all(file(f"custom-ops/reduce_scatter/{name}", data), suffix)


@pytest.mark.parametrize(
    "piece",
    [
        b"a<b<<<", b"K(a, ", b"#define K(a) \\\n", b'x == "fp16" ', b"switch(type){case A:", b"__global__ void ", b"reduce_scatter ",
        b"aclshmem_putmem(", b"~~~\n", b"class A : public CustomClassHolder {",
    ],
)  # fmt: skip
def test_repeated_beginnings_take_linear_time(piece):
    def seconds(count):
        one = cpp(piece * count)
        begin = time.process_time()
        read_all(one, ".cpp")
        return time.process_time() - begin

    seconds(50)
    few, many = (min(seconds(n) for _ in range(3)) for n in (200, 1600))

    assert many < max(few, 0.004) * 8 * 3


def test_random_order_of_readers_makes_no_difference():
    path = CLEAN / "reduce_scatter" / "src" / "reduce_scatter_kernel.cpp"
    one, other = (file("custom-ops/reduce_scatter/src/k.cpp", path.read_bytes()) for _ in range(2))
    readers = list(READERS[".cpp"])
    forward = {r: repr(r(one)) for r in readers if r is not bindings.binding_classes}
    random.Random(1).shuffle(readers)

    assert {r: repr(r(other)) for r in readers if r is not bindings.binding_classes} == forward
