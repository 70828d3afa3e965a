"""``opdev state``: look at an operator's state file, and move it on by the workflow's rules only.

Exit status: 0 done, 1 refused (nothing written), 2 usage, 3 a fault of opdev itself.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from opdev.commandline import INTERNAL, begin, guarded
from opdev.config import ConfigError
from opdev.pypto.moves import NAMES, Move, actions, allowed, applied
from opdev.pypto.offered import offered
from opdev.pypto.statefile import NAME, digest, locked, path_of, read, spec_changed, spec_of, write
from opdev.pypto.states import (
    RefusedError,
    State,
    current,
    last_stage,
    mapping,
    modules,
    phase_number,
    phases,
    stages,
    workflow,
)
from opdev.rules.errors import PageError
from opdev.rules.model import Lang
from opdev.workflow.texts import say

OK, REFUSED, USAGE = 0, 1, 2
_ALIASES = {
    "rollback-to-stage": "rollback", "record-artifact-hash": "record-hash", "plan-stage4": "plan-modules",
}  # fmt: skip
"""What the existing state tool calls the same moves."""
_ACTIONS = tuple(dict.fromkeys(("init", *actions("classic"), *actions("pro"))))
_GATED = frozenset(
    {"complete-stage", "submit-design", "submit-phase", "complete-phase", "submit-module", "complete-module"}
)


class _UsageError(ValueError):
    pass


def main(argv: Sequence[str]) -> int:
    """Run ``opdev state``; the result is the exit status."""
    arguments = [_action(a) if i == 0 else a for i, a in enumerate(argv)]
    lang = begin(arguments)
    args = _parser(lang).parse_args(arguments)

    def bad(error: Exception) -> tuple[str, int]:
        return say("bad-config", lang, why=error), USAGE

    def work() -> int:
        try:
            root = _root(args.op, lang)
            return _show(root, args, lang) if args.action == "show" else _move(root, args, lang)
        except RefusedError as error:
            _refused(error, args, lang, [])
            return REFUSED

    return guarded(
        "opdev state", lang, work,
        {_UsageError: lambda error: (str(error), USAGE), ConfigError: bad, PageError: bad, OSError: lambda error: (str(error), INTERNAL)},
    )  # fmt: skip


def _action(text: str) -> str:
    """``complete_stage`` is ``complete-stage``, by whatever name the other tool has for it."""
    if text.startswith("-"):
        return text
    text = text.replace("_", "-")
    return _ALIASES.get(text, text)


def _parser(lang: Lang) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="opdev state", description=say("state-help", lang), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument(
        "action",
        choices=("show", *_ACTIONS, "submit-for-verify"),
        metavar="ACTION",
        help=say("action", lang, names=", ".join(("show", *_ACTIONS))),
    )
    p.add_argument("what", nargs="?", metavar="N|M1|NAME", help=say("what", lang))
    p.add_argument("hash", nargs="?", metavar="HASH", help=say("hash", lang))
    p.add_argument("--op", metavar="DIR", default=".", help=say("op", lang))
    p.add_argument("--workflow", choices=tuple(NAMES), help=say("workflow", lang))
    p.add_argument("--again", action="store_true", help=say("again", lang))
    p.add_argument("--reason", default="", help=say("reason", lang))
    p.add_argument("--category", help=say("category", lang))
    p.add_argument("--boundary", help=say("boundary", lang))
    p.add_argument("--error", help=say("error", lang))
    p.add_argument("--phase", help=say("phase-of", lang))
    path = p.add_mutually_exclusive_group()
    path.add_argument("--fusion", type=int, metavar="N", help=say("fusion", lang))
    path.add_argument("--single", action="store_true", help=say("single", lang))
    p.add_argument("--file", metavar="PATH", help=say("file", lang))
    p.add_argument("--dry-run", action="store_true", help=say("dry-run", lang))
    p.add_argument("--format", choices=("text", "json"), default="text", help=say("format", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang", lang))
    return p


def _root(folder: str, lang: Lang) -> str:
    """The operator's folder: the nearest with a state file, else the folder itself."""
    here = os.path.abspath(os.path.expanduser(folder)).replace("\\", "/")
    if not os.path.isdir(here):
        raise _UsageError(say("no-folder", lang, path=folder))
    at = here
    for _ in range(4):
        if os.path.isfile(path_of(at)):
            return at
        at = os.path.dirname(at)
    return os.path.dirname(here) if here.endswith("/modules") else here


def _asked(args: argparse.Namespace, root: str, lang: Lang) -> Move:
    action, what = args.action, args.what
    if action == "submit-for-verify":
        action = "submit-phase" if what and phase_number(what) else "submit-module"
    number = int(what) if what and what.isascii() and what.isdigit() and len(what) < 6 else None
    given: dict[str, Any] = {
        "reason": args.reason,
        "category": args.category,
        "boundary": args.boundary,
        "error": args.error,
    }
    if action.endswith("-stage") or action in ("rollback", "init"):
        if what is not None and number is None:
            raise _UsageError(say("want-number", lang, what=what))
        if action == "rollback" and number is None:
            raise _UsageError(say("want-target", lang))
        given |= {"stage": number, "phase": args.phase}
    elif action.endswith("-phase"):
        given["phase"] = what
    elif action.endswith("-module"):
        if number is None:
            raise _UsageError(say("want-number", lang, what=what or "—"))
        given["module"] = number
    elif action == "record-hash":
        if args.file is not None:
            if args.hash:
                raise _UsageError(say("hash-or-file", lang))
            try:
                given["hash"] = digest(args.file)
            except OSError as error:
                raise _UsageError(f"{args.file}: {error.strerror}") from None
        else:
            given["hash"] = args.hash or ""
        given["name"] = what or ""
    elif action == "plan-modules":
        fusion = True if args.fusion is not None else False if args.single else None
        given |= {"fusion": fusion, "modules": args.fusion}
    if action == "init":
        from opdev.pypto.finding import by_files, name_of

        given |= {"workflow": args.workflow, "again": args.again, "operator": name_of(root)}
        if args.workflow is None and read(root) is None:
            given["workflow"] = by_files(root)
    return Move(action, **given)


def _move(root: str, args: argparse.Namespace, lang: Lang) -> int:
    move = _asked(args, root, lang)
    with locked(root):
        state = read(root)
        made = applied(state, move)
        warned: list[dict[str, Any]] = []
        if state is not None:
            stage = current(state) if move.stage is None else move.stage
            _frozen(root, state, made, move, stage)
            if move.action in _GATED:
                from opdev.workflow.blocking import blocking

                failed, warned = blocking(root, move, stage)
                if failed:
                    zh = "；".join(one["detail"]["zh"] for one in failed[:5])
                    en = "; ".join(one["detail"]["en"] for one in failed[:5])
                    more = len(failed) - 5
                    error = RefusedError(
                        "gate-closed",
                        f"门禁没过，{len(failed)} 项：{zh}" + (f"；另有 {more} 项" if more > 0 else ""),
                        f"the gate is closed by {len(failed)}: {en}" + (f"; and {more} more" if more > 0 else ""),
                    )
                    _refused(error, args, lang, failed)
                    return REFUSED
        if not args.dry_run:
            write(root, made)
    if args.format == "json":
        _print(_answer(root, made, move, warned, written=not args.dry_run))
    else:
        head = say("would" if args.dry_run else "done", lang, action=move.action)
        sys.stdout.write(f"{head}\n{_text(root, made, lang)}")
        for one in warned:
            sys.stdout.write(f"  ? {one['id']}{'：' if lang == 'zh' else ': '}{one['detail'][lang]}\n")
    return OK


def _frozen(root: str, state: State, made: State, move: Move, stage: int) -> None:
    """SPEC.md is frozen when stage 1 is completed; from then on it may not change."""
    if move.action != "complete-stage":
        return
    spec = spec_of(root)
    if stage == 1:
        if spec is None:
            raise RefusedError(
                "no-spec",
                "没有 SPEC.md：第 1 阶段的产物不全",
                "there is no SPEC.md: stage 1 made nothing to go on from",
            )
        made["artifact_hashes"] = {**mapping(made, "artifact_hashes"), "spec_md": digest(f"{root}/{spec}")}
    elif (stage >= 3 or workflow(state) != "classic") and spec_changed(root, state):
        raise RefusedError(
            "spec-changed",
            "SPEC.md 在第 1 阶段完成后被改了（或不见了）：改回去，或用 rollback 1 重新做需求",
            "SPEC.md was changed (or removed) after stage 1 was completed: put it back, or `rollback 1` to do it anew",
        )


def _answer(root: str, state: State, move: Move, warned: list[dict[str, Any]], *, written: bool) -> dict[str, Any]:
    """With the keys that callers of the existing state tool read."""
    block = state.get("stage5_phases")
    return {
        "ok": True,
        "action": move.action,
        "stage": move.stage,
        "phase": move.phase,
        "module": move.module,
        "target_stage": move.stage if move.action == "rollback" else None,
        "written": written,
        "stage5_active_phase": block.get("active_phase") if isinstance(block, dict) else None,
        "warnCount": len(warned),
        "infoCount": 0,
        "warned": warned,
        **_described(root, state),
    }


def _described(root: str, state: State) -> dict[str, Any]:
    kind = workflow(state)
    return {
        "statePath": path_of(root),
        "operator": state.get("operator_name") or os.path.basename(root),
        "workflow": kind,
        "current_stage": current(state),
        "max_stage": last_stage(state),
        "stages": [{"stage": s.number, "status": s.status, "retries": s.retries} for s in stages(state)],
        "phases": {name: entry.get("status", "pending") for name, entry in phases(state).items()},
        "stage4_path": state.get("stage4_path"),
        "modules": modules(state),
        "spec_changed": spec_changed(root, state),
        "allowed": allowed(state),
        "moves": _offered(state),
    }


def _offered(state: State | None, root: str = "") -> list[dict[str, Any]]:
    """The moves there are now, for whoever lets a person choose: ``words`` of this command, what it does, what it asks."""
    from opdev.pypto.finding import by_files

    found = offered(state, by_files(root) if state is None else None)
    return [{"words": list(one.words), "text": dict(one.text), "asks": one.asks or None} for one in found]


def _show(root: str, args: argparse.Namespace, lang: Lang) -> int:
    state = read(root)
    if state is None:
        error = RefusedError(
            "no-state",
            f"{root} 里没有 {NAME}：先 opdev state init",
            f"there is no {NAME} in {root}: `opdev state init` makes one",
        )
        if args.format != "json":
            raise error
        _print(
            {
                "ok": False,
                "action": "show",
                "code": error.code,
                "why": error.text,
                "blocked_by": [],
                "moves": _offered(None, root),
            }
        )
        return REFUSED
    if args.format == "json":
        _print({"ok": True, **_described(root, state), "state": state})
    else:
        sys.stdout.write(_text(root, state, lang))
    return OK


def _text(root: str, state: State, lang: Lang) -> str:
    shown = _described(root, state)
    out = [f"{shown['operator']}  {NAMES[workflow(state)][lang]}"]
    for one in shown["stages"]:
        mark = ">" if one["stage"] == shown["current_stage"] else " "
        line = f"{mark} {one['stage']}  {one['status']}"
        out.append(line + (f"  {say('retries', lang, n=one['retries'])}" if one["retries"] else ""))
    for title, parts in (("phases", shown["phases"]), ("modules", shown["modules"])):
        if parts:
            out.append(
                f"{say(title, lang)}  " + ("，" if lang == "zh" else ", ").join(f"{k} {v}" for k, v in parts.items())
            )
    if shown["spec_changed"]:
        out.append(say("spec-changed", lang))
    if shown["allowed"]:
        out.append(f"{say('allowed', lang)}  {', '.join(shown['allowed'])}")
    return "\n".join(out) + "\n"


def _refused(error: RefusedError, args: argparse.Namespace, lang: Lang, failed: list[dict[str, Any]]) -> None:
    if args.format == "json":
        _print({"ok": False, "action": args.action, "code": error.code, "why": error.text, "blocked_by": failed})
        return
    sys.stderr.write(f"opdev state: {error.text[lang]}\n")


def _print(found: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=2) + "\n")
