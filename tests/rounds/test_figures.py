"""A round is measured as everything else is: the same figures as the tables of its run, and none of what cannot be believed."""

from __future__ import annotations

import pytest
from trees import write
from tuned import PERF, made, of

from opdev.perf.document import document
from opdev.rounds import work
from opdev.rounds.measured import BUS, FIGURES, Measured
from opdev.rounds.overview import overview
from opdev.rounds.store import Store
from opdev.runs.measured import latest

LINE = PERF[PERF.index("for pe in 0 1; do") : PERF.index("done\n") + len("done\n")]


@pytest.fixture
def op(tmp_path):
    return made(tmp_path)


def scripted(op, text):
    write(op.root, {"scripts/perf.sh": PERF.replace(LINE, text)})


def test_the_figures_of_a_round_are_those_of_the_tables(op):
    # Three launches of uneven speed, then one of a smaller payload.
    scripted(op, "for BUS in 90 130 100; do\n" + LINE + "done\nBUS=500; PAYLOAD=64\n" + LINE)
    op.go("6")

    (row,) = overview(str(op.root))
    (group,) = [g for g in document(latest(str(op.root)))["groups"] if g["payload_bytes"] == 4096]
    assert group["used"] == len(row.measured.samples) == 3
    for name in FIGURES[:-2]:
        shown = group["metrics"].get(name)
        assert row.measured.value(name) == (shown["median"] if shown else None), name
    assert row.measured.value(BUS) == 100.5


def test_of_an_even_number_the_slower_one_counts():
    one = Measured("npu", 2, "float16", "1", 1.0, ({BUS: 10.0, "e2e_us": 1.0}, {BUS: 20.0, "e2e_us": 2.0}))

    assert (one.value(BUS), one.value("e2e_us"), one.value("kernel_us")) == (10.0, 2.0, None)


@pytest.mark.parametrize(
    "damage",
    [
        "| grep -v pe=1",  # A PE told nothing.
        "| sed 's/ payload_bytes=.*//'",
        "| sed '/pe=1/s/kernel_bus_bandwidth_GBps=/kernel_bus_bandwidth_GBps=9/'",  # Nine times as fast by its own word.
        "| sed 's/kernel_us=[0-9.]*/kernel_us=nan/'",
        "| tr '\\n' '\\0'",
        "| sed 's/bus_factor=1 /bus_bw=900 bus_factor=1 /'",
    ],
)
def test_a_round_whose_figures_cannot_be_believed_is_not_kept(op, damage):
    op.go("6")
    work.start(Store(str(op.root)), "double buffer", work.Limit())
    op.source("BUS=900\n")
    scripted(op, f"{{\n{LINE}}} {damage}\n")

    _, found = op.go("6.5")

    (told,) = of(found, "round")
    assert (told["correctness"], told["proposal"], told["code"]) == ("pass", "none", "unmeasured")
    assert overview(str(op.root))[-1].measured is None
