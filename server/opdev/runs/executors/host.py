"""Steps on this machine."""

from __future__ import annotations

import os
from functools import cache

from opdev.phases.model import both
from opdev.rules.model import Text
from opdev.runs import process
from opdev.runs.execute import Command
from opdev.runs.executors import Job


@cache
def script(name: str) -> str:
    """The text of one of our scripts."""
    with open(f"{os.path.dirname(__file__)}/{name}", encoding="utf-8") as stream:
        return stream.read()


class Host:
    """See the module."""

    name = "host"
    backend = "npu"

    def __init__(self, run: str) -> None:
        self.run = run

    def problem(self) -> Text | None:
        if not process.supported():
            return both(
                "运行阶段需要 Linux（WSL 或 Remote-SSH 也可以）", "phases run on Linux only (WSL and Remote-SSH reach one)"
            )  # fmt: skip
        return None

    def command(self, job: Job) -> Command:
        argv = list(job.argv)
        if job.source or job.conda:
            argv = ["bash", "-c", script("outside.sh"), "opdev", str(len(job.source)), *job.source, job.conda, *argv]
        env = {**os.environ, **job.env, process.TOKEN: self.run}
        return Command(argv, job.cwd, env, job.timeout, job.grace)

    def shown(self, job: Job) -> list[str]:
        return list(job.argv)

    def inward(self, path: str) -> str:
        return path

    def outward(self, path: str) -> str:
        return path

    def exists(self, path: str) -> bool:
        return os.path.exists(path)
