"""The standard's worked numbers, to the digits it prints."""

from __future__ import annotations

import pytest

from opdev.design.derived import bus_factor, peak_gbps
from opdev.perf.formulas import bandwidth_GBps, bus_bandwidth_GBps, delta_pct, effective_flops, percent


def to(digits, value):
    return f"{value:.{digits}f}"


def test_all_to_all():
    payload = 8 * 8388608 * 2
    factor = bus_factor("all-to-all", 8)

    assert (payload, factor) == (134217728, 0.875)
    assert to(2, bandwidth_GBps(payload, 1200)) == "111.85"
    assert to(2, bus_bandwidth_GBps(payload, 1200, factor)) == "97.87"
    assert to(2, bandwidth_GBps(payload, 1050)) == "127.83"
    assert to(2, bus_bandwidth_GBps(payload, 1050, factor)) == "111.85"
    assert to(2, bandwidth_GBps(payload, 1100)) == "122.02"
    # The standard's 106.77 is 122.02 × 0.875; unrounded it is 106.764.
    assert to(2, 122.02 * factor) == "106.77"
    assert to(2, bus_bandwidth_GBps(payload, 1100, factor)) == "106.76"
    ours, theirs = (bus_bandwidth_GBps(payload, us, factor) for us in (1050, 1100))
    assert to(1, percent(ours, theirs)) == "104.8"


def test_reduce_scatter():
    payload = 8 * 8388608 * 4

    assert payload == 268435456
    assert bus_factor("reduce-scatter", 8) == 0.875
    # The same shard in twice the bytes and twice the time has the same bandwidth.
    assert bus_bandwidth_GBps(payload, 2100, 0.875) == pytest.approx(bus_bandwidth_GBps(134217728, 1050, 0.875))


@pytest.mark.parametrize("name", ["dispatch", "combine"])
def test_dispatch_and_combine(name):
    from opdev.design.derived import collective_of

    payload = 1024 * 4096 * 2
    kind = collective_of(f"moe_{name}")

    assert payload == 8388608
    assert kind is not None
    assert (bus_factor(kind, 8), peak_gbps(kind, 8)) == (0.875, 28)
    assert to(2, bus_bandwidth_GBps(payload, 400, 0.875)) == "18.35"
    assert to(1, percent(bus_bandwidth_GBps(payload, 400, 0.875), 28)) == "65.5"


@pytest.mark.parametrize(
    ("kind", "n_pes", "factor"),
    [("all-reduce", 8, 1.75), ("all-reduce", 2, 1.0), ("all-to-all", 2, 0.5), ("broadcast", 8, 1.0), ("p2p", 2, 1.0)],
)
def test_bus_factors(kind, n_pes, factor):
    assert bus_factor(kind, n_pes) == factor


def test_compute_and_rounds():
    assert effective_flops(2 * 4096 * 4096 * 4096, 1000) == pytest.approx(137.438953472e12)
    assert delta_pct(110, 100) == pytest.approx(10)


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf"), None])
def test_nothing_follows_from_what_is_no_measurement(bad):
    assert bandwidth_GBps(bad, 10) is None
    assert bandwidth_GBps(10, bad) is None
    assert bus_bandwidth_GBps(10, 10, bad) is None
    assert percent(bad, 10) is None
    assert percent(10, bad) is None
    assert bandwidth_GBps(1e308, 1e-300) is None
