"""What was asked of a run, written beside it before its process starts."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Plan:
    """The command line, the operator's answers and the settings, resolved.

    ``keep`` is how much is kept of old runs: number, bytes, days.  ``mounts`` pairs this machine's folders with the
    container's.  ``count``, ``iters`` 0 and empty texts: the default of the place where it runs.  ``counts`` are the PE
    counts that were named, ``pes`` the largest of them (or the default).  ``external`` are the programs that phases may
    be handed over to, ``offered`` the phases for which only the workspace names one, with the file that does.  ``where``
    is what a command line needs to find the operator again: `` --op DIR``, or nothing.
    """

    request: str
    root: str
    executor: str = "host"
    pes: int = 2
    resume: bool = False
    resume_of: str | None = None
    keep_going: bool = False
    container: str = ""
    engine: tuple[str, ...] = ("docker",)
    mounts: tuple[tuple[str, str], ...] = ()
    external: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    external_timeout: float = 7200.0
    offered: Mapping[str, str] = field(default_factory=dict)
    counts: tuple[int, ...] = ()
    lang: str = "en"
    where: str = ""
    python: str = "python3"
    count: int = 0
    iters: int = 0
    dtype: str = ""
    devices: str = ""
    grace: float = 5.0
    timeout_scale: float = 1.0
    keep: tuple[int, int, float] = (50, 2_000_000_000, 30.0)
    max_rounds: int = 0
    """How many optimisation rounds the user allows; 0: the default or the design's."""
    rounds_bytes: int = 64_000_000
    """How much a snapshot of a round may take."""
    case_bytes: int = 1_000_000_000
    """How much of the outputs of cases may wait to be judged, and of those that are wrong be kept with the run."""
    workflow: str = ""
    """That of a PyPTO operator; empty for SHMEM's."""
    cases: tuple[str, ...] = ()
    """The cases that are run alone; then nothing is recorded for the gates and no gate is asked."""

    def again(self, phase: str) -> str:
        """The command that runs a phase (or ``all``, where work stopped) again as this run does."""
        words = ["opdev", "run", *(["all", "--resume"] if self.request == "all" else [phase])]
        words += ["--executor", self.executor] if self.executor != "host" else []
        words += ["--pes", ",".join(map(str, self.counts))] if self.counts else []
        words += [f"--case {shlex.quote(case)}" for case in self.cases]
        return " ".join(words) + self.where

    def data(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Plan:
        """From JSON; KeyError or TypeError for what is no plan."""
        known = {k: v for k, v in value.items() if k in cls.__dataclass_fields__}
        known["engine"] = tuple(known.get("engine", ("docker",)))
        known["mounts"] = tuple((a, b) for a, b in known.get("mounts", ()))
        known["counts"] = tuple(known.get("counts", ()))
        known["cases"] = tuple(known.get("cases", ()))
        known["external"] = {k: tuple(v) for k, v in known.get("external", {}).items()}
        count, size, days = known.get("keep", (50, 2_000_000_000, 30.0))
        known["keep"] = (count, size, days)
        return cls(**known)
