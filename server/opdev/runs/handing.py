"""What whoever does a phase's work is given: one file for programs (JSON), the same for people (Markdown).

Both lie in the run's folder.  They say what is to be done and where, what failed last and why, what is there to read,
and by which command the result is judged; nothing has to be looked up for it elsewhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opdev.atomic import write_bytes
from opdev.phases.graph import BY_ID
from opdev.phases.intake import answers
from opdev.phases.model import Gate, said
from opdev.rules.model import Lang, Text
from opdev.runs import store
from opdev.runs.commands import Commands, fill
from opdev.runs.events import Event
from opdev.runs.target import Target, look
from opdev.runs.texts import cls, say

VERSION = 1
_RUNS = 3
_FAILURES = 5
_MOST = 2_000_000


@dataclass(frozen=True, slots=True)
class Given:
    """The paths of the two files."""

    context: str
    brief: str


def give(
    folder: str, spec: Commands, gate: Gate | None, target: Target, values: Mapping[str, str], lang: Lang, again: str,
    prepared: Sequence[str] = (),
) -> Given:  # fmt: skip
    """Write both files; OSError where they cannot be.  ``again`` is the command that goes on afterwards."""
    given = Given(f"{folder}/context-{spec.phase}.json", f"{folder}/context-{spec.phase}.md")
    value = _context(spec, gate, target, values, again, prepared)
    write_bytes(given.context, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8"))
    write_bytes(given.brief, _markdown(value, lang).encode("utf-8"))
    return given


def asked(spec: Commands, values: Mapping[str, str]) -> Text:
    """What a phase asks of a person."""
    return {lang: fill(text, values) for lang, text in spec.ask.items()}


def _context(
    spec: Commands, gate: Gate | None, target: Target, values: Mapping[str, str], again: str, prepared: Sequence[str]
) -> dict[str, Any]:
    root = target.root
    phase = BY_ID[spec.phase]
    return {
        "v": VERSION, "phase": spec.phase, "title": dict(phase.title), "operator": target.name, "root": root,
        "repo": target.repo, "build_mode": target.mode, "skills": phase.worker, "ask": dict(asked(spec, values)),
        "files": [p for name in spec.context if os.path.exists(p := os.path.normpath(f"{root}/{name}"))],
        "artefacts": [name.replace("<op>", target.name) for name in phase.artefacts],
        "prepared": list(prepared),
        "gate": [
            {
                "id": c.id, "title": dict(c.title), "state": c.state, "detail": dict(c.detail), "opens": dict(c.opens),
                "path": c.place.path if c.place else None, "line": c.place.line if c.place else None,
                "column": c.place.column if c.place else None,
            }
            for c in (gate.closed_by if gate else [])
        ],
        "failures": list(_failures(root)),
        "facts": _facts(target),
        "judged_by": f"opdev gate {spec.phase}",
        "again": again,
    }  # fmt: skip


def _facts(target: Target) -> dict[str, Any]:
    """What the intake and the design settled, by their own names."""
    evidence = look(target.root)
    found: dict[str, Any] = {
        "dtypes": list(target.dtypes),
        "intake": {k: _plain(v) for k, v in answers(evidence).items()},
    }
    if evidence.design is not None:
        keys = (
            "meta.op_kind",
            "meta.scope",
            "performance.baseline",
            "performance.baseline_target",
            "correctness.oracle",
        )
        found["design"] = {key: evidence.design.text(key).strip() for key in keys}
        found["design"]["meta.target_soc"] = [node.text for node in evidence.design.items("meta.target_soc")]
    return found


def _plain(value: object) -> object:
    return list(value) if isinstance(value, (list, tuple)) else value


def _failures(root: str) -> Iterator[dict[str, Any]]:
    """What failed in the last runs, the newest first: step, first error, log, diagnosis."""
    left = _FAILURES
    for run in reversed(store.runs(root)[-_RUNS:]):
        found = list(_events(run.events))
        told = {e["task"]: e for e in found if e["type"] == "diagnosis" and e.get("rank") == 0}
        for event in reversed(found):
            if event["type"] != "step-ended" or event.get("result") not in ("fail", "blocked") or not left:
                continue
            left -= 1
            why = told.get(event["task"], {})
            yield {
                "run": run.id, "phase": event.get("phase"), "step": event["task"], "result": event["result"],
                "message": event.get("message", ""), "log": f"{run.folder}/{event.get('log', '')}", "class": why.get("class"),
                "signature": why.get("signature"), "cause": why.get("cause"), "next": why.get("next"),
                "evidence": why.get("evidence"), "route": why.get("route"),
            }  # fmt: skip


def _events(path: str) -> Iterator[Event]:
    """The few events that matter of a file's last part; lines that cannot be read are passed over."""
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _MOST))
            lines = stream.read().split(b"\n")
    except OSError:
        return
    for line in lines:
        if b'"diagnosis"' in line or b'"step-ended"' in line:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and event.get("type") in ("diagnosis", "step-ended") and "task" in event:
                yield event


def _markdown(value: Mapping[str, Any], lang: Lang) -> str:
    def t(text: Any) -> str:
        return said(text, lang) if isinstance(text, dict) else ""

    def head(key: str) -> list[str]:
        return ["", f"## {say(f'brief-{key}', lang)}", ""]

    out = [f"# {say('brief-title', lang, operator=value['operator'], phase=value['phase'], title=t(value['title']))}"]
    out += [*head("task"), t(value["ask"])]
    if value["gate"]:
        out += head("gate")
        for check in value["gate"]:
            place = f"{check['path']}:{check['line']}: " if check["path"] else ""
            opens = t(check["opens"])
            out.append(f"- [ ] `{check['id']}` {place}{t(check['detail'])}" + (f" → {opens}" if opens else ""))
    if value["prepared"]:
        out += [*head("prepared"), *(f"- {path}" for path in value["prepared"])]
    if value["failures"]:
        out += head("failures")
        for one in value["failures"]:
            out.append(f"- Phase {one['phase']} {one['step']}: {one['message']}")
            if one["cause"]:
                out.append(
                    f"  - {say('class', lang)}: {cls(one['class'], lang)}; {say('cause', lang)}: {t(one['cause'])}"
                )
                out.append(f"  - {say('next', lang)}: {t(one['next'])}")
            out.append(f"  - {say('logs', lang)}: {one['log']}")
    out += [*head("files"), *(f"- {path}" for path in value["files"])]
    out += [*head("artefacts"), *(f"- {value['root']}/{path}" for path in value["artefacts"])]
    out += [*head("facts"), "```json", json.dumps(value["facts"], ensure_ascii=False, indent=1), "```"]
    out += [*head("judged"), f"- `{value['judged_by']} --op {value['root']}`", f"- `{value['again']}`"]
    return "\n".join(out) + "\n"
