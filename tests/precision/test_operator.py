"""An operator's own checker and the engine, on the same files; and where an operator's files are found."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys

import numpy as np
import pytest
from tensors import encode, read

from opdev.precision import Ask, judge_operator
from opdev.precision.operator import root_of
from opdev.precision.texts import PrecisionError
from opdev.scaffold.cli import main as scaffold

KINDS = ("reduce-scatter", "allgather", "alltoallv")
RTOL = {"float16": 2**-8, "bfloat16": 2**-7, "float32": 2**-11, "int32": 0}


@pytest.fixture(scope="module")
def operators(tmp_path_factory):
    """Operators as `opdev new` writes them, by kind."""
    base = tmp_path_factory.mktemp("repo")
    made = {}
    for kind in KINDS:
        name = f"my_{kind.replace('-', '_')}"
        assert (
            scaffold("new", [name, "--kind", kind, "--dtypes", "float16,bfloat16,float32,int32", "--dir", str(base)])
            == 0
        )
        made[kind] = base / "custom-ops" / name
    return made


def script(operator, name):
    spec = importlib.util.spec_from_file_location(f"{operator.name}_{name}", operator / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(module, *arguments):
    before = sys.argv
    sys.argv = ["script", *map(str, arguments)]
    try:
        return module.main()
    finally:
        sys.argv = before


@pytest.fixture
def ran(operators, capsys):
    """Makes an operator's data and outputs equal to the golden; gives (root, data, output, the checker's verdict)."""
    roots = []

    def make(kind, dtype, pes=2, elements=500):
        root = operators[kind]
        roots.append(root)
        data, output = root / "data" / "case", root / "output" / "case"
        for folder in (data, output):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        call(script(root, "gen_data"), "--pes", pes, "--elements", elements, "--dtype", dtype, "--data-dir", data)
        for pe in range(pes):
            golden = data / f"golden_pe{pe}.bin"
            shutil.copy(golden if golden.is_file() else data / "golden.bin", output / f"output_pe{pe}.bin")

        def verdict(*more):
            rtol = RTOL[dtype] if kind == "reduce-scatter" else 0
            arguments = ("--data-dir", data, "--output-dir", output, "--rtol", rtol, "--atol", rtol, *more)
            status = call(script(root, "check_result"), *arguments)
            return status, capsys.readouterr().out

        return root, data, output, verdict

    yield make
    for root in roots:
        for name in ("data", "output"):
            shutil.rmtree(root / name, ignore_errors=True)


def figures(text, pe):
    line = next(line for line in text.splitlines() if line.startswith(f"PE {pe}: dtype="))
    return dict(word.split("=", 1) for word in line.split()[2:])


def changed(path, dtype, change):
    raw = np.fromfile(path, encode([0], dtype).dtype)
    values = read(raw, dtype)
    if dtype.startswith("int"):
        encoded = (raw + change(values).astype(raw.dtype)).astype(raw.dtype)
    elif dtype == "bfloat16":
        wide = (values + change(values)).astype(np.float32).view(np.uint32)
        encoded = ((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16).astype(np.uint16)
    else:
        encoded = (values + change(values)).astype(raw.dtype)
    encoded.tofile(path)


@pytest.mark.parametrize("dtype", RTOL)
@pytest.mark.parametrize("kind", KINDS)
def test_the_checker_of_an_operator_agrees(ran, kind, dtype):
    rng = np.random.default_rng(11)
    seen = set()
    for scale in (0.0, 0.01, 0.3, 0.9, 1.0, 1.1, 3.0, "bias", "nan", "one"):
        root, _, output, verdict = ran(kind, dtype)
        if isinstance(scale, float) and scale:
            for pe in range(2):
                step = 2 if dtype == "int32" else scale * (RTOL[dtype] or 2**-8)
                changed(output / f"output_pe{pe}.bin", dtype, lambda v, s=step: rng.uniform(-s, s, v.size))
        elif scale == "bias":
            changed(output / "output_pe1.bin", dtype, lambda v: np.full(v.size, (RTOL[dtype] or 2**-8) * 0.9))
        elif scale == "nan" and dtype != "int32":
            changed(output / "output_pe1.bin", dtype, lambda v: np.where(np.arange(v.size) == 3, np.nan, 0))
        elif scale == "one":
            changed(output / "output_pe0.bin", dtype, lambda v: (np.arange(v.size) == 5) * 1.0)
        status, text = verdict()
        report = judge_operator(str(root))

        assert (report.verdict == "pass") == (status == 0), (scale, text)
        seen.add(status)
        for result in report.results:
            said = f"PE {result.pe}: {'PASS' if result.verdict == 'pass' else 'FAIL'} ("
            assert said in text, (scale, text)
            if f"PE {result.pe}: dtype=" in text:
                told = figures(text, result.pe)
                for name, value in (("MaxAE", result.metrics.max_abs), ("MaxRE", result.metrics.max_rel), ("MeanRE", result.metrics.mean_rel), ("eb", result.metrics.eb)):  # fmt: skip
                    assert float(told[name]) == pytest.approx(float(value), rel=2e-6, abs=1e-300), (scale, name)
                assert told["basic_pass"] == str(result.basic)
                assert float(told["precision_percent"]) == pytest.approx(result.metrics.precision_percent, abs=1e-4)
                if result.mismatches:
                    assert f"first mismatch idx={result.mismatches[0].index} " in text
    assert seen == {0, 1}


def test_the_checkers_second_level_agrees(ran, tmp_path):
    rng = np.random.default_rng(5)
    seen = set()
    for own, theirs in ((2.0, 1.5), (2.0, 0.5), (0.5, 0.1), (3.0, 2.9), (1.2, 0.0)):
        root, data, output, verdict = ran("reduce-scatter", "float32", elements=2000)
        for pe in range(2):
            changed(output / f"output_pe{pe}.bin", "float32", lambda v, s=own: rng.uniform(-s, s, v.size) * 2**-11)
            reference = tmp_path / f"output_pe{pe}.bin"
            shutil.copy(data / f"golden_pe{pe}.bin", reference)
            changed(reference, "float32", lambda v, s=theirs: rng.uniform(-s, s, v.size) * 2**-11)
        status, text = verdict("--torch-output", tmp_path)
        report = judge_operator(str(root), torch_output=str(tmp_path))

        assert (report.verdict == "pass") == (status == 0), text
        for result in report.results:
            assert figures(text, result.pe)["reference_pass"] == str(result.reference.passed)
        seen.add((status, report.results[0].basic))
    assert seen == {(0, False), (1, False), (0, True)}


def test_past_what_was_received_the_fill_stays(ran):
    root, data, output, verdict = ran("alltoallv", "float16", pes=2, elements=64)
    received = json.loads((data / "config.json").read_text())["received"]
    assert verdict()[0] == 0
    assert judge_operator(str(root)).verdict == "pass"
    raw = np.fromfile(output / "output_pe1.bin", np.uint16)
    assert received[1] < raw.size
    raw[received[1]] = 0
    raw.tofile(output / "output_pe1.bin")

    assert verdict()[0] == 1
    result = judge_operator(str(root)).results[1]
    assert (result.verdict, [r.code for r in result.reasons]) == ("fail", ["sentinel"])


def test_design_and_config_say_by_what(ran):
    root, _, _, _ = ran("reduce-scatter", "bfloat16")
    report = judge_operator(str(root))

    assert (report.operator, report.standard, report.backend) == ("my_reduce_scatter", "shmem", None)
    limits = report.results[0].limits
    assert (limits.op_type, limits.dtype, limits.rtol) == ("COMPUTE_FLOAT", "bfloat16", 2**-7)
    assert judge_operator(str(root), ask=Ask(standard="pypto")).results[0].limits.rtol == 2**-6


def test_a_design_cannot_loosen(ran):
    root, _, output, _ = ran("reduce-scatter", "float16")
    design = root / "docs" / "design.md"
    before = design.read_text(encoding="utf-8")
    try:
        design.write_text(before.replace("float16: 0.00390625", "float16: 0.5", 1), encoding="utf-8")
        assert design.read_text(encoding="utf-8") != before
        changed(output / "output_pe0.bin", "float16", lambda v: np.resize([0.25, -0.25], v.size))
        report = judge_operator(str(root))
    finally:
        design.write_text(before, encoding="utf-8")

    assert report.verdict == "fail"
    assert any("looser than the standard" in note.en for note in report.notes)


def test_the_newest_data_count(ran, tmp_path):
    root, data, output, _ = ran("allgather", "float16")
    shutil.copytree(data, data.with_name("older"))
    shutil.copytree(output, output.with_name("older"))
    os.utime(data.with_name("older") / "config.json", (1, 1))
    np.zeros(1000, np.float16).tofile(output / "output_pe0.bin")

    report = judge_operator(str(root))
    assert "data/case" in report.notes[0].en
    assert report.verdict == "fail"
    assert report.results[0].hypotheses[0].cause == "all-zero"
    older = judge_operator(str(root), data=str(data.with_name("older")))
    assert older.verdict == "pass"
    other = judge_operator(str(root), output=str(output.with_name("older")))
    assert other.verdict == "pass"


def test_the_stand_ins_results_say_so(ran):
    root, data, output, _ = ran("allgather", "float16")
    for folder in (data, output):
        folder.rename(folder.with_name("matrix"))
    (root / "data" / "case_results.json").write_text(json.dumps({"program": "x", "backend": "sim", "results": {}}))

    assert judge_operator(str(root)).backend == "sim"


@pytest.mark.parametrize(
    "config",
    [
        "{", "[]", '{"n_pes": 0, "dtype": "float16"}', '{"n_pes": true, "dtype": "float16"}', '{"n_pes": 2, "dtype": "float17"}',
        '{"n_pes": 2, "dtype": "float16", "numpy_dtype": 3}', '{"n_pes": 2, "dtype": "float16", "received": [1]}',
        '{"n_pes": 2, "dtype": "float16", "shape": "x"}', '{"n_pes": 2, "dtype": "float16", "expected_elems": -1}', "\udcff",
        '{"n_pes": 2, "dtype": "float16", "outputs": 3}', '{"n_pes": 2, "dtype": "float16", "outputs": [{"name": "x"}]}',
        '{"n_pes": 2, "dtype": "float16", "outputs": [{"name": "x", "dtype": "float17"}]}',
    ],
)  # fmt: skip
def test_a_damaged_config_is_told(tmp_path, config):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "config.json").write_bytes(config.encode("utf-8", "surrogateescape"))

    with pytest.raises(PrecisionError, match=r"config\.json"):
        judge_operator(str(tmp_path))


def test_nothing_to_judge_is_told(ran, tmp_path):
    with pytest.raises(PrecisionError, match=r"run scripts/run\.sh first"):
        judge_operator(str(tmp_path))
    with pytest.raises(PrecisionError, match="no operator's folder"):
        root_of(str(tmp_path / "nowhere"))
    root, _, output, _ = ran("allgather", "float16")
    assert root_of(str(root / "scripts")) == str(root)
    (output / "output_pe1.bin").unlink()
    report = judge_operator(str(root))
    assert [r.verdict for r in report.results] == ["pass", "error"]
    assert report.verdict == "error"
    (output / "output_pe0.bin").unlink()
    with pytest.raises(PrecisionError, match="no outputs"):
        judge_operator(str(root))


def test_another_number_of_elements_fails(ran):
    root, _, output, verdict = ran("allgather", "float16")
    np.zeros(999, np.float16).tofile(output / "output_pe0.bin")

    assert verdict()[0] == 1
    result = judge_operator(str(root)).results[0]
    assert (result.verdict, result.reasons[0].code) == ("fail", "size")


def basis(root, data, **more):
    config = json.loads((data / "config.json").read_text())
    (data / "config.json").write_text(json.dumps(config | more))
    report = judge_operator(str(root))
    limits = report.results[0].limits
    return limits.op_type, limits.compute_times, limits.rtol, " ".join(note.en for note in report.notes)


def without_rtol(root, path="docs/design.md"):
    design = root / path
    before = design.read_text(encoding="utf-8")
    design.write_text(before.replace("rtol: {", "no_rtol: {", 1), encoding="utf-8")
    assert design.read_text(encoding="utf-8") != before
    return lambda: design.write_text(before, encoding="utf-8")


@pytest.mark.parametrize(
    ("elements", "more", "expected", "said"),
    [
        (500, {}, ("COMPUTE_FLOAT", 1000, 2**-8), "2 PEs × 500 elements = 1000"),
        (1023, {}, ("COMPUTE_FLOAT", 2046, 2**-8), "= 2046"),
        (1024, {}, ("COMPUTE_FLOAT", 2048, 2**-7), "= 2048"),
        (500, {"compute_times": 4096}, ("COMPUTE_FLOAT", 4096, 2**-7), "4096 accumulations are from config.json"),
        (1024, {"compute_times": 2047}, ("COMPUTE_FLOAT", 2047, 2**-8), "2047 accumulations are from config.json"),
        (500, {"op_type": "move"}, ("MOVE", None, 0), "the class MOVE is from config.json"),
        (500, {"op_type": "COMPUTE_FLOAT_HIGH_PRECISION"}, ("COMPUTE_FLOAT_HIGH_PRECISION", None, 2**-11), "from config.json"),
    ],
)  # fmt: skip
def test_class_and_accumulations_are_taken_from_where_they_stand(ran, elements, more, expected, said):
    root, data, _, _ = ran("reduce-scatter", "float16", elements=elements)
    restore = without_rtol(root)
    try:
        *found, notes = basis(root, data, **more)
    finally:
        restore()
    assert (tuple(found), said in notes) == (expected, True), notes


def test_cases_say_the_accumulations_of_their_run(ran):
    root, data, _, _ = ran("reduce-scatter", "float16", elements=500)
    file = root / "scripts" / "cases.json"
    before = file.read_text(encoding="utf-8")
    restore = without_rtol(root)
    case = {"n_pes": 2, "dtype": "float16", "shape": [500], "compute_times": 9000}
    other = {"n_pes": 8, "dtype": "float16", "shape": [500], "compute_times": 5}
    try:
        file.write_text(json.dumps({"cases": [case, other]}), encoding="utf-8")
        assert basis(root, data)[1:3] == (9000, 2**-7)
        # Two cases that this run can be, and that say different things, say nothing.
        file.write_text(json.dumps({"cases": [case, case | {"compute_times": 5}]}), encoding="utf-8")
        assert basis(root, data)[1:3] == (1000, 2**-8)
        file.write_text(json.dumps({"cases": [case | {"compute_times": 0.5}]}), encoding="utf-8")
        with pytest.raises(PrecisionError, match=r"cases\.json: compute_times 0\.5 is no whole number"):
            judge_operator(str(root))
        file.write_text(json.dumps({"defaults": {"op_type": "COMPUTE_QUICK"}, "cases": [case]}), encoding="utf-8")
        with pytest.raises(PrecisionError, match=r"cases\.json: op_type COMPUTE_QUICK is no class"):
            judge_operator(str(root))
    finally:
        restore()
        file.write_text(before, encoding="utf-8")


def test_what_was_asked_wins_and_what_nobody_says_is_told(ran):
    root, data, _, _ = ran("reduce-scatter", "float16", elements=500)
    restore = without_rtol(root)
    try:
        report = judge_operator(str(root), ask=Ask(compute_times=2048))
        assert report.results[0].limits.rtol == 2**-7
        config = json.loads((data / "config.json").read_text())
        config.pop("expected_elems")
        (data / "config.json").write_text(json.dumps(config))
        report = judge_operator(str(root))
        assert report.results[0].limits.rtol == 2**-7
        assert any("the wider tolerance, for 2048 and more, holds" in note.en for note in report.notes)
        assert any("取" not in note.zh and "较宽" in note.zh for note in report.notes)
    finally:
        restore()
