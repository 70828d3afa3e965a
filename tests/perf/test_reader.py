"""Logs as machines and accidents write them: nothing crashes, and nothing that cannot be believed is judged."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lines import baseline, launch, log, perf

from opdev.perf.document import document
from opdev.perf.reader import step_of
from opdev.perf.series import pes_of, series_of
from opdev.perf.verdict import judge

ONE = perf(1050)


def keys(found):
    return [p.key for p in found.problems]


def test_a_whole_line():
    found = log(f"some noise\x1b[32m {ONE}", "a.log", n_pes=8)

    [one] = found.measurements
    assert (one.side, one.pe, one.line, one.usable) == ("shmem", 0, 1, True)
    assert one["kernel_us"] == 1050
    assert one["payload_bytes"] == pytest.approx(134217728, rel=1e-5)
    assert found.problems == ()


def test_a_line_cut_anywhere_is_not_judged():
    for cut in range(1, len(ONE)):
        found = log(ONE[:cut], n_pes=1)

        assert not any(m.usable for m in found.measurements), cut
        assert "[PERF]" not in ONE[:cut] or found.problems, cut


def test_a_line_whose_end_is_there_is_whole():
    assert [m.usable for m in log(ONE).measurements] == [True]
    assert [m.usable for m in log(ONE.replace("\n", "\r\n")).measurements] == [True]


def test_one_pe_breaks_into_the_line_of_another():
    mine, other = (perf(1050 + pe, pe=pe, factor=0.5, peak=28.0) for pe in (0, 1))
    at = mine.index("1050") + 2
    found = log(mine[:at] + other + mine[at:], n_pes=2)

    usable = [(m.pe, m.usable) for m in found.measurements]
    assert usable == [(0, False), (1, True)]
    assert "cut" in keys(found)
    series, told = series_of([found])
    assert [s.good for s in series] == [()] * len(series)
    assert "pes-missing" in [p.key for p in told]


@pytest.mark.parametrize(
    ("other", "key"),
    [
        ({"kernel_us": "nan"}, "no-number"),
        ({"kernel_us": "inf"}, "no-number"),
        ({"kernel_us": "0"}, "not-positive"),
        ({"kernel_us": "-3"}, "not-positive"),
        ({"payload_bytes": None}, "lacking"),
        ({"peak_bandwidth_GBps": None}, "lacking"),
        ({"kernel_us": "1050us"}, "no-number"),
        ({"pe": "x"}, "no-pe"),
        ({"pe": "9"}, "no-such-pe"),
        ({"e2e_us": "900"}, "kernel-longer"),
        ({"extra": "1 kernel_us=1050"}, "repeated"),
        ({"kernel_bus_bandwidth_GBps": "140"}, "disagrees"),
        ({"algo_bandwidth_GBps": "127.83"}, "algo-from-kernel"),
        ({"kernel_bus_bandwidth_GBps": "223.7"}, "doubled"),
        ({"kernel_bus_bandwidth_GBps": "104.17"}, "binary-unit"),
        ({"bandwidth_utilization_pct": "0.57"}, "disagrees"),
        ({"e2e_bus_bandwidth_GBps": "99"}, "disagrees"),
    ],
)
def test_what_cannot_be_believed_says_why_and_is_not_used(other, key):
    found = log(perf(1050, **{"e2e": 1200, **other}), n_pes=8)

    assert key in keys(found)
    assert not any(m.usable for m in found.measurements)
    assert all(p.line == 1 for p in found.problems)


@pytest.mark.parametrize(
    ("other", "key"),
    [
        ({"peak_bandwidth_GBps": "150", "bandwidth_utilization_pct": "74.57"}, "odd-peak"),
        ({"peak_bandwidth_GBps": "28", "bandwidth_utilization_pct": "399.5"}, "above-peak"),
        ({"pe": None}, "no-pe"),
    ],
)
def test_what_needs_a_word_is_told_and_used(other, key):
    found = log(perf(1050, **other), n_pes=8)

    assert key in keys(found)
    assert all(m.usable for m in found.measurements)


def test_a_field_may_be_off_by_one_percent_and_no_more():
    right = 134217728 / 1050 / 1e3 * 0.875

    def usable(bus):
        line = perf(1050, kernel_bus_bandwidth_GBps=f"{bus:.6f}", bandwidth_utilization_pct=f"{bus / 196 * 100:.6f}")
        return log(line).measurements[0].usable

    assert usable(right * 1.0099)
    assert usable(right * 0.9901)
    assert not usable(right * 1.0101)
    assert not usable(right * 0.9899)


def test_the_rounding_of_a_short_number_is_no_disagreement():
    # 0.1 GB/s is what 0.117 is with one digit behind the point cut to 0.1.
    line = perf(1_000_000, kernel_bus_bandwidth_GBps="0.1", bandwidth_utilization_pct="0.05")

    assert log(line).measurements[0].usable


@pytest.mark.parametrize(
    ("text", "step"), [("1.25", 0.01), ("1200", 1), ("1.34218e+08", 1e3), ("7", 1), (".5", 0.1), ("1e-3", 1e-3)]
)
def test_the_last_digit(text, step):
    assert step_of(text) == pytest.approx(step)


def test_old_names_are_read_and_told():
    found = log(ONE.replace("kernel_bus_bandwidth_GBps", "steady_bus_bandwidth_GBps"))

    assert (keys(found), found.measurements[0].usable) == (["old-name"], True)


def test_both_sides_in_one_log_are_not_judged():
    found = log(ONE + baseline(1100))

    assert keys(found) == ["both-sides"]
    assert not any(m.usable for m in found.measurements)


def test_gbk_and_utf_16_and_marks():
    gbk = "性能测试：第一轮［开始］\n".encode("gbk") + ONE.encode()
    assert [m.line for m in log(gbk).measurements] == [2]
    for encoding in ("utf-16", "utf-8-sig"):
        found = log(ONE.encode(encoding))
        assert [m.usable for m in found.measurements] == [True]
    odd = log(ONE.replace("pe=0", "pe=0 注=中文"))
    assert odd.measurements == () or not odd.measurements[0].usable


def test_what_a_log_says_reaches_no_terminal_as_a_command():
    found = log("[PERF] pe=0 kernel_us=\x1b]0;title\x07 e2e_us=\x9b31m\n")

    texts = [t for p in document([found])["problems"] for t in p["text"].values()]
    assert texts
    assert all(ch.isprintable() for text in texts for ch in text)


def test_a_log_of_the_stand_in_is_never_hardware():
    marked = "[SIM] backend=sim text=x\n" + ONE

    assert log(marked).backend == "sim"
    assert log(marked, backend="hardware").backend == "sim"
    assert log(ONE, backend="sim").backend == "sim"
    assert log(ONE).backend == "hardware"


@pytest.mark.parametrize(
    ("payload", "kind", "told"),
    [
        (134217728, "all-to-all", False), (16777216, "all-gather", False), (268435456, "all-to-all", True), (1000, "all-reduce", True),
        # Tokens are no elements, and of what is not known nothing is said.
        (268435456, "dispatch", False), (268435456, None, False),
    ],
)  # fmt: skip
def test_a_payload_that_the_elements_cannot_come_to_is_told(payload, kind, told):
    """Twice the payload is twice the bandwidth."""
    factor = 1.75 if kind == "all-reduce" else 0.875
    known = {"n_pes": 8, "dtype": "float16", "count": 8388608, "kind": kind}
    found = log(launch(1050.0, payload=payload, factor=factor), **known)

    assert keys(found).count("odd-payload") == told
    assert all(m.usable for m in found.measurements)


@pytest.mark.parametrize(("factor", "n_pes"), [(0.875, 8), (0.5, 2), (1.75, 8), (0.9375, 16), (1.0, None), (0.0, None), (2.0, None), (0.871, None)])  # fmt: skip
def test_how_many_pes_a_bus_factor_is_of(factor, n_pes):
    assert pes_of(factor) == n_pes


def test_lines_are_counted_over_pieces():
    filler = "x" * 99 + "\n"
    found = log(filler * 30_000 + ONE + filler * 10 + ONE)

    assert [m.line for m in found.measurements] == [30_001, 30_012]


@pytest.mark.parametrize(
    "piece",
    ["[PERF] ", "[PERF] a=1 ", "[PERF] " + "a=b " * 50, "[PERF]" + " " * 200, "=" * 60 + "\nBlockID   ", "PERF] [", "a=" * 100],
)  # fmt: skip
def test_time_is_linear(piece):
    def seconds(times):
        data = (piece * times).encode()
        begun = time.perf_counter()
        log(data)
        return time.perf_counter() - begun

    size = max(1, 200_000 // len(piece))
    seconds(size)
    small = min(seconds(size) for _ in range(3))
    large = min(seconds(size * 8) for _ in range(2))
    # Eight times the log; quadratic would be 64 times the time.
    assert large < small * 24 + 0.25


SLOW = launch(1100.0 / 0.5, n_pes=4, factor=0.75, peak=84.0)
"""A measurement at half the baseline: whatever happens to its log, it must never pass."""
BASE = log(launch(1100, n_pes=4, factor=0.75, make=baseline), "baseline.log", n_pes=4)


def passes(data: bytes, n_pes) -> bool:
    found = log(data, n_pes=n_pes)
    base = series_of([BASE])[0][0]
    return any(
        judge(s, other, 80.0, 60.0).state == "pass" for s in series_of([found])[0] if s.side == "shmem" for other in (base, None)
    )  # fmt: skip


def test_the_yardstick_itself():
    good = launch(1000, n_pes=4, factor=0.75, peak=84.0)

    assert passes(good.encode(), 4)
    assert not passes(SLOW.encode(), 4)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_failing_log_never_passes_however_it_is_damaged(data):
    raw = bytearray(SLOW.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        a, b = sorted(data.draw(st.tuples(st.integers(0, len(raw)), st.integers(0, len(raw)))))
        how = data.draw(st.sampled_from(("cut", "drop", "double", "noise", "move")))
        if how == "cut":
            del raw[a:]
        elif how == "drop":
            del raw[a:b]
        elif how == "double":
            raw[a:a] = raw[a:b]
        elif how == "noise":
            raw[a:b] = data.draw(st.binary(max_size=20))
        else:
            piece = raw[a:b]
            del raw[a:b]
            at = data.draw(st.integers(0, len(raw)))
            raw[at:at] = piece

    assert not passes(bytes(raw), data.draw(st.sampled_from((4, None))))


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 2**32))
def test_pes_that_write_one_pipe_in_pieces_never_pass(seed):
    """Eight programs' lines, cut at any byte and mixed in any order that keeps each program's own."""
    chance = random.Random(seed)
    queues = [bytearray(perf(2200.0, pe=pe).encode()) for pe in range(8)]
    most = chance.choice((1, 3, 20, 120, 400))
    out = bytearray()
    while left := [q for q in queues if q]:
        queue = chance.choice(left)
        size = chance.randint(1, most)
        out += queue[:size]
        del queue[:size]

    found = log(bytes(out), n_pes=8)
    base = series_of([log(launch(1100, make=baseline), "b.log", n_pes=8)])[0][0]
    assert all(judge(s, base).state != "pass" for s in series_of([found])[0])


@settings(max_examples=150, deadline=None)
@example([b"[PERF] pe=0 kernel_us=1e308 payload_bytes=1e308 bus_factor=1e308 e2e_us=1e-308\n"])
@example([b"[PERF] pe=99999999999 e2e_us=1\n"])
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=60),
            st.sampled_from((b"[PERF]", b"[BASELINE_PERF]", b" pe=0", b" e2e_us=1e308", b" kernel_us=1e-308", b" payload_bytes=1e308",
                             b" bus_factor=0.5", b" kernel_us=", b"\n", b"\r", b"BlockID   FrameID   Cycles         Count          AvgTime(us)\n",
                             b"0         0         1              1              1.000\n", b"=" * 60 + b"\n", ONE.encode())),
        ),
        max_size=40,
    )
)  # fmt: skip
def test_anything_is_read(pieces):
    document([log(b"".join(pieces))])
