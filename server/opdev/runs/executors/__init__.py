"""Where a step runs: on this machine, in a container, or on the CPU stand-in.

An executor turns a step (argv, folder, added environment, scripts to source) into the program that is started.
Nothing of it ever goes through a shell as text: scripts of our own get every word as an argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from opdev.rules.model import Text
from opdev.runs.execute import Command

NAMES = ("host", "docker", "sim")


@dataclass(frozen=True, slots=True)
class Job:
    """What a step wants to have run, in the words of the place where it runs.

    ``sim`` says what the stand-in does instead: ``build``, ``run``, or empty for nothing else.
    """

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict)
    source: Sequence[str] = ()
    conda: str = ""
    timeout: float | None = None
    grace: float = 5.0
    sim: str = ""


class Executor(Protocol):
    """See the module.  ``backend`` is ``npu`` or ``sim``: what the results are worth."""

    name: str
    backend: str

    def problem(self) -> Text | None:
        """Why nothing can be run here; asked before anything is."""
        ...

    def command(self, job: Job) -> Command:
        """The program that runs a job."""
        ...

    def shown(self, job: Job) -> list[str]:
        """What is run, as a user may read and repeat it: without our own scripts around it."""
        ...

    def inward(self, path: str) -> str:
        """A path of this machine as the step sees it."""
        ...

    def outward(self, path: str) -> str:
        """A path a step printed as this machine has it."""
        ...

    def exists(self, path: str) -> bool:
        """Whether a path (as the step sees it) is there."""
        ...
