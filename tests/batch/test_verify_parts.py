"""Verification's parts that need no wheel: what is copied, what is compared, what is measured, what is decided."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from verify_made import Made

from opdev.bench import children, isolating, outputs, placing, profiling
from opdev.bench.deciding import decide
from opdev.bench.evidence import Launch, Seed, Stage
from opdev.bench.forwards import Forward
from opdev.bench.model import BenchError, CheatReport, Check, Host, Slot, VerifierSettings
from opdev.bench.verifying import verify
from opdev.runs.execute import Stop, execute

SLOT = Slot(Host(), 0)

# What is copied


def test_the_implementation_is_copied_without_what_it_is_judged_by(tmp_path):
    made = Made(tmp_path)
    for name in (
        "task_desc.py",
        "relu_golden.py",
        "test_relu.py",
        "tests/x.py",
        "output/y.py",
        ".opdev/z.py",
        "19_relu.py",
        "w.bin",
    ):
        made.write(name, "secret = 1\n")
    made.write("modules/part.py", "x = 1\n")
    made.write("tiling.json", "{}")
    outside = tmp_path / "outside.py"
    outside.write_text("secret = 1\n")
    (made.folder / "linked.py").symlink_to(outside)

    copy = isolating.copied(str(made.folder), str(tmp_path / "copy"), str(made.case))

    there = sorted(p.relative_to(copy.root).as_posix() for p in (tmp_path / "copy").rglob("*") if p.is_file())
    assert there == ["modules/part.py", "relu_impl.py", "relu_pypto_impl.py", "tiling.json"]
    digest = hashlib.sha256((made.folder / "relu_impl.py").read_bytes()).hexdigest()
    assert copy.sources["relu_impl.py"] == digest
    assert set(copy.sources) == {"modules/part.py", "relu_impl.py", "relu_pypto_impl.py"}
    assert list(copy.paths) == [copy.root, f"{copy.root}/modules"]


# What is compared


@pytest.fixture
def handed(tmp_path):
    """``handed(side, {name: array or value})``: outputs as a stage hands them over."""

    def handed(side, given, origin="kernel"):
        folder = tmp_path / side
        folder.mkdir(exist_ok=True)
        raw, origins = [], []
        for at, (name, value) in enumerate(given.items()):
            if isinstance(value, np.ndarray):
                dtype, shape = str(value.dtype), list(value.shape)
                file = f"{at:04d}.npy" if value.size else None
                if file:
                    np.save(folder / file, value)
                digest = hashlib.sha256(f"{dtype}{shape}".encode() + value.tobytes()).hexdigest()
                raw.append(
                    {"name": name, "kind": "tensor", "dtype": dtype, "shape": shape, "sha256": digest, "file": file}
                )
                origins.append({"origin": origin, "why": origin})
            else:
                digest = hashlib.sha256(f"{type(value).__name__}:{value!r}".encode()).hexdigest()
                raw.append({"name": name, "kind": "value", "sha256": digest, "text": repr(value), "file": None})
                origins.append({"origin": None, "why": ""})
        return outputs.handed(raw, str(folder), origins)

    return handed


GOOD = np.linspace(-2, 2, 256, dtype=np.float32).reshape(4, 64)


def compared(handed, actual, expected, rtol=None, atol=None):
    return outputs.compare(handed("actual", actual), handed("expected", expected), rtol, atol, "sim")


def off(value, at=(2, 5)):
    wrong = GOOD.copy()
    wrong[at] += np.float32(value)
    return wrong


@pytest.mark.parametrize(
    ("actual", "expected", "verdict", "problem", "words"),
    [
        ({"y": GOOD}, {"y": GOOD}, "pass", None, "holds"),
        ({"y": off(0.5)}, {"y": GOOD}, "fail", "numbers", "[2, 5]"),
        ({"y": GOOD.astype(np.float16)}, {"y": GOOD}, "fail", "dtype", "float16"),
        ({"y": GOOD[:1]}, {"y": GOOD}, "fail", "shape", "[4, 64]"),
        ({"y": GOOD}, {"y[0]": GOOD, "y[1]": GOOD}, "fail", "count", "the reference has 2"),
        ({"y['a']": GOOD}, {"y['b']": GOOD}, "fail", "count", "y['b']"),
        ({"y": 3}, {"y": 3}, "pass", None, "holds"),
        ({"y": 3}, {"y": 4}, "fail", "value", "y is 3"),
        ({"y": True}, {"y": 1}, "fail", "value", "y is True"),
        ({"y": 3}, {"y": GOOD}, "fail", "kind", "tensor"),
        ({"y": GOOD[:0]}, {"y": GOOD[:0]}, "pass", None, "no elements"),
    ],
)
def test_an_output_is_compared_by_kind_shape_dtype_and_numbers(handed, actual, expected, verdict, problem, words):
    (one,) = compared(handed, actual, expected)

    assert (one.verdict, one.problem) == (verdict, problem)
    assert words in one.message["en"]


def test_a_tolerance_asked_for_holds_as_well_as_the_standard(handed):
    near = (GOOD * np.float32(1 + 2e-4)).astype(np.float32)

    assert compared(handed, {"y": near}, {"y": GOOD})[0].verdict == "pass"
    (tight,) = compared(handed, {"y": near}, {"y": GOOD}, rtol=1e-6, atol=0.0)
    assert (tight.verdict, tight.problem, tight.beyond) == ("fail", "tolerance", 256)
    (loose,) = compared(handed, {"y": off(0.5)}, {"y": GOOD}, rtol=1.0, atol=1.0)
    assert (loose.verdict, loose.problem, loose.beyond) == ("fail", "numbers", 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_inf_where_the_reference_has_numbers_are_beyond_any_tolerance(handed, bad):
    wrong = GOOD.copy()
    wrong[0, 0] = bad

    (one,) = compared(handed, {"y": wrong}, {"y": GOOD}, rtol=9.0, atol=9.0)

    assert (one.verdict, one.beyond) == ("fail", 1)


def test_a_file_that_is_not_what_its_digest_says_is_refused(handed, tmp_path):
    handed("actual", {"y": GOOD})
    raw = [
        {"name": "y", "kind": "tensor", "dtype": "float32", "shape": [4, 64], "sha256": "0" * 64, "file": "0000.npy"}
    ]

    for change in ({}, {"file": "../expected/0000.npy"}, {"file": None}, {"shape": [256]}, {"sha256": 5}):
        with pytest.raises(outputs.TamperedError):
            outputs.handed([{**raw[0], **change}], str(tmp_path / "actual"))
    with pytest.raises(outputs.TamperedError):
        outputs.handed("nonsense", str(tmp_path))


# What is decided


def report(*failed):
    return CheatReport(
        "relu",
        "/op",
        "cheat" if failed else "pass",
        tuple(Check(n, "fail", "fatal", {"zh": n, "en": n}) for n in failed),
    )


def stage(name, **more):
    return Stage(name, 0, None, False, 1.0, 0, True, **more)


STAGES = [stage("inputs"), stage("candidate"), stage("reference")]
LAUNCH = Launch("relu_kernel", "relu_impl.py", 8, (), ("out",))


@pytest.fixture
def seeds(handed):
    """``seeds([array, …])``: forwards whose outputs are these, the first of the seed everybody knows."""

    def seeds(*arrays, **more):
        found = []
        for at, array in enumerate(arrays):
            outs = compared(handed, {"y": array}, {"y": GOOD})
            found.append(replace(Seed(42 + at, at > 0, (), (), (LAUNCH,), (), (), (), outs), **more))
        return found

    return seeds


def test_it_passes_only_with_all_stages_and_all_seeds(seeds):
    two = seeds(GOOD, GOOD)

    assert decide(report(), STAGES, two, 2, "sim").status == "passed"
    assert decide(report(), STAGES, two, 3, "sim").status == "error"
    assert decide(report(), STAGES[:2], two, 2, "sim").status == "error"
    assert decide(report(), STAGES, [], 0, "sim").status == "error"


def test_no_kernel_in_a_simulated_forward_is_no_pass_whatever_the_report_says(seeds):
    assert decide(report(), STAGES, seeds(GOOD, launches=()), 1, "sim").status == "error"
    assert decide(report(), STAGES, seeds(GOOD, launches=(LAUNCH, LAUNCH)), 1, "sim").status == "error"


@pytest.mark.parametrize(
    ("stages", "cheat", "status", "category"),
    [
        (STAGES, ("runtime_multi_kernel", "runtime_output"), "failed", "CHEAT_MULTI_KERNEL"),
        (STAGES, ("runtime_output",), "failed", "CHEAT_SEMANTIC"),
        ([stage("inputs", problem="raised"), *STAGES[1:]], (), "baseline_failed", "BASELINE_FAILED"),
        ([*STAGES[:2], stage("reference", problem="timeout")], (), "baseline_failed", "BASELINE_FAILED"),
        # A reference that fails explains an implementation that does.
        ([STAGES[0], stage("candidate", problem="raised"), stage("reference", problem="raised")], (), "baseline_failed", "BASELINE_FAILED"),
        ([STAGES[0], stage("candidate", problem="crash"), STAGES[2]], (), "failed", "CORRECTNESS_RUNTIME"),
        ([STAGES[0], stage("candidate", problem="memory"), STAGES[2]], (), "failed", "CORRECTNESS_RUNTIME"),
        ([STAGES[0], stage("candidate", problem="state"), STAGES[2]], (), "failed", "CORRECTNESS_SHAPE_OR_IO"),
        ([STAGES[0], stage("candidate", problem="artifact"), STAGES[2]], (), "error", "ERROR_INPUT_OR_ARTIFACT"),
        ([STAGES[0], stage("candidate", problem="unsupported"), STAGES[2]], (), "error", "ERROR_OTHER"),
        ([STAGES[0], stage("candidate", problem="tampered"), STAGES[2]], (), "failed", "CHEAT_SEMANTIC"),
        ([stage("inputs", problem="environment")], (), "error", "ERROR_VERIFIER_OR_CLI"),
        ([STAGES[0], stage("candidate", problem="stopped")], (), "error", "ERROR_VERIFIER_OR_CLI"),
        # What cannot be parsed has no kernel either: it is no cheat for that.
        ([STAGES[0], stage("candidate", problem="raised"), STAGES[2]], ("parse:relu_impl.py", "has_jit"), "failed", "CORRECTNESS_RUNTIME"),
    ],
)  # fmt: skip
def test_the_first_category_that_holds_is_told(seeds, stages, cheat, status, category):
    found = decide(report(*cheat), stages, seeds(GOOD), 1, "sim")

    assert (found.status, found.category) == (status, category)
    assert all(found.message.values())


def test_an_interruption_is_called_one():
    stopped = stage("candidate", problem="stopped", message={"zh": "被中断", "en": "interrupted"})

    found = decide(report(), [STAGES[0], stopped], [], 1, "sim")

    assert found.message["en"] == "verification did not come to its end (interrupted), which is no pass"


@pytest.mark.parametrize("raw", [
    None, 3, {}, {"outputs": [{"name": 1}]}, {"outputs": [], "origins": [], "changed": 3, "launches": [], "computed": []},
    {"outputs": [], "origins": [], "changed": [], "computed": [],
     "launches": [{"kernel": 1, "path": 2, "line": "x", "given": [], "written": [], "copied": []}]},
])  # fmt: skip
def test_what_is_handed_over_may_be_anything(raw, tmp_path):
    with pytest.raises(outputs.TamperedError):
        Forward(raw, str(tmp_path))


def test_processes_that_share_what_one_may_not_have_are_ended(tmp_path):
    code = "import os, time\nfor _ in range(2):\n    if not os.fork():\n        b = b'1' * 150_000_000\n        time.sleep(600)\ntime.sleep(600)"
    stop = Stop()
    watch = children._Watch("verify-tried", children.Place(sys.executable, SLOT, 60.0, 200, stop))
    command = placing.command(
        SLOT, [sys.executable, "-c", code], str(tmp_path), {}, token="verify-tried-x", timeout=60.0, grace=1.0
    )

    ended = execute(command, lambda *_: None, watch.stop, watch.look)

    assert (watch.full, ended.stopped, stop.asked) == (True, True, 0)


def test_right_for_the_known_seed_alone_is_told(seeds):
    found = decide(report(), STAGES, seeds(GOOD, off(0.5), off(0.5)), 3, "sim")

    assert (found.status, found.category, found.correctness) == ("failed", "CORRECTNESS_NUMERICAL", False)
    assert "seed 42 alone" in found.message["en"]
    assert "seed 42 alone" not in decide(report(), STAGES, seeds(off(0.5), off(0.5)), 2, "sim").message["en"]


def test_an_input_that_only_the_implementation_changes_fails(seeds):
    changed = seeds(GOOD, changed_inputs=("x[0]",))

    assert decide(report(), STAGES, changed, 1, "sim").category == "CORRECTNESS_SHAPE_OR_IO"
    both = [replace(changed[0], reference_changed_inputs=("x[0]",))]
    assert decide(report(), STAGES, both, 1, "sim").status == "passed"


# What is measured (on files as the profiler and pypto write them; no hardware here)


def test_the_base_time_is_that_of_the_fastest_whole_forward(tmp_path):
    rows = [
        ("MatMul", 5.0),
        ("Relu", 1.0),
        ("MatMul", 4.0),
        ("Relu", 1.5),
        ("IsClose", 0.1),
        ("MatMul", 6.0),
        ("Relu", 1.0),
    ]
    table = tmp_path / "PROF_1" / "op_summary_0.csv"
    table.parent.mkdir()
    table.write_text("﻿Op Name,OP Type,Task Duration(us) \n" + "".join(f"aclnn{n},{n},{d}\t\n" for n, d in rows))

    assert profiling.base_us(str(tmp_path), 3) == 5.5
    # Rows that do not divide evenly: the mean of all.
    assert profiling.base_us(str(tmp_path), 4) == pytest.approx(18.5 / 4)


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        ("op_summary.csv", "Op Name,Cycles\nx,1\n", "v-p-no-column"),
        ("op_summary.csv", "Op Name,Duration(us)\nx,N/A\n", "v-p-no-rows"),
        ("other.csv", "Op Name,Duration(us)\nx,1\n", "v-p-no-csv"),
    ],
)
def test_a_table_without_durations_is_no_time(tmp_path, name, text, key):
    (tmp_path / name).write_text(text)

    with pytest.raises(BenchError) as caught:
        profiling.base_us(str(tmp_path), 1)
    assert caught.value.key == key


def test_the_generated_time_is_the_span_of_the_trace(tmp_path):
    path = tmp_path / "merged_swimlane.json"
    events = [{"ph": "M", "ts": 0, "dur": 99}, {"ph": "X", "ts": 10.5, "dur": 2}, {"ph": "X", "ts": 11, "dur": 4.5}]
    path.write_text(json.dumps({"traceEvents": events}))
    assert profiling.span_us(str(path)) == 5.0

    for text in ('{"traceEvents": [', "[]", '[{"ph": "X", "ts": 1, "dur": NaN}]', '{"traceEvents": 3}'):
        path.write_text(text)
        with pytest.raises(BenchError):
            profiling.span_us(str(path))


# The command


def test_what_the_command_lacks_is_named_and_the_schema_needs_nothing(tmp_path):
    made = Made(tmp_path)

    def verify(*words):
        argv = [sys.executable, "-m", "opdev.cli", "bench", "verify", *words, "--lang", "en"]
        return subprocess.run(argv, capture_output=True, text=True, check=False)

    for words, said in (
        ((), "OP_DIR is missing"),
        ((str(made.folder),), "--case is missing"),
        ((str(made.folder), "--case", "nowhere.py"), "nowhere.py: there is no such case file"),
        ((str(made.folder), "--case", str(made.case), "--seeds", "0"), "--seeds cannot be 0"),
    ):
        done = verify(*words)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    schema = json.loads(verify("--print-schema").stdout)
    assert schema["properties"]["backend"]["enum"] == ["ascend", "sim"]
    assert set(schema["required"]) >= {"status", "simulated", "seeds", "stages", "cheat", "sources", "case_sha256"}


def test_a_python_without_torch_is_no_verdict(tmp_path):
    made = Made(tmp_path)
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)

    found = verify(
        "relu",
        str(made.folder),
        str(made.case),
        str(made.out),
        VerifierSettings(backend="sim", python=str(bare)),
        SLOT,
        Stop(),
    )

    assert (found.status, found.category, found.correctness) == ("error", "ERROR_VERIFIER_OR_CLI", None)
    assert f"{sys.executable} has no " in found.message["en"]
    (made.folder / "relu_pypto_impl.py").unlink()
    found = verify(
        "relu",
        str(made.folder),
        str(made.case),
        str(made.out),
        VerifierSettings(backend="sim", python=str(bare)),
        SLOT,
        Stop(),
    )
    assert (found.status, found.category) == ("error", "ERROR_INPUT_OR_ARTIFACT")
    assert "has no relu_pypto_impl.py" in found.message["en"]
