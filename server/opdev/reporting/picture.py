"""Everything the page shows of an operator, gathered at one moment; what is not there is None or empty, with its reason."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opdev.config import ConfigError
from opdev.perf.document import document
from opdev.phases.evidence import Evidence
from opdev.phases.gates import gate
from opdev.phases.graph import ORDER
from opdev.phases.model import Gate
from opdev.precision.model import Both, Report
from opdev.reporting.documents import Found
from opdev.reporting.gathering import gather
from opdev.rounds.errors import Refused
from opdev.rounds.overview import Row, overview
from opdev.rules.errors import PageError
from opdev.runs.measured import aim_of, kind_of, latest, of_present
from opdev.runs.status import Status
from opdev.runs.store import Run, runs

_RUNS = 30
_TAIL = 65536


@dataclass(frozen=True, slots=True)
class Picture:
    """What the page is made of; ``made`` is when (seconds since 1970)."""

    operator: str
    root: str
    made: float
    found: Found
    perf: Mapping[str, Any]
    """As `opdev perf show --format json` has it, measured and simulated; rounds that were taken back stand among the rounds alone."""
    precision: Report | None
    why_no_precision: Both | None
    rounds: Sequence[Row]
    gates: Sequence[Gate]
    runs: Sequence[Status]
    """The newest first."""
    said: Mapping[str, Both]
    """Why runs ended as they did, by id, in both languages."""


def picture(evidence: Evidence) -> Picture:
    """The operator as it is now; its own scripts are not run for it."""
    report, why = _precision(evidence.root)
    newest = list(reversed(runs(evidence.root)[-_RUNS:]))
    return Picture(
        evidence.name, evidence.root, time.time(), gather(evidence),
        document(latest(evidence.root, kind_of(evidence), of_present(evidence.root)), evidence.name, aim_of(evidence)), report, why,
        _rounds(evidence.root), _gates(evidence),
        [found for run in newest if (found := run.status) is not None], {run.id: text for run in newest if (text := _said(run)) is not None},
    )  # fmt: skip


def _precision(root: str) -> tuple[Report | None, Both | None]:
    """The last outputs judged by the standard, or why they are not."""
    try:
        from opdev.precision.operator import judge_operator
        from opdev.precision.texts import PrecisionError
    except ImportError as error:
        return None, Both(f"没有 numpy，没有判断最后一次输出（{error}）", f"without numpy the last outputs are not judged ({error})")  # fmt: skip
    try:
        return judge_operator(root), None
    except PrecisionError as error:
        return None, error.text


def _said(run: Run) -> Both | None:
    """What the last event of a run says; None for one that did not end, or is an older opdev's, which wrote one language."""
    try:
        with open(run.events, "rb") as stream:
            stream.seek(max(os.path.getsize(run.events) - _TAIL, 0))
            lines = stream.read().split(b"\n")
        last = json.loads(next(line for line in reversed(lines) if line.strip()))
        return Both(str(last["why"]["zh"]), str(last["why"]["en"])) if last["type"] == "run-ended" else None
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return None


def _rounds(root: str) -> list[Row]:
    try:
        return overview(root)
    except Refused:
        return []


def _gates(evidence: Evidence) -> list[Gate]:
    try:
        return [gate(evidence, phase) for phase in ORDER]
    except (ConfigError, PageError):
        return []
