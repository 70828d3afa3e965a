"""`opdev hook`: what an agent's editor asks before and after it touches an operator, answered in the shapes it expects.

``post-edit`` and ``pre-edit`` always end with status 0 and say ``block`` in their answer; ``stop`` and ``pre-commit``
end with 2 where work must not end yet.  A hook that is told nothing it understands says so on standard error and lets
go; a hook that knows what to judge and cannot judge it blocks.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opdev.config import ConfigError
from opdev.phases.pypto_checks import PyptoEvidence
from opdev.pypto.finding import workflow_of
from opdev.pypto.statefile import NAME, path_of, spec_of
from opdev.pypto.states import last_stage
from opdev.rules.errors import PageError
from opdev.rules.model import Lang
from opdev.workflow.backup import kept
from opdev.workflow.compat import Found, Judgement, evidence_at, file_judged, stage_judged
from opdev.workflow.texts import say

MODES = ("post-edit", "pre-edit", "post-bash", "pre-commit", "stop")
ALIASES = {"pre-edit-backup": "pre-edit"}
_EVENTS = {
    "post-edit": "PostToolUse", "post-bash": "PostToolUse", "pre-edit": "PreToolUse", "pre-commit": "PreToolUse", "stop": "Stop",
}  # fmt: skip
_PATHS = ("file_path", "filePath", "path", "target_file")
_ARTIFACT = re.compile(
    r"\w+_impl(?:_[a-z0-9]+)?\.py|\w+_golden(?:_cpu|_stage\d+)?\.py|test_\w+\.py|SPEC\.md|DESIGN\.md|API_REPORT\.md|MEMORY\.md"
    r"|GOLDEN_PERF_REPORT\.md|EXPLORE_REPORT\.md|PRO_MATERIAL_INDEX\.md|module_interfaces\.yaml|KB_SELECTION\.json"
    r"|DESIGN_BINDINGS\.json|KB_USAGE\.json|PERFORMANCE_CASES\.json|\.orchestrator_state\.json"
)
_TEST = re.compile(r"python3?\s.*test_\w+\.py")
_COMMIT = re.compile(r"\bgit\b[^;&|\n]*\bcommit\b")
_NAMED = re.compile(rb'"(file_path|filePath|target_file|cwd)"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.)*")')
_UP = 8
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What a hook prints (nothing for None), its exit status, and a note for standard error."""

    body: dict[str, Any] | None = None
    status: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a hook was told."""

    mode: str
    data: Mapping[str, Any] = field(default_factory=dict)
    cwd: str = "."
    lang: Lang = "en"
    blocks: bool = True
    """Whether ``post-edit`` blocks; off by ``PYPTO_OP_LINT_POST_EDIT_BLOCK=0``, as in the existing linter."""
    keeps: bool = False
    """Whether ``pre-edit`` was asked for by its old name, which also keeps what stage 6 changes."""

    def tool(self, *keys: str) -> str:
        """A text of ``tool_input``; empty where there is none."""
        given = self.data.get("tool_input")
        for key in keys:
            value = given.get(key) if isinstance(given, dict) else None
            if isinstance(value, str) and value and "\0" not in value:
                return value
        return ""


def answered(asked: Asked) -> Answer:
    """The answer to a hook."""
    return {
        "post-edit": _post_edit, "pre-edit": _pre_edit, "post-bash": _post_bash, "pre-commit": _pre_commit, "stop": _stop,
    }[asked.mode](asked)  # fmt: skip


def failed(asked: Asked) -> Answer:
    """The answer where a fault of ours keeps a hook from judging: what cannot be judged does not pass."""
    text = say("hook-failed", asked.lang)
    found = Found("INTERNAL", "S0", "FAIL", text, "", 0, "SYSTEM", "E1", "internal-error", text)
    return Answer(_blocked(asked, [found], [found]), 2 if asked.mode in ("stop", "pre-commit") else 0)


def _body(asked: Asked, decision: str, reason: str = "", context: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {"hookEventName": _EVENTS[asked.mode], "decision": decision}
    if reason:
        out["reason"] = reason
    if context:
        out["additionalContext"] = context
    return {"hookSpecificOutput": out}


def _blocked(asked: Asked, found: list[Found], everything: list[Found]) -> dict[str, Any]:
    """A block with the rules that ask for it, and how to mend what they found."""
    lines = [say("hook-blocked", asked.lang, n=len(found))]
    lines += [_line(f) for f in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append(say("hook-more", asked.lang, n=len(found) - _SHOWN))
    lines.append("blocking_rules: " + ", ".join(dict.fromkeys(f.rule_id for f in found)))
    hints = dict.fromkeys(f"{f.rule_id}: {f.hint}" for f in found if f.hint)
    lines += ["fix_hints:", *(f"- {hint}" for hint in list(hints)[:_SHOWN])] if hints else []
    lines.append(say("hook-footer", asked.lang))
    return _body(asked, "block", "\n".join(lines), _context(everything))


def _line(found: Found) -> str:
    return f"[{found.rule_id}][{found.severity}] {found.file}:{found.line} {found.message}"


def _context(found: list[Found]) -> str:
    out = []
    for status in ("FAIL", "WARN", "INFO"):
        some = [f for f in found if f.status == status]
        if some:
            out += [f"{status}:", *(_line(f) for f in some[:_SHOWN])]
    return "\n".join(out)


def operator_of(path: str) -> str | None:
    """The folder of the PyPTO operator a file belongs to; None for a file of none."""
    at = os.path.dirname(path)
    for _ in range(4):
        if os.path.isfile(path_of(at)):
            return at
        at = os.path.dirname(at)
    at = os.path.dirname(path)
    for _ in range(3):
        if workflow_of(at) is not None:
            return at
        at = os.path.dirname(at)
    return None


def _absolute(asked: Asked, path: str) -> str:
    base = asked.data.get("cwd")
    base = base if isinstance(base, str) and base and "\0" not in base else asked.cwd
    return os.path.normpath(os.path.join(base, os.path.expanduser(path))).replace("\\", "/")


def _evidence(asked: Asked, root: str) -> tuple[PyptoEvidence | None, list[Found]]:
    """The operator, or why it cannot be judged."""
    try:
        return evidence_at(root), []
    except (ConfigError, PageError) as error:
        text = say("bad-config", asked.lang, why=error)
        return None, [
            Found(
                "CONFIG", "S0", "FAIL", text, "", 0, "SYSTEM", "E1", "unusable-config", say("hook-config", asked.lang)
            )
        ]


def _post_edit(asked: Asked) -> Answer:
    given = asked.tool(*_PATHS)
    if not given:
        return Answer(note=say("hook-no-path", asked.lang))
    path = _absolute(asked, given)
    name = path.rpartition("/")[2]
    root = operator_of(path) if _ARTIFACT.fullmatch(name) else None
    if root is None:
        return Answer()
    evidence, failed = _evidence(asked, root)
    if evidence is None:
        return Answer(_blocked(asked, failed, failed) if asked.blocks else _body(asked, "allow", "", _context(failed)))
    if name == "SPEC.md" and _reached(evidence) >= 2 and path == f"{root}/{spec_of(root)}":
        frozen = Found(
            "SPEC-FREEZE",
            "S1",
            "FAIL",
            say("hook-frozen", asked.lang),
            "SPEC.md",
            1,
            name="edited-frozen-spec",
            hint=say("hook-rollback", asked.lang),
        )
        return Answer(_blocked(asked, [frozen], [frozen]))
    file = evidence.files.get(path[len(root) + 1 :])
    if file is None:
        return Answer()
    judged = file_judged(evidence, file, asked.lang)
    told = [f for f in judged.found if f.status not in ("PASS", "SKIP")]
    if judged.blocking and asked.blocks:
        return Answer(_blocked(asked, judged.blocking, told))
    if told or evidence.kind != "classic":
        return Answer(_body(asked, "allow", "", _context(told)))
    return Answer()


def _reached(evidence: PyptoEvidence) -> int:
    """The stage the state file says; 0 without one."""
    if evidence.state is None:
        return 0
    value = evidence.state.get("current_stage")
    return int(value) if isinstance(value, (int, float)) else 0


def _pre_edit(asked: Asked) -> Answer:
    """The state file is changed by its own command alone; an implementation is kept before stage 6 changes it."""
    given = asked.tool(*_PATHS)
    name = given.replace("\\", "/").rpartition("/")[2]
    if name == NAME:
        return Answer(_body(asked, "block", say("hook-state", asked.lang)))
    if asked.keeps and name.endswith("_impl.py"):
        path = _absolute(asked, given)
        root = operator_of(path)
        return Answer(note=kept(root, path)) if root is not None else Answer()
    return Answer()


def _post_bash(asked: Asked) -> Answer:
    """What the output of a test says, in a word."""
    if not _TEST.search(asked.tool("command")):
        return Answer()
    result = asked.data.get("tool_result")
    if not isinstance(result, dict):
        result = asked.data.get("tool_response")
    result = result if isinstance(result, dict) else {}
    text = f"{result.get('stdout') or ''}\n{result.get('stderr') or ''}"
    code = result.get("exit_code")
    if "[PRECISION_FAIL]" in text:
        verdict = "precision_fail"
    elif "[PRECISION_PASS]" in text:
        verdict = "precision_pass"
    elif code not in (0, None):
        verdict = "runtime_error"
    else:
        verdict = "no_marker"
    out = {
        "hookEventName": _EVENTS[asked.mode],
        "additionalContext": f"verdict: {verdict}\n{say('verdict-' + verdict, asked.lang)}",
    }
    return Answer({"hookSpecificOutput": out})


def nearest(folder: str) -> str | None:
    """The operator a folder is or lies in, eight levels up at most."""
    at = folder
    for _ in range(_UP + 1):
        if os.path.isfile(path_of(at)) or workflow_of(at) is not None:
            return at
        above = os.path.dirname(at)
        if above == at:
            return None
        at = above
    return None


def _stop(asked: Asked) -> Answer:
    root = nearest(_absolute(asked, "."))
    if root is None:
        return Answer()
    evidence, failed = _evidence(asked, root)
    if evidence is None:
        return Answer(_blocked(asked, failed, failed), 2)
    if evidence.state_fault is not None:
        text = evidence.state_fault.text[asked.lang]
        broken = [
            Found(
                "OL24",
                "S1",
                "FAIL",
                text,
                NAME,
                1,
                "D2",
                "E1",
                "invalid-pypto-state",
                say("hook-mend-state", asked.lang),
            )
        ]
        return Answer(_blocked(asked, broken, broken), 2)
    stage = _stage(evidence)
    if stage == 0:
        return Answer()
    judged = stage_judged(evidence, stage, asked.lang)
    return Answer(_blocked(asked, judged.blocking, _told(judged)), 2) if judged.blocking else Answer()


def _told(judged: Judgement) -> list[Found]:
    return [f for f in judged.found if f.status not in ("PASS", "SKIP")]


def _stage(evidence: PyptoEvidence) -> int:
    """The stage an operator is in: its state's, else by what is there; 0 where nothing is to be judged yet."""
    reached = _reached(evidence)
    if reached and evidence.state is not None:
        return min(
            reached, last_stage(evidence.state), 7 if evidence.kind == "classic" else 5 if evidence.kind == "pro" else 4
        )
    there = evidence.there
    if evidence.kind != "classic":
        steps = (("test_<op>.py", 4), ("DESIGN.md", 3), ("<op>_golden.py", 2), ("SPEC.md", 1))
        return next((stage for name, stage in steps if there(name) is not None), 0)
    if sum(there(n) is not None for n in ("<op>_impl.py", "test_<op>.py", "README.md")) >= 2:
        return 5
    steps = (("DESIGN.md", 4), ("<op>_golden.py", 4), ("API_REPORT.md", 3), ("SPEC.md", 2))
    return next((stage for name, stage in steps if there(name) is not None), 0)


def _pre_commit(asked: Asked) -> Answer:
    """Errors in the PyPTO files of a commit stop it; asked by git's hook (no command) or before an agent's ``git commit``."""
    command = asked.tool("command")
    if command and not _COMMIT.search(command):
        return Answer()
    files, note = _staged(_absolute(asked, "."))
    failed: list[Found] = []
    told: list[Found] = []
    known: dict[str, PyptoEvidence | None] = {}
    for path in files:
        if not _ARTIFACT.fullmatch(path.rpartition("/")[2]) or not os.path.isfile(path):
            continue
        root = operator_of(path)
        if root is None:
            continue
        if root not in known:
            known[root], broken = _evidence(asked, root)
            failed += broken
            told += broken
        evidence = known[root]
        file = evidence.files.get(path[len(root) + 1 :]) if evidence is not None else None
        if evidence is not None and file is not None:
            judged = file_judged(evidence, file, asked.lang)
            failed += judged.blocking
            told += _told(judged)
    if failed:
        return Answer(_blocked(asked, failed, told), 2)
    return Answer(_body(asked, "allow", "", _context(told)) if told else None, 0, note)


def _staged(folder: str) -> tuple[list[str], str]:
    """Absolute paths of what is to be committed; a note where git cannot say."""
    import subprocess

    try:
        top = subprocess.run(
            ["git", "rev-parse", "--show-toplevel"], cwd=folder, capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()
        names = subprocess.run(
            ["git", "diff", "--cached", "--name-only", "-z", "--diff-filter=ACMR"],
            cwd=folder, capture_output=True, timeout=10, check=True,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        return [], f"git: {error}"
    return [f"{top}/{os.fsdecode(name)}" for name in names.split(b"\0") if name], ""


def parsed(raw: bytes) -> tuple[Mapping[str, Any], str]:
    """What a hook is told, and what is wrong with it; anything but an object counts as nothing."""
    if not raw.strip():
        return {}, ""
    try:
        # Paths need not be UTF-8: their bytes come back as they were.
        encoding = json.detect_encoding(raw)
        lenient = "surrogateescape" if encoding.startswith("utf-8") else "replace"
        found = json.loads(raw.decode(encoding, lenient))
    except (ValueError, RecursionError) as error:
        return _salvaged(raw), str(error)
    return (found, "") if isinstance(found, dict) else ({}, f"{type(found).__name__}")


def _salvaged(raw: bytes) -> Mapping[str, Any]:
    """The path and the folder that a text which is no JSON names: what was edited is judged by what is on disk."""
    found: dict[str, Any] = {}
    for match in _NAMED.finditer(raw):
        try:
            value = json.loads(match[2].decode("utf-8", "surrogateescape"))
        except ValueError:
            continue
        key = match[1].decode()
        place = found if key == "cwd" else found.setdefault("tool_input", {})
        place.setdefault(key, value)
    return found


__all__ = ["ALIASES", "MODES", "Answer", "Asked", "answered", "failed", "parsed"]
