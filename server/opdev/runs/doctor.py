"""What the environment has, asked of child processes: nothing of CANN or Torch is ever imported here.

A broken Torch, a hanging driver tool or a missing compiler is one row of the answer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from opdev import ourselves
from opdev.phases.model import NOTHING, both
from opdev.rules.model import Text
from opdev.runs.execute import Command, Outcome, Stop, Stream, execute
from opdev.runs.executors import Executor, Job
from opdev.runs.lines import cleaned, text_of
from opdev.runs.target import Target

State = Literal["ok", "missing", "failed", "unneeded"]
_PATIENCE = 60.0
_MOST = 4096


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing that was looked for.  ``next`` says what to do where it is not there."""

    id: str
    state: State
    detail: str
    next: Text = field(default_factory=lambda: NOTHING)

    @property
    def good(self) -> bool:
        return self.state in ("ok", "unneeded")


@dataclass(frozen=True, slots=True)
class _Tool:
    id: str
    argv: Sequence[str]
    next: Text
    cann: bool = False
    """Whether only hardware needs it."""
    sourced: bool = False
    torch: bool = False


_TOOLS = (
    _Tool("python", ("python3", "--version"), both("安装 Python 3", "install Python 3")),
    _Tool("numpy", ("python3", "-c", "import numpy; print(numpy.__version__)"), both("pip install numpy", "pip install numpy")),
    _Tool("cmake", ("cmake", "--version"), both("安装 cmake", "install cmake")),
    _Tool("g++", ("g++", "--version"), both("安装 g++", "install g++")),
    _Tool("bisheng", ("bisheng", "--version"), both("安装 CANN toolkit，并给出它的 set_env.sh", "install the CANN toolkit and name its set_env.sh"), cann=True, sourced=True),
    _Tool("cann", ("bash", "-c", 'echo "${ASCEND_HOME_PATH:?not set}"'), both("source CANN 的 set_env.sh（phase0_intake 的 cann_set_env）", "source CANN's set_env.sh (cann_set_env in phase0_intake)"), cann=True, sourced=True),
    _Tool("npu", ("npu-smi", "info"), both("没有 NPU：用 --executor sim", "no NPU here: use --executor sim"), cann=True, sourced=True),
    _Tool("torch", ("python3", "-c", "import torch; print(torch.__version__)"), both("激活装有 torch 的 conda 环境", "activate a conda environment with torch"), cann=True, sourced=True, torch=True),
    _Tool("torch_npu", ("python3", "-c", "import torch, torch_npu; print(torch_npu.__version__)"), both("安装与 torch 同版本的 torch_npu", "install the torch_npu of your torch"), cann=True, sourced=True, torch=True),
)  # fmt: skip


_LATER = frozenset({"shmem-install"})
"""What a later phase makes."""


def needed(found: Probe, target: Target) -> bool:
    """Whether an operator cannot be worked on without what a probe did not find."""
    return not (found.good or found.id in _LATER or (found.id.startswith("torch") and not target.torch))


def probe(executor: Executor, target: Target | None, cann: str, shmem: str, python: str = "python3") -> Iterator[Probe]:
    """Every probe in order, each as soon as it is known.  ``target`` None: no operator, machine only."""
    problem = executor.problem()
    if problem is not None:
        yield Probe("executor", "failed", problem["en"], problem)
        return
    yield Probe("executor", "ok", executor.name)
    cwd = target.root if target is not None else "/"
    scripts = [s for s in (cann, shmem) if s and executor.exists(s)]
    for tool in _TOOLS:
        if tool.cann and executor.backend == "sim":
            yield Probe(tool.id, "unneeded", "backend: sim")
            continue
        if tool.torch and target is not None and not target.torch:
            yield Probe(tool.id, "unneeded", "torch_required: false")
            continue
        conda = target.conda if target is not None and tool.sourced else ""
        argv = [python if word == "python3" else word for word in tool.argv]
        job = Job(argv, cwd, env=_QUIET, source=scripts if tool.sourced else (), conda=conda, timeout=_PATIENCE, grace=1.0)  # fmt: skip
        yield _probed(tool, executor, job)
    if target is not None:
        yield from _repository(executor, target, shmem)


def simulated(python: str, *, needed: bool) -> Iterator[Probe]:
    """What simulating PyPTO operators needs; not ``needed``: one row that says whether it could be done here."""
    argv = ourselves.argv(
        "opdev.pyptosim", ["--look", *(["--python", python] if python not in ("", "python3") else [])]
    )
    said: dict[Stream, bytes] = {"stdout": b"", "stderr": b""}

    def output(stream: Stream, data: bytes) -> None:
        said[stream] += data

    outcome = execute(Command(argv, "/", dict(os.environ), _PATIENCE * 2), output, Stop())
    try:
        rows = [Probe(row["probe"], row["state"], row["detail"], row["next"]) for row in json.loads(said["stdout"])]
    except (ValueError, KeyError, TypeError):
        rows = [Probe("pypto", "failed", (text_of(said["stderr"]).strip() or _why(outcome))[-200:])]
    if needed:
        yield from rows
        return
    lacking = [row for row in rows if not row.good]
    if lacking:
        yield Probe(
            "pypto", "unneeded", lacking[0].detail, _ONLY_PYPTO if lacking[0].id == "pypto" else lacking[0].next
        )
    else:
        yield Probe("pypto", "ok", next((row.detail for row in rows if row.id == "pypto"), ""))


_ONLY_PYPTO = both(
    '只有模拟 PyPTO 算子（opdev run verify）才要：pip install "opdev[pypto-sim]"，或用 PYTHON_CMD 指定装有它的 Python',
    'only for simulating PyPTO operators (`opdev run verify`): pip install "opdev[pypto-sim]", or name a Python that has it with PYTHON_CMD',
)
_QUIET = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
"""A torch_npu that is broken must not break plain Torch."""


def _probed(tool: _Tool, executor: Executor, job: Job) -> Probe:
    said: dict[Stream, bytes] = {"stdout": b"", "stderr": b""}

    def output(stream: Stream, data: bytes) -> None:
        said[stream] = (said[stream] + data)[-_MOST:]

    outcome = execute(executor.command(job), output, Stop())
    out = [line for line in text_of(cleaned(said["stdout"])).splitlines() if line.strip()]
    err = [line for line in text_of(cleaned(said["stderr"])).splitlines() if line.strip()]
    if outcome.good:
        return Probe(tool.id, "ok", (out or err or [""])[0].strip()[:200])
    return Probe(tool.id, "missing" if _absent(outcome, err) else "failed", (err or out or [_why(outcome)])[-1].strip()[:200], tool.next)  # fmt: skip


def _absent(outcome: Outcome, err: Sequence[str]) -> bool:
    return bool(outcome.failed) or outcome.exit == 127 or any("ModuleNotFoundError" in line or "not set" in line for line in err)  # fmt: skip


def _why(outcome: Outcome) -> str:
    if outcome.timed_out:
        return f"no answer within {outcome.seconds:.0f} s"
    return outcome.failed or f"exit status {outcome.exit}, signal {outcome.signal}"


def _repository(executor: Executor, target: Target, shmem: str) -> Iterator[Probe]:
    if executor.backend == "sim":
        yield Probe("shmem-repo", "unneeded", "backend: sim")
        yield Probe("shmem-install", "unneeded", "backend: sim")
        return
    repo = executor.inward(target.repo)
    if executor.exists(f"{repo}/include") and executor.exists(f"{repo}/src"):
        yield Probe("shmem-repo", "ok", repo)
    else:
        yield Probe("shmem-repo", "missing", f"{repo}: no include/ and src/", both("在 phase0_intake 里写明 shmem_repo", "name shmem_repo in phase0_intake"))  # fmt: skip
    if executor.exists(shmem or f"{repo}/install/set_env.sh"):
        yield Probe("shmem-install", "ok", shmem or f"{repo}/install/set_env.sh")
    else:
        yield Probe("shmem-install", "missing", f"{repo}/install/set_env.sh", both("在仓库里运行 bash scripts/build.sh -examples", "run `bash scripts/build.sh -examples` in the repository"))  # fmt: skip
