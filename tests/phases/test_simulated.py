"""What the CPU stand-in measured is no evidence of performance."""

from __future__ import annotations

from build import PERF, copied

from opdev.phases import perf
from opdev.phases.evidence import Evidence
from opdev.project.operators import Operator
from opdev.project.places import Places

LINE = "[PERF] pe=0 e2e_us=10 kernel_us=8 kernel_bus_bandwidth_GBps=20\n"


def test_a_log_of_the_stand_in_is_none_of_phase_6(tmp_path):
    op = copied(tmp_path, "allgather")
    op.write("data/perf/shmem_8_float16.log", f"[SIM] backend=sim text=x\n{LINE}", PERF)

    assert not perf.begun(Evidence(Operator(str(op.root), Places())))

    op.write("data/perf/shmem_8_float16.log", LINE, PERF)

    assert perf.begun(Evidence(Operator(str(op.root), Places())))
