"""From command line, configuration and the operator's own answers to a plan."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opdev.phases.graph import phase_id
from opdev.runs import store
from opdev.runs.plan import Plan
from opdev.runs.target import Target


@dataclass(frozen=True, slots=True)
class Asked:
    """The command line; None and 0 where it says nothing."""

    request: str
    executor: str | None = None
    container: str | None = None
    pes: int = 2
    resume: bool = False
    keep_going: bool = False
    count: int = 0
    iters: int = 0
    dtype: str = ""
    devices: str = ""


def plan_of(asked: Asked, target: Target, settings: Mapping[str, Any], environ: Mapping[str, str]) -> Plan:
    """What is run: the command line wins over the configuration, that over the operator's answers."""
    container = asked.container or settings.get("container") or target.container
    executor = asked.executor or settings.get("executor") or ("docker" if container else "host")
    if executor == "host" or (executor == "sim" and asked.container is None and not settings.get("container")):
        container = ""
    last = store.runs(target.root)[-1:] if asked.resume else []
    mounts = tuple((str(a), str(b)) for a, b in settings.get("mounts", {}).items())
    if not mounts and container and target.workdir and target.workdir != target.repo:
        around = target.root.rpartition("/")[0].rpartition("/")[0]
        mounts = ((around, target.workdir),) if around else ()
    return Plan(
        request=asked.request,
        root=target.root,
        executor=executor,
        pes=asked.pes,
        resume=asked.resume,
        resume_of=last[0].id if last else None,
        keep_going=asked.keep_going,
        container=container,
        engine=_argv(settings.get("engine", "docker")),
        mounts=mounts,
        external={phase_id(k) or k: tuple(v) for k, v in settings.get("external", {}).items() if v},
        python=settings.get("python") or environ.get("PYTHON_CMD") or "python3",
        count=asked.count,
        iters=asked.iters,
        dtype=asked.dtype,
        devices=asked.devices,
        grace=float(settings.get("grace", 5.0)),
        timeout_scale=float(settings.get("timeout-scale", 1.0)) or 1.0,
        keep=(int(settings.get("keep-runs", 50)), int(settings.get("keep-megabytes", 2000)) * 1_000_000, float(settings.get("keep-days", 30))),
    )  # fmt: skip


def _argv(engine: str | list[str]) -> tuple[str, ...]:
    return tuple(shlex.split(engine)) if isinstance(engine, str) else tuple(engine)
