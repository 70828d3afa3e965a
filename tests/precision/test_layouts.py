"""Several results of a PE, in every layout that is known: each is judged, none is passed over, what fits nothing is named."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.precision import layouts
from opdev.precision.cli import main
from opdev.precision.operator import judge_operator
from opdev.precision.texts import PrecisionError

INDICES = {"assist_info": 12, "ep_recv_count": 4, "expert_token_nums": 2}


def dispatched(root, pes=2, dtype="float16_t", changes=()):
    """An operator that writes four results of each PE, as the public MoE dispatch does; ``changes`` are (file, index, value)."""
    rng = np.random.default_rng(3)
    case = root / "golden" / f"shape_8_16_2_4_{pes}"
    (root / "output").mkdir(parents=True)
    for pe in range(pes):
        (case / f"rank_{pe}").mkdir(parents=True)
        results = {"expand_x": rng.standard_normal(64).astype(np.float16)}
        results |= {name: rng.integers(0, 9, size, dtype=np.int32) for name, size in INDICES.items()}
        np.zeros(8, np.float16).tofile(case / f"rank_{pe}" / "x.bin")
        for name, values in results.items():
            values.tofile(case / f"rank_{pe}" / f"golden_{name}.bin")
            for file, index, value in changes:
                if file == f"{name}_{pe}.bin":
                    values[index] = value
            values.tofile(root / "output" / f"{name}_{pe}.bin")
    (case / "meta.json").write_text(json.dumps({"pe_size": pes, "dtype": dtype, "bs": 8}))
    return case


def test_every_result_of_a_dispatch_is_judged(tmp_path):
    dispatched(tmp_path / "demo_dispatch")
    report = judge_operator(str(tmp_path / "demo_dispatch"))

    assert report.verdict == "pass"
    assert len(report.results) == 8
    kinds = {result.name: (result.dtype, result.limits.op_type, result.limits.rtol) for result in report.results}
    assert kinds["PE 0[expand_x]"] == kinds["PE 1[expand_x]"] == ("float16", "MOVE", 0)
    assert {kinds[f"PE {pe}[{name}]"] for pe in range(2) for name in INDICES} == {("int32", "COMPUTE_INTEGER", 0)}


@pytest.mark.parametrize("file", ["expand_x_1.bin", "assist_info_0.bin", "expert_token_nums_1.bin"])
def test_one_wrong_result_fails_them_all(tmp_path, file):
    root = tmp_path / "demo_dispatch"
    dispatched(root, changes=[(file, 1, 77)])
    report = judge_operator(str(root))

    assert report.verdict == "fail"
    name, pe = file[:-4].rsplit("_", 1)
    assert [r.name for r in report.results if r.verdict == "fail"] == [f"PE {pe}[{name}]"]
    assert report.results[0].notes == () or "older" not in report.results[0].notes[0].en


def test_a_result_that_was_not_written_is_no_pass(tmp_path):
    root = tmp_path / "demo_dispatch"
    dispatched(root)
    (root / "output" / "assist_info_1.bin").unlink()
    report = judge_operator(str(root))
    assert report.verdict == "error"
    assert [r.name for r in report.results if r.verdict == "error"] == ["PE 1[assist_info]"]
    assert "assist_info_1.bin" in report.results[4].reasons[0].text.en

    (root / "output" / "assist_info_0.bin").unlink()
    with pytest.raises(PrecisionError, match=r"golden_assist_info\.bin: has no output"):
        judge_operator(str(root))


def test_outputs_beside_their_goldens(tmp_path, capsys):
    """As a public shuffle has it: inputs, tables, goldens and outputs in one folder."""
    folder = tmp_path / "demo_shuffle" / "scripts" / "output"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(4)
    for pe in range(3):
        for name in ("k_cache", "v_cache"):
            golden = rng.integers(-100, 100, 50, dtype=np.int8)
            golden.tofile(folder / f"{name}_golden_pe_{pe}.bin")
            golden.tofile(folder / f"{name}_output_pe_{pe}.bin")
            golden[::-1].tofile(folder / f"{name}_input_pe_{pe}.bin")
        np.zeros(5, np.int32).tofile(folder / f"src_block_table_pe_{pe}.bin")
    np.zeros(6, np.int32).tofile(folder / "pair_list.bin")

    given = ["--golden", str(folder), "--output", str(folder), "--dtype", "int8", "--lang", "en"]
    assert main(given) == 0
    out = capsys.readouterr().out
    assert "6 of 6 outputs pass" in out
    np.zeros(50, np.int8).tofile(folder / "v_cache_output_pe_2.bin")
    assert main(given) == 1
    assert "PE 2[v_cache]" in capsys.readouterr().out
    (folder / "k_cache_output_pe_1.bin").unlink()
    assert main(given) == 2
    assert "none of PE 1 (k_cache)" in capsys.readouterr().err


def several(folder, names=("y", "counts"), pes=2):
    data, output = folder / "data" / "case", folder / "output" / "case"
    for made in (data, output):
        made.mkdir(parents=True)
    for pe in range(pes):
        for name in names:
            values = np.arange(16, dtype=np.int32 if name == "counts" else np.float32)
            values.tofile(data / f"golden_{name}_pe{pe}.bin")
            values.tofile(output / f"{name}_pe{pe}.bin")
    return data, output


def test_config_says_the_dtypes_of_several_results(tmp_path):
    root = tmp_path / "demo_combine"
    data, _ = several(root)
    outputs = [{"name": "y", "dtype": "float32", "expected_elems": 16}, {"name": "counts", "dtype": "int32"}]
    config = {"n_pes": 2, "dtype": "float32", "outputs": outputs}
    (data / "config.json").write_text(json.dumps(config))
    assert [(r.name, r.verdict, r.dtype) for r in judge_operator(str(root)).results] == [
        ("PE 0[counts]", "pass", "int32"), ("PE 0[y]", "pass", "float32"),
        ("PE 1[counts]", "pass", "int32"), ("PE 1[y]", "pass", "float32"),
    ]  # fmt: skip

    outputs[0]["expected_elems"] = 17
    (data / "config.json").write_text(json.dumps(config))
    assert judge_operator(str(root)).results[1].reasons[0].code == "size"
    (data / "config.json").write_text(json.dumps({"n_pes": 2, "dtype": "float32"}))
    with pytest.raises(PrecisionError, match=r"counts_pe0\.bin: the dtype of counts is not known"):
        judge_operator(str(root))


def test_the_design_says_the_dtypes_of_several_results(tmp_path):
    root = tmp_path / "demo_combine"
    data, _ = several(root)
    (data / "config.json").write_text(json.dumps({"n_pes": 2, "dtype": "float32"}))
    (root / "docs").mkdir()
    (root / "docs" / "design.md").write_text(
        "## 2. Canonical DSL\n\n```yaml\nmeta: {op_name: demo_combine, op_kind: collective}\ninterface:\n  outputs:\n"
        "    - {name: y, dtype: T, shape: '[16]'}\n    - {name: counts, dtype: int32, shape: '[16]'}\n```\n"
    )
    assert [(r.verdict, r.dtype) for r in judge_operator(str(root)).results[:2]] == [
        ("pass", "int32"),
        ("pass", "float32"),
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _, o: shutil.copy(o / "y_pe0.bin", o / "z_pe0.bin"), r"z_pe0\.bin: has no golden; .* needs golden_z_pe0\.bin"),
        (lambda d, _: (d / "golden_y_pe1.bin").unlink(), r"y_pe1\.bin: has no golden"),
        (lambda d, _: shutil.copy(d / "golden_y_pe0.bin", d / "golden_w_pe0.bin"), r"golden_w_pe0\.bin: has no output"),
        (lambda _, o: shutil.copy(o / "y_pe0.bin", o / "y_rank_0.npy"), r"y_rank_0\.npy.*y_pe0\.bin.* same result"),
        (lambda _, o: shutil.copy(o / "y_pe0.bin", o / "output.bin"), r"output\.bin: which result of which PE"),
        (lambda _, o: shutil.copy(o / "y_pe0.bin", o / "y.bin"), r"y\.bin: its name says no PE"),
        (lambda d, _: shutil.copy(d / "golden_y_pe0.bin", d / "golden_y_pe5.bin"), r"none of PE 2"),
    ],
)  # fmt: skip
def test_what_fits_no_layout_is_named(tmp_path, capsys, change, said):
    data, output = several(tmp_path)
    given = ["--golden", str(data), "--output", str(output), "--dtype", "fp32,counts=int32", "--lang", "en", "--op-kind", "collective"]  # fmt: skip
    assert main(given) == 0
    capsys.readouterr()
    change(data, output)

    assert main(given) == 2
    err = capsys.readouterr().err
    assert err.startswith("opdev precision: ")
    assert re.search(said, err), err


def test_data_beside_the_results_is_told(tmp_path, capsys):
    data, output = several(tmp_path)
    np.zeros(3).tofile(output / "timeline.bin")
    given = ["--golden", str(data), "--output", str(output), "--dtype", "fp32,counts=int32", "--lang", "en", "--op-kind", "collective"]  # fmt: skip
    assert main(given) == 0
    assert "not judged (no golden, and no PE in the name): timeline.bin" in capsys.readouterr().out


def test_a_folder_is_never_its_own_golden(tmp_path, capsys):
    for pe in range(2):
        np.ones(4, np.float32).tofile(tmp_path / f"output_pe{pe}.bin")
    here = str(tmp_path)
    assert main(["--golden", here, "--output", here, "--dtype", "fp32", "--op-kind", "transport", "--lang", "en"]) == 2
    single = f"{here}/output_pe0.bin"
    assert (
        main(["--golden", single, "--output", single, "--dtype", "fp32", "--op-kind", "transport", "--lang", "en"]) == 2
    )
    assert "output and golden at once" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("dtypes", "said"), [("fp32,fp16", "two types without a name"), ("fp32,nothing=int8", "no result is called nothing"), ("y=fp9", "unknown dtype fp9")]
)  # fmt: skip
def test_dtypes_of_results_that_cannot_be(tmp_path, capsys, dtypes, said):
    data, output = several(tmp_path)
    assert main(["--golden", str(data), "--output", str(output), "--dtype", dtypes, "--lang", "en"]) == 2
    assert said in capsys.readouterr().err


PIECES = st.sampled_from(
    ["output", "golden", "pe", "rank", "_", "-", ".", "0", "1", "12", "x", "expand_x", "input", "结果", "PE0", ""]
)
NAMES = st.builds(
    lambda parts, suffix: "".join(parts) + suffix,
    st.lists(PIECES, min_size=1, max_size=6),
    st.sampled_from([".bin", ".npy", ".txt"]),
)


@settings(max_examples=200, deadline=None)
@given(st.sets(NAMES, max_size=6), st.sets(NAMES, max_size=6), st.sampled_from([None, 1, 2]), st.booleans())
def test_any_names_are_paired_or_refused(tmp_path_factory, outputs, goldens, pes, same):
    """Whatever files are called: every one that is data of a PE is in a pair, or one is named as the reason why not."""
    base = tmp_path_factory.mktemp("names")
    output, golden = base / "o", base / ("o" if same else "g")
    for folder, names in ((output, outputs), (golden, goldens)):
        folder.mkdir(exist_ok=True)
        for name in names:
            if name.strip(".") and "/" not in name:
                (folder / name).write_bytes(b"12345678")
    refused = None
    try:
        pairs = layouts.folders(str(output), str(golden), lambda *_: None, pes)
    except PrecisionError as error:
        refused = error
    if refused is not None:
        assert str(base) in refused.text.en
        assert str(base) in refused.text.zh
        return
    assert pairs
    assert len({(pair.pe, pair.which) for pair in pairs}) == len(pairs)
    assert all(pair.output != pair.golden for pair in pairs)
    if not same and pes is None:
        judged = {pair.output for pair in pairs}
        for path in output.iterdir():
            words = set(layouts._words(str(path)))
            if (
                path.suffix != ".txt"
                and not path.name.startswith(".")
                and not words & layouts._OTHERS
                and str(path) not in judged
            ):
                assert any(path.name in note.en for pair in pairs for note in pair.notes)
