"""From command line, configuration and the operator's own answers to a plan.

A program that a phase is handed over to is the user's to name: in the user's own configuration, or in the workspace's
with ``--handover``.  What a workspace names otherwise is told and not run, since it may be anybody's.  An engine or a
Python that a workspace names needs the same word, and nothing begins without it (opdev.programs).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opdev.config import ConfigError, line_of
from opdev.phases.graph import ORDER, phase_id
from opdev.programs import NotAgreedError, named, own_path, words
from opdev.rules.model import Lang
from opdev.runs import store
from opdev.runs.commands import HANDED, WORD, WORDS
from opdev.runs.errors import UsageError
from opdev.runs.plan import Plan
from opdev.runs.rounds_limits import limits_of
from opdev.runs.target import Target


@dataclass(frozen=True, slots=True)
class Asked:
    """The command line; None and 0 where it says nothing."""

    request: str
    executor: str | None = None
    container: str | None = None
    pes: tuple[int, ...] = ()
    resume: bool = False
    keep_going: bool = False
    count: int = 0
    iters: int = 0
    dtype: str = ""
    devices: str = ""
    handover: bool | None = None
    where: str = ""
    lang: Lang = "en"
    max_rounds: int = 0
    cases: tuple[str, ...] = ()


def plan_of(
    asked: Asked, target: Target, settings: Mapping[str, Any], environ: Mapping[str, str],
    own: Mapping[str, Any] | None = None, path: str = "opdev.toml",
) -> Plan:  # fmt: skip
    """What is run: the command line wins over the configuration, that over the operator's answers.

    ``settings`` are the workspace's (from ``path``), ``own`` the user's.  UsageError for a program nobody agreed to.
    """
    external, offered, timeout = _handovers(asked, settings, own or {}, path, own_path(environ))
    container = asked.container or settings.get("container") or target.container
    executor = asked.executor or settings.get("executor") or ("docker" if container else "host")
    if executor == "host" or (executor == "sim" and asked.container is None and not settings.get("container")):
        container = ""
    agreed = False if asked.handover is False else (asked.handover or None)
    try:
        engine = named("engine", settings, own or {}, agreed) if container else None
        python = named("python", settings, own or {}, agreed)
    except NotAgreedError as error:
        raise UsageError(
            "not-agreed",
            path=path,
            line=line_of(path, error.key),
            name=error.key,
            value=error.shown,
            own=own_path(environ),
        ) from error
    last = store.runs(target.root)[-1:] if asked.resume else []
    mounts = tuple((str(a), str(b)) for a, b in settings.get("mounts", {}).items())
    if not mounts and container and target.workdir and target.workdir != target.repo:
        around = target.root.rpartition("/")[0].rpartition("/")[0]
        mounts = ((around, target.workdir),) if around else ()
    return Plan(
        request=asked.request,
        root=target.root,
        executor=executor,
        pes=max(asked.pes, default=2),
        counts=asked.pes,
        resume=asked.resume,
        resume_of=last[0].id if last else None,
        keep_going=asked.keep_going,
        container=container,
        engine=words(engine or "docker"),
        mounts=mounts,
        external=external,
        external_timeout=timeout,
        offered=offered,
        lang=asked.lang,
        where=f" --op {shlex.quote(asked.where)}" if asked.where else "",
        python=python or environ.get("PYTHON_CMD") or "python3",
        count=asked.count,
        iters=asked.iters,
        dtype=asked.dtype,
        devices=asked.devices,
        max_rounds=asked.max_rounds,
        cases=asked.cases,
        rounds_bytes=limits_of(settings).bytes,
        case_bytes=int(settings.get("case-megabytes", 1000)) * 1_000_000,
        grace=float(settings.get("grace", 5.0)),
        timeout_scale=float(settings.get("timeout-scale", 1.0)) or 1.0,
        keep=(int(settings.get("keep-runs", 50)), int(settings.get("keep-megabytes", 2000)) * 1_000_000, float(settings.get("keep-days", 30))),
    )  # fmt: skip


def _handovers(
    asked: Asked, settings: Mapping[str, Any], own: Mapping[str, Any], path: str, own_at: str
) -> tuple[dict[str, tuple[str, ...]], dict[str, str], float]:
    """The programs that may be run, the phases for which only the workspace names one, and how long one may take."""
    mine, theirs = _programs(own, own_at), _programs(settings, path)
    allowed = {**(theirs if asked.handover else {}), **mine} if asked.handover is not False else {}
    offered = {phase: path for phase in theirs if phase not in allowed} if asked.handover is None else {}
    source = own if "external-timeout" in own else settings
    return allowed, offered, float(source.get("external-timeout", 0)) or 7200.0


def _programs(settings: Mapping[str, Any], path: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, argv in settings.get("external", {}).items():
        phase = phase_id(name)
        if phase is None:
            raise ConfigError(path, line_of(path, name), f"`external` names {name!r}, and there is no such phase; there are {', '.join(ORDER)}")  # fmt: skip
        unknown = sorted({word for text in argv for word in WORD.findall(text)} - {*WORDS, *HANDED})
        if unknown:
            raise ConfigError(path, line_of(path, name), f"`external` has {{{unknown[0]}}} in the command of {name}; known words are {', '.join((*HANDED, *WORDS))}")  # fmt: skip
        if argv:
            found[phase] = tuple(argv)
    return found
