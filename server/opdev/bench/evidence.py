"""``verification.json``: everything that a verdict is made of, so that it can be made again from it.

``schema()`` is made from these types and their docstrings.  Fields are never taken away or given another meaning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Literal

from opdev.atomic import write_bytes
from opdev.bench.model import Backend, Category, CheatReport, Check, Mode, Performance, VerifiedStatus

NAME = "verification.json"
VERSION = 1
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
Problem = Literal[
    "environment", "raised", "unsupported", "memory", "state", "artifact", "unstable", "start", "timeout", "crash", "stopped", "tampered",
]  # fmt: skip
Origin = Literal["kernel", "computed", "input", "alloc", "foreign"]


@dataclass(frozen=True, slots=True)
class Value:
    """One value that goes in or comes out: a tensor, or anything else by its ``repr``."""

    name: str
    kind: Literal["tensor", "value"]
    dtype: str | None
    """As torch calls it, without ``torch.``; null for what is no tensor."""
    shape: tuple[int, ...] | None
    sha256: str
    """Of dtype, shape and bytes, or of the ``repr``."""
    text: str = ""
    """The ``repr`` of what is no tensor."""
    file: str | None = None
    """Where its bytes are, in the folder of ``verification.json``; null where they were not kept."""
    lost: str | None = None
    """Why its bytes could not be written: ``dtype`` or ``size``."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel that was started in a forward."""

    kernel: str
    path: str
    """In the operator's folder."""
    line: int
    given: tuple[str, ...]
    written: tuple[str, ...]
    """The parameters whose memory came out other than it went in."""
    copied: tuple[str, ...] = ()
    """Parameters that hold nothing but what Torch had computed before and the kernel was given."""


@dataclass(frozen=True, slots=True)
class Computed:
    """What Torch itself computed in a forward, outside of kernels."""

    operation: str
    path: str
    line: int
    count: int


@dataclass(frozen=True, slots=True)
class Compared:
    """One output against the reference's; numbers are those of ``opdev precision``."""

    name: str
    verdict: Literal["pass", "fail", "error"]
    actual: Value | None
    expected: Value | None
    origin: Origin | None
    """Whose work it is: only ``kernel`` counts; null where it is not known (no simulation)."""
    origin_text: Mapping[str, str] | None
    problem: Literal["count", "kind", "dtype", "shape", "value", "numbers", "tolerance", "unjudged"] | None
    """What keeps it from passing."""
    message: Mapping[str, str]
    metrics: Mapping[str, Any] | None
    limits: Mapping[str, Any] | None
    mismatches: tuple[Mapping[str, Any], ...]
    """The first elements that are off: index, coordinates, actual, expected."""
    beyond: int | None = None
    """Elements beyond ``rtol`` and ``atol``; null where they were not asked for."""


@dataclass(frozen=True, slots=True)
class Seed:
    """One forward."""

    seed: int
    drawn: bool
    """Whether nobody could know it beforehand."""
    inputs: tuple[Value, ...]
    state: tuple[Value, ...]
    launches: tuple[Launch, ...]
    computed: tuple[Computed, ...]
    changed_inputs: tuple[str, ...]
    """Inputs that the implementation changed."""
    reference_changed_inputs: tuple[str, ...]
    outputs: tuple[Compared, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """One process: what it was for and how it ended."""

    name: Literal["backend", "inputs", "candidate", "reference", "profile-base", "profile-generated"]
    exit: int | None
    signal: int | None
    timed_out: bool
    seconds: float
    leaked: int
    """Processes that it left behind, which were ended."""
    complete: bool
    """Whether it handed over a result that carries this run's secret."""
    problem: Problem | None = None
    """What kept it from its end."""
    message: Mapping[str, str] = field(default_factory=dict)
    """The problem in both languages, with its place."""
    log: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One verification."""

    schema_version: Literal[1]
    opdev_version: str
    op_name: str
    folder: str
    case_file: str
    case_sha256: str
    sources: Mapping[str, str]
    """SHA-256 of each file that ran, by its path in the operator's folder."""
    backend: Backend
    simulated: bool
    mode: Mode
    started_at: str
    seconds: float
    status: VerifiedStatus
    category: Category | None
    correctness: bool | None
    message: Mapping[str, str]
    performance: Performance
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    """Of the Python, torch, pypto, … that ran, and of numpy that compared."""
    cheat: CheatReport
    stages: tuple[Stage, ...]
    seeds: tuple[Seed, ...]
    notes: tuple[Mapping[str, str], ...] = ()
    device: int | None = None
    host: str = ""


@dataclass
class Gathered:
    """What is known so far; becomes an ``Evidence`` at the end."""

    stages: list[Stage] = field(default_factory=list)
    seeds: list[Seed] = field(default_factory=list)
    notes: list[Mapping[str, str]] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    """Findings at run time, which belong to the report on cheating."""


def write(evidence: Evidence, folder: str) -> str:
    """Write ``verification.json`` whole or not at all; its path."""
    path = f"{folder}/{NAME}"
    write_bytes(path, (json.dumps(asdict(evidence), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode())
    return path


def read(document: Mapping[str, Any]) -> Evidence:
    """An ``Evidence`` from what ``write`` made of it; ValueError for what is none."""
    from pydantic import TypeAdapter

    return TypeAdapter(Evidence).validate_python(dict(document))


def schema() -> dict[str, Any]:
    """The JSON Schema of ``verification.json``."""
    import sys

    from pydantic import ConfigDict, TypeAdapter

    config = ConfigDict(use_attribute_docstrings=True)
    for value in (*vars(sys.modules[__name__]).values(),):
        if is_dataclass(value):
            setattr(value, "__pydantic_config__", config)  # noqa: B010 - pydantic's protocol, which no type declares
    made = TypeAdapter(Evidence).json_schema(mode="serialization")
    return {"$schema": _DIALECT, **made, "title": "opdev bench verification"}
