"""check_result.py and gen_data.py of new operators: both levels of the precision standard, every dtype."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from needed import package

np = package("numpy")


def script(made, name, *argv):
    return subprocess.run(
        [sys.executable, str(made.root / "scripts" / name), *map(str, argv)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def summing(tmp_path_factory):
    from opdev.scaffold.cli import main

    base = tmp_path_factory.mktemp("sum")
    argv = ["rs", "--kind", "reduce-scatter", "--dtypes", "fp16,bf16,fp32,int8,int16,int32", "--dir", str(base)]
    assert main("new", argv) == 0

    class Made:
        root = base / "custom-ops" / "rs"

    return Made


def prepare(made, folder, dtype, elements=1000, pes=2):
    done = script(made, "gen_data.py", "--pes", pes, "--elements", elements, "--dtype", dtype, "--data-dir", folder)
    assert (done.returncode, done.stderr) == (0, "")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return config, [np.fromfile(folder / f"golden_pe{pe}.bin", dtype=config["numpy_dtype"]) for pe in range(pes)]


def check(made, data, outputs, rtol, *more):
    folder = data / "out"
    folder.mkdir(exist_ok=True)
    for pe, values in enumerate(outputs):
        values.tofile(folder / f"output_pe{pe}.bin")
    return script(
        made, "check_result.py", "--data-dir", data, "--output-dir", folder, "--rtol", rtol, "--atol", rtol, *more
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8", "int16", "int32"])
def test_the_golden_itself_passes(summing, tmp_path, dtype):
    _, golden = prepare(summing, tmp_path, dtype)

    done = check(summing, tmp_path, golden, 0)

    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "PASS: all 2 PE outputs match"
    assert "precision_percent=100.0000 eb=0.000000e+00 basic_pass=True" in done.stdout


def test_data_is_the_same_each_time_and_differs_between_pes(summing, tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    prepare(summing, first, "float16")
    prepare(summing, second, "float16")

    assert (first / "input_pe0.bin").read_bytes() == (second / "input_pe0.bin").read_bytes()
    assert (first / "input_pe0.bin").read_bytes() != (first / "input_pe1.bin").read_bytes()


def test_one_element_outside_is_enough_to_fail(summing, tmp_path):
    _, golden = prepare(summing, tmp_path, "float32")
    golden[1][7] += np.float32(0.01)

    done = check(summing, tmp_path, golden, 2**-11)

    assert done.returncode == 1
    assert "PE 0: PASS" in done.stdout
    assert "first mismatch idx=7" in done.stdout
    assert "FAIL: 1/2 PE outputs mismatched" in done.stdout


def test_a_bias_fails_though_every_element_is_within(summing, tmp_path):
    _, golden = prepare(summing, tmp_path, "float32", elements=100000)
    biased = [values + np.float32(2**-12) for values in golden]

    done = check(summing, tmp_path, biased, 2**-11)

    assert "precision_percent=100.0000" in done.stdout
    assert "basic_pass=False" in done.stdout
    assert done.returncode == 1


def test_the_reference_decides_where_the_basic_level_fails(summing, tmp_path):
    _, golden = prepare(summing, tmp_path, "float32")
    off = [values + np.float32(0.01) for values in golden]
    torch = tmp_path / "torch"
    torch.mkdir()
    for pe, values in enumerate(off):
        values.tofile(torch / f"output_pe{pe}.bin")

    assert check(summing, tmp_path, off, 2**-11).returncode == 1
    same = check(summing, tmp_path, off, 2**-11, "--torch-output", torch)
    assert (same.returncode, "basic_pass=False reference_pass=True" in same.stdout) == (0, True)
    worse = [values + np.float32(0.1) for values in golden]
    assert check(summing, tmp_path, worse, 2**-11, "--torch-output", torch).returncode == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_inf_fail(summing, tmp_path, bad):
    _, golden = prepare(summing, tmp_path, "float16")
    golden[0][3] = bad

    done = check(summing, tmp_path, golden, 2**-8)

    assert done.returncode == 1
    assert "PE 0: FAIL (nan/inf detected)" in done.stdout


def test_a_short_output_fails(summing, tmp_path):
    _, golden = prepare(summing, tmp_path, "int32")

    done = check(summing, tmp_path, [golden[0][:-1], golden[1]], 0)

    assert done.returncode == 1
    assert "PE 0: FAIL (999 elements, expected 1000)" in done.stdout


def test_integers_are_compared_exactly(summing, tmp_path):
    _, golden = prepare(summing, tmp_path, "int32")
    golden[0][0] += 1

    assert check(summing, tmp_path, golden, 0).returncode == 1
