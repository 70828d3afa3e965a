"""``opdev run``, ``opdev stop``, ``opdev doctor``: what changes or asks the machine."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain

from opdev.config import Configs, Settings
from opdev.phases.graph import NAMES, ORDER, phase_id
from opdev.programs import own_settings
from opdev.rules.model import Lang
from opdev.runs import finding, process, pypto, store
from opdev.runs.commands import commands
from opdev.runs.doctor import Probe, probe, simulated
from opdev.runs.errors import UsageError
from opdev.runs.executors import Executor
from opdev.runs.looking import coloured, exit_status, watch
from opdev.runs.plan import Plan
from opdev.runs.process import tell
from opdev.runs.render import probe_line
from opdev.runs.runner import executor_of, values_of
from opdev.runs.settings import Asked, plan_of
from opdev.runs.starting import Started, start
from opdev.runs.status import ACTIVE
from opdev.runs.store import Run
from opdev.runs.target import Target, cann_script, look, target
from opdev.runs.texts import say, state

_STOPPING = 3.0


def run(args: argparse.Namespace, lang: Lang) -> int:
    """Start a run, show it, end it with this process."""
    if not process.supported():
        raise UsageError("not-linux")
    operator = finding.one(args.op, pypto=True)
    configs = finding.configs(operator)
    workflow = pypto.is_pypto(operator.root)
    if workflow is not None:
        args.phase = pypto.asked(args.phase, operator.root)
        if args.executor not in (None, "sim") or args.container:
            raise UsageError("pypto-executor")
        args.executor = "sim"
    else:
        args.phase = _phase(args.phase)
    found = pypto.target_of(operator.root) if workflow is not None else target(look(operator.root, configs))
    asked = Asked(
        args.phase, args.executor, args.container, args.pes, args.resume, args.keep_going, args.count, args.iters,
        args.dtype, args.devices, args.handover, where=args.op or "", lang=lang, max_rounds=args.max_rounds, cases=tuple(args.cases),
    )  # fmt: skip
    if (
        asked.cases
        and workflow is None
        and (asked.request == "all" or not any(step.only for step in commands(asked.request).steps))
    ):
        raise UsageError("case-phase")
    settings = configs.for_folder(operator.root).settings
    plan = plan_of(asked, found, settings.run, os.environ, own_settings(os.environ), settings.path or "opdev.toml")
    if workflow is not None:
        plan = replace(plan, workflow=workflow, executor="sim", container="")
    problem = executor_of(plan, "").problem()
    if problem is not None:
        sys.stderr.write(f"opdev run: {problem[lang]}\n")
        return 2
    try:
        started = start(plan, lifeline=not args.detach)
    except OSError as error:
        raise UsageError("unwritable", path=f"{operator.root}/.opdev", why=error.strerror) from error
    if args.detach:
        if args.format == "jsonl":
            told = {"run": started.run.id, "root": operator.root, "folder": started.run.folder}
            sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
        else:
            sys.stdout.write(say("detached", lang, id=started.run.id) + "\n")
        return 0
    return _attend(started, args.format, lang)


def _phase(text: str) -> str:
    """The phase that is meant; UsageError for a word that means none."""
    found = "all" if text == "all" else phase_id(text)
    if found is None:
        raise UsageError("no-phase", text=text, phases=", ".join(("all", *ORDER, *NAMES)))
    return found


def _attend(started: Started, form: str, lang: Lang) -> int:
    """Show a run until it ends; what would end this process ends the run, and only then this process."""

    def end(_: int, __: object) -> None:
        started.process.send_signal(signal.SIGTERM)

    before = {n: signal.signal(n, end) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        watch(started.run, form, lang, colour=coloured(), gone=lambda: started.process.poll() is not None)
        started.process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    store.mend(started.run)
    found = started.run.status
    if found is None or found.state == "lost":
        log = f"{started.run.folder}/runner.log"
        with open(log, encoding="utf-8", errors="replace") as stream:
            sys.stderr.write(stream.read()[-4000:])
        return 3
    return exit_status(started.run)


def stop(args: argparse.Namespace, lang: Lang) -> int:
    """Ask runs to end and wait until they have."""
    if args.run is None and not args.all:
        found = [run for op in finding.every(args.op, pypto=True) for run, _ in store.active(op.root)]
        if len(found) > 1:
            raise UsageError("many-runs", word="", count=len(found), names=", ".join(r.id for r in found))
    elif args.all:
        found = [run for op in finding.every(args.op, pypto=True) for run, _ in store.active(op.root)]
    else:
        found = [finding.run(args.op, args.run)]
    if not found:
        raise UsageError("no-runs")
    return max(_stop(run, lang, now=args.now) for run in found)


def _stop(run: Run, lang: Lang, *, now: bool) -> int:
    found = run.status
    if found is None or found.now not in ACTIVE or found.runner is None:
        mended = store.mend(run)
        word = "lost" if mended or found is None else found.now
        sys.stdout.write(say("not-running", lang, id=run.id, state=state(word, lang)) + "\n")
        return 0 if mended else 1
    if process.alive(found.runner) is None:
        raise UsageError("elsewhere", id=run.id, host=found.runner.host)
    grace = float(run.plan.get("grace", 5.0))
    for _ in range(2 if now else 1):
        tell(found.runner, signal.SIGTERM)
        time.sleep(0.1 if now else 0.0)
    ended = _until(lambda: not process.alive(found.runner) if found.runner else True, grace + 5 + _STOPPING)
    if not ended:
        tell(found.runner, signal.SIGKILL)
        _until(lambda: not process.alive(found.runner) if found.runner else True, _STOPPING)
    store.mend(run)
    done = run.status
    good = done is not None and done.now not in ACTIVE
    sys.stdout.write(say("stopped" if good else "still-running", lang, id=run.id) + "\n")
    return 0 if good else 1


def _until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def doctor(args: argparse.Namespace, lang: Lang) -> int:
    """Look at the environment of an operator, or of this machine where there is none."""
    if not process.supported():
        raise UsageError("not-linux")
    try:
        operator = finding.one(args.op, pypto=True)
    except UsageError:
        if args.op is not None:
            raise
        operator = None
    if operator is not None and pypto.is_pypto(operator.root) is not None:
        return _pypto_doctor(args, operator.root, lang)
    if operator is None:
        here = os.getcwd()
        settings = Configs().for_folder(here).settings
        plan = _look_only(args, _nowhere(here), settings, lang)
        found, cann = None, os.environ.get("CANN_SET_ENV", "")
    else:
        settings = finding.configs(operator).for_folder(operator.root).settings
        found = target(look(operator.root))
        plan = _look_only(args, found, settings, lang)
        cann = cann_script(found, os.environ)
    executor = executor_of(plan, "doctor")
    shmem = f"{executor.inward(found.repo)}/install/set_env.sh" if found is not None else ""
    python = values_of(plan, found, executor)["python"] if found is not None else plan.python
    sim = executor.backend == "sim"
    probes = probe(executor, found, "" if sim else cann, "" if sim else shmem, python)
    if found is None:
        # A machine is asked about everything it could do.
        probes = chain(probes, simulated(plan.python, needed=False))
    return _told(probes, executor, found.name if found is not None else None, args, lang)


def _pypto_doctor(args: argparse.Namespace, root: str, lang: Lang) -> int:
    """What simulating a PyPTO operator needs; a PyPTO-Pro one cannot be run, and needs nothing."""
    found = pypto.target_of(root)
    runs = pypto.is_pypto(root) == "classic"
    if not runs and args.format == "text":
        sys.stdout.write(say("pypto-pro", lang, name=found.name) + "\n")
    settings = Configs().for_folder(root).settings
    plan = replace(
        _look_only(args, found, settings, lang), workflow=pypto.is_pypto(root) or "", executor="sim", container=""
    )
    probes = simulated(plan.python, needed=True) if runs else ()
    return _told(probes, executor_of(plan, "doctor"), found.name, args, lang)


def _told(probes: Iterable[Probe], executor: Executor, name: str | None, args: argparse.Namespace, lang: Lang) -> int:
    """Tell each probe as soon as it is known; 0 where nothing that is needed is missing."""
    seen: list[Probe] = []
    for one in probes:
        seen.append(one)
        if args.format == "text":
            sys.stdout.write(probe_line(one.id, one.state, one.detail, dict(one.next), lang))
            sys.stdout.flush()
    if args.format == "json":
        rows = [{"probe": p.id, "state": p.state, "detail": p.detail, "next": dict(p.next)} for p in seen]
        value = {"executor": executor.name, "backend": executor.backend, "operator": name, "probes": rows}
        sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")
    return 0 if all(p.good for p in seen) else 1


def _look_only(args: argparse.Namespace, found: Target, settings: Settings, lang: Lang) -> Plan:
    """A plan to look around with: a program that only the workspace names is told and left out."""
    asked = Asked("0", args.executor, args.container)
    path = settings.path or "opdev.toml"
    try:
        return plan_of(asked, found, settings.run, os.environ, own_settings(os.environ), path)
    except UsageError as error:
        sys.stderr.write(f"opdev doctor: {say(error.key, lang, **error.values)}\n")
        return plan_of(replace(asked, handover=False), found, settings.run, os.environ, own_settings(os.environ), path)


def _nowhere(folder: str) -> Target:
    """A machine without an operator."""
    return Target(folder, "", "independent_project", folder, "", "", "", "", "", ())
