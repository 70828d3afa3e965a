"""What is said where nothing can be run: before any wheel is touched."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from scaled import OPDEV, of

from opdev.pyptosim.wheels import INSTALL


def test_without_pypto_the_run_waits_and_says_what_to_install(bare):
    status, events = bare.run()

    assert status == 1
    assert {event["backend"] for event in events} == {"sim"}
    assert [(e["phase"], e["word"]) for e in of(events, "phase-started")] == [("6", "Stage")]
    (told,) = [e for e in of(events, "diagnosis") if e["rank"] == 0]
    assert (told["class"], told["signature"]) == ("environment", "pypto-sim-environment")
    assert INSTALL in told["evidence"]
    assert of(events, "run-ended")[0]["outcome"] == "blocked"
    assert json.loads(bare.opdev("runs", "--format", "json").stdout)[0]["backend"] == "sim"
    assert INSTALL in bare.opdev("show", "last", "--lang", "zh").stdout


def test_another_version_is_refused_by_name(bare, tmp_path):
    for name, version in (("pypto", "0.1.9"), ("torch", "2.13.0")):
        folder = tmp_path / "site" / f"{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    bare.env["PYTHONPATH"] = str(tmp_path / "site")

    events = bare.run()[1]

    evidence = of(events, "diagnosis")[0]["evidence"]
    assert "pypto 0.1.9" in evidence
    assert "0.2.0 alone" in evidence
    assert INSTALL in evidence


def test_a_torch_too_new_for_the_interpreter_is_refused(bare, tmp_path):
    for name, version in (("pypto", "0.2.0"), ("torch", "2.14.1+cpu"), ("numpy", "2.0"), ("sympy", "1.13")):
        folder = tmp_path / "site" / f"{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    bare.env["PYTHONPATH"] = str(tmp_path / "site")

    assert "torch 2.14.1+cpu" in of(bare.run()[1], "diagnosis")[0]["evidence"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "3"), "only stage 6 can be run"),
        (("run", "all"), "only stage 6 can be run"),
        (("run", "verify", "--executor", "host"), "in simulation only"),
        (("run", "nonsense"), "no phase nonsense"),
    ],
)
def test_what_cannot_be_run_of_a_pypto_operator_is_usage(bare, words, told):
    done = bare.opdev(*words, "--lang", "en")

    assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert not (bare.root / ".opdev").exists()


def test_a_pro_operator_has_static_checks_only(bare):
    bare.write("test_scale.py", "import pypto_pro.language as pl\n\n\n@pl.jit\ndef kernel(x):\n    pass\n")
    bare.write("scale_golden_cpu.py", "def scale_golden_cpu(x):\n    return x\n")
    (bare.root / "scale_impl.py").unlink()

    done = bare.opdev("run", "verify", "--lang", "en")

    assert done.returncode == 2
    assert "PyPTO-Pro" in done.stderr
    assert "static checks only" in done.stderr


def test_an_operator_without_its_test_is_told(bare):
    (bare.root / "test_scale.py").unlink()

    done = subprocess.run(
        [sys.executable, "-m", "opdev.pyptosim", "--op", str(bare.root), "--lang", "en"],
        capture_output=True, text=True, check=False, env=bare.env,
    )  # fmt: skip

    assert done.returncode == 2
    assert "there is no test_scale.py" in done.stderr


def test_doctor_says_what_simulation_lacks_and_how_to_get_it(bare, tmp_path):
    bare.env["PYTHONPATH"] = str(tmp_path / "site")
    for name, version in (("torch", "2.14.1+cpu"), ("sympy", "1.13")):
        folder = tmp_path / "site" / f"{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")

    done = bare.opdev("doctor", "--format", "json")

    value = json.loads(done.stdout)
    rows = {row["probe"]: row for row in value["probes"]}
    assert (done.returncode, value["operator"], value["executor"], value["backend"]) == (1, "scale", "sim", "sim")
    assert [rows[name]["state"] for name in ("python", "pypto", "torch", "sympy")] == ["ok", "missing", "failed", "ok"]
    assert INSTALL in rows["pypto"]["next"]["zh"]
    assert "PYTHON_CMD" in rows["pypto"]["next"]["en"]
    assert (rows["torch"]["detail"], rows["interpreter"]["state"]) == ("2.14.1+cpu", "unneeded")
    assert not (bare.root / ".opdev").exists()
    # A machine without an operator: told, and not counted as missing.  Operators are looked for below a folder: an empty one.
    empty = tmp_path / "empty"
    empty.mkdir()
    machine = subprocess.run(
        [*OPDEV, "doctor", "--executor", "sim", "--lang", "en"], capture_output=True, text=True, check=False, env=bare.env, cwd=empty
    )  # fmt: skip
    assert machine.returncode == 0, machine.stdout
    assert "only for simulating PyPTO operators" in machine.stdout


def test_doctor_asks_nothing_for_a_pro_operator(bare):
    bare.write("test_scale.py", "import pypto_pro.language as pl\n\n\n@pl.jit\ndef kernel(x):\n    pass\n")
    bare.write("EXPLORE_REPORT.md", "# scale\n")

    done = bare.opdev("doctor", "--lang", "en")

    assert (done.returncode, "static checks only" in done.stdout) == (0, True)
    assert json.loads(bare.opdev("doctor", "--format", "json").stdout)["probes"] == []
