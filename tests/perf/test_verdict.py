"""Both sides of each pass line, what noise does to them, and what is never judged."""

from __future__ import annotations

import jsonschema
import pytest
from lines import baseline, launch, log

from opdev.perf.compare import compare
from opdev.perf.compare import schema as compare_schema
from opdev.perf.document import Aim, document, schema
from opdev.perf.formulas import reaches
from opdev.perf.series import series_of, spread
from opdev.perf.verdict import judge, target_pct

KNOWN = {"n_pes": 8, "dtype": "float16", "count": 8388608}


def ours(*times, **other):
    return log("".join(launch(t, **other) for t in times), "shmem.log", **KNOWN)


def theirs(*times, **other):
    return log("".join(launch(t, make=baseline, **other) for t in times), "baseline.log", **KNOWN)


def verdict(*logs, **aim):
    found = document(logs, "demo", Aim(**aim))
    jsonschema.validate(found, schema())
    [one] = found["comparisons"]
    return one


@pytest.mark.parametrize(("time", "state"), [(1250.0, "pass"), (1249.9, "pass"), (1250.2, "fail"), (1000.0, "pass")])
def test_80_percent_of_the_baseline(time, state):
    # The baseline takes 1000 us: 80 % of its bandwidth is 1250 us.
    one = verdict(ours(time, digits=9), theirs(1000.0, digits=9))

    assert (one["verdict"], one["by"], one["line_pct"]) == (state, "baseline", 80.0)
    assert one["value_pct"] == pytest.approx(1000 / time * 100)


@pytest.mark.parametrize(("target", "time", "state"), [("current >= 90% baseline", 1111.0, "pass"), ("current >= 90% baseline", 1112.0, "fail")])  # fmt: skip
def test_the_line_of_the_design(target, time, state):
    one = verdict(ours(time, digits=9), theirs(1000.0, digits=9), target_pct=target_pct(target))

    assert one["verdict"] == state


@pytest.mark.parametrize(("used", "state"), [(20.0, "pass"), (19.999, "fail"), (20.001, "pass")])
def test_20_percent_of_the_link_without_a_baseline(used, state):
    time = 134217728 / 1e3 * 0.875 / (196 * used / 100)

    assert verdict(ours(time, digits=9))["verdict"] == state
    assert verdict(ours(time, digits=9))["by"] == "peak"


def test_a_baseline_that_is_only_planned_is_no_reason_to_look_at_the_peak():
    assert verdict(ours(1000.0), baseline=True)["verdict"] == "unmeasured"
    assert verdict(ours(1000.0), baseline=False)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("times", "state"),
    [
        ((1240.0, 1245.0, 1249.0), "pass"),
        ((1251.0, 1260.0, 1270.0), "fail"),
        ((1200.0, 1240.0, 1300.0), "noisy"),
        ((1200.0, 1260.0, 1300.0), "noisy"),
        ((1250.0, 1240.0), "pass"),
    ],
)
def test_a_line_within_the_noise_is_not_decided(times, state):
    one = verdict(ours(*times, digits=9), theirs(1000.0, digits=9))

    assert one["verdict"] == state
    if state == "noisy":
        assert one["low_pct"] < 80 < one["high_pct"]
        assert "76.9–83.3" in one["why"]["zh"].replace("%", "")


def test_the_noise_of_the_baseline_counts_as_well():
    assert verdict(ours(1240.0), theirs(1000.0, 1001.0, 1040.0))["verdict"] == "pass"
    assert verdict(ours(1240.0), theirs(1000.0, 980.0, 1040.0))["verdict"] == "noisy"


def test_without_a_baseline_noise_counts_too():
    at = 134217728 / 1e3 * 0.875 / (196 * 0.20)

    assert verdict(ours(at * 0.9, at * 1.1, at))["verdict"] == "noisy"


def test_latencies_are_the_slowest_pes_and_bandwidths_the_mean():
    text = launch(1000.0, 7) + launch(2000.0, 8).splitlines(keepends=True)[7]
    [series] = series_of([log(text, **KNOWN)])[0]
    [sample] = series.good

    assert sample.value("kernel_us") == 2000
    one, slow = (134217728 / t / 1e3 * 0.875 for t in (1000, 2000))
    assert sample.value("kernel_bus_bandwidth_GBps") == pytest.approx((7 * one + slow) / 8, rel=1e-4)


def test_median_and_range():
    found = spread([5.0, 1.0, 3.0])
    assert (found.median, found.low, found.high, found.spread_pct) == (3.0, 1.0, 5.0, pytest.approx(400 / 3))
    # Of two the slower one: the lower bandwidth, the longer time.
    assert spread([1.0, 2.0]).median == 1.0
    assert spread([1.0, 2.0], slower_is_higher=True).median == 2.0
    assert spread([4.0]).spread_pct is None
    assert spread([]) is None
    ten = spread([100.0, *range(1, 10)])
    assert (ten.low, ten.high) == (2, 9)


def test_a_pe_ahead_of_the_others_does_not_mix_launches():
    rows = [launch(t, 2, factor=0.5, peak=28.0).splitlines(keepends=True) for t in (1000.0, 2000.0)]
    text = rows[0][0] + rows[1][0] + rows[0][1] + rows[1][1]
    [series] = series_of([log(text, n_pes=2)])[0]

    assert [s.value("kernel_us") for s in series.good] == [1000, 2000]


def test_a_missing_pe_may_be_the_slowest():
    text = "".join(launch(1000.0).splitlines(keepends=True)[:7])

    for n_pes in (8, None):
        series, told = series_of([log(text, n_pes=n_pes)])
        assert [s.good for s in series] == [()]
        assert [p.key for p in told] == ["pes-missing"]
        assert judge(series[0], None).state == "unmeasured"


def test_pes_that_measured_different_things_are_not_judged():
    text = launch(1000.0, 8).splitlines(keepends=True)
    text[3] = launch(1000.0, 8, peak=28.0).splitlines(keepends=True)[3]

    series, told = series_of([log("".join(text), **KNOWN)])
    assert [p.key for p in told] == ["pes-differ"]
    assert all(not s.good for s in series)


def test_simulated_numbers_are_never_judged():
    sim = log("[SIM] backend=sim\n" + launch(1.0), **KNOWN)

    assert verdict(sim)["verdict"] == "simulated"
    assert verdict(sim, theirs(1000.0))["verdict"] == "incomparable"
    base = log("[SIM] backend=sim\n" + launch(1000.0, make=baseline), **KNOWN)
    assert verdict(sim, base)["verdict"] == "simulated"
    assert verdict(ours(1000.0), base)["verdict"] == "incomparable"


@pytest.mark.parametrize(
    ("other", "word"),
    [
        ({"payload": 67108864}, "payload_bytes"),
        ({"factor": 0.5, "payload": 134217728}, "bus_factor"),
    ],
)
def test_what_was_not_the_same_is_not_compared(other, word):
    one = verdict(ours(1000.0), theirs(1000.0, **other))

    assert one["verdict"] == "incomparable"
    assert all(word in text for text in one["why"].values())


def test_other_pes_and_dtypes_are_not_compared():
    base = launch(1000.0, make=baseline)

    assert verdict(ours(1000.0), log(base, **{**KNOWN, "dtype": "float32"}))["verdict"] == "incomparable"
    two = launch(1000.0, 2, make=baseline, factor=0.5)
    assert verdict(ours(1000.0), log(two, **{**KNOWN, "n_pes": 2}))["verdict"] == "incomparable"


def test_scales_that_were_not_measured_are_named():
    found = document([ours(1000.0)])

    assert [t["en"] for t in found["lacking"]] == ["no data of scale S (8 PE fp16)"]
    both = [ours(1000.0), log(launch(20.0, payload=262144), **{**KNOWN, "count": 16384})]
    assert document(both)["lacking"] == []


@pytest.mark.parametrize(
    ("text", "percent"),
    [("current >= 80% baseline", 80), ("≥ 85％", 85), ("at least 92.5 % of HCCL", 92.5), ("", 80), ("0%", 80), ("fast", 80)],
)  # fmt: skip
def test_the_percentage_of_a_target(text, percent):
    assert target_pct(text) == percent


def test_a_last_bit_does_not_decide():
    assert reaches(5.6 / 7 * 100, 80.0)
    assert not reaches(79.9999, 80.0)


def rows(a, b, **aim):
    found = compare([a], [b], "demo", Aim(**aim))
    jsonschema.validate(found, compare_schema())
    jsonschema.validate(found["a"], schema())
    return found["rows"]


@pytest.mark.parametrize(
    ("new", "old", "word"),
    [
        ((900.0, 910.0), (1000.0, 1010.0), "better"),
        ((1000.0, 1010.0), (900.0, 910.0), "worse"),
        ((950.0, 1020.0), (1000.0, 960.0), "noisy"),
        ((1000.0,), (1000.0,), "same"),
    ],
)
def test_before_and_after(new, old, word):
    [row] = rows(ours(*new), ours(*old))

    assert row["verdict"] == word


def test_a_against_a_baseline_is_judged_and_nothing_against_nothing_is_not():
    assert rows(ours(1000.0), theirs(1000.0))[0]["verdict"] == "pass"
    assert rows(theirs(1000.0), ours(1300.0))[0]["verdict"] == "fail"
    assert rows(ours(1000.0), log(""))[0]["verdict"] == "unmeasured"
    assert rows(log(""), ours(1000.0)) == []
