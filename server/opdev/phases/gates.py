"""The gate of every phase: which module computes it, and when a phase has none because it is passed over.

A gate is open when all its checks hold.  ``unknown`` keeps it closed: what nothing on disk shows is not taken
for granted; the check says what would show it.  What only the conversation knows (summaries printed, tables
shown in the chat, answers of this session) is no check here at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from opdev.phases import code, correctness, design, holes, intake, perf_gate, review, rounds, tests, torch
from opdev.phases.evidence import Evidence
from opdev.phases.graph import BY_ID, ORDER, skipped
from opdev.phases.model import Check, Gate, Title, gate_of

_HARDWARE = Title("hardware-evidence", "实测证据", "evidence of hardware")

_CHECKS: dict[str, Callable[[Evidence], Iterator[Check]]] = {
    "0": intake.checks,
    "1": design.checks,
    "2": tests.checks,
    "3": code.checks,
    "4": correctness.checks,
    "5": review.checks,
    "5.5": torch.checks,
    "6": perf_gate.checks,
    "6.5": rounds.checks,
    "regression": torch.regression,
    "7": review.final,
}


def gate(evidence: Evidence, phase: str) -> Gate:
    """The gate of a phase; KeyError for a phase there is none of."""
    why = skipped(evidence.flags).get(phase)
    if why is not None:
        return Gate(BY_ID[phase], "skipped", (), why)
    more = _hardware(evidence) if phase == "7" else ()
    return gate_of(BY_ID[phase], chain(_CHECKS[phase](evidence), more, holes.checks(evidence, phase)))


def _hardware(evidence: Evidence) -> Iterator[Check]:
    """Nobody delivers what ran on the stand-in alone, performance wanted or not."""
    simulated = [name for name in ("3", "4") if gate(evidence, name).simulated]
    if not simulated:
        yield _HARDWARE.ok(
            {"zh": "编译与正确性不只靠模拟", "en": "build and correctness rest on more than the stand-in"}
        )
        return
    names = {lang: " · ".join(BY_ID[name].title[lang] for name in simulated) for lang in ("zh", "en")}
    phases = " ".join(f"opdev run {name};" for name in simulated).rstrip(";")
    yield _HARDWARE.failed(
        {"zh": f"{names['zh']} 只在 CPU 模拟环境上通过", "en": f"{names['en']} passed on the CPU stand-in only"},
        {"zh": f"在有 NPU 的环境重跑：{phases}", "en": f"run it where there is an NPU: {phases}"},
    )


def before(evidence: Evidence, phase: str) -> list[Gate]:
    """The gates of the phases before one, in order."""
    return [gate(evidence, name) for name in ORDER[: ORDER.index(phase)]]
