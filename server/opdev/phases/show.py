"""Gates and statuses as text for a terminal and as JSON (``schema``)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from opdev.columns import pad, width
from opdev.phases.graph import BY_ID
from opdev.phases.model import Check, Gate, Phase, Spot, listed, said
from opdev.phases.situation import Status
from opdev.phases.texts import GATE, STATE, say, word
from opdev.rules.model import Lang, Text

_COLOURS = {
    "failed": "31",
    "unknown": "33",
    "ok": "32",
    "closed": "31",
    "open": "32",
    "skipped": "90",
    "simulated": "36",
}


class Show:
    """How things are shown: language, colour, and paths relative to ``cwd``."""

    def __init__(self, lang: Lang, cwd: str, *, colour: bool = False) -> None:
        self.lang = lang
        self.cwd = cwd
        self.colour = colour

    def path(self, path: str) -> str:
        """Relative to the working directory, forward slashes; as it is on another drive."""
        if path.startswith(self.cwd.rstrip("/") + "/"):
            return path[len(self.cwd.rstrip("/")) + 1 :]
        try:
            return os.path.relpath(path, self.cwd).replace("\\", "/")
        except ValueError:
            return path

    def spot(self, spot: Spot) -> str:
        return f"{self.path(spot.path)}:{spot.line}:{spot.column}"

    def paint(self, text: str, kind: str) -> str:
        code = _COLOURS.get(kind, "1")
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    def phase(self, phase: Phase) -> str:
        """``Phase 5.5 Torch 绑定``."""
        title = said(phase.title, self.lang)
        if phase.id == "regression":
            return title
        if phase.word == "Stage":
            return f"第 {phase.id} 阶段 {title}" if self.lang == "zh" else f"Stage {phase.id}, {title}"
        return f"Phase {phase.id} {title}" if self.lang == "zh" else f"Phase {phase.id}, {title}"

    def gate(self, gate: Gate, operator: str, root: str) -> str:
        """A gate: a line on its state, each check that keeps it closed, the names of the others."""
        out = [f"{self.paint(operator, 'name')}  {self.path(root)}"]
        colon = "：" if self.lang == "zh" else ": "
        state = "simulated" if gate.simulated else gate.state
        out.append(f"{self.phase(gate.phase)}{colon}{self.paint(self._head(gate), state)}")
        for check in gate.closed_by:
            out += ["", *self._check(check)]
        good = [c.id for c in gate.checks if c.state == "ok"]
        exempt = [c.id for c in gate.checks if c.state == "not-applicable"]
        if good or exempt:
            out.append("")
        if good:
            out.append(say("holding", self.lang, names=", ".join(good)))
        if simulated := [c.id for c in gate.checks if c.simulated]:
            out.append(say("simulated", self.lang, names=", ".join(simulated)))
        if exempt:
            out.append(say("exempt", self.lang, names=", ".join(exempt)))
        return "\n".join(out) + "\n"

    def _head(self, gate: Gate) -> str:
        if gate.state == "skipped":
            return say("head-skipped", self.lang, why=said(gate.why, self.lang))
        if gate.simulated:
            return say("head-simulated", self.lang, ok=len(gate.checks), count=sum(c.simulated for c in gate.checks))
        if gate.state == "open":
            return say("head-open", self.lang, ok=len(gate.checks))
        failed = sum(c.state == "failed" for c in gate.checks)
        unknown = sum(c.state == "unknown" for c in gate.checks)
        return say("head-closed", self.lang, failed=failed, unknown=unknown)

    def _check(self, check: Check) -> list[str]:
        head = f"{self.paint(word(STATE[check.state], self.lang), check.state)} {self.paint(check.id, 'name')}"
        if check.place is not None:
            head += f"  {self.spot(check.place)}"
        colon = "：" if self.lang == "zh" else ": "
        title, detail = said(check.title, self.lang), said(check.detail, self.lang)
        lines = [head, f"  {title}{colon}{detail}" if title != detail else f"  {detail}"]
        opens = said(check.opens, self.lang)
        return [*lines, f"  = {opens}"] if opens else lines

    def status(self, status: Status) -> str:
        """One operator: where it stands, then its phases, one a line."""
        at = status.at
        now = say("complete", self.lang) if at.complete else self.phase(at.phase)
        if at.row is not None:
            row = say("row", self.lang, row=at.row)
            now += f"（{row}）" if self.lang == "zh" else f" ({row})"
        rows = [("now", self.paint(now, "name")), ("why", said(at.why, self.lang))]
        if at.place is not None and not at.complete:
            rows.append(("where", self.spot(at.place)))
        rows.append(("next", said(at.next, self.lang)))
        if at.back is not None and at.back != at.phase.id:
            rows.append(("back", self.phase(BY_ID[at.back])))
        if at.worker != "—":
            rows.append(("who", at.worker))
        if status.round is not None:
            rows.append(("round", said(status.round, self.lang)))
        if status.behind:
            names = listed((f"opdev gate {g.phase.id}" for g in status.behind), self.lang)
            rows.append(("behind", say("behind-text", self.lang, names=names)))
        labels = [(say(key, self.lang), text) for key, text in rows]
        wide = max(width(label) for label, _ in labels)
        out = [f"{self.paint(status.operator, 'name')}  {self.path(status.root)}"]
        out += [f"  {pad(label, wide)}  {text}" for label, text in labels]
        out.append("")
        return "\n".join([*out, *self._phases(status)]) + "\n"

    def _phases(self, status: Status) -> list[str]:
        found = {gate.phase.id: gate for gate in status.gates}
        titles = {phase.id: said(phase.title, self.lang) for phase in status.phases}
        wide = max(width(title) for title in titles.values())
        out = []
        for phase in status.phases:
            gate = found.get(phase.id)
            if phase.id in status.skipped:
                state = f"{word(GATE['skipped'], self.lang)}  {said(status.skipped[phase.id], self.lang)}"
                kind = "skipped"
            elif gate is None:
                state, kind = say("later", self.lang), "skipped"
            elif gate.state == "closed":
                state, kind = say("closed-by", self.lang, count=len(gate.closed_by)), "closed"
            elif gate.simulated:
                state, kind = say("open-simulated", self.lang), "simulated"
            else:
                state, kind = word(GATE[gate.state], self.lang), gate.state
            mark = ">" if phase.id == status.at.phase.id and not status.at.complete else " "
            name = "5.5+" if phase.id == "regression" else phase.id
            out.append(f"{mark} {name:<4} {pad(titles[phase.id], wide)}  {self.paint(state, kind)}")
        return out

    def statuses(self, found: Sequence[Status]) -> str:
        """Several operators, one a line."""
        rows = []
        for status in found:
            at = status.at
            phase = say("complete", self.lang) if at.complete else self.phase(at.phase)
            rows.append((status.operator, phase, said(at.why, self.lang)))
        names, phases = (max(width(row[i]) for row in rows) for i in (0, 1))
        out = [f"{pad(n, names)}  {pad(p, phases)}  {why}" for n, p, why in rows]
        return "\n".join([*out, "", say("count", self.lang, count=len(rows))]) + "\n"


def gate_json(gate: Gate, operator: str, root: str, show: Show, workflow: str = "shmem") -> dict[str, Any]:
    """A gate as ``schema.GATE`` has it."""
    return {
        "operator": operator,
        "root": show.path(root),
        "workflow": workflow,
        **_gate(gate, show),
    }


def _gate(gate: Gate, show: Show) -> dict[str, Any]:
    return {
        "phase": gate.phase.id,
        "title": _text(gate.phase.title),
        "state": gate.state,
        "simulated": gate.simulated,
        "why": _text(gate.why),
        "checks": [
            {
                "id": check.id,
                "title": _text(check.title),
                "state": check.state,
                "detail": _text(check.detail),
                "opens": _text(check.opens),
                "place": _spot(check.place, show),
                "simulated": check.simulated,
            }
            for check in gate.checks
        ],
    }


def status_json(found: Sequence[Status], show: Show) -> dict[str, Any]:
    """Statuses as ``schema.STATUS`` has them."""
    return {"operators": [_status(status, show) for status in found]}


def _status(status: Status, show: Show) -> dict[str, Any]:
    at = status.at
    return {
        "operator": status.operator,
        "root": show.path(status.root),
        "workflow": status.workflow,
        "phase": at.phase.id,
        "title": _text(at.phase.title),
        "row": at.row,
        "complete": at.complete,
        "why": _text(at.why),
        "next": _text(at.next),
        "worker": at.worker,
        "back": at.back,
        "place": _spot(at.place, show),
        "round": _text(status.round) if status.round is not None else None,
        "skipped": [{"phase": name, "why": _text(why)} for name, why in status.skipped.items()],
        "gates": [_gate(gate, show) for gate in status.gates],
    }


def _text(text: Text) -> Mapping[str, str]:
    return {"zh": text.get("zh", ""), "en": text.get("en", "")}


def _spot(spot: Spot | None, show: Show) -> dict[str, Any] | None:
    if spot is None:
        return None
    return {"path": show.path(spot.path), "line": spot.line, "column": spot.column}
