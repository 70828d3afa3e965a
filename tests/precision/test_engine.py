"""The one pass against plain numpy over whole arrays, and what must not change with blocks, threads or order."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tensors import encode, read

from opdev.precision import standards
from opdev.precision.files import Stored
from opdev.precision.grid import Grid, grid_of
from opdev.precision.judge import Ask, Pair, judge_pairs
from opdev.precision.measure import measure
from opdev.precision.numbers import histograms_of
from opdev.precision.texts import PrecisionError

LIMITS = {
    "shmem": standards.shmem("COMPUTE_FLOAT", "float16", 8),
    "move": standards.shmem("MOVE", "float16"),
    "pypto": standards.pypto("float16"),
}
HALVES = st.floats(-1000, 1000, width=16) | st.sampled_from([0.0, -0.0, 6e-8, 65504.0, np.nan, np.inf, -np.inf])


def measured(tmp, output, golden, limits, **how):
    paths = tmp / "a.bin", tmp / "g.bin"
    output.tofile(paths[0])
    golden.tofile(paths[1])
    stored = [Stored(str(p), "float16", output.size) for p in paths]
    grid = how.pop("grid", None) or grid_of(None, output.size)
    return measure(*stored, limits, grid, **how)


def oracle(output, golden, limits):
    """The standards as the facts write them, over whole arrays; finite numbers only."""
    a, g = output.astype(np.float64), golden.astype(np.float64)
    d = np.abs(a - g)
    if limits.standard == "pypto":
        within = d <= limits.atol + limits.rtol * np.abs(g)
    else:
        within = d <= limits.rtol * np.maximum(np.abs(g), 1)
    with np.errstate(over="ignore"):
        rel = d / np.maximum(np.abs(g), np.finfo(np.float64).tiny)
        mean_rel = rel.mean()
    eb = abs((a - g).mean()) / max(np.abs(g).max(), np.finfo(np.float64).tiny)
    return {
        "within": int(within.sum()), "max_abs": d.max(), "max_rel": rel.max(), "mean_rel": mean_rel, "rmse": np.sqrt((d * d).mean()), "eb": eb,
        "wrong": np.flatnonzero(~within).tolist(),
    }  # fmt: skip


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("size", [1, 31, 1000, 32768, 100_003])
def test_numbers_are_numpys(tmp_path, limits, size):
    rng = np.random.default_rng(size)
    golden = rng.standard_normal(size).astype(np.float16)
    golden[rng.random(size) < 0.01] = 0
    output = (golden + rng.standard_normal(size) * 2e-3 * (rng.random(size) < 0.5)).astype(np.float16)
    found = measured(tmp_path, output, golden, limits, keep=size)
    wanted = oracle(output, golden, limits)

    assert (found.within, found.max_abs, found.max_rel, found.wrong) == (
        wanted["within"], wanted["max_abs"], wanted["max_rel"], wanted["wrong"],
    )  # fmt: skip
    for name in ("mean_rel", "rmse", "eb"):
        assert getattr(found, name) == pytest.approx(wanted[name], rel=1e-12, abs=1e-300), name


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int32", "int64", "uint8"])
def test_every_dtype_is_read_right(tmp_path, dtype):
    rng = np.random.default_rng(3)
    if dtype.startswith(("int", "uint")):
        info = np.iinfo(dtype)
        golden, output = (rng.integers(info.min, info.max, 5000, dtype=dtype, endpoint=True) for _ in range(2))
    elif dtype == "bfloat16":
        golden, output = (encode(rng.integers(-255, 255, 5000) / 8, dtype) for _ in range(2))
    else:
        golden, output = (rng.standard_normal(5000).astype(dtype) for _ in range(2))
    for name, values in (("output", output), ("golden", golden)):
        values.tofile(tmp_path / f"{name}.bin")
    pair = Pair("out", str(tmp_path / "output.bin"), str(tmp_path / "golden.bin"))
    result = judge_pairs([pair], Ask(dtype=dtype, op_kind="transport")).results[0]
    a, g = read(output, dtype), read(golden, dtype)

    assert result.metrics.max_abs == np.abs(a - g).max()
    assert result.metrics.mean_error == pytest.approx((a - g).mean(), rel=1e-9)
    assert result.mismatch_count == int((output != golden).sum())
    one = result.mismatches[0]
    assert (one.actual, one.expected) == (read(output, dtype)[one.index], read(golden, dtype)[one.index])


def test_every_bfloat16_and_half_pattern(tmp_path):
    """All 65,536 bit patterns, against struct and numpy's own half."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    from opdev.precision.files import decode

    with np.errstate(invalid="ignore"):
        half = bits.view(np.float16).astype(np.float64)
    np.testing.assert_array_equal(decode(bits.view(np.float16), "float16"), half)
    np.testing.assert_array_equal(decode(bits, "bfloat16"), read(bits, "bfloat16"))


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    size=st.integers(1, 600),
    block=st.integers(1, 700),
    workers=st.integers(1, 4),
    limits=st.sampled_from([*LIMITS.values()]),
)
def test_blocks_and_threads_change_nothing(tmp_path_factory, data, size, block, workers, limits):
    output = data.draw(hnp.arrays(np.float16, size, elements=HALVES))
    golden = data.draw(hnp.arrays(np.float16, size, elements=HALVES))
    tmp = tmp_path_factory.getbasetemp()
    one = measured(tmp, output, golden, limits, workers=1, block=1 << 16)
    other = measured(tmp, output, golden, limits, workers=workers, block=block)

    for name in ("elements", "compared", "within", "max_abs", "max_rel", "max_golden", "nan_output", "nan_golden", "inf_output",
                 "inf_golden", "nan_apart", "inf_apart", "first_golden", "wrong", "last", "wrong_zero", "wrong_ones", "nonzero"):  # fmt: skip
        assert getattr(one, name) == getattr(other, name), name
    for name in ("mean_rel", "rmse", "mean_error", "eb"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9, abs=1e-9, nan_ok=True), name
    for name in ("absolute", "relative", "worst", "bad"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert sum(b.count for b in histograms_of(one)[0].bins) + int(one.absolute[0]) == one.compared
    assert int(one.bad.sum()) == one.elements - one.within


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), limits=st.sampled_from([*LIMITS.values()]))
def test_the_order_of_blocks_changes_nothing(tmp_path_factory, seed, limits):
    rng = np.random.default_rng(seed)
    golden = rng.standard_normal((16, 64)).astype(np.float16)
    output = (golden + rng.standard_normal((16, 64)) * 3e-3).astype(np.float16)
    order = rng.permutation(16)
    tmp = tmp_path_factory.getbasetemp()
    how = {"block": 64, "grid": Grid(1, 1024, 1, 1024)}
    one = measured(tmp, output.ravel(), golden.ravel(), limits, workers=1, **how)
    other = measured(tmp, output[order].ravel(), golden[order].ravel(), limits, workers=3, **how)

    # Sums of blocks are added exactly: not even the last digit moves.
    for name in ("within", "max_abs", "max_rel", "mean_rel", "rmse", "mean_error", "eb", "wrong_zero"):
        assert getattr(one, name) == getattr(other, name), name


@settings(max_examples=60, deadline=None)
@given(
    golden=hnp.arrays(np.float16, st.integers(1, 200), elements=st.floats(-500, 500, width=16)),
    noise=st.floats(0, 1, width=16),
    more=st.floats(0, 100, width=16),
    data=st.data(),
    limits=st.sampled_from([*LIMITS.values()]),
)
def test_a_larger_error_never_helps(tmp_path_factory, golden, noise, more, data, limits):
    output = (golden + np.float16(noise)).astype(np.float16)
    at = data.draw(st.integers(0, golden.size - 1))
    worse = output.copy()
    worse[at] = np.float16(min(float(output[at]) + more, 65504))
    tmp = tmp_path_factory.getbasetemp()
    one, other = (measured(tmp, values, golden, limits) for values in (output, worse))

    assert other.within <= one.within
    assert other.max_abs >= one.max_abs
    assert other.rmse >= one.rmse
    assert other.eb >= one.eb - 1e-15


@settings(max_examples=100, deadline=None)
@given(shape=st.lists(st.integers(1, 40), min_size=1, max_size=3), data=st.data())
def test_a_cell_holds_the_elements_it_says(shape, data):
    count = int(np.prod(shape))
    parts = data.draw(st.sampled_from([None, 2, 3, 4, 8]))
    grid = grid_of(shape, count, parts)
    start = data.draw(st.integers(0, count - 1))
    size = data.draw(st.integers(1, count - start))
    begins, cells = grid.pieces(start, size)
    lengths = np.diff([*begins, size])
    flat = np.repeat(cells, lengths)
    where = np.arange(start, start + size)

    assert (flat == where // grid.columns // grid.high * grid.across + where % grid.columns // grid.wide).all()
    everywhere = [grid.elements(r, c, count) for r in range(grid.down) for c in range(grid.across)]
    assert sum(everywhere) == count
    assert grid.down <= 64
    assert grid.across <= 64


def test_heat_and_tiles_say_where(tmp_path):
    golden = np.zeros((100, 640), np.float32)
    output = golden.copy()
    output[42, 321] = 3
    output[43, 321:325] = 1
    golden.tofile(tmp_path / "g.bin")
    output.tofile(tmp_path / "a.bin")
    pair = Pair("out", str(tmp_path / "a.bin"), str(tmp_path / "g.bin"))
    result = judge_pairs([pair], Ask(dtype="float32", shape=(100, 640), op_kind="transport")).results[0]

    assert [(m.coordinates, m.actual) for m in result.mismatches][:2] == [((42, 321), 3.0), ((43, 321), 1.0)]
    tile = result.worst_tiles[0]
    assert tile.rows[0] <= 42 < 43 < tile.rows[1]
    assert tile.columns[0] <= 321 < 325 <= tile.columns[1]
    assert (tile.mismatches, tile.worst) == (5, 3.0)
    assert sum(map(sum, result.heat.mismatches)) == 5


TORCH = """
import json, sys
import torch
generator = torch.Generator().manual_seed(7)
said = []
for at, (dtype, rtol, atol, scale) in enumerate(json.loads(sys.argv[1])):
    kind = getattr(torch, dtype)
    golden = torch.randn(4096, generator=generator).to(kind)
    output = (golden.float() + scale * atol * torch.randn(4096, generator=generator)).to(kind)
    for name, tensor in (("a", output), ("g", golden)):
        tensor.view(torch.int32 if kind is torch.float32 else torch.int16).numpy().tofile(f"{name}{at}.bin")
    a, g = output.double(), golden.double()
    try:
        torch.testing.assert_close(a, g, rtol=rtol, atol=atol)
        close = True
    except AssertionError:
        close = False
    said.append([int(torch.isclose(a, g, rtol=rtol, atol=atol).sum()), float((a - g).abs().max()), close])
print(json.dumps(said))
"""


def test_torch_says_the_same(tmp_path, torch_python):
    asked = [
        (dtype, limits.rtol, limits.atol, scale)
        for dtype in ("float16", "bfloat16", "float32")
        for limits in [standards.pypto(dtype)]
        for scale in (0.1, 1.0, 3.0)
    ]
    done = subprocess.run(
        [torch_python, "-c", TORCH, json.dumps(asked)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    for at, ((dtype, *_), (within, largest, close)) in enumerate(zip(asked, json.loads(done.stdout), strict=True)):
        pair = Pair("out", str(tmp_path / f"a{at}.bin"), str(tmp_path / f"g{at}.bin"))
        result = judge_pairs([pair], Ask(standard="pypto", dtype=dtype)).results[0]

        assert result.metrics.within == within
        assert result.metrics.max_abs == largest
        assert (result.mismatch_count == 0) == close
    assert {close for _, _, close in json.loads(done.stdout)} == {True, False}


def test_a_file_cut_short_while_it_is_read(tmp_path):
    np.zeros(100_000, np.float16).tofile(tmp_path / "a.bin")
    np.zeros(60_000, np.float16).tofile(tmp_path / "g.bin")
    stored = [Stored(str(tmp_path / name), "float16", 100_000) for name in ("a.bin", "g.bin")]

    for workers in (1, 3):
        with pytest.raises(PrecisionError, match=r"g\.bin: is cut short"):
            measure(*stored, LIMITS["move"], grid_of(None, 100_000), workers=workers, block=1000)


_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from opdev.precision.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited there")
def test_four_gigabytes_in_one(tmp_path):
    """2 GB each, with all addresses of the process below 1 GB; the last of 2^30 elements is wrong."""
    for name, last in (("output", 1.0), ("golden", 2.0)):
        with (tmp_path / f"{name}.bin").open("wb") as stream:
            stream.truncate((1 << 31) - 2)
            stream.seek(0, 2)
            stream.write(np.float16(last).tobytes())
    command = [sys.executable, "-c", _LIMITED, "--output", "output.bin", "--golden", "golden.bin", "--dtype", "fp16",
               "--op-kind", "transport", "--format", "json"]  # fmt: skip
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    for name in ("output", "golden"):
        (tmp_path / f"{name}.bin").unlink()

    assert (done.returncode, done.stderr) == (1, "")
    result = json.loads(done.stdout)["results"][0]
    assert (result["mismatch_count"], result["mismatches"][0]["index"]) == (1, (1 << 30) - 1)
    assert result["metrics"]["elements"] == 1 << 30
