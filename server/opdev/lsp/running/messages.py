"""The shapes of the messages about runs.  ``protocol.schema.json`` is made of these: ``python -m opdev.lsp.running.schema``.

Times are seconds since 1970; ``root`` is an operator's folder: a ``file:`` URI in what the server says, a URI or a path
in what it is asked.
"""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import NotRequired, TypedDict

State = Literal["starting", "running", "passed", "failed", "blocked", "stopped", "lost"]
Executor = Literal["host", "docker", "sim"]


class Place(TypedDict):
    """A line (0-based) of a file."""

    uri: str
    line: int


class Check(TypedDict):
    """One check that keeps a gate closed."""

    id: str
    title: str
    state: str
    detail: str
    opens: str
    place: Place | None


class PhaseState(TypedDict):
    """A phase of an operator.  ``ahead``: the operator is not there yet, its gate was not asked.

    ``runs``: whether ``opdev.runPhase`` can run it; of a PyPTO operator's stages that is one at most.
    """

    id: str
    title: str
    runs: bool
    state: Literal["open", "closed", "skipped", "ahead"]
    why: str
    checks: list[Check]


class RunBrief(TypedDict):
    """A run that goes on."""

    run: str
    state: State
    request: str
    phase: str | None
    executor: str
    backend: Literal["npu", "sim"]
    pes: int
    text: str
    percent: int | None


Workflow = Literal["shmem", "pypto-classic", "pypto-pro", "pypto-pro-4"]


class OperatorStatus(TypedDict):
    """Where an operator stands: ``phase`` is the open one, ``row`` the recovery matrix's."""

    root: str
    name: str
    workflow: Workflow
    phase: str
    row: int | None
    why: str
    next: str
    worker: str
    complete: bool
    place: Place | None
    phases: list[PhaseState]
    running: list[RunBrief]


class Failure(TypedDict):
    """An operator that cannot be judged, and why."""

    root: str
    problem: str


class PhaseStatusParams(TypedDict):
    """Without ``root``: all operators of the workspace."""

    root: NotRequired[str]


class PhaseStatusResult(TypedDict):
    operators: list[OperatorStatus]
    failed: list[Failure]
    complete: bool
    """Whether all of the workspace was looked through."""


class RunEventParams(TypedDict):
    """``events`` are lines of events.jsonl as they are; see ``opdev show --print-schema``."""

    root: str
    run: str
    state: State
    events: list[dict[str, Any]]


class RunHistoryParams(TypedDict):
    """``before`` is the last run of the page before."""

    root: NotRequired[str]
    before: NotRequired[str]
    limit: NotRequired[int]


class RunRecord(TypedDict):
    """A run as its status file has it; ``pes`` null where nobody said."""

    run: str
    root: str
    operator: str
    state: State
    request: str
    phase: str | None
    step: str | None
    executor: str
    backend: str
    pes: int | None
    started: float
    ended: float | None
    message: str
    resumeOf: str | None


class RunHistoryResult(TypedDict):
    runs: list[RunRecord]
    more: bool


class RunEventsParams(TypedDict):
    """The events of one run after number ``after`` (-1: from the first)."""

    root: str
    run: str
    after: NotRequired[int]
    limit: NotRequired[int]


class RunEventsResult(TypedDict):
    events: list[dict[str, Any]]
    state: State
    more: bool


class RunLogParams(TypedDict):
    """Without ``log``: which logs there are.  ``line`` is 0-based, negative from the end; or bytes ``start`` to ``end``."""

    root: str
    run: str
    log: NotRequired[str]
    line: NotRequired[int]
    count: NotRequired[int]
    start: NotRequired[int]
    end: NotRequired[int]


class Log(TypedDict):
    name: str
    bytes: int


class RunLogResult(TypedDict):
    """``lines`` from number ``line`` on, without their ends; ``total`` is how many there are now."""

    logs: list[Log]
    lines: list[str]
    line: int
    total: int
    bytes: int
    cut: bool
    """Whether lines that are too long were cut."""
    partial: bool
    """Whether the last of ``lines`` has no end yet: what is still written of it comes under the same number."""


class IntakeParams(TypedDict):
    """Without ``answers``: the questions.  ``name`` instead of ``root`` for an operator that is not there yet.

    ``check`` is the question whose answer is to be judged, with the others that are known; nothing is recorded.
    """

    root: NotRequired[str]
    name: NotRequired[str]
    answers: NotRequired[dict[str, str | bool]]
    reconfirm: NotRequired[bool]
    check: NotRequired[str]


class IntakeResult(TypedDict):
    """``record`` are the values that are recorded now, ``probe`` what the machine showed."""

    state: Literal[
        "questions", "checked", "recorded", "unchanged", "needs-answers", "needs-reconfirm", "refused", "not-written"
    ]
    root: str | None
    path: str | None
    title: str
    questions: list[dict[str, Any]]
    probe: dict[str, Any]
    record: dict[str, Any] | None
    complete: bool
    missing: list[str]
    problems: list[dict[str, Any]]
    notes: list[dict[str, Any]]
    changes: list[dict[str, str]]
    text: str


class PrecisionParams(TypedDict):
    """Of the operator's last outputs; with ``run`` also whether they are that run's."""

    root: str
    run: NotRequired[str]


class PrecisionResult(TypedDict):
    """``document`` is what `opdev precision --format json` prints (``--print-schema`` has its schema)."""

    document: dict[str, Any]
    ofRun: bool | None
    """Whether the outputs were written while ``run`` went on; null where no run was named."""


class PerformanceParams(TypedDict):
    """Without ``run`` the newest of everything that was measured; ``against`` is the run it is compared with."""

    root: str
    run: NotRequired[str]
    against: NotRequired[str]
    csv: NotRequired[bool]


class PerformanceResult(TypedDict):
    """``document``, ``comparison`` and ``rounds`` are what `opdev perf show`, `perf compare` and `rounds` print as JSON."""

    document: dict[str, Any]
    comparison: dict[str, Any] | None
    csv: str | None
    rounds: list[dict[str, Any]]


class TrustParams(TypedDict):
    trusted: bool


class RunPhaseArguments(TypedDict):
    """The one argument of ``opdev.runPhase``.  What is not given is as ``opdev run`` has it."""

    root: str
    phase: str
    executor: NotRequired[Executor]
    container: NotRequired[str]
    pes: NotRequired[int | list[int]]
    resume: NotRequired[bool]
    keepGoing: NotRequired[bool]
    cases: NotRequired[list[str]]
    count: NotRequired[int]
    iters: NotRequired[int]
    dtype: NotRequired[str]
    devices: NotRequired[str]


class StopRunArguments(TypedDict):
    """The one argument of ``opdev.stopRun``.  Without ``run``: all of the operator's that go on."""

    root: str
    run: NotRequired[str]
    now: NotRequired[bool]


class ResumeRunArguments(TypedDict):
    """The one argument of ``opdev.resumeRun``.  Without ``run``: the last one."""

    root: str
    run: NotRequired[str]


class ClangdArguments(TypedDict):
    """The one argument of ``opdev.clangd``.  ``overwrite`` replaces files that opdev did not write."""

    root: str
    overwrite: NotRequired[bool]


Picks = Literal["none", "one", "some"]
"""Whether the operator's runner can be told which cases to run: one at a time, or several."""


class CasesParams(TypedDict):
    root: str


class CaseVerdict(TypedDict):
    """What the newest run that had the case said of it.  ``expected`` and ``actual`` are lines that answer each other."""

    run: str
    backend: str
    time: float
    verdict: str
    text: str
    expected: str
    actual: str


class CaseRecord(TypedDict):
    """One case.  ``tier`` is the scale its bytes have, ``shape`` as written, on one PE."""

    id: str
    purpose: str
    category: str | None
    dtype: str | None
    tier: str | None
    pes: int | None
    shape: str | None
    place: Place
    last: CaseVerdict | None


class CasesResult(TypedDict):
    """``complete`` is false where part of the list is computed or cannot be read."""

    cases: list[CaseRecord]
    origin: Literal["design", "json", "runner"] | None
    complete: bool
    picks: Picks


class NewOperatorParams(TypedDict):
    """What a new operator may be; ``name`` is judged, for ``folder`` if that is given."""

    name: NotRequired[str]
    folder: NotRequired[str]


class Choice(TypedDict):
    id: str
    label: str


class KindChoice(TypedDict):
    id: str
    label: str
    dtypes: list[str]


class OfferedResult(TypedDict):
    """``problem`` is what is wrong with the name, in the user's language."""

    kinds: list[KindChoice]
    buildModes: list[Choice]
    folders: list[str]
    problem: str | None


class NewOperatorArguments(TypedDict):
    """The one argument of ``opdev.newOperator``."""

    name: str
    kind: str
    dtypes: list[str]
    buildMode: NotRequired[str]
    torch: NotRequired[bool]
    folder: NotRequired[str]


class NewOperatorResult(TypedDict):
    """``design`` is the new docs/design.md."""

    root: str
    design: str
    text: str


class FileNote(TypedDict):
    uri: str
    text: str


class StartedResult(TypedDict):
    run: str
    root: str
    phase: str


class StoppedResult(TypedDict):
    root: str
    runs: list[str]
    text: str


class ClangdResult(TypedDict):
    """``files`` is how many sources clangd has a command for, ``origin`` whose headers it sees."""

    root: str
    origin: str
    files: int
    written: list[str]
    same: list[str]
    kept: list[FileNote]
    notes: list[FileNote]


MESSAGES: dict[str, tuple[Any, Any]] = {
    "opdev/phaseStatus": (PhaseStatusParams, PhaseStatusResult),
    "opdev/runHistory": (RunHistoryParams, RunHistoryResult),
    "opdev/runEvents": (RunEventsParams, RunEventsResult),
    "opdev/runLog": (RunLogParams, RunLogResult),
    "opdev/intake": (IntakeParams, IntakeResult),
    "opdev/cases": (CasesParams, CasesResult),
    "opdev/precision": (PrecisionParams, PrecisionResult),
    "opdev/performance": (PerformanceParams, PerformanceResult),
    "opdev/newOperator": (NewOperatorParams, OfferedResult),
    "opdev/runEvent": (RunEventParams, None),
    "opdev/didChangeTrust": (TrustParams, None),
    "opdev.runPhase": (RunPhaseArguments, StartedResult),
    "opdev.resumeRun": (ResumeRunArguments, StartedResult),
    "opdev.stopRun": (StopRunArguments, StoppedResult),
    "opdev.intake": (IntakeParams, IntakeResult),
    "opdev.clangd": (ClangdArguments, ClangdResult),
    "opdev.newOperator": (NewOperatorArguments, NewOperatorResult),
}
"""(params, result) of each message and command; no result: a notification."""
