"""Steps on the CPU stand-in: the user's own scripts, with the stand-in in place of CANN and SHMEM.

The stand-in is another package; all that is asked of it is ``opdev.sim.phases`` with

    ``environment(root, run, n_pes)``   {name: value} for every step: where its headers, libraries and shims are
    ``build(root)``                     argv that builds the operator into ``<root>/build``

An installation without it says so before anything runs.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Protocol, cast

from opdev.phases.model import both
from opdev.rules.model import Text
from opdev.runs.execute import Command
from opdev.runs.executors import Executor, Job

MODULE = "opdev.sim.phases"


class StandIn(Protocol):
    """What the stand-in's module has."""

    def environment(self, root: str, run: str, n_pes: int) -> Mapping[str, str]: ...

    def build(self, root: str) -> Sequence[str]: ...


def stand_in() -> StandIn | None:
    """The stand-in; None where this installation has none."""
    try:
        return cast("StandIn", import_module(MODULE))
    except ModuleNotFoundError as error:
        if error.name is not None and MODULE.startswith(error.name):
            return None
        raise


class Sim:
    """The stand-in on this machine, or in a container, whichever ``place`` is."""

    name = "sim"
    backend = "sim"

    def __init__(self, place: Executor, root: str, run: str, n_pes: int) -> None:
        self.place, self.root, self.run, self.n_pes = place, root, run, n_pes
        self._environment: dict[str, str] | None = None

    def problem(self) -> Text | None:
        module = stand_in()
        if module is None:
            return both("这个安装里没有 CPU 模拟环境（opdev.sim）", "this installation has no CPU stand-in (opdev.sim)")
        found = self.place.problem()
        if found is not None:
            return found
        try:
            given = self.environment()
        except Exception as error:  # noqa: BLE001 - whatever it lacks here is what the user is told
            return both(f"CPU 模拟环境用不了：{error}", f"the CPU stand-in cannot be used: {error}")
        # In a container they have to be where they are here: this Python builds, the compiler reads these headers.
        for path in (sys.executable, given.get("ASCEND_HOME_PATH", "")):
            if path and not self.place.exists(path):
                return both(f"容器里没有 {path}：请以相同路径挂载 opdev 的 Python 与缓存目录", f"{path} is not there in the container: mount opdev's Python and its cache at their own paths")  # fmt: skip
        return None

    def environment(self) -> Mapping[str, str]:
        """The variables of every step; asked of the stand-in once a run."""
        module = stand_in()
        if module is None:
            return {}
        if self._environment is None:
            self._environment = dict(module.environment(self.place.inward(self.root), self.run, self.n_pes))
        return self._environment

    def command(self, job: Job) -> Command:
        env = {**self.environment(), **job.env}
        # CANN's and SHMEM's own scripts are what the stand-in is in place of.
        # The build is a module of ours: where it runs, no file of the user may stand in for another one.
        cwd = "/" if job.sim == "build" else job.cwd
        return self.place.command(replace(job, argv=self._argv(job), cwd=cwd, env=env, source=()))

    def shown(self, job: Job) -> list[str]:
        return self.place.shown(replace(job, argv=self._argv(job)))

    def _argv(self, job: Job) -> list[str]:
        module = stand_in()
        if job.sim == "build" and module is not None:
            return list(module.build(self.place.inward(self.root)))
        return list(job.argv)

    def inward(self, path: str) -> str:
        return self.place.inward(path)

    def outward(self, path: str) -> str:
        return self.place.outward(path)

    def exists(self, path: str) -> bool:
        return self.place.exists(path)
