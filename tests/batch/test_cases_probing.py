"""A case run once: shapes without their gigabytes, and whatever a case does is a warning and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from cases_made import RELU, bench
from scaled import wheels

from opdev.bench.model import Case, Host, Slot
from opdev.bench.probing import probe
from opdev.bench.reading import spec_of
from opdev.runs.execute import Stop

HUGE = "rows, columns = 1 << 22, 1 << 14"


def model(forward, init="pass", inputs="[torch.rand(rows, columns)]", top="", arguments="x"):
    """A case whose parts are given; its inputs have a quarter of a terabyte."""
    return f"""
import torch, os, sys, time
import numpy as np
{HUGE}
{top}
class Model(torch.nn.Module):
    def __init__(self, *given):
        super().__init__()
        {init}
    def forward(self, {arguments}):
        {forward}
def get_inputs():
    return {inputs}
def get_init_inputs():
    return [4, "text"]
"""


CASES = {
    "1_Plain": model("print('{\"kind\": \"end\"}'); return x @ self.w", "self.w = torch.nn.Parameter(torch.rand(columns, 8))"),
    "2_Several": model(
        "return {'sum': a.sum(), 'parts': (a + b, b.bool()), 'n': 3}", arguments="a, b, n",
        inputs="[torch.rand(3, 4, dtype=torch.float16), torch.randint(0, 9, (4,)), 2.5]",
    ) + "CASES = str([[[1, 2], [2]]])\nDYNAMIC_AXIS = ['rows'] * 2\n",
    "3_Numbers_to_make": model("return self.w(x)", "self.w = torch.nn.Linear(columns, int(torch.tensor(5).item()))"),
    "4_Numbers_to_compute": model("return x[x > 0.5].sum().reshape(1)", inputs="[torch.rand(8, 8)]"),
    "5_Too_many_numbers": model("return x[x > 0.5].sum()"),
    "6_Raises": model("raise RuntimeError('first' + chr(10) + 'second')"),
    "7_Exits": model("return x", top="sys.exit('gone')"),
    "8_Ends": model("os._exit(3)"),
    "9_Memory": model("return x", inputs="[torch.from_numpy(np.ones(1 << 40))]"),
    "10_Broken": "class Model(\n",
    "11_Slow_without_numbers": model("while x.is_meta: time.sleep(0.01)\n        return x + 1", inputs="[torch.rand(8)]"),
}  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the command says of all of them, by name, and how it ended."""
    root = tmp_path_factory.mktemp("bench")
    bench(root, {"level1": CASES})
    done = subprocess.run(
        [sys.executable, "-m", "opdev.cli", "bench", "cases", "--lang", "en", "--bench-dir", str(root), "--probe",
         "--python", wheels(), "--format", "json"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    return {one["case_id"].partition("_")[0]: one for one in json.loads(done.stdout)["cases"]}


def tensors(listed):
    return [(one["name"], one["shape"], one["dtype"]) for one in listed]


def warned(one):
    return [w["en"].replace(one["source_file"], "case.py") for w in one["warnings"]]


def line_of(name, text):
    return CASES[name][: CASES[name].index(text)].count("\n") + 1


def test_shapes_of_a_quarter_of_a_terabyte(found):
    one = found["1"]

    assert tensors(one["inputs"]) == [("x0", [1 << 22, 1 << 14], "float32")]
    assert tensors(one["outputs"]) == [("y0", [1 << 22, 8], "float32")]
    assert (one["p0_shapes"], one["tolerance"]["rtol"], one["init_args_repr"]) == ([[[1 << 22, 1 << 14]]], 1e-3, "[4, 'text']")  # fmt: skip
    assert one["warnings"] == []


def test_several_inputs_and_outputs_and_computed_globals(found):
    one = found["2"]

    assert tensors(one["inputs"]) == [("x0", [3, 4], "float16"), ("x1", [4], "int64")]
    assert tensors(one["outputs"]) == [
        ("ysum", [], "float16"), ("yparts_0", [3, 4], "float16"), ("yparts_1", [4], "bool"),
    ]  # fmt: skip
    assert (one["supported_dtypes"], one["tolerance"]["atol"]) == (["float16", "int64"], 4e-3)
    assert (one["p1_shapes"], one["dynamic_axis"]) == ([[[1, 2], [2]]], ["rows", "rows"])
    assert warned(one) == ["some inputs are no tensors: x2 = 2.5", "some outputs are no tensors: yn = 3"]


def test_what_needs_numbers_has_them_where_they_are_few(found):
    assert tensors(found["3"]["outputs"]) == [("y0", [1 << 22, 5], "float32")]
    assert tensors(found["4"]["outputs"]) == [("y0", [1], "float32")]
    assert tensors(found["11"]["outputs"]) == [("y0", [8], "float32")]
    assert found["5"]["outputs"] is None
    (said,) = warned(found["5"])
    assert said.startswith(f"case.py:{line_of('5_Too_many_numbers', 'return x[')}: the shapes of outputs are not known")
    assert said.endswith(f"there would be {1 << 36} elements, more than {1 << 24}")


def test_what_fails_is_told_with_its_place_and_the_rest_is_kept(found):
    assert found["6"]["outputs"] is None
    assert tensors(found["6"]["inputs"])
    (said,) = warned(found["6"])
    assert said.startswith(f"case.py:{line_of('6_Raises', 'raise')}: the shapes of outputs are not known")
    assert "(RuntimeError: first)" in said
    assert warned(found["7"]) == [
        f"case.py:{line_of('7_Exits', 'sys.exit')}: failed at import, so not all shapes are known: SystemExit: gone"
    ]
    assert warned(found["8"]) == ["case.py: its process ended at forward (exit 3), so not all shapes are known"]
    assert tensors(found["8"]["inputs"])
    assert warned(found["9"])[0].startswith(f"case.py:{line_of('9_Memory', 'return [torch')}: failed at get_inputs")
    assert "Memory" in warned(found["9"])[0]
    assert found["10"]["status"] == "broken"


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_case_that_hangs_is_ended_with_all_it_started(tmp_path):
    python = script(tmp_path / "python", f"sleep 300 & echo $! > {tmp_path}/child; wait")

    got = probe(str(tmp_path / "case.py"), python, seconds=1.25, starting=1.25)

    assert "took more than 2.5 s at import torch" in got.warnings[0]["en"]
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "child").read_text()), 0)


def test_time_is_a_cases_own_once_torch_is_there(tmp_path):
    (tmp_path / "case.py").write_text(model("[time.sleep(0.01) for _ in iter(int, 1)]", inputs="[torch.rand(2)]"))

    got = probe(str(tmp_path / "case.py"), wheels(), seconds=4)

    assert [w["en"].partition(": ")[2] for w in got.warnings] == ["took more than 4 s at forward, so not all shapes are known"]  # fmt: skip
    assert [one.shape for one in got.inputs] == [(2,)]


def test_a_flood_is_not_kept(tmp_path):
    python = script(tmp_path / "python", "head -c 50000000 /dev/zero; head -c 50000000 /dev/zero >&2; kill -9 $$")

    got = probe(str(tmp_path / "case.py"), python)
    assert "its process ended at import (signal 9" in got.warnings[0]["en"]
    assert len(got.warnings[0]["en"]) < 1000


def test_it_can_be_stopped(tmp_path):
    python = script(tmp_path / "python", f"kill -USR1 {os.getpid()}; sleep 300")
    stop = Stop()
    before = signal.signal(signal.SIGUSR1, lambda *_: stop.ask("asked"))
    try:
        got = spec_of(_case(tmp_path), python, None, stop)
    finally:
        signal.signal(signal.SIGUSR1, before)
        stop.close()

    assert "was stopped while it was run" in got.warnings[0]["en"]


def test_on_a_slot_it_runs_behind_the_hosts_prefix_with_its_device(tmp_path):
    """A greeting of the host is none of ours."""
    prefix = script(tmp_path / "over there", 'echo "welcome"; exec sh -c "$1"')
    python = script(tmp_path / "python", f'echo "$TILE_FWK_DEVICE_ID" > {tmp_path}/device; exec "{sys.executable}" -I -S "$@"')  # fmt: skip

    got = spec_of(_case(tmp_path), python, Slot(Host("node", (prefix,), (5,)), 5))

    assert "failed at import" in got.warnings[0]["en"]
    assert (tmp_path / "device").read_text() == "5\n"


def _case(folder):
    path = folder / "1_A.py"
    path.write_text(RELU)
    return Case("level1", "1_A", "A", str(path))
