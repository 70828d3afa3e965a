"""``opdev perf`` as it is called: exit status, both languages, JSON, CSV, trace, errors that say what to do."""

from __future__ import annotations

import csv
import io
import json

import jsonschema
import pytest
from lines import baseline, launch, log

from opdev.perf import compare as comparing
from opdev.perf import document as documents
from opdev.perf.export import to_csv
from opdev.runs.perfing import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    """shmem, baseline and simulated logs in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shmem_8388608_fp16.log").write_text(launch(1050.0) + launch(1060.0) + launch(1040.0))
    (tmp_path / "baseline_8388608_fp16.log").write_text(launch(1100.0, make=baseline))
    (tmp_path / "shmem.log").write_text(launch(1050.0))
    (tmp_path / "slow.log").write_text(launch(2000.0))
    (tmp_path / "sim.log").write_text("[SIM] backend=sim\n" + launch(50.0))
    (tmp_path / "bad.log").write_text(launch(1050.0)[:150])
    return tmp_path


def run(capsys, *argv):
    status = main(list(argv))
    done = capsys.readouterr()
    return status, done.out, done.err


def test_show_prints_bandwidth_latency_and_the_verdict(files, capsys):
    status, out, err = run(capsys, "show", "shmem_8388608_fp16.log", "baseline_8388608_fp16.log", "--lang", "zh")

    assert (status, err) == (0, "")
    for word in (
        "带宽",
        "时延",
        "规模",
        "case_id",
        "e2e_us",
        "kernel_us",
        "kernel_bus_bandwidth_GBps",
        "utilization%",
        "达标",
    ):
        assert word in out
    assert "111.85" in out
    assert "106.76" in out
    assert "104.8%  PASS" in out
    assert "模拟" not in out
    assert "Bandwidth" in run(capsys, "show", "slow.log", "--lang", "en")[1]


def test_simulated_tables_say_so_and_are_not_judged(files, capsys):
    for lang, mark in (("zh", "模拟"), ("en", "simulated")):
        out = run(capsys, "show", "sim.log", "baseline_8388608_fp16.log", "--lang", lang)[1]

        titles = [line for line in out.split("\n") if line.startswith(("带宽", "时延", "Bandwidth", "Latency"))]
        assert len([t for t in titles if mark in t]) == 2
        assert "PASS" not in out
        assert "FAIL" not in out


def test_a_damaged_log_shows_its_problems_and_no_figures(files, capsys):
    status, out, _ = run(capsys, "show", "bad.log", "--lang", "en")

    assert status == 0
    assert "no measurement can be used" in out
    assert "bad.log:1: " in out


def test_json_is_what_the_schema_says(files, capsys):
    schema = json.loads(run(capsys, "show", "--print-schema")[1])
    for name in ("shmem_8388608_fp16.log", "sim.log", "bad.log"):
        out = run(capsys, "show", name, "--format", "json")[1]
        jsonschema.validate(json.loads(out), schema)
    assert schema == documents.schema()
    schema = json.loads(run(capsys, "compare", "--print-schema")[1])
    assert schema == comparing.schema()
    _, out, _ = run(capsys, "compare", "shmem_8388608_fp16.log", "slow.log", "--format", "json")
    jsonschema.validate(json.loads(out), schema)


def test_exports(files, capsys):
    status, out, _ = run(capsys, "show", "shmem_8388608_fp16.log", "sim.log", "--csv", "x.csv", "--json", "x.json")

    assert (status, out) == (0, "")
    rows = list(csv.DictReader(io.StringIO((files / "x.csv").read_text(encoding="utf-8"))))
    assert [r["launch"] for r in rows] == ["1", "2", "3", "median", "1", "median"]
    assert {r["backend"] for r in rows} == {"hardware", "sim"}
    assert float(rows[3]["kernel_us"]) == 1050
    assert rows[0]["lines"].split()[:2] == ["1", "2"]
    jsonschema.validate(json.loads((files / "x.json").read_text(encoding="utf-8")), documents.schema())


PROFILE = "".join(
    name.ljust(width)
    for name, width in zip(("BlockID", "FrameID", "Cycles", "Count", "AvgTime(us)"), (10, 10, 15, 15, 15), strict=True)
)


def test_frames_become_a_trace(files, capsys):
    rows = [
        (0, 0, 5000, 10, "10.000"),
        (0, 1, 400000, 10, "800.000"),
        (1, 1, 700000, 10, "1400.000"),
        (1, 40, 1, 1, "-0.020"),
    ]
    table = "\n".join(["=" * 60, PROFILE, "-" * 60, *("".join(str(c).ljust(w) for c, w in zip(r, (10, 10, 15, 15, 15), strict=True)) for r in rows), "=" * 60])  # fmt: skip
    (files / "p.log").write_text(launch(2000.0) + table + "\n")

    status, _, _ = run(capsys, "show", "p.log", "--trace", "t.json")

    assert status == 0
    trace = json.loads((files / "t.json").read_text(encoding="utf-8"))
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    threads = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert [(threads[e["tid"]], e["name"], e["ts"], e["dur"]) for e in slices] == [
        ("block 0", "0 copy_in", 0.0, 10.0),
        ("block 0", "1 remote_put_get", 10.0, 800.0),
        ("block 1", "1 remote_put_get", 0.0, 1400.0),
        ("block 1", "40", 1400.0, 0.0),
    ]
    out = run(capsys, "show", "p.log", "--lang", "en")[1]
    assert "1100.000" in out
    assert "55.0" in out


def test_a_trace_without_frames_says_what_to_do(files, capsys):
    status, _, err = run(capsys, "show", "slow.log", "--trace", "t.json", "--lang", "en")

    assert status == 0
    assert "SHMEM_CYCLE_PROF_PE=0" in err
    assert json.loads((files / "t.json").read_text(encoding="utf-8"))["traceEvents"] == []


@pytest.mark.parametrize(
    ("a", "b", "status", "word"),
    [
        ("shmem_8388608_fp16.log", "baseline_8388608_fp16.log", 0, "PASS"),
        ("slow.log", "shmem.log", 1, "worse"),
        ("shmem.log", "slow.log", 0, "better"),
        ("slow.log", "slow.log", 0, "same"),
        ("sim.log", "slow.log", 1, "one side is simulated"),
        ("bad.log", "slow.log", 1, "there are no measurements"),
    ],
)
def test_compare(files, capsys, a, b, status, word):
    got, out, _ = run(capsys, "compare", a, b, "--lang", "en")

    assert got == status
    assert word in out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("compare", "slow.log"), "two sources"),
        (("show", "missing.log"), "missing.log: no such log"),
        (("show", "a/b"), "a/b: no such log"),
        (("show", "."), ". is a folder: name a log in it"),
        (("compare", "slow.log", "."), ". is a folder: name a log in it"),
        (("show", "/dev/null"), "/dev/null: no [PERF]"),
        (("show", "slow.log", "--csv", "."), ". cannot be written"),
        (("show", "other.txt"), "other.txt: no [PERF] or [BASELINE_PERF] line"),
        (("compare", "slow.log", "other.txt"), "other.txt: no [PERF]"),
        (("rounds", "--op", "nowhere"), "nowhere"),
        (("report", "--op", "nowhere"), "nowhere"),
        (("show", "--op", "nowhere"), "nowhere"),
        (("show", "slow.log", "--csv", "no/such/folder/x.csv"), "no/such/folder/x.csv"),
    ],
)
def test_wrong_usage_says_what(files, capsys, argv, said):
    (files / "other.txt").write_bytes(b"\xff\x00 PERF \xb2\xe2\xca\xd4\n" * 3)
    status, out, err = run(capsys, *argv, "--lang", "en")

    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.parametrize("name", ["=1+1", "+cmd|' /C calc'!A0", "-2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "－1"])
def test_a_spreadsheet_is_given_no_formula(name):
    text = to_csv(documents.document([log(launch(1000.0))], name)).removeprefix("\ufeff")
    for row in list(csv.reader(io.StringIO(text, newline="")))[1:]:
        assert row[0] == "'" + name.translate({9: " ", 10: " ", 13: " "})
        assert row[1] == "hardware"
        assert all(not cell.startswith(("=", "+", "@", "\t")) for cell in row)


def test_a_spreadsheet_reads_chinese(files, capsys):
    (files / "全聚合").mkdir()
    (files / "slow.log").rename(files / "全聚合" / "慢.log")
    assert run(capsys, "show", "全聚合/慢.log", "--csv", "x.csv")[0] == 0
    data = (files / "x.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfoperator,")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
    assert {row["log"] for row in rows} == {"全聚合/慢.log"}
    assert run(capsys, "show", "shmem.log", "--csv", "y.csv")[0] == 0
    assert (files / "y.csv").read_bytes().startswith(b"operator,")


def test_rounds_are_those_of_opdev_rounds(tmp_path, capsys, monkeypatch):
    from opdev.runs.rounds import main as rounds_main

    op = tmp_path / "custom-ops" / "demo"
    (op / "docs").mkdir(parents=True)
    (op / "CMakeLists.txt").write_text("project(demo)\n")
    (op / "docs" / "design.md").write_text("# demo\n")
    monkeypatch.chdir(op)
    for words in (
        ("--lang", "zh"),
        ("--lang", "en", "--format", "json"),
        ("--print-schema",),
        ("--op", "nowhere", "--lang", "en"),
    ):
        found = run(capsys, "rounds", *words)
        status = rounds_main(list(words))
        shown = capsys.readouterr()
        assert found == (status, shown.out, shown.err)
