"""What a second batch in the same folder need not do again: cases that were decided, on inputs that are still the same.

A failed generation and an error of verification decide nothing, so they are done again.  What is kept must prove itself:
the record follows from its evidence, and case, sources and settings are those it was made of.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from opdev.atomic import write_bytes
from opdev.bench import artifacts, proof, records
from opdev.bench.model import Backend, Case, VerifierSettings

NAME = "inputs.json"
DECIDED = frozenset({"success", "verify_failed", "baseline_failed", "verifier_skipped"})
_WEIGHED = ("mode", "rtol", "atol", "seeds", "skip", "warmup", "runs")
_ASIDE = (records.NAME, records.VERIFICATION, NAME)


def inputs(case: Case, folder: str, settings: VerifierSettings, backend: Backend) -> dict[str, Any]:
    """What a verdict is made of: digests of the case and of the operator's files, and the settings that weigh."""
    chosen = asdict(settings)
    return {
        "schema_version": 1,
        "case": records.digest(case.path),
        "sources": {name: records.digest(f"{folder}/{name}") for name in artifacts.code(folder)},
        "settings": {**{name: chosen[name] for name in _WEIGHED}, "backend": backend},
    }


def write(found: Mapping[str, Any], report: str) -> None:
    """Keep them beside the record; OSError where that cannot be."""
    text = json.dumps(found, ensure_ascii=False, indent=1)
    write_bytes(f"{report}/{NAME}", text.encode())


def kept(case: Case, report: str, wanted: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The record of a case that need not be done again; None where it must be."""
    try:
        with open(f"{report}/{NAME}", "rb") as stream:
            there = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return None
    if there != json.loads(json.dumps(wanted)):
        return None
    judged = proof.judge(report, case.key)
    if judged.problems or judged.overall not in DECIDED or judged.record["source_file"] != case.path:
        return None
    return judged.record


def aside(report: str) -> None:
    """Put the records of an earlier batch aside (``….previous``): a case that is begun has no result."""
    for name in _ASIDE:
        with suppress(FileNotFoundError):
            os.replace(f"{report}/{name}", f"{report}/{name}.previous")
