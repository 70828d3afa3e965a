"""Performance logs as their rules judge them: damaged, mixed, in any encoding, of any size; nothing damaged passes unseen."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from opdev.kinds import LOG_HEAD, classify
from opdev.perf.reader import read
from opdev.project.operators import Operator, kind_of, read_log
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

OP = "/w/custom-ops/demo"
PATH = f"{OP}/data/perf/shmem_8388608_float16.log"
RULES = tuple(r for r in store.load() if "perf-log" in r.kinds)
GOOD = "".join(
    f"[PERF] pe={pe} e2e_us=1200 kernel_us=1050 algo_bandwidth_GBps=111.848 e2e_bus_bandwidth_GBps=97.867 "
    "kernel_bus_bandwidth_GBps=111.848 bandwidth_utilization_pct=57.0654 payload_bytes=134217728 bus_factor=0.875 "
    "peak_bandwidth_GBps=196\n"
    for pe in range(8)
)


def findings(raw, path=PATH, linter=None):
    source = Source.from_disk(path, raw if isinstance(raw, bytes) else raw.encode())
    places = Places(lambda _: False)
    file = File(source, kind_of(path, source.data, in_operator=True), places.of(path))
    files = {path: source.data}
    return (linter or Linter(known=RULES)).lint(file, Selection(RULES), Operator(OP, places, files.get, files)).findings


def names(raw, **more):
    return {f.rule.name for f in findings(raw, **more)}


def test_a_good_log_of_eight_pes_has_no_finding():
    assert findings(GOOD) == []
    assert findings("启动\n" + GOOD.replace("\n", "\r\n") + "结束\n") == []


def damaged(raw):
    """Lines that no verdict may rest on, by the reader that verdicts are made with."""
    log = read(raw, PATH)
    return {p.line for p in log.problems if p.severity == "error"}


def lines(found):
    return {f.source.line_of(f.start) + 1 for f in found}


CUTS = st.integers(0, len(GOOD))


@settings(max_examples=60, deadline=None)
@given(cut=CUTS)
@example(cut=len(GOOD) - 1)
@example(cut=len("[PERF]"))
def test_a_log_that_was_cut_anywhere_is_told(cut):
    raw = GOOD[:cut].encode()
    found = findings(raw)

    assert "internal-error" not in {f.rule.name for f in found}
    assert damaged(raw) <= lines(found)


@settings(max_examples=60, deadline=None)
@given(places=st.lists(st.tuples(CUTS, CUTS, CUTS), min_size=1, max_size=6))
def test_pes_that_write_into_each_others_lines_are_told(places):
    """Eight PEs and one pipe: pieces of the log stand in the middle of others."""
    text = GOOD
    for at, start, size in places:
        text = text[:at] + GOOD[start : start + size % 200] + text[at:]
    raw = text.encode()
    found = findings(raw)

    assert "internal-error" not in {f.rule.name for f in found}
    assert damaged(raw) <= lines(found)


@settings(max_examples=60, deadline=None)
@given(junk=st.binary(max_size=200), at=CUTS, repeats=st.integers(1, 3))
@example(junk=b"\x1b[31m[PERF] pe=\xff\xfe e2e_us=1e999", at=0, repeats=1)
@example(junk=b"[BASELINE_PERF][PERF][PERF", at=10, repeats=2)
@example(junk=b"[PERF] " + b"a=1 " * 50, at=0, repeats=3)
@example(junk=b"\0" * 100, at=20, repeats=1)
def test_hostile_bytes_raise_nothing_and_pass_nothing(junk, at, repeats):
    raw = GOOD[:at].encode() + junk * repeats + GOOD[at:].encode()
    found = findings(raw)

    assert "internal-error" not in {f.rule.name for f in found}
    data = Source.from_disk(PATH, raw).data
    if Source.from_disk(PATH, raw).encoding == "utf-8" and b"\r" not in data:
        assert damaged(data) <= lines(found)
    for finding in found:
        assert 0 <= finding.start <= finding.end <= len(data)
        assert finding.message("zh")
        assert finding.message("en")


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16", "utf-8-sig"])
def test_the_value_is_marked_in_any_encoding(encoding):
    text = "开始测量\n" + GOOD.replace("kernel_us=1050 ", "kernel_us=2100 ", 1) + "结束\n"
    found = findings(text.encode(encoding))

    (longer,) = [f for f in found if f.rule.name == "kernel-longer-than-e2e"]
    assert longer.source.text(longer.start, longer.end) == "2100"
    line, column, _, _ = longer.span("utf-16")
    assert (line, column) == (1, GOOD.index("kernel_us=") + len("kernel_us="))


def test_what_stands_in_a_log_silences_nothing():
    bad = GOOD.replace("kernel_us=1050 ", "kernel_us=nan ")
    said = "# opdev: ignore-file[impossible-measurement]\nopdev: ignore\n" + bad

    assert [f.rule.name for f in findings(said)] == [f.rule.name for f in findings(bad)]
    assert "impossible-measurement" in names(said)


def test_of_a_long_log_the_head_is_read_and_that_is_said(tmp_path):
    filler = "x" * 99 + "\n"
    log = tmp_path / "custom-ops" / "demo" / "data" / "perf" / "shmem_1_float16.log"
    log.parent.mkdir(parents=True)
    bad = GOOD.replace("kernel_us=1050 ", "kernel_us=nan ")
    log.write_text(GOOD + filler * (LOG_HEAD // 100) + bad * 500, encoding="utf-8")
    raw = read_log(str(log))

    assert LOG_HEAD < len(raw) < LOG_HEAD + 1000
    assert raw.endswith(b"\n")
    (told,) = findings(raw)
    assert (told.rule.name, told.message_key, told.severity) == ("cut-measurement", "long", "info")


def test_a_long_log_in_two_bytes_a_character_is_known_to_be_long(tmp_path):
    log = tmp_path / "x.log"
    log.write_text(GOOD + ("x" * 99 + "\n") * (LOG_HEAD // 100 + 10), encoding="utf-16")
    (told,) = findings(read_log(str(log)))

    assert told.message_key == "long"


def test_of_very_many_measurements_the_first_are_judged_and_that_is_said():
    found = findings(GOOD * 300)

    assert [(f.rule.name, f.message_key, f.severity) for f in found] == [("cut-measurement", "lines", "info")]


def test_a_short_log_is_read_whole(tmp_path):
    log = tmp_path / "x.log"
    log.write_bytes(b"abc")

    assert read_log(str(log)) == b"abc"


@pytest.mark.parametrize(
    ("path", "data", "kinds"),
    [
        ("custom-ops/demo/data/perf/shmem_1_float16.log", b"", {"log", "perf-log"}),
        ("custom-ops/demo/data/run.log", b"[PERF] pe=0\n", {"log", "perf-log"}),
        ("custom-ops/demo/data/run.log", b"PE 0: PASS\n", {"log"}),
        ("elsewhere/run.log", b"[PERF] pe=0\n", set()),
    ],
)
def test_which_logs_are_judged(path, data, kinds):
    kind = classify(path, data)

    assert kind.names == kinds
    assert kind.language == ("log" if "perf-log" in kinds else None)


def test_a_log_has_no_tree():
    file = File(Source(PATH, GOOD.encode()), classify(PATH, GOOD.encode()))

    assert not file.parsed
    assert [(s.start, s.end, s.node) for s in file.segments] == [(0, len(GOOD), None)]
    with pytest.raises(ValueError, match="no language"):
        _ = file.tree
