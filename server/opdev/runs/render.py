"""Events as text for a terminal.  The live view and the replay are this, fed with the same events."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from opdev.perf.tables import Tables
from opdev.phases.model import said
from opdev.precision.brief import case_lines
from opdev.precision.brief import lines as brief
from opdev.rules.model import Lang
from opdev.runs.events import Event
from opdev.runs.lines import LineBuffer, text_of
from opdev.runs.reader import Reader
from opdev.runs.texts import cls, say, state

_MARKS = {"pass": "✓", "fail": "✗", "blocked": "!", "stopped": "■"}
_COLOURS = {"pass": "32", "passed": "32", "open": "32", "fail": "31", "failed": "31", "blocked": "33", "closed": "33", "stopped": "33"}  # fmt: skip
_MOST_CHECKS = 6


class Renderer:
    """Turns events into text, one after the other; keeps what it needs to know of the earlier ones."""

    def __init__(self, reader: Reader, lang: Lang, *, colour: bool = False, output: bool = True) -> None:
        self._reader, self._lang, self._colour, self._output = reader, lang, colour, output
        self._buffers: dict[tuple[str, str], LineBuffer] = {}
        self._word = "Phase"
        self._handlers: dict[str, Callable[[Event], str]] = {
            "run-started": self._run_started, "waiting": self._waiting, "note": self._note, "phase-started": self._phase,
            "phase-skipped": self._phase_skipped, "probe": self._probe, "step-started": self._step, "step-skipped": self._step_skipped,
            "prepared": self._made, "phase-ended": self._phase_ended, "output": self._text, "diagnosis": self._diagnosis, "pause": self._pause, "step-ended": self._step_ended,
            "manual": self._manual, "case-precision": self._case_precision, "precision-summary": self._precision, "perf-summary": self._figures, "gate": self._gate, "round": self._round, "stopping": self._stopping, "run-ended": self._run_ended,
        }  # fmt: skip

    def text(self, event: Event) -> str:
        """What an event says; empty for those that only machines want."""
        handler = self._handlers.get(event["type"])
        return handler(event) if handler is not None else ""

    def _say(self, key: str, **values: object) -> str:
        return say(key, self._lang, **values)

    def _paint(self, text: str, word: str) -> str:
        colour = _COLOURS.get(word)
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colour and colour else text

    def _bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self._colour else text

    def _said(self, value: Any) -> str:
        return said(value, self._lang) if isinstance(value, dict) else ""

    def _run_started(self, e: Event) -> str:
        pes = ", ".join(map(str, e.get("counts") or [e["n_pes"]]))
        key = "head-pypto" if e.get("workflow") else "head"
        head = self._say(key, operator=e["operator"], request=e["request"], pes=pes, executor=e["executor"], id=e["run"])  # fmt: skip
        sim = f"backend: sim  {self._say('sim')}\n" if e["backend"] == "sim" else ""
        return f"{self._bold(head)}\n{sim}"

    def _waiting(self, e: Event) -> str:
        return self._say("waiting", run=e["for"] or "?") + "\n"

    def _note(self, e: Event) -> str:
        return self._said(e["text"]) + "\n"

    def _phase(self, e: Event) -> str:
        self._word = e.get("word", "Phase")
        head = self._say("phase-head", word=self._word, phase=e["phase"], title=self._said(e["title"]))
        return "\n" + self._bold(head) + "\n"

    def _phase_skipped(self, e: Event) -> str:
        return f"\nPhase {e['phase']}: {self._say('skipped')}: {self._said(e['why'])}\n"

    def _probe(self, e: Event) -> str:
        return probe_line(e["probe"], e["state"], e["detail"], e.get("next") or {}, self._lang)

    def _step(self, e: Event) -> str:
        again = f" ({self._say('attempt', n=e['attempt'])})" if e.get("attempt", 1) > 1 else ""
        return f"→ {e['task']} {self._said(e['title'])}{again}\n  $ {' '.join(e['argv'])}\n"

    def _step_skipped(self, e: Event) -> str:
        return f"  {e['task']}: {self._say('skipped')}: {self._said(e['why'])}\n"

    def _text(self, e: Event) -> str:
        if not self._output:
            return ""
        buffer = self._buffers.setdefault((e["task"], e["stream"]), LineBuffer())
        lines = buffer.feed(self._reader.text(e))
        return self._lines(lines)

    def _lines(self, lines: bytes) -> str:
        return "".join(f"  | {text_of(line)}\n" for line in lines.split(b"\n")[:-1])

    def _diagnosis(self, e: Event) -> str:
        if e["rank"] > 0:
            return ""
        route = (
            self._say("route-here") if e["route"] == "here" else self._say("route", word=self._word, phase=e["route"])
        )
        rows = [("class", f"{cls(e['class'], self._lang)} · {route}"), ("cause", self._said(e["cause"])), ("next", self._said(e["next"]))]  # fmt: skip
        rows += [("evidence", e["evidence"])] if e["evidence"] else []
        return "".join(f"  {self._say(key)}: {text}\n" for key, text in rows)

    def _pause(self, e: Event) -> str:
        return "  " + self._say("pause", seconds=e["seconds"], why=self._said(e["why"])) + "\n"

    def _step_ended(self, e: Event) -> str:
        rest = "".join(
            self._lines(buffer.close()) for (task, _), buffer in self._buffers.items() if task == e["task"]
        )  # fmt: skip
        self._buffers = {key: buffer for key, buffer in self._buffers.items() if key[0] != e["task"]}
        line = self._say("step-end", mark=_MARKS[e["result"]], task=e["task"], result=state(e["result"], self._lang), seconds=e["seconds"])  # fmt: skip
        leaked = f"  {self._say('leaked', n=e['leaked'])}\n" if e.get("leaked") else ""
        return f"{rest if self._output else ''}{self._paint(line, e['result'])}\n{leaked}"

    def _made(self, e: Event) -> str:
        lines = [f"  + {self._say('prepared', path=_short(path))}\n" for path in e["paths"]]
        return "".join(lines) + f"    {self._said(e['text'])}\n"

    def _phase_ended(self, e: Event) -> str:
        way = self._said(e.get("way"))
        if e["outcome"] not in ("failed", "blocked") or not way:
            return ""
        return self._paint(f"  ⤷ {way}", e["outcome"]) + "\n"

    def _figures(self, e: Event) -> str:
        text = Tables(self._lang, bold=self._colour).text(e["document"])
        return "".join(f"  {line}\n" if line else "\n" for line in text.split("\n")[:-1])

    def _precision(self, e: Event) -> str:
        head = self._say("precision", case=e["case"] or "-")
        if e["document"] is None:
            return "".join(f"  {line}\n" for line in (*self._cases(e), f"{head}: {self._said(e['why'])}"))
        rows = [*brief(e["document"], self._lang)]
        if e["agrees"] is False:
            rows.append(self._paint(self._say("precision-other", said=e["said"], case=e["case"]), "blocked"))
        return "".join(f"  {line}\n" for line in (*self._cases(e), head, *rows))

    def _cases(self, e: Event) -> list[str]:
        found = e.get("cases")
        if not found:
            return []
        unjudged = found["unjudged"]
        names = (
            f" ({', '.join(unjudged[:_MOST_CHECKS])}{' …' if len(unjudged) > _MOST_CHECKS else ''})" if unjudged else ""
        )
        counts = {
            "all": found["total"],
            "passed": found["passed"],
            "failed": found["failed"],
            "unjudged": len(unjudged),
        }
        line = self._say("precision-cases", names=names, **counts)
        return [self._paint(line, "fail" if found["failed"] else "blocked" if unjudged else "pass")]

    def _case_precision(self, e: Event) -> str:
        head = self._say("precision-case", case=e["case"])
        if e["document"] is None:
            return f"  {self._paint(f'! {head}: ' + self._said(e['why']), 'blocked')}\n"
        first, *more = case_lines(e["document"], self._lang)
        if e["agrees"] is False:
            more.append(self._paint(self._say("precision-other", said=e["said"], case=e["case"]), "blocked"))
        return "".join(
            f"  {line}\n" for line in (self._paint(f"{head}: {first}", e["verdict"]), *(f"  {line}" for line in more))
        )

    def _manual(self, e: Event) -> str:
        path = e.get("brief") or e.get("context")
        context = f"  {self._say('brief' if e.get('brief') else 'context', path=_short(path))}\n" if path else ""
        return f"  {self._say('manual', what=self._said(e['what']))}\n{context}"

    def _gate(self, e: Event) -> str:
        if e["state"] != "closed":
            return self._paint("  " + self._say(f"gate-{e['state']}"), "open") + "\n"
        lines = [self._paint("  " + self._say("gate-closed", count=len(e["checks"])), "closed")]
        for check in e["checks"][:_MOST_CHECKS]:
            place = f"{_short(check['path'])}:{check['line']}: " if check.get("path") else ""
            lines.append(f"    {place}{self._said(check['detail'])}")
            if opens := self._said(check.get("opens")):
                lines.append(f"      → {opens}")
        if len(e["checks"]) > _MOST_CHECKS:
            lines.append("    " + self._say("more", count=len(e["checks"]) - _MOST_CHECKS, phase=e["phase"]))
        return "\n".join(lines) + "\n"

    def _round(self, e: Event) -> str:
        return (
            "  "
            + self._paint(self._said(e["text"]), {"keep": "pass", "revert": "fail"}.get(e.get("proposal", ""), ""))
            + "\n"
        )

    def _stopping(self, e: Event) -> str:
        return self._say("stopping", reason=e["reason"]) + "\n"

    def _run_ended(self, e: Event) -> str:
        why = self._said(e.get("why")) or e.get("message", "")
        key = "ended-why" if why else "ended"
        line = self._say(key, state=state(e["outcome"], self._lang), seconds=e["seconds"], why=why)
        return "\n" + self._paint(line, e["outcome"]) + "\n"


def probe_line(name: str, found: str, detail: str, next_: dict[str, str], lang: Lang) -> str:
    """One probe as a line."""
    mark = {"ok": "✓", "unneeded": "-"}.get(found, "✗")
    more = f"\n      → {said(next_, lang)}" if found != "ok" and said(next_, lang) else ""
    return f"  {mark} {name:<14} {detail}{more}\n"


def _short(path: str) -> str:
    """A path as short as it can be named from here."""
    try:
        relative = os.path.relpath(path)
    except ValueError:
        return path
    return path if relative.startswith("..") else relative
