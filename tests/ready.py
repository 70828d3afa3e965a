"""An operator's folder with what a run asks for first, for tests of runs: in a terminal, in an editor, in rounds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from opdev.runs import store
from opdev.runs.store import Run

ANSWERED = """\
phase0_intake:
  op_name: {name}
  build_mode: independent_project
  torch_required: false
  performance_required: false
  performance_auto_optim: false
  cann_set_env: ""
  cann_source_mode: session_preconfigured
  conda_env: none
  shmem_repo: pending
  skills_root: none
  askquestion_completed: [1, 2, 3, 4, 5]
  cann_set_env_pending: false
  docker_container: null
  docker_workdir: null
  docker_exec_required: false
"""


def until(condition, seconds=30.0, what="the condition"):
    """Wait for something; its value."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come true within {seconds} s")


def of(found: list[dict], type_: str) -> list[dict]:
    """The events of a type."""
    return [e for e in found if e["type"] == type_]


@dataclass
class Ready:
    """``custom-ops/<name>`` of a repository of its own."""

    root: Path

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def repo(self) -> Path:
        return self.root.parents[1]

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        return target

    def answered(self, run: str, build: str) -> None:
        """Its intake, its smoke run, and the build of a repository that is SHMEM's."""
        self.write("CMakeLists.txt", f"project({self.name})\n")
        self.write("scripts/run.sh", run)
        self.write("docs/phase0_intake.yaml", ANSWERED.format(name=self.name))
        self.write("../scripts/build.sh", build)
        self.write("../../include/x.h", "")

    def runs(self) -> list[Run]:
        return store.runs(str(self.root))
