"""The AscendC headers: numbers against numpy, and a fault for each misuse with a clean twin that has none."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from needed import package

np = package("numpy")

HERE = Path(__file__).parent / "ascendc"
# What the faulty form says, and on which text of the source line.
SAID = {
    "LEAK": ("fault=queue", "DeQue<half>"),
    "LEFT_QUEUED": ("fault=queue", "AllocTensor<half>"),
    "DOUBLE_FREE": ("fault=queue", "queue.FreeTensor(first)"),
    "NO_BUFFER": ("fault=queue", "queue.AllocTensor<half>();"),
    "TENSOR_BOUNDS": ("fault=ub-bounds", "Duplicate(tensor"),
    "TBUF_BOUNDS": ("fault=ub-bounds", "buffer.Get<float>(256"),
    "UB_TOTAL": ("fault=ub-bounds", "InitBuffer(rest"),
    "ODD_COPY": ("fault=alignment", "DataCopy(tensor, global, 64"),
    "MISALIGNED": ("fault=alignment", "Adds(tensor"),
    "GLOBAL_BOUNDS": ("fault=gm-bounds", "DataCopy(tensor, global[8"),
    "WAIT_ALONE": ("fault=deadlock", "WaitFlag"),
    "SET_ALONE": ("warning=queue", "SetFlag"),
    "SET_TWICE": ("fault=queue", "SetFlag"),
    "CROSS_CORE": ("fault=deadlock", "CrossCoreWaitFlag(2)"),
    "UB_POINTER": ("fault=ub-bounds", ""),
}

# In the order of the program's own list.
MISUSES = list(SAID)


@pytest.fixture(scope="session")
def programs(sim_root, one_at_a_time, tmp_path_factory):
    """Both programs, compiled as a project's kernels are."""
    folder = tmp_path_factory.mktemp("ascendc")
    with one_at_a_time():
        for name in ("vector", "misuse"):
            subprocess.run(
                [sim_root.path / "bin" / "bisheng", "-xcce", "--cce-aicore-arch=dav-c220", "-O1", "-Wall", "-Wextra", "-Werror",
                 HERE / f"{name}.cpp", "-o", folder / name],
                check=True, env={**os.environ, **sim_root.environment()},
            )  # fmt: skip
    return folder


def run(programs, name, *args, **environment):
    return subprocess.run(
        [programs / name, *map(str, args)], capture_output=True, text=True, encoding="utf-8", check=False, timeout=60,
        env={**os.environ, "OPDEV_SIM_QUIET": "1", "OPDEV_SIM_LANG": "en", "OPDEV_SIM_TIMEOUT": "2", **environment},
    )  # fmt: skip


@pytest.mark.parametrize("case", MISUSES)
def test_each_misuse_is_told_on_its_line_and_its_twin_is_not(programs, case):
    number = MISUSES.index(case)
    clean = run(programs, "misuse", number, 0)
    bad = run(programs, "misuse", number, 1)

    assert (clean.returncode, clean.stdout, clean.stderr) == (0, "", "")
    kind, text = SAID[case]
    assert kind in bad.stderr
    assert bad.returncode == (86 if kind.startswith("fault") else 0)
    if text:
        line = int(re.search(r"(?:fault|warning)=.* line=(\d+)", bad.stderr)[1])
        source = (HERE / "misuse.cpp").read_text(encoding="utf-8").splitlines()
        assert text in source[line - 1]


def test_a_wait_between_cores_says_who_is_missing_at_once(programs):
    began = time.monotonic()
    said = run(programs, "misuse", MISUSES.index("CROSS_CORE"), 1, OPDEV_SIM_TIMEOUT="300").stderr

    assert time.monotonic() - began < 60
    assert re.search(
        r"cross-core flag 2, set 0 times for the cube core of block [01] \(only one of its two vector cores has set it\)",
        said,
    )
    assert len(re.findall(r"^\[SIM\] wait .*call=CrossCoreWaitFlag for=flag:2 want=1 seen=0$", said, re.MULTILINE)) == 2


def test_faults_are_told_in_chinese_too(programs):
    said = run(programs, "misuse", MISUSES.index("LEAK"), 1, OPDEV_SIM_LANG="zh").stderr

    assert "没有 FreeTensor" in said


NUMPY = {"half": "float16", "float": "float32", "int32": "int32", "int16": "int16"}


def numbers(kind, count=1000):
    rng = np.random.default_rng(7)
    if np.issubdtype(kind, np.integer):
        top = np.iinfo(kind).max
        return rng.integers(-top, top, count).astype(kind), rng.integers(-top, top, count).astype(kind)
    return (rng.standard_normal(count) * 100).astype(kind), (rng.standard_normal(count) * 3 + 0.01).astype(kind)


def computed(programs, folder, what, which, a, b, out):
    a.tofile(folder / "a")
    b.tofile(folder / "b")
    done = run(programs, "vector", what, which, folder / "a", folder / "b", folder / "out")
    assert (done.returncode, done.stderr) == (0, "")
    return np.fromfile(folder / "out", dtype=out)


@pytest.mark.parametrize("what", NUMPY)
@pytest.mark.parametrize("which", range(9))
def test_element_wise_results_are_numpys(programs, tmp_path, what, which):
    kind = np.dtype(NUMPY[what])
    a, b = numbers(kind, 1024)
    with np.errstate(all="ignore"):
        golden = {
            0: lambda: a + b, 1: lambda: a - b, 2: lambda: a * b, 3: lambda: np.maximum(a, b), 4: lambda: np.minimum(a, b),
            5: lambda: a * kind.type(3), 6: lambda: a + kind.type(-2), 7: lambda: np.full_like(a, 7),
            8: lambda: np.where(np.arange(len(a)) % 2 == 0, a + b, kind.type(0)),
        }[which]()  # fmt: skip

    assert np.array_equal(computed(programs, tmp_path, what, which, a, b, kind), golden)


@pytest.mark.parametrize("what", ["half", "float"])
def test_floating_results_are_rounded_once(programs, tmp_path, what):
    kind = np.dtype(NUMPY[what])
    a, b = numbers(kind)
    small = (a / kind.type(40)).astype(kind)
    assert np.array_equal(computed(programs, tmp_path, f"floating-{what}", 0, a, b, kind), a / b)
    close = {"rtol": 1e-3 if what == "half" else 2e-7, "atol": 0}
    np.testing.assert_allclose(
        computed(programs, tmp_path, f"floating-{what}", 1, small, b, kind), np.exp(small), **close
    )
    assert np.array_equal(computed(programs, tmp_path, f"floating-{what}", 2, a, b, kind), np.abs(a))
    assert np.array_equal(computed(programs, tmp_path, f"floating-{what}", 3, a, b, kind), np.maximum(a, 0))
    assert np.array_equal(computed(programs, tmp_path, f"floating-{what}", 4, a, b, kind), np.sqrt(np.abs(a)))


@pytest.mark.parametrize("what", ["half", "float"])
def test_sums_add_pairwise_and_the_largest_is_found(programs, tmp_path, what):
    kind = np.dtype(NUMPY[what])
    a, b = numbers(kind)
    found = computed(programs, tmp_path, f"floating-{what}", 5, a, b, kind)

    assert found[1] == a.max()
    np.testing.assert_allclose(float(found[0]), a.astype(np.float64).sum(), rtol=2e-2 if what == "half" else 1e-5)


ROUND = {"CAST_NONE": 0, "CAST_RINT": 1, "CAST_FLOOR": 2, "CAST_CEIL": 3, "CAST_ROUND": 4, "CAST_TRUNC": 5}


def test_half_goes_there_and_back_as_numpys_float16(programs, tmp_path):
    every = np.arange(65536, dtype=np.uint16).view(np.float16)
    for part in np.array_split(every, 32):
        wide = computed(programs, tmp_path, "half-float", 0, part, part, np.float32)
        assert np.array_equal(
            wide.view(np.uint32)[~np.isnan(part)], part.astype(np.float32).view(np.uint32)[~np.isnan(part)]
        )


def test_rounding_to_half_ties_to_even_also_among_subnormals_and_at_the_top(programs, tmp_path):
    steps = np.arange(0, 1024, dtype=np.uint16).view(np.float16).astype(np.float64)
    ties = (steps[:-1] + steps[1:]) / 2
    edge = np.array([65504, 65519.996, 65520, 1e30, -65520, 5.96e-8, 2.98e-8, 2.981e-8, 0.0, -0.0, np.inf, -np.inf])
    for values in (ties, edge, np.nextafter(ties.astype(np.float32), np.float32(1))):
        given = values.astype(np.float32)
        with np.errstate(over="ignore"):
            golden = given.astype(np.float16)
        found = computed(programs, tmp_path, "float-half", ROUND["CAST_NONE"], given, given, np.float16)
        assert np.array_equal(found.view(np.uint16), golden.view(np.uint16))


def test_bfloat16_is_the_top_half_of_a_float_rounded_to_even(programs, tmp_path):
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2**32, 2000, dtype=np.uint64).astype(np.uint32)
    bits[:4] = (0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x00008000)
    given = bits.view(np.float32)
    bits = bits[~np.isnan(given)]
    golden = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)

    found = computed(programs, tmp_path, "float-bfloat16", 1, bits.view(np.float32), bits.view(np.float32), np.uint16)

    assert np.array_equal(found, golden)


@pytest.mark.parametrize("mode", ["CAST_RINT", "CAST_FLOOR", "CAST_CEIL", "CAST_ROUND", "CAST_TRUNC"])
def test_casts_round_as_their_mode_says(programs, tmp_path, mode):
    given = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4999, -7.7, 3e9, -3e9, 1e6], dtype=np.float32)
    away = np.where(given < 0, np.ceil(given - 0.5), np.floor(given + 0.5))
    whole = {"CAST_RINT": np.rint(given), "CAST_FLOOR": np.floor(given), "CAST_CEIL": np.ceil(given), "CAST_ROUND": away,
             "CAST_TRUNC": np.trunc(given)}[mode]  # fmt: skip
    golden = np.clip(whole.astype(np.float64), -(2**31), 2**31 - 1).astype(np.int32)

    assert np.array_equal(computed(programs, tmp_path, "float-int32", ROUND[mode], given, given, np.int32), golden)


@pytest.mark.parametrize("mode", ["CAST_FLOOR", "CAST_CEIL", "CAST_TRUNC"])
def test_casts_to_half_take_the_neighbour_of_their_mode(programs, tmp_path, mode):
    given = (np.random.default_rng(5).standard_normal(500) * 3).astype(np.float32)
    near = given.astype(np.float16)
    down = np.where(near.astype(np.float32) > given, np.nextafter(near, np.float16(-np.inf)), near)
    up = np.where(near.astype(np.float32) < given, np.nextafter(near, np.float16(np.inf)), near)
    golden = {"CAST_FLOOR": down, "CAST_CEIL": up, "CAST_TRUNC": np.where(given < 0, up, down)}[mode]

    found = computed(programs, tmp_path, "float-half", ROUND[mode], given, given, np.float16)

    assert np.array_equal(found, golden.astype(np.float16))
