"""Steps in a container: every one of them by ``<engine> exec -i <container> bash -lc …``, nothing outside.

The engine is ``docker``, ``podman``, or an argv prefix (``["podman", "--runtime", "runc"]``).  The container has to
run already.  ``mounts`` pairs folders of this machine with the container's; without any, paths are the same in both.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from functools import cached_property

from opdev.phases.model import both
from opdev.rules.model import Text
from opdev.runs import process
from opdev.runs.execute import Command
from opdev.runs.executors import Job
from opdev.runs.executors.host import script

_PATIENCE = 30.0


class Docker:
    """See the module."""

    name = "docker"
    backend = "npu"

    def __init__(
        self, run: str, container: str, engine: Sequence[str] = ("docker",), mounts: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.run, self.container = run, container
        self.engine = tuple(engine)
        # The deepest folder decides.
        self.mounts = sorted(((a.rstrip("/"), b.rstrip("/")) for a, b in mounts), key=lambda m: -len(m[0]))

    def problem(self) -> Text | None:
        if not self.container:
            return both("没有说明用哪个容器（phase0_intake 的 docker_container，或 --container）", "no container is named (docker_container in phase0_intake, or --container)")  # fmt: skip
        if not process.supported():
            return both("运行阶段需要 Linux（WSL 或 Remote-SSH 也可以）", "phases run on Linux only (WSL and Remote-SSH reach one)")  # fmt: skip
        try:
            done = self._ask("inspect", "--format", "{{.State.Running}}", self.container)
        except FileNotFoundError:
            return both(f"找不到容器引擎 {self.engine[0]}：先安装，或在 opdev.toml 的 [run] 里设置 engine", f"there is no container engine {self.engine[0]}: install it, or set `engine` in [run] of opdev.toml")  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return both(f"容器引擎 {self.engine[0]} 没有应答：{error}", f"the container engine {self.engine[0]} does not answer: {error}")  # fmt: skip
        said = (done.stderr or done.stdout).strip().splitlines()
        why = said[-1] if said else f"exit {done.returncode}"
        if done.returncode:
            lost = any(word in why.lower() for word in ("no such", "not found", "no container"))
            if lost:
                return both(f"没有容器 {self.container}（{why}）", f"there is no container {self.container} ({why})")
            return both(f"容器引擎 {self.engine[0]} 用不了：{why}", f"the container engine {self.engine[0]} cannot be used: {why}")  # fmt: skip
        if done.stdout.strip() != "true":
            return both(f"容器 {self.container} 没有在运行：先 {self.engine[0]} start {self.container}", f"the container {self.container} is not running: `{self.engine[0]} start {self.container}` first")  # fmt: skip
        return None

    def command(self, job: Job) -> Command:
        env = {**job.env, process.TOKEN: self.run}
        words = [f"{name}={value}" for name, value in env.items()]
        argv = [
            *self.engine, "exec", "-i", self.container, "bash", "-lc", script("inside.sh"), "opdev",
            str(max(1, round(job.grace))), job.cwd, str(len(words)), *words, str(len(job.source)), *job.source, job.conda, *job.argv,
        ]  # fmt: skip
        return Command(argv, os.getcwd(), self._own, job.timeout, job.grace, hold=True)

    def shown(self, job: Job) -> list[str]:
        return [*self.engine, "exec", self.container, *job.argv]

    def inward(self, path: str) -> str:
        return self._moved(path, ((a, b) for a, b in self.mounts))

    def outward(self, path: str) -> str:
        return self._moved(path, sorted(((b, a) for a, b in self.mounts), key=lambda m: -len(m[0])))

    def exists(self, path: str) -> bool:
        try:
            return self._ask("exec", self.container, "test", "-e", path).returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            return False

    @staticmethod
    def _moved(path: str, pairs: object) -> str:
        for here, there in pairs:  # type: ignore[attr-defined]  # pairs of strings, from either side
            if path == here or path.startswith(f"{here}/"):
                return there + path[len(here) :] or "/"
        return path

    @cached_property
    def _own(self) -> dict[str, str]:
        """The engine's own environment: this machine's, with the run's name."""
        return {**os.environ, process.TOKEN: self.run}

    def _ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.engine, *words], capture_output=True, text=True, errors="replace", check=False,
            stdin=subprocess.DEVNULL, timeout=_PATIENCE,
        )  # fmt: skip
