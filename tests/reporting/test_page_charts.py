"""The charts of the page: every mark where its value is, and nothing that a value cannot be shown for breaks them."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree as ET

import pytest

from opdev.perf.document import Aim, document
from opdev.perf.reader import read
from opdev.reporting.charts import Curve, Limit, Point, curves, errors
from opdev.reporting.page_perf import _goals, _peak, _ranges


def marks(svg, tag, kind):
    return [e for e in ET.fromstring(svg).iter(tag) if kind in e.get("class", "").split()]


def test_bars_stand_on_a_logarithmic_scale_beside_what_is_allowed():
    bars = [("PE 0", 1e-4, "1e-4", "pass"), ("PE 1", 1e-3, "1e-3", "pass"), ("PE 2", 1e-2, "1e-2", "fail")]
    svg = errors(bars, 1e-3, "rtol = 0.001")
    heights = [float(e.get("height")) for e in marks(svg, "rect", "verdict")]

    assert heights[2] - heights[1] == pytest.approx(heights[1] - heights[0], abs=0.2)
    (line,) = marks(svg, "line", "limit")
    assert float(line.get("y1")) == pytest.approx(float(marks(svg, "rect", "verdict")[1].get("y")), abs=0.1)
    assert [e.get("class") for e in marks(svg, "rect", "verdict")] == ["verdict pass", "verdict pass", "verdict fail"]


@pytest.mark.parametrize("values", [[0.0, 0.0], [math.inf, 1.0], [math.nan, 1e-300], [5e-324, 1e308], [1.0] * 64])
@pytest.mark.parametrize("limit", [None, 2**-8])
def test_errors_of_every_size_are_drawn(values, limit):
    svg = errors([(f"PE {n}", v, f"{v:.3g}", "fail") for n, v in enumerate(values)], limit, "<rtol>")
    shown = [(float(e.get("y")), float(e.get("height"))) for e in marks(svg, "rect", "verdict")]

    assert len(shown) == len(values)
    for (y, height), value in zip(shown, values, strict=True):
        assert 0 <= y <= 290
        assert height >= 0
        assert height == 0 if value in (0, 5e-324) else height > 0
        assert height > 200 or value in (0.0, 1.0, 1e-300, 5e-324)
    assert errors([], limit, "") == ""


def test_what_is_to_be_reached_is_a_line_and_no_point():
    points = [Point(1024.0, 8.0, 8.0, 8.0, "80% × 10 GB/s"), Point(4096.0, 16.0, 16.0, 16.0, "80% × 20 GB/s")]
    svg = curves([Curve(points, 0, goal=True)], "GB/s", [Limit("80%", y=12.0)])
    found = marks(svg, "line", "goal")

    assert len(found) == 2
    assert marks(svg, "circle", "point") == []
    middle = (float(found[0].get("y1")) + float(found[1].get("y1"))) / 2
    assert middle == pytest.approx(float(marks(svg, "line", "limit")[0].get("y1")), abs=0.1)


def log(side, kernel):
    payload, factor = 1 << 20, 0.5
    bus = payload / (kernel * 1e-6) / 1e9 * factor
    tag = "[BASELINE_PERF] api=HcclAllGather" if side == "baseline" else "[PERF]"
    peak = "" if side == "baseline" else f" bandwidth_utilization_pct={bus / 28 * 100:.6g} peak_bandwidth_GBps=28"
    line = (
        f"{tag} pe={{pe}} e2e_us={kernel} kernel_us={kernel} algo_bandwidth_GBps={bus / factor:.6g} e2e_bus_bandwidth_GBps={bus:.6g}"
        f" kernel_bus_bandwidth_GBps={bus:.6g}{peak} payload_bytes={payload} bus_factor={factor}\n"
    )
    return read("".join(line.format(pe=pe) for pe in range(2)).encode(), f"{side}.log", n_pes=2, dtype="float16", count=1 << 18)  # fmt: skip


@pytest.mark.parametrize(("target", "reached"), [(80.0, 0.8), (95.0, 0.95)])
def test_the_line_is_that_of_the_design_and_of_the_measured_baseline(target, reached):
    made = document([log("shmem", 100.0), log("baseline", 80.0)], "x", Aim(target_pct=target, baseline=True))
    ((bus, line),) = _goals(made).values()

    assert line == target
    assert bus == pytest.approx((1 << 20) / 80e-6 / 1e9 * 0.5 * reached, rel=1e-5)
    assert _peak(made["groups"]) == "100% = 28 GB/s"
    assert _goals(document([log("shmem", 100.0)], "x", Aim())) == {}


@pytest.mark.parametrize(
    ("lines", "text"),
    [([], ""), ([4], "4"), ([1, 2, 3, 7], "1–3, 7"), ([1, 3, 5, 7, 9], "1, 3, 5, 7 …"), (list(range(9, 200)), "9–199")],
)
def test_lines_are_told_in_ranges(lines, text):
    assert _ranges(lines) == text


def test_texts_in_charts_are_texts():
    svg = errors([("<b>", 1.0, "&", "pass")], None, "")
    assert re.search("&lt;b&gt;", svg)
    ET.fromstring(svg)
