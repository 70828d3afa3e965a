"""Real kernels on the real wheel: what is computed, what is judged, what is said, and that it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time

import pytest
from scaled import HEAD, IMPL, of

# One worker: whoever comes first builds the interpreter, the others would wait for it.
pytestmark = pytest.mark.xdist_group("pypto")
ALL = """@pytest.mark.parametrize("rows", [32, 64])
def test_level0(rows):
    actual, golden = _run(rows)
    assert_allclose(actual.float().numpy(), golden.float().numpy(), rtol=2e-3, atol=2e-3)


def test_loose():
    actual, golden = _run(32)
    golden[3, 5] += 1.5
    assert_allclose(actual.float().numpy(), golden.float().numpy(), rtol=2, atol=2)


def test_strict():
    actual, golden = _run(32)
    torch.testing.assert_close(golden + 1, actual, rtol=0, atol=0)


def test_guarded():
    actual, other = _run(32)
    if torch.npu.device_count() > 8:
        assert_allclose(actual, other)


def test_variable():
    actual, golden = _run(32)
    print("最大误差", float((actual - golden).abs().max()))


def test_itself():
    actual, golden = _run(32)
    del actual
    golden = golden + 1
    assert_allclose(golden, golden.clone())


def test_much():
    torch.zeros(4_000_000_000, dtype=torch.uint8).add_(1)


@pytest.mark.skip(reason="only on the device")
def test_device():
    raise AssertionError
"""


def test_each_case_is_judged_by_what_it_compared(operator, tmp_path):
    operator.write("test_scale.py", HEAD + ALL)
    out = tmp_path / "out"

    done = subprocess.run(
        [sys.executable, "-m", "opdev.pyptosim", "--op", str(operator.root), "--out", str(out), "--lang", "en", "--memory", "3000"],
        capture_output=True, text=True, check=False, env=operator.env,
    )  # fmt: skip

    lines = done.stdout.splitlines()
    cases = {}
    for line in lines:
        if line.startswith("[CASE] "):
            values = dict(word.split("=", 1) for word in line.split()[1:])
            cases[values["id"]] = (values["result"], int(values["compared"]), values["backend"])
    assert cases == {
        "test_level0(32)": ("PASS", 1, "sim"),
        "test_level0(64)": ("PASS", 1, "sim"),
        "test_loose": ("FAIL", 1, "sim"),
        "test_strict": ("FAIL", 1, "sim"),
        "test_guarded": ("BLOCKED", 0, "sim"),
        "test_variable": ("PASS", 1, "sim"),
        "test_itself": ("BLOCKED", 0, "sim"),
        "test_much": ("FAIL", 0, "sim"),
        "test_device": ("SKIP", 0, "sim"),
    }, done.stdout + done.stderr
    assert done.returncode == 1
    # How far it is off, for whoever shows a table of cases.
    assert re.search(r"id=test_loose .* maxae=1\.50\d+e\+00 maxre=\S+ meanre=\S+ backend=sim", done.stdout)
    assert "id=test_level0(32) result=PASS compared=1 matched=1.000000 maxae=0.000000e+00" in done.stdout
    at = operator.line("test_scale.py", "rtol=2, atol=2")
    assert any(line.startswith(f"{operator.root}/test_scale.py:{at}:1: error: test_loose: out ") for line in lines)
    # The standard is that of what the kernel wrote, though the test compared float32.
    reports = json.loads((out / "precision.json").read_text(encoding="utf-8"))
    assert {(r["standard"], r["backend"], r["results"][0]["dtype"]) for r in reports} == {("pypto", "sim", "float16")}
    # The cost model's times are nowhere but in a file that says what they are.
    assert "End-to-End" not in done.stdout + done.stderr
    assert (out / "cost-model-not-measured.log").stat().st_size
    assert "simulated" in lines[0]


def test_a_run_passes_by_its_outputs_and_says_simulated_everywhere(operator):
    operator.write("test_scale.py", HEAD + ALL)

    status, events = operator.run("--case", "level0")

    assert status == 0, events
    assert {event["backend"] for event in events} == {"sim"}
    assert [(e["case"], e["verdict"]) for e in of(events, "case")] == [
        ("test_level0(32)", "PASS"), ("test_level0(64)", "PASS"),
    ]  # fmt: skip
    assert of(events, "perf") == of(events, "gate") == []
    assert not any("step" in e for e in of(events, "step-ended")), "nothing simulated is a record for gates"
    shown = operator.opdev("show", "last", "--lang", "zh").stdout
    assert "模拟" in shown
    assert "Stage 6" in shown


def test_exit_zero_without_a_comparison_is_no_pass(operator):
    operator.write("test_scale.py", HEAD + ALL)

    status, events = operator.run("--case", "guarded")

    assert status == 1
    told = of(events, "diagnosis")[0]
    assert (told["signature"], told["class"]) == ("pypto-sim-unchecked", "test")
    assert of(events, "run-ended")[0]["outcome"] == "failed"


def test_what_this_pypto_lacks_and_refuses_is_told_at_the_users_line(operator):
    kernel = IMPL.replace("@pypto.frontend.jit", "@pypto.jit").replace("pypto.mul(left, 2.0)", "pypto.mull(left, 2.0)")
    operator.write("scale_impl.py", kernel)
    operator.write("test_scale.py", HEAD + "def test_level0():\n    assert_allclose(*_run(32))\n")

    status, events = operator.run()

    assert status == 1
    told = [(os.path.basename(e["path"]), e["line"], e["severity"], e["message"]) for e in of(events, "diagnostic")]
    jit, mull = operator.line("scale_impl.py", "@pypto.jit"), operator.line("scale_impl.py", "pypto.mull")
    assert any(t[:3] == ("scale_impl.py", jit, "warning") and "run as pypto.frontend.jit" in t[3] for t in told), told
    assert any(t[:3] == ("scale_impl.py", mull, "warning") and "has no pypto.mull" in t[3] for t in told), told
    assert any(t[0] == "scale_impl.py" and t[2] == "error" and "mull" in t[3] for t in told), told


def test_a_script_with_a_run_mode_is_run_as_one(operator):
    operator.write("test_scale.py", HEAD.replace("import os\n", "import argparse\nimport os\n") + (
        "def test_level0():\n    actual, golden = _run(32)\n    print(MODE)\n\n\n"
        'if __name__ == "__main__":\n    parser = argparse.ArgumentParser()\n'
        '    parser.add_argument("--run_mode", default="npu")\n    MODE = parser.parse_args().run_mode\n'
        '    assert MODE == "sim"\n    test_level0()\n'
    ))  # fmt: skip

    status, events = operator.run()

    assert status == 0, events
    assert [(e["case"], e["verdict"]) for e in of(events, "case")] == [("test_level0", "PASS")]


def test_stop_ends_the_child_and_a_time_limit_does(operator):
    operator.write(
        "test_scale.py",
        '"""pypto"""\nimport time\n\n\ndef test_level0():\n    open("begun", "w").close()\n    time.sleep(600)\n',
    )

    started = operator.opdev("run", "verify", "--detach", "--format", "jsonl")
    run = json.loads(started.stdout)
    deadline = time.monotonic() + 120
    while not (operator.root / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    stopped = operator.opdev("stop", run["run"], "--now")

    assert (operator.root / "begun").exists()
    assert stopped.returncode == 0, stopped.stdout + stopped.stderr
    assert json.loads(operator.opdev("runs", "--format", "json").stdout)[-1]["state"] == "stopped"
    assert not _carrying(run["run"])

    done = subprocess.run(
        [sys.executable, "-m", "opdev.pyptosim", "--op", str(operator.root), "--lang", "en", "--timeout", "1"],
        capture_output=True, text=True, check=False, env=operator.env,
    )  # fmt: skip
    assert done.returncode == 1
    assert "more than 1 s" in done.stdout


def _carrying(run):
    from opdev.runs.process import carrying

    return carrying(run)
