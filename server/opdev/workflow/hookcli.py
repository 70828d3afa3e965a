"""``opdev hook MODE`` and the options of the existing linter on ``opdev-lint``: ``--hook``, ``--op-dir``, ``--stage``…

Exit status: of hooks 0, or 2 where ``stop`` and ``pre-commit`` block; of gates 0, or 2 for failures and wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
from collections.abc import Sequence

from opdev.commandline import INTERNAL, begin, guarded
from opdev.config import ConfigError
from opdev.phases.pypto_checks import PyptoEvidence
from opdev.phases.pypto_graph import STAGES
from opdev.pypto.states import RefusedError, modules, phase_number
from opdev.rules.errors import PageError
from opdev.rules.model import Lang
from opdev.workflow.compat import Found, Judgement, evidence_at, of_phase, rows_judged, stage_judged
from opdev.workflow.hooks import ALIASES, MODES, Answer, Asked, answered, failed, parsed
from opdev.workflow.rows import GROUPS, ROWS
from opdev.workflow.texts import say

BLOCKED = 2
_MOST_INPUT = 32_000_000
_FIRST, _REST = 3.0, 3.0
"""Seconds that the first bytes of the input, and each that follow, may take."""
_VARIABLES = ("PYPTO_OP_LINT_HOOK_INPUT", "PYPTO_PRO_OP_LINT_HOOK_INPUT")
_NO_BLOCK = ("PYPTO_OP_LINT_POST_EDIT_BLOCK", "PYPTO_PRO_OP_LINT_POST_EDIT_BLOCK")
WORDS = ("--op-dir", "--hook", "--check-gate", "--check-phase-gate", "--check-design-gate", "--check-module-gate")
"""Options of the existing linter: ``opdev-lint`` with one of them is meant for it."""


def is_ours(argv: Sequence[str]) -> bool:
    """Whether a command line of ``opdev-lint`` has options of the existing linter."""
    return any(word == option or word.startswith(f"{option}=") for word in argv for option in WORDS)


def hook(argv: Sequence[str]) -> int:
    """Run ``opdev hook``."""
    lang = begin(argv)
    p = argparse.ArgumentParser(prog="opdev hook", description=say("hook-help", lang))
    p.add_argument("mode", choices=(*MODES, *ALIASES), metavar="MODE", help=", ".join(MODES))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang", lang))
    args = p.parse_args(list(argv))
    return _guarded("opdev hook", lang, args.mode)


def _guarded(prog: str, lang: Lang, mode: str) -> int:
    keeps, mode = mode in ALIASES, ALIASES.get(mode, mode)
    status = guarded(prog, lang, lambda: _hooked(prog, lang, mode, keeps=keeps), {})
    # Whoever may not go on does not get away by a fault of ours.
    return _answer(failed(Asked(mode, lang=lang)), prog) if status == INTERNAL and mode != "post-bash" else status


def _hooked(prog: str, lang: Lang, mode: str, *, keeps: bool) -> int:
    raw, wrong = _input()
    data, fault = parsed(raw)
    if fault or wrong:
        sys.stderr.write(f"{prog} {mode}: {say('hook-input', lang, why=wrong or fault)}\n")
    blocks = all(os.environ.get(name, "1") != "0" for name in _NO_BLOCK)
    return _answer(answered(Asked(mode, data, os.getcwd().replace("\\", "/"), lang, blocks, keeps)), f"{prog} {mode}")


def _answer(answer: Answer, prog: str) -> int:
    if answer.note:
        sys.stderr.write(f"{prog}: {answer.note}\n")
    if answer.body is not None:
        sys.stdout.write(json.dumps(answer.body, ensure_ascii=False) + "\n")
    if answer.status and answer.body is not None:
        # Agents read the reason of a status 2 from standard error.
        sys.stderr.write(answer.body["hookSpecificOutput"].get("reason", "") + "\n")
    return answer.status


def _input() -> tuple[bytes, str]:
    """Standard input, the environment where nobody gives one; what is wrong with it."""
    spare = next((os.environ[n].encode("utf-8", "surrogateescape") for n in _VARIABLES if os.environ.get(n)), b"")
    if sys.stdin is None or sys.stdin.isatty():
        return spare, ""
    raw, wrong = _read(sys.stdin.fileno(), 0.2 if spare else _FIRST)
    return (raw, wrong) if raw.strip() or wrong else (spare, "")


def _read(handle: int, patience: float) -> tuple[bytes, str]:
    """All of a stream; nothing where nobody begins to write, because some editors leave a hook's input open."""
    parts: list[bytes] = []
    size = 0
    while True:
        if os.name == "posix" and not select.select([handle], [], [], patience)[0]:
            # What came so far is all there is: the writer keeps its end open.
            return b"".join(parts), ""
        part = os.read(handle, 1 << 20)
        if not part:
            return b"".join(parts), ""
        parts.append(part)
        size += len(part)
        patience = _REST
        if size > _MOST_INPUT:
            return b"".join(parts), f"> {_MOST_INPUT} bytes"


def _parser(lang: Lang) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="opdev-lint", description=say("compat-help", lang))
    what = p.add_mutually_exclusive_group()
    what.add_argument("--hook", choices=(*MODES, *ALIASES), metavar="MODE", help=", ".join(MODES))
    for option in (
        "check-gate",
        "check-phase-gate",
        "check-module-gate",
        "check-design-gate",
        *(f"lint-{g}" for g in GROUPS if g != "design"),
    ):
        what.add_argument(
            f"--{option}", action="store_true", help=say(option if option.startswith("check") else "lint-group", lang)
        )
    p.add_argument("--op-dir", metavar="DIR", help=say("op", lang))
    p.add_argument("--stage", type=int, default=None, help=say("compat-stage", lang))
    p.add_argument("--phase", metavar="M_k", help=say("compat-phase", lang))
    p.add_argument("--module", type=int, metavar="K", help=say("compat-module", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang", lang))
    return p


def gate(argv: Sequence[str]) -> int:
    """Run ``opdev-lint`` with the existing linter's options."""
    lang = begin(argv)
    parser = _parser(lang)
    args = parser.parse_args(list(argv))
    if args.hook:
        return _guarded("opdev-lint", lang, args.hook)
    if not args.op_dir:
        parser.error(say("need-op-dir", lang))
    root = os.path.abspath(os.path.expanduser(args.op_dir)).replace("\\", "/")
    if not os.path.isdir(root):
        parser.error(say("no-folder", lang, path=args.op_dir))

    def bad(error: Exception) -> tuple[str, int]:
        return say("bad-config", lang, why=error), BLOCKED

    def work() -> int:
        judged = _judged(parser, args, root, lang)
        sys.stdout.write(json.dumps(judged.json(), ensure_ascii=False, indent=2) + "\n")
        return BLOCKED if judged.blocking else 0

    status = guarded("opdev-lint", lang, work, {ConfigError: bad, PageError: bad})
    return BLOCKED if status == INTERNAL else status


def _judged(parser: argparse.ArgumentParser, args: argparse.Namespace, root: str, lang: Lang) -> Judgement:
    evidence = evidence_at(root)
    last = len(STAGES[evidence.kind])
    stage = args.stage if args.stage is not None else 5 if evidence.kind == "classic" else 4
    if not 1 <= stage <= last:
        # Unknown stages once passed everything.
        parser.error(say("compat-no-stage", lang, stage=stage, last=last))
    group = next((g for g in GROUPS if getattr(args, f"lint_{g}", False)), None)
    if group is not None:
        return rows_judged(evidence, GROUPS[group], lang)
    if args.check_design_gate:
        return rows_judged(
            evidence,
            GROUPS["design"],
            lang,
            4 if stage == 5 else stage,
            only=lambda f: "pypto-design" in f.kind.names or f.language == "python",
        )
    if args.check_phase_gate or args.check_module_gate:
        number = phase_number(args.phase or "") if args.check_phase_gate else args.module
        if number is None or number < 1:
            parser.error(say("compat-need-phase" if args.check_phase_gate else "compat-need-module", lang))
        if args.check_module_gate:
            _module_there(parser, evidence, number, args.stage, lang)
        rows = {row.id for row in ROWS.values() if row.target == "impl" and stage in row.stages} | {"OL53", "OL54"}
        mine = of_phase(evidence, number)
        judged = rows_judged(evidence, rows, lang, stage, only=mine)
        if not any(f.language == "python" and mine(f) for f in evidence.files.values()):
            text = say("compat-no-files", lang, n=number)
            judged.found.insert(
                0, Found("OL44", "S1", "FAIL", text, "modules/", 0, "D2", "E2", "missing-phase-files", text)
            )
        return judged
    return stage_judged(evidence, stage, lang)


def _module_there(
    parser: argparse.ArgumentParser, evidence: PyptoEvidence, number: int, stage: int | None, lang: Lang
) -> None:
    """Modules are of stage 4, and as many as the state file has planned."""
    if stage not in (None, 4):
        parser.error(say("compat-module-stage", lang))
    try:
        count = len(modules(evidence.state)) if evidence.state is not None else None
    except RefusedError as error:
        parser.error(error.text[lang])
    if count is None:
        parser.error(say("compat-no-state", lang))
    if number > count:
        parser.error(say("compat-no-module", lang, n=number, count=count))
