"""Runs side by side, runs that are killed: nothing meets that should not, nothing is left behind."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest


def leftovers():
    """Names a run could leave: shared memory files and named sockets."""
    sockets = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
    return sorted({line.split()[-1] for line in sockets.splitlines() if "opdev-sim" in line}), sorted(
        os.listdir("/dev/shm")
    )


def assert_nothing_new(before):
    """Nothing but what was there, and what other tests have meanwhile: that goes."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        new = [[line for line in now if line not in was] for now, was in zip(leftovers(), before, strict=True)]
        if new == [[], []]:
            return
        time.sleep(0.1)
    raise AssertionError(f"left behind: {new}")


def ready(processes):
    for process in processes:
        assert process.stdout.readline().startswith("ready")


def test_two_runs_of_one_program_do_not_meet(native):
    """Same endpoint in the program's text, other run ids."""
    runs = [native.start("many_blocks", "clean", 3, run=f"side-by-side-{os.getpid()}-{i}") for i in range(3)]

    for processes in runs:
        done = native.end(processes)
        assert (done.status, done.said) == ([0] * 3, "")


def test_one_run_id_serves_one_run_after_another(native):
    for _ in range(3):
        assert native.run("life_again", pes=2, run=f"again-{os.getpid()}").status == [0, 0]


def test_a_second_pe_of_the_same_number_is_refused(native):
    done = native.run("life_same_pe", "fault")

    refused = next(fault for fault in done.faults if fault["fault"] == "endpoint")
    assert refused["text"].startswith("PE 0 is already there (process ")
    assert native.run("life_same_pe", "clean").status == [0, 0]


def test_a_pe_that_never_comes_is_said(native):
    done = native.run("life_absent", "fault")

    assert done.status == [0, 86]
    assert done.faults[0]["pe"] == "1"
    assert "not all of the 2 PEs came" in done.faults[0]["text"]
    assert "(1 did)" in done.faults[0]["text"]


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_pe_ends_the_run_and_leaves_nothing(native, seed):
    before = leftovers()
    chance = random.Random(seed)
    processes = native.start("life_long", "clean", 3)
    ready(processes)
    time.sleep(chance.random() * 0.1)
    processes[seed % 3].send_signal(signal.SIGKILL)
    done = native.end(processes)

    assert done.status == [-9 if pe == seed % 3 else 86 for pe in range(3)]
    assert {fault["fault"] for fault in done.faults} == {"peer-died"}
    assert_nothing_new(before)


@pytest.mark.parametrize("seed", range(4))
def test_all_killed_at_once_leave_nothing(native, seed):
    before = leftovers()
    processes = native.start("life_long", "clean", 3)
    if seed % 2 == 0:
        ready(processes)
    else:
        time.sleep(random.Random(seed).random() * 0.02)  # perhaps in the middle of meeting
    for process in processes:
        process.kill()
    native.end(processes)

    assert_nothing_new(before)


def test_a_stopped_run_goes_by_its_own_processes(native):
    """SIGTERM has its usual meaning; the other run goes on."""
    stopped = native.start("life_long", "clean", 2)
    other = native.start("life_long", "clean", 2)
    ready(stopped)
    ready(other)
    for process in stopped:
        process.terminate()
    native.end(stopped)
    time.sleep(0.3)

    assert [process.poll() for process in other] == [None, None]
    for process in other:
        process.kill()
    native.end(other)
