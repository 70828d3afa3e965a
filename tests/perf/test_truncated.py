"""What is lost of a log may have been the slow part: damage never makes a pass of what was too noisy to tell, or failed."""

from __future__ import annotations

import random
import re

import pytest
from lines import baseline, launch, log, perf

from opdev.perf.compare import compare
from opdev.perf.series import series_of
from opdev.perf.verdict import judge

# Of the first launch alone one would say that it passes.
UNEVEN = launch(1000.0) + launch(4000.0) + launch(4000.0)
FIRST = len(launch(1000.0))
BASE = series_of([log(launch(1100.0, make=baseline), "b.log", n_pes=8)])[0][0]


def states(data, n_pes=8):
    """By the baseline and by the link."""
    found = series_of([log(data, n_pes=n_pes)])[0]
    return {judge(s, other).state for s in found if s.side == "shmem" and s.payload_bytes > 0 for other in (BASE, None)}


def test_the_yardstick_itself():
    assert states(UNEVEN) == {"noisy"}
    assert states(launch(1000.0)) == states(launch(1000.0) * 3) == {"pass"}


def test_cut_at_any_byte_of_a_later_launch_there_is_no_pass():
    line = len(UNEVEN) // 24
    for cut in (*range(FIRST + 1, FIRST + 2 * line), *range(FIRST + 2 * line, len(UNEVEN), 11)):
        assert "pass" not in states(UNEVEN[:cut]), UNEVEN[cut - 40 : cut]


@pytest.mark.parametrize("lost", [*range(1, 9)])
def test_one_line_of_a_later_launch_is_enough_to_doubt(lost):
    rows = UNEVEN.splitlines(keepends=True)

    assert "pass" not in states("".join(rows[: 8 + lost]) if lost < 8 else "".join(rows[:8]) + rows[8][:60] + "\n")


@pytest.mark.parametrize("how", ["missing", "cut", "number", "nul"])
def test_a_tenth_may_be_lost_and_no_more(how):
    """As many as a range leaves out at its slow end."""

    def damaged(launches, broken):
        rows = [launch(1000.0 + n) for n in range(launches)]
        for at in range(broken):
            first, rest = rows[at].split("\n", 1)
            rows[at] = {
                "missing": rest, "cut": f"{first[:-12]}[PERF] \n{rest}", "number": f"{re.sub('kernel_us=[^ ]*', 'kernel_us=nan', first)}\n{rest}",
                "nul": f"{first.replace('payload_bytes=', 'payload_bytes=' + chr(0))}\n{rest}",
            }[how]  # fmt: skip
        return "".join(rows)

    good, bad = damaged(40, 2), damaged(9, 1)
    assert states(good) == {"pass"}
    assert "pass" not in states(bad)
    (told,) = [judge(s, BASE) for s in series_of([log(bad, n_pes=8)])[0] if s.payload_bytes > 0]
    assert told.state == "noisy"
    assert "残缺" in told.why["zh"]
    assert "may be among them" in told.why["en"]


def test_what_the_baseline_lost_may_have_been_its_best():
    ours = log(launch(1000.0), "a.log", n_pes=8)
    rows = (launch(1200.0, make=baseline) * 3).splitlines(keepends=True)
    whole, cut = (log("".join(r), "b.log", n_pes=8) for r in (rows, rows[:-1]))

    assert compare([ours], [whole])["rows"][0]["verdict"] == "pass"
    assert compare([ours], [cut])["rows"][0]["verdict"] == "noisy"


def test_a_change_is_no_better_for_what_was_lost():
    old, new = log(launch(1000.0) * 2, "a.log", n_pes=8), launch(900.0) * 2

    assert compare([log(new, "n.log", n_pes=8)], [old])["rows"][0]["verdict"] == "better"
    assert compare([log(new[:-30], "n.log", n_pes=8)], [old])["rows"][0]["verdict"] == "noisy"
    assert compare([log((launch(1500.0) * 2)[:-30], "n.log", n_pes=8)], [old])["rows"][0]["verdict"] == "worse"


@pytest.mark.parametrize("tail", ["[", "[PE", "[PERF]", "[PERF] ", "[PERF] pe", "[BASELINE_PERF] pe="])
def test_a_log_that_ends_within_a_tag_says_so(tail):
    found = log(launch(1000.0) + tail, n_pes=8)

    assert "ends-early" in [p.key for p in found.problems]
    assert "pass" not in states(launch(1000.0) + tail)


@pytest.mark.parametrize("tail", ["done", "[INFO] done", "[PERF] lines are above\n", "see [PERF] above\n", "[1]"])
def test_words_behind_a_log_are_no_loss(tail):
    assert states(launch(1000.0) + tail) == {"pass"}


WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


@pytest.mark.parametrize("digits", [WIDE, ARABIC])
def test_digits_that_no_program_prints_are_no_numbers(digits):
    line = perf(1000.0)
    assert log(line).measurements[0].usable
    for field in ("pe", "kernel_us", "payload_bytes", "bus_factor"):
        one = re.sub(rf"(?<= {field}=)\S+", lambda m: m[0].translate(digits), line)
        assert one != line
        assert [m.usable for m in log(one, n_pes=1).measurements] == [False], field
    every = re.sub(r"(?<==)\S+", lambda m: m[0].translate(digits), launch(1000.0))
    assert "pass" not in states(every)


@pytest.mark.parametrize("text", ["1e999", "-1e999", "nan", "-nan", "inf", "1e-999", "-0", "-0.0", "0x1p4", "1_050", "1,050", "", "1050.0.0", "--5", "1e", "\x00", "0"])  # fmt: skip
@pytest.mark.parametrize("field", ["kernel_us", "e2e_us", "kernel_bus_bandwidth_GBps", "payload_bytes", "bus_factor"])
def test_what_is_no_positive_number_supports_nothing(field, text):
    line = re.sub(rf"(?<= {field}=)\S+", text, launch(1000.0))

    assert "pass" not in states(line)


@pytest.mark.parametrize("old", ["bus_bw", "steady_bus_bandwidth_GBps", "bus_bandwidth_GBps"])
def test_a_field_under_two_names_is_there_twice(old):
    line = perf(1000.0)
    right = re.search(r"kernel_bus_bandwidth_GBps=(\S+)", line)[1]
    for both in (f"{old}={right} kernel_us=", f"{old}=5 kernel_us="):
        found = log(line.replace("kernel_us=", both), n_pes=1)
        assert not any(m.usable for m in found.measurements)
        assert {p.key for p in found.problems} >= {"repeated"}
    alone = log(line.replace("kernel_bus_bandwidth_GBps", old), n_pes=8)
    assert [m.usable for m in alone.measurements] == [True]


@pytest.mark.parametrize("into", range(0, 260, 13))
def test_a_line_of_a_million_characters_loses_no_tag(into):
    text = "y" * (1_000_000 - into) + launch(1000.0) + launch(4000.0)

    found = log(text, n_pes=8)
    assert len(found.measurements) == 16
    assert [m.line for m in found.measurements[:2]] == [1, 2]
    assert "pass" not in states(text)


def test_a_log_too_large_to_be_read_to_its_end_is_doubted(monkeypatch):
    from opdev.perf import reader

    monkeypatch.setattr(reader, "LARGEST", FIRST + 200)
    found = log(UNEVEN, n_pes=8)

    assert "too-large" in [p.key for p in found.problems]
    assert "pass" not in states(UNEVEN)


@pytest.mark.parametrize("seed", range(12))
def test_eight_pes_in_one_pipe_never_hide_a_slow_launch(seed):
    """Each PE prints a fast launch and a slow one; what one pipe makes of them is cut anywhere."""
    chance = random.Random(seed)
    queues = [bytearray((perf(1000.0, pe=pe) + perf(4000.0, pe=pe)).encode()) for pe in range(8)]
    most = (1, 3, 20, 120, 200, 400)[seed % 6]
    out = bytearray()
    while left := [q for q in queues if q]:
        queue = chance.choice(left)
        size = chance.randint(1, most)
        out += queue[:size]
        del queue[:size]

    assert "pass" not in states(bytes(out))
