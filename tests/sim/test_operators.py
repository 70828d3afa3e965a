"""Whole operators, their own CMakeLists.txt and run.sh untouched, built and run without an NPU."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from needed import package

package("numpy")

CORPUS = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops"


def sim(*args, **environment):
    """``opdev sim`` as users call it."""
    return subprocess.run(
        [sys.executable, "-m", "opdev.sim", *map(str, args)], capture_output=True, text=True, encoding="utf-8", check=False,
        env={**os.environ, **environment}, timeout=120,
    )  # fmt: skip


@pytest.fixture(scope="module")
def operator(tmp_path_factory) -> Path:
    """put_signal in a checkout of its own, for all tests: what does not change is compiled once."""
    folder = tmp_path_factory.mktemp("checkout") / "tree with spaces 算子" / "custom-ops"
    shutil.copytree(CORPUS / "scripts", folder / "scripts")
    shutil.copytree(CORPUS / "put_signal", folder / "put_signal")
    return folder / "put_signal"


@pytest.fixture
def kernel(operator):
    """The kernel's file, as it was again afterwards."""
    path = operator / "src" / "put_signal_kernel.cpp"
    text = path.read_text(encoding="utf-8")
    yield path
    path.write_text(text, encoding="utf-8")


def change(path: Path, old: str, new: str) -> int:
    """Replace a text once; the number of its line."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize(
    ("name", "args", "nbi"),
    [
        ("allgather", (2, 100003, "float16", 0, 5), "now"),
        ("allgather", (8, 1021, "int32", 0, 3), "lazy"),
        ("alltoallv", (2, 4099, "float32", 0, 2), "lazy"),
        ("alltoallv", (8, 1021, "float16", 0, 3), "now"),
        ("reduce_scatter", (2, 100003, "float16", 0, 3), "lazy"),
        ("reduce_scatter", (8, 1021, "int32", 0, 2), "now"),
        ("put_signal", (2, 100003, "float32", 0, 3), "lazy"),
        ("put_signal", (8, 1021, "float32", 0, 3), "now"),
    ],
)  # fmt: skip
def test_operators_pass_their_own_check(sim_root, name, args, nbi):
    before = sorted((CORPUS / name).rglob("*"))
    done = sim("run", CORPUS / name, "--nbi", nbi, "--", *args)

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"PASS: (?:all {args[0]}|{args[0]}/{args[0]}) PE outputs match", done.stdout)
    assert "backend=sim" in done.stdout
    assert sorted((CORPUS / name).rglob("*")) == before


@pytest.mark.parametrize("nbi", ["now", "lazy"])
def test_a_removed_quiet_is_caught(sim_root, operator, kernel, nbi):
    change(kernel, "        aclshmemx_mte_quiet();\n", "        // no quiet\n")
    done = sim("run", operator, "--nbi", nbi, "--", 2, 20011, "float32")

    assert done.returncode != 0
    everything = done.stdout + done.stderr
    fault = re.search(r"fault=unordered-read pe=\d block=\d+ file=.* line=(\d+)", everything)
    assert fault is not None, everything
    assert "aclshmemx_mte_get_nbi" in kernel.read_text(encoding="utf-8").splitlines()[int(fault[1]) - 1]
    assert "PASS" not in everything

    # A script that looks away makes no pass of it.
    looked_away = sim("exec", operator, "--nbi", nbi, "--", "bash", "-c", "bash scripts/run.sh 2 20011 float32 || true")

    assert looked_away.returncode == 86
    assert "the script ended with 0, but the stand-in reported" in looked_away.stderr


def test_compile_errors_stand_on_the_users_lines(sim_root, operator, kernel):
    line = change(kernel, "channel.init(heap, magic);", "channel.init(heap, magik);")
    done = sim("build", operator)

    assert done.returncode == 1
    assert f"{kernel}:{line}:24: error: " in done.stdout


def test_names_that_are_not_there_fail_the_build_by_name(sim_root, operator, kernel):
    line = change(kernel, "channel.init(heap, magic);", "Mmad(1, 2); channel.init(heap, magic);")
    done = sim("build", operator, "--lang", "zh")

    assert done.returncode == 1
    assert f"{kernel}:{line}:5: error: not in the stand-in: Mmad（模拟环境里没有 Mmad" in done.stdout


def test_a_build_is_used_again_and_delivered_without_a_cmake_cache(sim_root, operator, tmp_path):
    first = sim("build", operator)
    again = sim("build", operator, "--out", tmp_path)

    assert (first.returncode, again.returncode) == (0, 0), first.stdout + first.stderr
    assert "earlier build used" in again.stdout
    names = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file())
    assert names == ["bin/put_signal", "lib/libput_signal_kernel.so"]
    assert os.access(tmp_path / "bin" / "put_signal", os.X_OK)


def test_two_runs_of_one_operator_share_nothing(sim_root, operator):
    assert sim("build", operator).returncode == 0
    command = [sys.executable, "-m", "opdev.sim", "run", str(operator), "--", "2", "20011", "float32", "0", "2"]
    # The same endpoint for both: only the run's id keeps them apart.
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         env={**os.environ, "IPPORT": "tcp://127.0.0.1:27111"})
        for _ in range(2)
    ]  # fmt: skip
    said = [process.communicate(timeout=120)[0] for process in both]

    assert [process.returncode for process in both] == [0, 0], said
    assert all(": 2/2 PE" in text or "all 2 PE" in text for text in said)


def test_exec_runs_any_command_and_results_are_copied_where_asked(sim_root, operator, tmp_path):
    script = (
        'source "${CANN_SET_ENV}"; npu-smi info; '
        'test -d "$SHMEM_HOME_PATH/shmem/lib" && mkdir -p output && echo x > output/y; exit 7'
    )
    done = sim("exec", operator, "--results", tmp_path / "kept", "--", "bash", "-c", script)

    assert done.returncode == 7, done.stderr
    assert "[SIM] npu-smi: simulated" in done.stdout
    assert (tmp_path / "kept" / "output" / "y").read_text() == "x\n"
    assert not (operator / "output").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_stopping_ends_everything_the_run_started(sim_root, operator, number):
    assert sim("build", operator).returncode == 0
    # timeout makes a process group of its own, as run scripts do for each PE.
    script = "timeout 60 sleep 61.25 & trap '' TERM; echo ready; sleep 61.75"
    process = subprocess.Popen(
        [sys.executable, "-m", "opdev.sim", "exec", str(operator), "--", "bash", "-c", script],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    while "ready" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(number)
    status = process.wait(timeout=30)
    process.stdout.close()

    assert status == (128 + signal.SIGTERM if number == signal.SIGTERM else -signal.SIGKILL)
    deadline = time.monotonic() + (0 if number == signal.SIGTERM else 20)
    while True:
        left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        if "sleep 61.25" not in left and "sleep 61.75" not in left:
            break
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


# The corpus leaves the product of two tiles to a library; one core's loops stand in for its matrix unit.
MULTIPLY = """
__aicore__ void multiply_tile(__gm__ half *a, __gm__ half *b, __gm__ float *out, const TileCoord &tile,
                              const MatmulShape &shape)
{
    for (uint32_t row = 0; row < tile.rows; ++row) {
        for (uint32_t column = 0; column < tile.columns; ++column) {
            float sum = 0;
            for (uint32_t k = 0; k < shape.k; ++k) {
                sum += static_cast<float>(a[(tile.row + row) * shape.k + k]) *
                       static_cast<float>(b[k * shape.n + tile.column + column]);
            }
            out[row * tile.columns + column] = sum;
        }
    }
}
"""


def test_cube_and_vector_cores_of_a_mix_kernel_work_in_turns(sim_root, tmp_path):
    folder = tmp_path / "custom-ops"
    shutil.copytree(CORPUS / "scripts", folder / "scripts")
    shutil.copytree(CORPUS / "matmul_allreduce", folder / "matmul_allreduce")
    kernel = folder / "matmul_allreduce" / "src" / "matmul_allreduce_kernel.cpp"
    kernel.write_text(kernel.read_text(encoding="utf-8") + MULTIPLY, encoding="utf-8")
    done = sim("run", folder / "matmul_allreduce", "--nbi", "lazy", "--", 8, 130, 257, 32)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "PE 7: PASS (33410 elements)" in done.stdout


def test_an_example_that_is_a_part_of_a_checkouts_project(sim_root):
    done = sim("run", CORPUS.parent / "examples" / "halo_exchange")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "PE 1: PASS" in done.stdout


KERNEL = """\
#include "kernel_operator.h"
__global__ __aicore__ void fill(GM_ADDR out, int32_t value)
{
    AscendC::GlobalTensor<int32_t> target;
    target.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t *>(out), 4);
    target.SetValue(AscendC::GetBlockIdx(), value);
}
void go(void *out, void *stream) { fill<<<4, nullptr, stream>>>(static_cast<uint8_t *>(out), 42); }
"""
HOST = """\
#include <cstdio>
#include "acl/acl.h"
void go(void *out, void *stream);
int main()
{
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    void *out;
    aclrtMalloc(&out, 16, ACL_MEM_MALLOC_HUGE_FIRST);
    go(out, stream);
    aclrtSynchronizeStream(stream);
    int found[4];
    aclrtMemcpy(found, 16, out, 16, ACL_MEMCPY_DEVICE_TO_HOST);
    std::printf("%d %d %d %d\\n", found[0], found[1], found[2], found[3]);
    return 0;
}
"""
ASC = """\
cmake_minimum_required(VERSION 3.16)
find_package(ASC REQUIRED)
project(fill LANGUAGES ASC CXX)
add_library(fill_kernel SHARED fill.asc)
target_compile_options(fill_kernel PRIVATE --npu-arch=dav-2201)
add_executable(fill main.cpp)
target_link_libraries(fill PRIVATE fill_kernel ascendcl)
set_target_properties(fill PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
"""


@pytest.mark.parametrize("kind", ["asc", "direct"])
def test_other_ways_to_build(sim_root, tmp_path, kind):
    operator = tmp_path / "custom-ops" / "fill"
    operator.mkdir(parents=True)
    (operator / ("fill.asc" if kind == "asc" else "fill.cpp")).write_text(KERNEL, encoding="utf-8")
    (operator / "main.cpp").write_text(HOST, encoding="utf-8")
    if kind == "asc":
        (operator / "CMakeLists.txt").write_text(ASC, encoding="utf-8")
    done = sim("exec", operator, "--", "bash", "-c", "./build/bin/fill")

    assert done.returncode == 0, done.stderr
    assert "42 42 42 42" in done.stdout


def test_steps_of_the_runner_find_everything_in_place(sim_root, operator):
    from opdev.sim import phases

    environment = {**os.environ, **phases.environment(str(operator), "run-one", 2)}
    built = subprocess.run(phases.build(str(operator)), env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    done = subprocess.run(
        ["bash", str(operator / "scripts" / "run.sh"), "2", "999", "float32"],
        env=environment, capture_output=True, text=True, check=False, encoding="utf-8",
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert (operator / "output").is_dir()


def test_missing_tools_are_named(sim_root, tmp_path):
    done = sim("doctor", "--lang", "en", PATH=str(tmp_path))
    assert done.returncode == 2
    assert "g++ is missing" in done.stderr

    done = sim("doctor", "--lang", "zh", PATH=str(tmp_path))
    assert "缺少 g++" in done.stderr


def test_a_missing_operator_is_named(sim_root):
    done = sim("run", "no-such-operator")

    assert done.returncode == 2
    assert "no-such-operator: no such operator folder" in done.stderr


def test_a_project_that_needs_a_definition_gets_it(sim_root, tmp_path):
    operator = tmp_path / "custom-ops" / "defined"
    operator.mkdir(parents=True)
    (operator / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(defined LANGUAGES CXX)\n"
        'if(NOT DEFINED MODE)\n  message(FATAL_ERROR "MODE is not set")\nendif()\n'
        "add_executable(defined main.cpp)\ntarget_compile_definitions(defined PRIVATE MODE=${MODE})\n",
        encoding="utf-8",
    )
    (operator / "main.cpp").write_text("int main() { return MODE; }\n", encoding="utf-8")

    assert sim("build", operator).returncode == 1
    for mode in (3, 4):
        assert sim("exec", operator, "-D", f"MODE={mode}", "--", "build/bin/defined").returncode == mode
