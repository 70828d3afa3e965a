"""``opdev gate`` and ``opdev status``.

Exit status of ``gate``: 0 open or skipped, 1 closed, 2 usage or no operator.  Of ``status``: 0, or 2.
Both: 3 for a fault of opdev itself.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from opdev.commandline import begin, guarded
from opdev.config import ConfigError, Configs
from opdev.phases.texts import say
from opdev.project.operators import Operator
from opdev.rules.errors import PageError
from opdev.rules.model import Lang

if TYPE_CHECKING:
    from opdev.phases.evidence import Evidence
    from opdev.phases.model import Gate
    from opdev.phases.pypto_checks import PyptoEvidence
    from opdev.phases.show import Show

OPEN, CLOSED, USAGE = 0, 1, 2
_NAMED = 8


class _UsageError(ValueError):
    pass


def main(command: str, argv: Sequence[str]) -> int:
    """Run ``gate`` or ``status``; the result is the exit status."""
    arguments = list(argv)
    lang = begin(arguments)

    def bad(error: Exception) -> tuple[str, int]:
        return say("bad-config", lang, why=error), USAGE

    def work() -> int:
        args = _parser(command, lang).parse_args(arguments)
        if args.print_schema:
            return _schema(command)
        return _gate(args, lang) if command == "gate" else _status(args, lang)

    return guarded(
        f"opdev {command}", lang, work,
        {_UsageError: lambda error: (str(error), USAGE), ConfigError: bad, PageError: bad}, say("interrupted", lang),
    )  # fmt: skip


def _parser(command: str, lang: Lang) -> argparse.ArgumentParser:
    from opdev.phases.graph import NAMES, ORDER, phase_id
    from opdev.phases.pypto_graph import stage_id

    def phase(text: str) -> str:
        # Whose phase it is, is known when the operator is.
        if phase_id(text) is None and stage_id(text, "classic") is None and stage_id(text, "pro") is None:
            raise argparse.ArgumentTypeError(say("no-phase", lang, text=text, phases=", ".join((*ORDER, *NAMES))))
        return text

    p = argparse.ArgumentParser(prog=f"opdev {command}", description=say(f"{command}-help", lang))
    if command == "gate":
        p.add_argument(
            "phase",
            nargs="?",
            type=phase,
            metavar="PHASE",
            help=f"{say('phase', lang)}: {', '.join(ORDER)} ({', '.join(NAMES)})",
        )
    else:
        p.add_argument("folder", nargs="?", help=say("folder", lang))
    p.add_argument("--op", metavar="DIR", help=say("op", lang))
    p.add_argument("--format", choices=("text", "json"), default="text", help=say("format", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang", lang))
    p.add_argument("--print-schema", action="store_true", help=say("schema", lang))
    return p


def _schema(command: str) -> int:
    from opdev.phases import schema

    found = schema.gate() if command == "gate" else schema.status()
    sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    return OPEN


def _operators(folder: str, lang: Lang) -> list[Operator]:
    from opdev.phases.find import every

    path = os.path.abspath(os.path.expanduser(folder))
    if os.path.islink(path) and os.path.basename(path) != os.path.basename(os.path.realpath(path)):
        # A link of another name is not the operator's folder: its name would be judged as the operator's.
        path = os.path.realpath(path)
    path = path.replace("\\", "/")
    if not os.path.isdir(path):
        raise _UsageError(say("no-folder", lang, path=folder))
    found = every(path)
    if not found:
        raise _UsageError(say("no-operator", lang, path=folder))
    return found


def _colour() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def _gate(args: argparse.Namespace, lang: Lang) -> int:
    from opdev.phases.evidence import Evidence
    from opdev.phases.gates import gate
    from opdev.phases.graph import ORDER, phase_id
    from opdev.phases.pypto_checks import evidence_of
    from opdev.phases.show import Show
    from opdev.phases.status import judged, situation

    folder = args.op or "."
    found = _operators(folder, lang)
    if len(found) > 1:
        names = ", ".join(op.name for op in found[:_NAMED]) + (" …" if len(found) > _NAMED else "")
        raise _UsageError(say("several", lang, path=folder, count=len(found), names=names))
    show = Show(lang, os.getcwd().replace("\\", "/"), colour=_colour())
    pypto = evidence_of(found[0], _configs(found[0]))
    if pypto is not None:
        return _stage(pypto, args, show)
    evidence = Evidence(found[0], _configs(found[0]))
    phase = phase_id(args.phase) if args.phase is not None else None
    if phase is None and args.phase is not None:
        raise _UsageError(say("no-phase", lang, text=args.phase, phases=", ".join(ORDER)))
    if phase is None:
        at = situation(evidence)
        phase = (judged(evidence).at if at.complete else at).phase.id
    answer = gate(evidence, phase)
    return _told(answer, evidence, show, "shmem", args.format)


def _stage(evidence: PyptoEvidence, args: argparse.Namespace, show: Show) -> int:
    """The gate of a PyPTO operator's stage."""
    from opdev.phases.pypto_graph import STAGES, stage_id
    from opdev.phases.pypto_status import WORKFLOWS, stage_gate, standing

    stages = STAGES[evidence.kind]
    stage = stage_id(args.phase, evidence.kind) if args.phase is not None else standing(evidence).at.phase.id
    if stage is None:
        names = ", ".join(f"{one.id} {one.title[show.lang]}" for one in stages)
        raise _UsageError(say("no-stage", show.lang, text=args.phase, phases=names))
    return _told(stage_gate(evidence, stage), evidence, show, WORKFLOWS[evidence.kind], args.format)


def _told(answer: Gate, evidence: Evidence, show: Show, workflow: str, form: str) -> int:
    from opdev.phases.show import gate_json

    if form == "json":
        found = gate_json(answer, evidence.name, evidence.root, show, workflow)
        sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    else:
        sys.stdout.write(show.gate(answer, evidence.name, evidence.root))
    return CLOSED if answer.state == "closed" else OPEN


def _configs(operator: Operator) -> Configs:
    """The configuration; one that cannot be used is said before anything is judged by it."""
    configs = Configs()
    configs.for_folder(operator.root)
    return configs


def _status(args: argparse.Namespace, lang: Lang) -> int:
    from opdev.phases.show import Show, status_json
    from opdev.phases.status import status

    found = _operators(args.op or args.folder or ".", lang)
    answers = [status(operator, _configs(operator)) for operator in found]
    show = Show(lang, os.getcwd().replace("\\", "/"), colour=_colour())
    if args.format == "json":
        text = json.dumps(status_json(answers, show), ensure_ascii=False, indent=1) + "\n"
    elif len(answers) == 1:
        text = show.status(answers[0])
    else:
        text = show.statuses(answers)
    sys.stdout.write(text)
    return OPEN
