"""What is offered to run from the files of an operator: lenses above them, and code actions in them.

Each is the phase the file is for.  Nothing is offered in a workspace that is not trusted, and no action to what
asks by itself (saving, typing): a run is started by a person.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from opdev.lsp import gates
from opdev.lsp.capabilities import RESUME_RUN, RUN, RUN_PHASE, STOP_RUN
from opdev.lsp.designs import is_design, operator_of
from opdev.lsp.documents import typed_range
from opdev.lsp.glances import glance_of
from opdev.syntax.file import File

if TYPE_CHECKING:
    from opdev.lsp.client import Lang
    from opdev.lsp.documents import Document
    from opdev.lsp.operators import LiveOperator
    from opdev.lsp.session import Session, Shown

_PHASES = (
    ("4", ("case-runner", "cases")),
    ("6", ("perf-script", "baseline-script")),
    ("5.5", ("torch-test", "torch-binding")),
    ("2", ("golden", "checker")),
    ("3", ("run-script", "kernel", "host", "cmake")),
)
"""Which phase the kinds of files are for; the first that fits."""
_STAGED = frozenset({"pypto-test", "pypto-impl", "pypto-golden"})
"""Files of PyPTO operators that verification is about; of SHMEM's some may look like them."""
_WRITTEN = frozenset({"pypto-spec", "pypto-design"})
"""Documents of PyPTO operators above which it is said where the operator stands."""
_NAMED = ("2", "3", "4", "5.5", "6")
_COUNTED = ("3", "6")
"""Phases that run on so many PEs; the others take their counts from the cases."""
_MOST_CASES = 300
_TEST = re.compile(rb"^def (test_\w+)\(", re.MULTILINE | re.ASCII)
_AGAIN = ("failed", "stopped", "lost")


@dataclass(frozen=True, slots=True)
class Offer:
    """A command with its title."""

    title: str
    command: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def typed(self) -> types.Command:
        return types.Command(self.title, self.command, arguments=[self.arguments])


def lenses(session: Session, document: Document, file: File, _params: types.CodeLensParams) -> list[types.CodeLens]:
    """The lenses of a file: where a design stands, what can be run, the cases one by one."""
    operator = operator_of(session, file) if document.local and file.kind.names else None
    if operator is None:
        return []
    top = types.Range(types.Position(0, 0), types.Position(0, 0))
    made: list[types.CodeLens] = []
    if not file.kind.names.isdisjoint(_STAGED | _WRITTEN) and (workflow := _pypto(operator)) is not None:
        if not file.kind.names.isdisjoint(_WRITTEN):
            made.append(gates.lens(session, document, operator)[0])
        made += [types.CodeLens(top, offer.typed()) for offer in _stages(session, file, operator, workflow)]
        return made + list(_tests(session, file, operator, workflow))
    phase = None
    if is_design(file):
        first, found = gates.lens(session, document, operator)
        made.append(first)
        phase = found.phase
    made += [types.CodeLens(top, offer.typed()) for offer in _offers(session, file, operator, phase)]
    if "cases" in file.kind.names and session.trusted:
        made += _cases(session, file, operator)
    return made


def actions(
    session: Session, document: Document, shown: Shown, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """The same as code actions, for editors that show no lenses."""
    file = shown.report.file
    only = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
    wanted = not only or any(kind == RUN or RUN.startswith(kind + ".") for kind in only)
    by_itself = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
    if file is None or not wanted or by_itself:
        return []
    operator = operator_of(session, file) if document.local and file.kind.names else None
    if operator is None:
        return []
    if not file.kind.names.isdisjoint(_STAGED | _WRITTEN) and (workflow := _pypto(operator)) is not None:
        offered = _stages(session, file, operator, workflow)
    else:
        phase = glance_of(session, operator).phase if is_design(file) else None
        offered = _offers(session, file, operator, phase)
    return [types.CodeAction(offer.title, RUN, command=offer.typed()) for offer in offered]


def _offers(session: Session, file: File, operator: LiveOperator, phase: str | None) -> Iterator[Offer]:
    """What can be done now: stop what runs, else run the file's phase (a design's: ``phase``)."""
    from opdev.lsp.running.texts import say

    if not session.trusted:
        return
    fits = phase or next((p for p, kinds in _PHASES if not file.kind.names.isdisjoint(kinds)), None)
    if fits is None or (fits == "3" and not _of_operator(file, operator)):
        return
    lang = session.lang_of(session.rulebook.of(file.path).lang)
    going = list(_going(session, operator, lang))
    yield from going
    if going:
        return
    executor = executor_of(session, operator)
    sim = say("lens-sim", lang) if executor == "sim" else ""
    pes = session.settings.pes
    asked: dict[str, Any] = {"root": operator.root, "phase": fits}
    if fits in _COUNTED:
        asked["pes"] = pes
    if executor:
        asked["executor"] = executor
    key = f"lens-{fits}" if fits in _NAMED else "lens-phase"
    yield Offer(say(key, lang, phase=fits, pes=pes, sim=sim), RUN_PHASE, asked)
    if phase is not None:
        yield from _resume(operator.root, lang)


def _going(session: Session, operator: LiveOperator, lang: Lang) -> Iterator[Offer]:
    """Stopping what runs."""
    from opdev.lsp.running.texts import say

    desk = session.runs.desk
    for brief in desk.briefs(operator.root) if desk is not None else ():
        yield Offer(say("lens-stop", lang, what=brief.what[lang]), STOP_RUN, {"root": operator.root, "run": brief.run})


def _pypto(operator: LiveOperator) -> str | None:
    from opdev.runs.pypto import is_pypto

    return is_pypto(operator.root)


def _stages(session: Session, file: File, operator: LiveOperator, workflow: str) -> Iterator[Offer]:
    """Of a classic PyPTO operator the one stage that can be run: its verification, simulated."""
    from opdev.lsp.running.texts import say
    from opdev.runs.pypto import STAGE

    if not session.trusted or workflow != "classic" or file.kind.names.isdisjoint(_STAGED):
        return
    lang = session.lang_of(session.rulebook.of(file.path).lang)
    going = list(_going(session, operator, lang))
    yield from going or [Offer(say("lens-verify", lang), RUN_PHASE, {"root": operator.root, "phase": STAGE})]


def _tests(session: Session, file: File, operator: LiveOperator, workflow: str) -> Iterator[types.CodeLens]:
    """One lens a test function of a classic operator's test."""
    from opdev.lsp.running.texts import say
    from opdev.runs.pypto import STAGE

    desk = session.runs.desk
    busy = desk is not None and desk.briefs(operator.root)
    if busy or not session.trusted or workflow != "classic" or "pypto-test" not in file.kind.names:
        return
    lang = session.lang_of(session.rulebook.of(file.path).lang)
    for found in list(_TEST.finditer(file.data))[:_MOST_CASES]:
        name = found[1].decode()
        asked = {"root": operator.root, "phase": STAGE, "cases": [name]}
        offer = Offer(say("lens-case-sim", lang, case=name), RUN_PHASE, asked)
        yield types.CodeLens(typed_range(file.source, found.start(), found.start(), session.client.unit), offer.typed())


def _resume(root: str, lang: Lang) -> Iterator[Offer]:
    """Going on with what was left: after a run of all phases that did not get to its end."""
    if not os.path.isdir(f"{root}/.opdev/runs"):
        return
    from opdev.lsp.running.texts import say
    from opdev.runs import store
    from opdev.runs.texts import state

    every = store.runs(root)
    last = every[-1].status if every else None
    if last is not None and last.request == "all" and last.now in _AGAIN:
        yield Offer(say("lens-resume", lang, state=state(last.now, lang)), RESUME_RUN, {"root": root, "run": last.id})


def _cases(session: Session, file: File, operator: LiveOperator) -> Iterator[types.CodeLens]:
    """One lens a case, where the operator's runner can be told which case to run."""
    from opdev.facts.cases import cases_of
    from opdev.lsp.running.texts import say

    desk = session.runs.desk
    if (desk is not None and desk.briefs(operator.root)) or not any(
        b'"--only"' in f.data for f in operator.files("case-runner")
    ):
        return
    listed = cases_of(file)
    lang = session.lang_of(session.rulebook.of(file.path).lang)
    executor = executor_of(session, operator)
    for case in (listed.cases if listed is not None else ())[:_MOST_CASES]:
        asked: dict[str, Any] = {"root": operator.root, "phase": "4", "cases": [case.id]}
        if executor:
            asked["executor"] = executor
        offer = Offer(say("lens-case", lang, case=case.id), RUN_PHASE, asked)
        start = case.places.get("id", (case.start, case.start))[0]
        yield types.CodeLens(typed_range(file.source, start, start, session.client.unit), offer.typed())


def _of_operator(file: File, operator: LiveOperator) -> bool:
    """Whether a source is what phase 3 builds, and not a baseline's or a binding's."""
    relative = file.path[len(operator.root) + 1 :]
    return "/" not in relative or relative.startswith(("src/", "scripts/"))


def executor_of(session: Session, operator: LiveOperator) -> str:
    """Where lenses run: as the user or the project says; else on the stand-in where this machine has no NPU tools.

    Empty where ``opdev run`` decides by the operator's own answers.
    """
    if session.settings.executor:
        return session.settings.executor
    project = session.rulebook.configs.for_folder(operator.root).settings.run
    if project.get("executor") or project.get("container"):
        return ""
    return "" if _has_tools() or _container(operator) else "sim"


@cache
def _has_tools() -> bool:
    return bool(os.environ.get("ASCEND_HOME_PATH") or shutil.which("npu-smi") or shutil.which("bisheng"))


def _container(operator: LiveOperator) -> bool:
    """Whether the operator's intake or design names a container."""
    from opdev.phases.evidence import Evidence
    from opdev.runs.target import target

    return bool(target(Evidence(operator)).container)
