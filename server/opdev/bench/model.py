"""What the parts of a batch hand to each other.

File names, fields and words of state are those of the field's own benchmark, so that what reads its files reads ours;
what it lacks (``backend``, ``evidence``) comes on top.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

GeneratedStatus = Literal[
    "success", "skipped", "timeout", "artifact_missing", "blocked", "command_not_found", "subprocess_error", "exception"
]
VerifiedStatus = Literal["passed", "failed", "baseline_failed", "error", "skipped"]
Overall = Literal[
    "success", "pypto_failed", "verify_failed", "baseline_failed", "verify_error", "verifier_skipped", "pending"
]
Phase = Literal["pending", "prepare", "pypto", "verifier", "done"]
Mode = Literal["correctness", "performance", "full"]
Backend = Literal["ascend", "sim"]
Category = Literal[
    "CHEAT_MULTI_KERNEL", "CHEAT_SEMANTIC", "BASELINE_FAILED", "CORRECTNESS_RUNTIME", "CORRECTNESS_SHAPE_OR_IO",
    "CORRECTNESS_NUMERICAL", "PERFORMANCE_FAILED", "ERROR_INPUT_OR_ARTIFACT", "ERROR_VERIFIER_OR_CLI", "ERROR_OTHER",
]  # fmt: skip
"""Why a case is no success, the first that holds."""


class BenchError(ValueError):
    """What a user asked for that cannot be: ``key`` of ``texts`` with its values."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.key, self.values = key, values


@dataclass(frozen=True, slots=True)
class Case:
    """One case file.  ``id`` is its stem (``19_ReLU``), ``op`` the operator's name made of it, ``path`` absolute."""

    level: str
    id: str
    op: str
    path: str

    @property
    def key(self) -> str:
        """What tells it from every other case of a batch, and is its folder: ``level1/19_ReLU``."""
        return f"{self.level}/{self.id}"


@dataclass(frozen=True, slots=True)
class Tensor:
    """``shape`` in elements; ``dtype`` as torch calls it, without ``torch.``."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class CaseSpec:
    """What a case asks for, read from its source and, best effort, by running it."""

    case: Case
    source: str
    init_source: str = ""
    forward_source: str = ""
    init_args: str = ""
    inputs: tuple[Tensor, ...] = ()
    outputs: tuple[Tensor, ...] = ()
    dtypes: tuple[str, ...] = ("float32",)
    p0_shapes: tuple[tuple[tuple[int, ...], ...], ...] = ()
    p1_shapes: tuple[tuple[tuple[int, ...], ...], ...] = ()
    dynamic_axis: tuple[str, ...] = ()
    formula: str = ""
    tolerance: float = 1e-3
    framework: str = "torch"
    """What it is written for: torch, mindspore or numpy."""
    warnings: tuple[Mapping[str, str], ...] = ()
    """What was left out of it, and why (zh and en)."""


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """The program that writes an operator; ``command`` empty: what is there is verified as it is."""

    command: tuple[str, ...] = ()
    repo_root: str = ""
    workdir_root: str = "custom"
    timeout: float = 7200.0
    retry: int = 1
    skip: bool = False
    force: bool = False
    agent: str = "pypto-op-orchestrator"
    model: str = ""
    need_stages: bool = True
    """Whether a state file must say that stages 1 to 7 are completed."""


@dataclass(frozen=True, slots=True)
class VerifierSettings:
    """``python`` is the Python with torch and pypto; ``rtol`` and ``atol`` None: PyPTO's precision standard alone."""

    backend: Literal["auto", "ascend", "sim"] = "auto"
    mode: Mode = "performance"
    python: str = ""
    timeout: float = 900.0
    rtol: float | None = None
    atol: float | None = None
    seeds: int = 2
    """How many seeds inputs are made of: 42 first, then ones that nobody knows beforehand."""
    memory: int = 0
    """The most megabytes a child may use; 0: three quarters of the machine's."""
    keep: bool = False
    skip: bool = False
    warmup: int = 5
    runs: int = 50


@dataclass(frozen=True, slots=True)
class Host:
    """Where cases run.  ``prefix`` is put before a command (``ssh node1``), empty here; folders are shared."""

    name: str = ""
    prefix: tuple[str, ...] = ()
    devices: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Slot:
    """One device of one host, used by one case at a time."""

    host: Host
    device: int

    @property
    def label(self) -> str:
        return f"{self.host.name}:{self.device}" if self.host.name else str(self.device)


@dataclass(frozen=True, slots=True)
class Settings:
    """A batch, as its YAML file and the command line say."""

    bench_dir: str
    cases: str
    root: str
    """The batch's folder, absolute: reports, logs, state."""
    limit: int | None = None
    hosts: tuple[Host, ...] = (Host(),)
    concurrency: int = 0
    """0: one case for each device."""
    preflight: float = 120.0
    dry_run: bool = False
    poll: float = 3.0
    generator: GeneratorSettings = field(default_factory=GeneratorSettings)
    verifier: VerifierSettings = field(default_factory=VerifierSettings)
    path: str = ""
    """The file it was read from."""
    warnings: tuple[Mapping[str, str], ...] = ()
    """What the file says and nothing comes of (zh and en)."""


@dataclass(frozen=True, slots=True)
class Generated:
    """How generation ended.  ``artifacts`` maps file names to absolute paths, ``logs`` are one for each attempt."""

    status: GeneratedStatus
    message: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    log: str = ""
    logs: tuple[str, ...] = ()
    retries: int = 0
    artifacts: Mapping[str, str] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        return self.status in ("success", "skipped")


@dataclass(frozen=True, slots=True)
class Check:
    """One check for cheating.  A fatal one that fails makes a cheat."""

    name: str
    status: Literal["pass", "fail"]
    level: Literal["fatal", "warn"]
    detail: Mapping[str, str] = field(default_factory=dict)
    places: tuple[tuple[str, int], ...] = ()
    """Absolute path and 1-based line of each hit."""


@dataclass(frozen=True, slots=True)
class CheatReport:
    op: str
    folder: str
    verdict: Literal["pass", "suspicious", "cheat"]
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Performance:
    """Microseconds on a device; None where it was not measured, and ``message`` says why."""

    generated_us: float | None = None
    base_us: float | None = None
    speedup: float | None = None
    message: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verified:
    """How verification ended.  ``evidence`` is the folder with what the verdict is made of."""

    status: VerifiedStatus
    backend: Backend
    category: Category | None = None
    message: Mapping[str, str] = field(default_factory=dict)
    correctness: bool | None = None
    performance: Performance = field(default_factory=Performance)
    cheat: CheatReport | None = None
    seconds: float = 0.0
    log: str = ""
    evidence: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    """For JSON: per seed and output what was compared, how many kernels ran, versions, digests."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case from end to end; ``report`` is its folder."""

    case: Case
    report: str
    slot: str
    generated: Generated
    verified: Verified | None
    overall: Overall
    started_at: str
    finished_at: str
    artifacts: Sequence[str] = ()


def overall_of(generated: Generated, verified: Verified | None) -> Overall:
    """The state of a case from those of its two halves."""
    if not generated.good:
        return "pypto_failed"
    if verified is None:
        return "verify_error"
    if verified.status == "skipped":
        return "verifier_skipped"
    if verified.status == "passed" and verified.correctness is True:
        return "success"
    if verified.status == "baseline_failed":
        return "baseline_failed"
    return "verify_failed" if verified.status == "failed" else "verify_error"
