"""Who waits for whom, on what value: the wait graph as people and programs read it."""

from __future__ import annotations

import time


def waits(done):
    return {(w["pe"], w["block"]): w for w in done.lines("wait")}


def test_a_wait_on_a_signal_says_value_and_writer(native):
    done = native.run("signal_nobody_sends", "fault")
    found = waits(done)

    # Only PE 0 signalled, and the value PE 1 got is not the one it waits for.
    want = {"call": "aclshmem_signal_wait_until", "cmp": "EQ", "want": "8"}
    assert found["1", "0"].items() >= {**want, "seen": "7"}.items()
    assert found["1", "0"]["writer"].startswith("0:")
    assert found["0", "1"].items() >= {**want, "seen": "0", "writer": "none"}.items()


def test_a_barrier_names_the_absent(native):
    found = waits(native.run("barrier_skipped", "fault", pes=3))

    assert found["0", "0"]["for"] == found["2", "0"]["for"] == "pe:1"
    assert found["1", "-1"]["call"] == "aclshmem_finalize"


def test_a_sync_counts_the_blocks(native):
    found = waits(native.run("blocks_skip_sync", "fault", pes=1))

    assert found["0", "0"]["for"] == "blocks:5/8"


def test_a_pe_that_has_gone_is_named(native):
    done = native.run("exit_without_finalize", "fault")

    assert [(gone["pe"], gone["after"]) for gone in done.lines("gone")] == [("1", "exit")]
    assert "for PE 1; PE 1 has exited" in done.faults[0]["text"]


def test_a_deadlock_needs_no_timeout(native):
    """It is found when the last thread goes to sleep, not when patience ends."""
    start = time.monotonic()
    done = native.run("signal_cycle", "fault", pes=4, OPDEV_SIM_TIMEOUT="300")

    assert done.faults[0]["fault"] == "deadlock"
    assert time.monotonic() - start < 10


def test_a_spinning_kernel_is_told_from_a_deadlock(native):
    done = native.run("spinning", "fault", OPDEV_SIM_TIMEOUT="1")

    assert [fault["fault"] for fault in done.faults] == ["timeout"]
    assert [(r["pe"], r["block"]) for r in done.lines("runs")] == [("1", "0")]
    assert native.run("spinning", "clean").status == [0, 0]


def test_the_fault_is_told_once_and_the_others_say_why_they_end(native):
    done = native.run("signal_cycle", "fault", pes=6)

    assert len(done.faults) == 1
    assert done.status == [86] * 6
    teller = {line["by"] for line in done.lines("ended")}
    assert len(teller) <= 1
    assert len(done.lines("ended")) <= 5
