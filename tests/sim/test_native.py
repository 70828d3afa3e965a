"""Each check of the runtime has a program that earns it and a twin that does not; in both nbi modes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).parent / "native"
# case: the fault its faulty form ends with.
FAULTS = {
    "bad_pe": "bad-pe",
    "not_symmetric": "not-symmetric",
    "heap_bounds": "heap-bounds",
    "heap_bounds_strided": "heap-bounds",
    "heap_store": "heap-bounds",
    "heap_freed": "not-symmetric",
    "heap_far": "not-symmetric",
    "gm_bounds": "gm-bounds",
    "gm_memcpy": "gm-bounds",
    "ub_bounds": "ub-bounds",
    "ub_plain": "ub-bounds",
    "null_pointer": "memory",
    "alignment": "alignment",
    "sdma_scratch": "alignment",
    "allocation_size": "allocation-order",
    "allocation_order": "allocation-order",
    "free_order": "allocation-order",
    "free_twice": "not-symmetric",
    "missing_quiet": "unordered-read",
    "missing_event_wait": "unordered-read",
    "wrong_engine_quiet": "unordered-read",
    "wrong_pe_quiet": "unordered-read",
    "sdma_quiet": "unordered-read",
    "strided_gap": "unordered-read",
    "never_completed": "never-completed",
    "source_changed": "source-changed",
    "way_loaded_again": "source-changed",
    "way_filled_by_get": "source-changed",
    "signal_nobody_sends": "deadlock",
    "signal_cycle": "deadlock",
    "barrier_skipped": "deadlock",
    "blocks_skip_sync": "deadlock",
    "exit_without_finalize": "deadlock",
    "peer_killed": "peer-died",
    "signal_reused": "signal-reused",
    "no_blocks": "launch",
    "too_many_blocks": "launch",
    "life_other_heap": "allocation-order",
    "life_instances": "unsupported",
}
# Cases without a faulty form: what calls mean.
CLEAN = {
    "blocking_put": 2, "lazy_bytes": 2, "atomic_add_mode": 4, "typed": 2, "strided": 2, "signals": 3, "atomics": 4,
    "old_names": 2, "teams": 4, "streams": 3, "mix": 2, "heap_full": 2, "pointers": 3, "plain_store_ends_wait": 2, "signal_reset": 2,
    "gate_uneven": 3, "life_again": 3, "life_bad_attributes": 1, "life_alone": 1,
}  # fmt: skip
# Those with tests of their own.
APART = {
    "signal_overtakes",
    "signal_counted",
    "spinning",
    "heap_leak",
    "drift",
    "many_blocks",
    "profile",
    "life_same_pe",
    "life_absent",
    "life_long",
}


def where(case: str) -> tuple[str, int, int]:
    """The file of a case and its first and last line."""
    for file in NATIVE.glob("*.cpp"):
        text = file.read_text(encoding="utf-8")
        found = re.search(rf"^CASE\({case}\)", text, re.MULTILINE)
        if found:
            first = text.count("\n", 0, found.start()) + 1
            end = re.compile(r"^(}|CASE\(\w+\) \{.*\})$", re.MULTILINE).search(text, found.start())
            return file.name, first, text.count("\n", 0, end.start()) + 1
    raise AssertionError(case)


def test_every_case_is_run():
    """A program nobody runs proves nothing."""
    text = "".join(file.read_text(encoding="utf-8") for file in NATIVE.glob("*.cpp"))

    assert set(re.findall(r"^CASE\((\w+)\)", text, re.MULTILINE)) == FAULTS.keys() | CLEAN.keys() | APART


@pytest.mark.parametrize("nbi", ["now", "lazy"])
@pytest.mark.parametrize("case", FAULTS)
def test_a_seeded_fault_is_caught_and_its_twin_is_not(native, case, nbi):
    clean = native.run(case, "clean", OPDEV_SIM_NBI=nbi)
    faulty = native.run(case, "fault", OPDEV_SIM_NBI=nbi)

    assert (clean.status, clean.said) == ([0, 0], "")
    assert {fault["fault"] for fault in faulty.faults} == {FAULTS[case]}
    assert 86 in faulty.status
    # One PE kills itself, one leaves before anybody waits for it.
    own_end = {"peer_killed": -9, "exit_without_finalize": 0}.get(case, 86)
    assert all(status in (86, own_end) for status in faulty.status)


# Where the user's call has a line, the fault has it: of the case itself, or of what it calls.
@pytest.mark.parametrize("case", sorted(FAULTS.keys() - {"ub_plain", "null_pointer", "peer_killed", "life_other_heap"}))
def test_a_fault_names_the_line_of_the_call(native, case):
    (fault, *_) = native.run(case, "fault").faults
    name, first, last = where(case)
    helper = "exchange" if name == "order.cpp" and FAULTS[case] == "unordered-read" and case != "strided_gap" else ""

    assert Path(fault["file"]).name == name
    assert helper or first <= int(fault["line"]) <= last


@pytest.mark.parametrize("nbi", ["now", "lazy"])
@pytest.mark.parametrize("case", CLEAN)
def test_calls_do_what_they_say(native, case, nbi):
    done = native.run(case, "clean", CLEAN[case], OPDEV_SIM_NBI=nbi)

    assert (set(done.status), done.said) == ({0}, "")
    assert sorted(done.out) == sorted(f"ok {pe}\n" for pe in range(CLEAN[case]))


def test_an_unordered_read_names_both_sides(native):
    (fault,) = native.run("missing_quiet", "fault").faults

    assert re.search(
        r"aclshmemx_mte_get_nbi reads 4000 bytes that aclshmemx_mte_put_nbi of PE [01] block 0 \(order\.cpp:\d+\)",
        fault["text"],
    )


def test_an_address_far_past_the_end_names_the_allocation_before(native):
    (fault,) = native.run("heap_far", "fault", pes=1).faults

    assert re.search(
        r"it is 1999744 bytes past the end of the 256 bytes allocated at cases\.h:\d+ \(or in a freed block\)",
        fault["text"],
    )


def test_a_leak_is_told_and_ends_nothing(native):
    done = native.run("heap_leak", "fault")

    assert done.status == [0, 0]
    assert [line["warning"] for line in done.lines("warning=")] == ["leak", "leak"]
    assert native.run("heap_leak").said == ""


@pytest.mark.parametrize(
    ("case", "kind", "text"),
    [
        ("signal_overtakes", "unordered-signal", "aclshmemx_signal_op may overtake aclshmemx_mte_put_nbi (order.cpp:"),
        ("signal_counted", "signal-reused", "aclshmem_signal_wait_until ends at once in launch 2: the word holds 1"),
    ],
)
def test_a_race_that_may_end_well_is_warned_of(native, case, kind, text):
    done = native.run(case, "fault")

    assert done.status == [0, 0]
    assert [line["warning"] for line in done.lines("warning=")] == [kind, kind]
    assert all(text in line["text"] for line in done.lines("warning="))
    assert (native.run(case).status, native.run(case).said) == ([0, 0], "")


def test_a_check_can_be_switched_off(native):
    done = native.run("signal_reused", "fault", OPDEV_SIM_CHECKS="-leak,-signal-reused")

    assert (done.status, done.said) == ([0, 0], "")


@pytest.mark.parametrize(("lang", "said"), [("zh", "[模拟] PE 0 核 0（"), ("en", "[sim] PE 0 block 0, ")])
def test_people_are_told_in_their_language(native, lang, said):
    done = native.run("bad_pe", "fault", pes=1, OPDEV_SIM_LANG=lang)

    assert said in done.said
    # The line for machines is the same in both.
    assert done.faults[0]["text"] == "aclshmemx_mte_put_nbi: PE 1, but there are PEs 0 to 0"


@pytest.mark.parametrize("gate", ["on", "off"])
def test_many_blocks_of_many_pes_finish(native, gate):
    done = native.run("many_blocks", pes=8, OPDEV_SIM_GATE=gate)

    assert (done.status, done.said) == ([0] * 8, "")


def test_the_gate_hides_a_race_that_no_gate_shows(native):
    assert native.run("drift", OPDEV_SIM_GATE="on").status == [0, 0]
    (fault,) = native.run("drift", OPDEV_SIM_GATE="off").faults

    assert fault["fault"] == "deadlock"
    assert "for EQ 1" in fault["text"]
    assert "it holds 2, last set by PE 0 block 0" in fault["text"]


def test_the_profile_has_the_librarys_layout(native):
    done = native.run("profile", SHMEM_CYCLE_PROF_PE="1")
    table = done.out[1].splitlines()

    assert done.status == [0, 0]
    assert done.out[0] == "ok 0\n"
    assert table[0] == table[7] == "=" * 60
    assert table[1] == "BlockID   FrameID   Cycles         Count          AvgTime(us)    "
    assert table[2] == "-" * 60
    rows = [re.fullmatch(r"(\d+)\s+(\d+)\s+(-?\d+)\s+(\d+)\s+(-?\d+\.\d{3})\s*", row).groups() for row in table[3:7]]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("0", "1", "3"),
        ("0", "1000", "1"),
        ("1", "1", "3"),
        ("1", "1000", "1"),
    ]
    assert all(abs(int(row[2]) / int(row[3]) / 50 - float(row[4])) < 0.001 for row in rows)


def test_an_ascend950_counts_a_thousand_cycles_a_microsecond(native):
    done = native.run("profile", SHMEM_CYCLE_PROF_PE="0", OPDEV_SIM_SOC="Ascend950PR_9599")
    row = done.out[0].splitlines()[3].split()

    assert abs(int(row[2]) / int(row[3]) / 1000 - float(row[4])) < 0.001
