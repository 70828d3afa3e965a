"""Output no program should print: no parser of a run fails on it, whatever else is on the line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.runs.parsers import NAMES, Where, make

LONG = "9" * 6000  # More digits than Python turns into a number.
LINES = [
    f"2026-01-01 00:00:00.000000 error {LONG} pid[{LONG}] [SHM_SHMEM a.cpp:{LONG}] x", f"2026-01-01 00:00:00.000000 info 1 pid[1] [SHM_SHMEM a.cpp:1] The ACLSHMEM pe: {LONG} init success.",
    f"[SIM] fault=oob pe={LONG} block={LONG} file=a.cpp line={LONG} text=x", f"PE {LONG}: PASS", f"PE 1: dtype=float16 MaxAE={LONG} MaxRE=1e999",
    f"[PERF] pe={LONG} kernel_us={LONG}", f"[CASE] id={LONG} result=PASS", f"[MATRIX] total={LONG} passed={LONG}", f"[ {LONG}%] x", f"[{LONG}/{LONG}] x",
    f"a.cpp:{LONG}:{LONG}: error: x", f"  first mismatch idx={LONG} actual=1", f"{LONG}  1  1  1  1.000", "[PERF] pe=² kernel_us=１２３", "PE ²: PASS", "[SIM] fault=x pe=² line=²",
    "x" * 1_000_000, "\0" * 5000, "[PERF]\0pe=0", "［PERF］ pe=0 kernel_us=1",
]  # fmt: skip


def fed(data: bytes):
    return [
        fields
        for one in make(NAMES, Where("/nowhere"))
        for stream in ("stdout", "stderr")
        for fields in (*one.feed(data, stream), *one.close())
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16"])
def test_every_parser_reads_every_line(encoding):
    for line in LINES:
        fed(f"{line}\n".encode(encoding))
    fed("\n".join(LINES).encode(encoding, "replace"))


def test_what_can_be_read_is_still_read():
    found = fed(
        b"2026-01-01 00:00:00.000000 error 12 pid[34] [SHM_SHMEM a.cpp:56] lost\n[SIM] fault=oob pe=1 block=2 file=a.cpp line=3 text=x\n"
    )

    assert {fields.get("line") for _, fields in found} == {56, 3}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([line[:80] for line in LINES]) | st.text(max_size=40), max_size=8), st.integers(0, 400))
def test_cut_anywhere(lines, at):
    fed("\n".join(lines).encode("utf-8", "surrogatepass")[:at])
