"""Every case of a matrix is judged as it ends, whatever the next one writes over; what cannot be judged says why."""

from __future__ import annotations

import json
import os
import re
import time

import pytest
from fakes import of
from needed import package
from programs import CASES

from opdev.runs.taking import Taken, take

np = package("numpy")

COUNT, WRONG = 20, 7
MATRIX = """\
import json, os, pathlib, shutil, signal, sys
import numpy as np
root = pathlib.Path(__file__).parents[1]
(root / "docs").mkdir(exist_ok=True)
(root / "docs/case_matrix_report.md").write_text("# x\\n")
settings = json.loads((root / "settings.json").read_text())
kept = os.environ.get("OPDEV_CASES", "")
(root / "seen.txt").write_text(kept)
for n in range(settings["count"]):
    case = f"case_{n:02d}"
    tag = case if settings.get("apart") else "matrix"
    data, output = root / "data" / tag, root / "output" / tag
    for folder in (data, output):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    (data / "config.json").write_text(json.dumps({"n_pes": 2, "dtype": "float16", "expected_elems": 4096, "shape": [64, 64]}))
    for pe in range(2):
        golden = np.arange(4096).astype(np.float16).reshape(64, 64) % 512 + n + pe
        golden.tofile(data / f"golden_pe{pe}.bin")
        if n == settings.get("wrong") and pe == 1:
            golden[3, 5] += 100
        if n != settings.get("silent"):
            golden.tofile(output / f"output_pe{pe}.bin")
        print(f"PE {pe}: dtype=float16 MaxAE=0 MaxRE=0 MeanRE=0 rtol=0 atol=0\\nPE {pe}: PASS (4096 elements)")
    if kept and not settings.get("apart"):
        for folder, name in ((data, "data"), (output, "output")):
            shutil.copytree(folder, pathlib.Path(kept) / case / name, copy_function=os.link)
    if n == settings.get("kill"):
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\\0")
            except OSError:
                continue
            if b"opdev.precision.percase" in words and str(root).encode() in words:
                os.kill(int(entry.name), signal.SIGKILL)
    print(f"[CASE] id={case} category=functional scale=XS n_pes=2 dtype=float16 shape=64x64 result=PASS maxae=0 maxre=0 seconds=0 log=-", flush=True)
print(f"[MATRIX] total={settings['count']} passed={settings['count']} failed=0 blocked=0")
if settings.get("red"):
    print("[CASE] id=case_99 result=FAIL")
    sys.exit(1)
"""


@pytest.fixture
def matrix(make):
    """``matrix(**settings)``: an operator whose script runs cases that all write to the same place."""

    def matrix(**settings):
        op = make()
        cases = [{**CASES[0], "case_id": f"case_{n:02d}", "shape": [64, 64]} for n in range(settings["count"])]
        op.write("scripts/cases.json", json.dumps({"cases": cases, "invariants": []}))
        op.write("scripts/run_case_matrix.py", MATRIX)
        op.write("settings.json", json.dumps(settings))
        return op

    return matrix


def test_every_case_is_judged_and_the_wrong_one_is_named(matrix):
    op = matrix(count=COUNT, wrong=WRONG)
    run, events = op.go("4")

    told = of(events, "case-precision")
    assert [(one["case"], one["verdict"]) for one in told] == [
        (f"case_{n:02d}", "fail" if n == WRONG else "pass") for n in range(COUNT)
    ]
    wrong = told[WRONG]
    assert (wrong["said"], wrong["agrees"], wrong["why"]) == ("PASS", False, None)
    assert [result["verdict"] for result in wrong["document"]["results"]] == ["pass", "fail"]
    [mismatch] = wrong["document"]["results"][1]["mismatches"]
    assert (mismatch["coordinates"], mismatch["expected"], mismatch["actual"]) == ([3, 5], 205.0, 305.0)
    # Of what passes nothing is kept, and no heat map is told.
    assert [one["kept"] is not None for one in told] == [n == WRONG for n in range(COUNT)]
    assert sorted(os.listdir(os.path.dirname(wrong["kept"]))) == [f"case_{WRONG:02d}"]
    assert sorted(os.listdir(f"{wrong['kept']}/output")) == ["output_pe0.bin", "output_pe1.bin"]
    assert all(result["heat"] is None for one in told if one is not wrong for result in one["document"]["results"])
    assert wrong["document"]["results"][1]["heat"] is not None
    assert wrong["kept"].startswith(run.folder)
    [summary] = of(events, "precision-summary")
    assert summary["cases"] == {"total": COUNT, "passed": COUNT - 1, "failed": 1, "unjudged": []}
    # They come before the step is told to have ended, which reads as: the whole of it.
    order = [event["type"] for event in events if event.get("task", "").endswith("matrix")]
    assert order.index("step-ended") > max(i for i, kind in enumerate(order) if kind == "case-precision")

    shown = op.cli("show", "last", "--lang", "en").stdout
    assert f"precision engine, {COUNT} cases: {COUNT - 1} pass, 1 fail, 0 not judged" in shown
    assert f"precision engine, case case_{WRONG:02d}: ✗ fail" in shown
    assert "✗ PE 1: 1 elements out of tolerance" in shown
    assert "the first at [3, 5]: 305.0 instead of 205.0" in shown
    shown = op.cli("show", "last", "--lang", "zh").stdout
    assert f"精度引擎判断了 {COUNT} 个用例：通过 {COUNT - 1}，不通过 1，没有判断 0" in shown
    assert "首个在 [3, 5]：实际 305.0，应为 205.0" in shown
    reports_say_the_same(op, events)


def reports_say_the_same(op, events):
    """`opdev precision --run`, the Markdown reports and the page agree with the events, each figure with its line."""
    told = of(events, "case-precision")
    done = op.cli("precision", "--run", "last", "--format", "json")
    assert done.returncode == 1
    shown = json.loads(done.stdout)
    assert [[one[key] for key in shown[0] if key != "backend"] for one in shown] == [
        [one[key] for key in shown[0] if key != "backend"] for one in told
    ]
    text = op.cli("precision", "--run", "last").stdout
    assert re.search(r"case_07 +PASS +✗ fail +1/2 .*PE 1: .*the first at \[3, 5\]: 305.0 instead of 205.0", text)
    assert f"{COUNT} cases: {COUNT - 1} pass, 1 fail, 0 not judged" in text
    done = op.cli("precision", "--run", "last", "--case", "case_07", "--format", "json")
    assert (done.returncode, json.loads(done.stdout)) == (1, told[WRONG]["document"])
    again = op.cli(
        "precision", "--data-dir", f"{told[WRONG]['kept']}/data", "--output-dir", f"{told[WRONG]['kept']}/output"
    )
    whole = op.cli("precision", "--run", "last", "--case", "case_07")
    # What was kept is what was judged.
    assert re.sub(r"[\d.]+ s", "", again.stdout) == re.sub(r"[\d.]+ s", "", whole.stdout)
    assert op.cli("precision", "--run", "last", "--case", "case_03").returncode == 0
    done = op.cli("precision", "--run", "last", "--case", "none")
    assert (done.returncode, "there are case_00, case_01" in done.stderr) == (2, True)

    assert op.cli("report").returncode == 0
    report = (op.root / "docs/correctness_report.md").read_text(encoding="utf-8").split("## 4.")[1]
    rows = {row.split("|")[1].strip(): row for row in report.splitlines() if row.startswith("| case_")}
    assert len(rows) == COUNT
    assert [
        name
        for name, row in rows.items()
        if "| 不通过（1/2）：PE 1，[3, 5] 实际 305.0，应为 205.0，共 1 个超差 |" in row
    ] == ["case_07"]
    assert sum("| 通过（2/2） |" in row for row in rows.values()) == COUNT - 1
    with open(op.runs()[-1].events, encoding="utf-8") as stream:
        lines = stream.readlines()
    for name, row in rows.items():
        said = json.loads(lines[int(re.search(r"第 (\d+) 行 \|$", row)[1]) - 1])
        assert (said["type"], said["case"]) == ("case-precision", name)
    matrix = (op.root / "docs/case_matrix_report.md").read_text(encoding="utf-8")
    assert matrix.count("精度引擎判断不通过：PE 1，[3, 5]") == 1
    assert op.cli("report", "--html", "r.html", "--lang", "en").returncode == 0
    page = (op.root / "r.html").read_text(encoding="utf-8")
    assert page.count("pass 2/2") == COUNT - 1
    assert page.count("fail 1/2") == 1
    assert "[3, 5] is 305.0 instead of 205.0, 1 out of tolerance" in page


def test_scripts_that_give_each_case_a_place_of_its_own_need_no_more(matrix):
    op = matrix(count=3, apart=True, wrong=1)
    _, events = op.go("4")

    told = of(events, "case-precision")
    assert [one["verdict"] for one in told] == ["pass", "fail", "pass"]
    # Somebody else's files: nothing is kept of them that may still change.
    assert [one["kept"] for one in told] == [None] * 3


def test_a_case_without_outputs_says_why(matrix):
    op = matrix(count=3, silent=1)
    _, events = op.go("4")

    _, silent, _ = of(events, "case-precision")
    assert (silent["said"], silent["verdict"], silent["document"]) == ("PASS", None, None)
    assert "output" in silent["why"]["en"]
    [summary] = of(events, "precision-summary")
    assert summary["cases"] == {"total": 3, "passed": 2, "failed": 0, "unjudged": ["case_01"]}
    assert "2 pass, 0 fail, 1 not judged (case_01)" in op.cli("show", "last").stdout
    assert op.cli("precision", "--run", "last").returncode == 2
    assert op.cli("report", "correctness").returncode == 0
    report = (op.root / "docs/correctness_report.md").read_text(encoding="utf-8")
    assert silent["why"]["zh"] in report.split("## 4.")[1]


def test_a_failed_case_is_a_failure_of_correctness(matrix):
    op = matrix(count=1, red=True)
    _, events = op.go("4")

    [told] = of(events, "diagnosis")
    assert (told["signature"], told["class"], told["route"]) == ("cases-failed", "correctness", "3")
    assert "1 of the cases failed" in told["cause"]["en"]
    assert [one["verdict"] for one in of(events, "case-precision")] == ["pass", None]


def test_an_engine_that_is_killed_costs_no_other_case(matrix):
    op = matrix(count=5, kill=2)
    _, events = op.go("4")

    told = of(events, "case-precision")
    assert [one["case"] for one in told] == [f"case_{n:02d}" for n in range(5)]
    lost = [one for one in told if one["verdict"] is None]
    # The kill comes while case 1 or 2 is being judged, or between them.
    assert {one["case"] for one in lost} <= {"case_00", "case_01"}
    assert all("the precision engine ended" in one["why"]["en"] for one in lost)


def test_what_waits_is_bounded_and_nothing_is_judged_where_nobody_wants_it(matrix):
    op = matrix(count=2, wrong=1)
    run, events = op.go("4", case_bytes=1000)
    told = of(events, "case-precision")
    assert [one["verdict"] for one in told] == [None, None]
    assert all("case-megabytes" in one["why"]["en"] for one in told)
    assert not os.path.exists(f"{run.folder}/cases")

    op.write("opdev.toml", "[run]\ncase-megabytes = 0\n")
    op.cli("run", "4")
    assert (op.root / "seen.txt").read_text() == ""
    op.write("opdev.toml", "[run]\ncase-megabytes = -1\n")
    done = op.cli("run", "4")
    assert (done.returncode, "case-megabytes" in done.stderr) == (2, True)


@pytest.fixture
def written(tmp_path):
    """An operator's folder with data and output of a case that was just written."""
    for folder, name in (("data/matrix", "golden"), ("output/matrix", "output")):
        (tmp_path / folder).mkdir(parents=True)
        for pe in range(2):
            (tmp_path / folder / f"{name}_pe{pe}.bin").write_bytes(bytes(64))
    (tmp_path / "data/matrix/config.json").write_text("{}")
    return tmp_path


def aged(root, pattern, seconds):
    for path in root.glob(pattern):
        moment = path.stat().st_mtime + seconds
        os.utime(path, (moment, moment))


def test_outputs_are_taken_only_where_it_is_certain_whose_they_are(written):
    root, folder = str(written), str(written / "kept")
    begun = time.time() - 60
    aged(written, "data/matrix/*", -20)
    aged(written, "output/matrix/*", -10)

    found = take(root, folder, "one", begun, begun)
    assert isinstance(found, Taken)
    assert sorted(os.listdir(found.output)) == ["output_pe0.bin", "output_pe1.bin"]
    assert not found.changed
    (written / "output/matrix/output_pe1.bin").write_bytes(bytes(65))
    assert found.changed
    found.remove()

    # Written since: not before the case before had ended.
    for since, word in ((time.time() - 5, "no config.json"), (time.time() - 15, "no config.json")):
        why = take(root, folder, "two", begun, since)
        assert not isinstance(why, Taken)
        assert word in why["en"]
    aged(written, "data/matrix/*", 8)
    why = take(root, folder, "three", begun, time.time() - 13)
    aged(written, "data/matrix/*", 30)
    assert isinstance(why, Taken)
    why.remove()
    # The next case has made its goldens: the outputs beside them are not theirs.
    why = take(root, folder, "four", begun, begun)
    assert not isinstance(why, Taken)
    assert "the next one has begun" in why["en"]
    assert not os.path.exists(f"{folder}/four")


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "", "x" * 300, "a\x00b"])
def test_a_name_that_is_no_folder_is_told(written, name):
    why = take(str(written), str(written / "kept"), name, 0.0, 0.0)
    assert not isinstance(why, Taken)
    assert "cannot be a folder's" in why["en"]
