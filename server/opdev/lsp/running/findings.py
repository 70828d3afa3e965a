"""From the events of an operator's runs to what is wrong now.

What a step found stands until that step, or its phase, starts again: each group belongs to one run, its generation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from opdev.lsp.running.texts import both
from opdev.rules.model import Text
from opdev.runs.events import Event

ERROR, WARNING = 1, 2
_MOST = 1000
"""Findings of one operator; a template error repeats itself by the thousand."""
_MOST_NOTES = 10
_FAILED = frozenset({"fail", "blocked"})
_UNTOLD = frozenset({"unknown", "failed-silently"})
"""Diagnoses that say no more than that it failed."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A line (1-based) of a file, with a column where the tool said one."""

    path: str
    line: int
    column: int | None = None


@dataclass(slots=True)
class Found:
    """One thing that is wrong.  Without a spot it belongs to its case, else to the step itself."""

    run: str
    phase: str
    step: str
    time: float
    severity: int
    code: str
    text: Text
    spot: Spot | None = None
    case: str | None = None
    log: str | None = None
    """A case's own log, as the script named it."""
    sim: bool = False
    notes: list[tuple[Spot, str]] = field(default_factory=list)
    why: Text | None = None
    """The diagnosis: cause and next step."""
    place: Place | None = None
    looked: bool = False
    """Whether a place was looked for; it is looked for once, while the text is the one the tool saw."""
    gone: bool = False
    """Whether its line was changed since."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line (0-based) of a text of a file, the bytes of that line, and what the place adds to the message."""

    path: str
    data: bytes
    line: int
    start: int
    end: int
    more: Text | None = None


@dataclass(slots=True)
class _Step:
    phase: str
    id: str
    title: Text
    diagnosis: Event | None = None


class Findings:
    """What is wrong with one operator, by its runs' events in order."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], list[Found]] = {}
        self._steps: dict[tuple[str, str], _Step] = {}
        self._last: Found | None = None
        self._handlers: Mapping[str, Callable[[Event], bool]] = {
            "phase-started": self._phase, "step-started": self._step, "diagnostic": self._diagnostic, "fault": self._fault,
            "case": self._case, "diagnosis": self._diagnosis, "step-ended": self._step_ended,
        }  # fmt: skip

    def all(self) -> Iterator[Found]:
        """Everything that stands."""
        for group in self._groups.values():
            yield from group

    def feed(self, event: Event) -> bool:
        """Take an event; whether what stands changed by it."""
        handler = self._handlers.get(event["type"])
        try:
            return handler(event) if handler is not None else False
        except (KeyError, TypeError, ValueError, AttributeError):
            # An event of another version, or a damaged one: nothing is known by it.
            return False

    def _phase(self, e: Event) -> bool:
        return self._drop(lambda phase, _: phase == e["phase"])

    def _step(self, e: Event) -> bool:
        id_ = str(e["task"]).partition("-")[2]
        self._steps[e["run"], e["task"]] = _Step(e["phase"], id_, e["title"])
        self._last = None
        # The same step belongs to several phases: what it said in one is out of date when it runs in another.
        return self._drop(lambda _, step: step == id_)

    def _drop(self, gone: Callable[[str, str], bool]) -> bool:
        keys = [key for key in self._groups if gone(*key)]
        for key in keys:
            del self._groups[key]
        return bool(keys)

    def _diagnostic(self, e: Event) -> bool:
        spot = Spot(e["path"], int(e["line"] or 1), e["column"]) if e["path"] and e.get("resolved") else None
        if e["severity"] == "note":
            if spot is None or self._last is None or len(self._last.notes) >= _MOST_NOTES:
                return False
            self._last.notes.append((spot, str(e["message"])))
            return True
        if e.get("tool") in ("make", "opdev"):
            return False
        text = str(e["message"])
        if e["path"] and spot is None:
            text = f"{e['path']}:{e['line']}: {text}"
        code = e.get("flag") or e.get("tool") or "compiler"
        found = self._add(e, ERROR if e["severity"] == "error" else WARNING, code, {"zh": text, "en": text}, spot)
        self._last = found
        return found is not None

    def _fault(self, e: Event) -> bool:
        spot = Spot(e["path"], int(e["line"])) if e.get("path") and e.get("line") else None
        return self._add(e, ERROR, str(e["fault"]), both("fault", text=e["text"], fault=e["fault"]), spot) is not None

    def _case(self, e: Event) -> bool:
        verdict = e.get("verdict")
        step = self._steps.get((e["run"], e["task"]))
        told = self._groups.get((step.phase, step.id), ()) if step is not None else ()
        if verdict is None or verdict == "PASS" or any(f.text["en"].startswith(f"{e['case']}: ") for f in told):
            # What a tool said of the case at its line says more.
            return False
        values: Mapping[str, str] = e.get("values") or {}
        found = self._add(e, ERROR, "case-failed", both("case-failed", case=e["case"], verdict=verdict), None)
        if found is None:
            return False
        found.case, found.log = str(e["case"]), values.get("log")
        measured = [f"{name}={values[name]}" for name in ("maxae", "maxre") if values.get(name, "nan") != "nan"]
        if measured:
            found.why = both("actual", text=" ".join(measured))
        return True

    def _diagnosis(self, e: Event) -> bool:
        step = self._steps.get((e["run"], e["task"]))
        if step is not None and e["rank"] == 0:
            step.diagnosis = e
        return False

    def _step_ended(self, e: Event) -> bool:
        step = self._steps.pop((e["run"], e["task"]), None)
        self._last = None
        if step is None or e["result"] not in _FAILED:
            return False
        group = self._groups.get((step.phase, step.id), [])
        errors = [f for f in group if f.severity == ERROR]
        told = step.diagnosis
        if told is None or (errors and told["signature"] in _UNTOLD):
            return False
        why = _why(told)
        if errors:
            seen = str(told["evidence"])
            blamed = next((f for f in errors if seen and f.text["en"] in seen), errors[0])
            blamed.why = _joined(blamed.why, why)
            return True
        cause: Mapping[str, str] = told["cause"]
        self._steps[e["run"], e["task"]] = step
        found = self._add(
            e, ERROR, told["signature"],
            {
                lang: both("step-failed", title=step.title[lang], cause=cause[lang])[lang] + (f"\n{told['evidence']}" if told["evidence"] else "")
                for lang in ("zh", "en")
            },
            None,
        )  # fmt: skip
        del self._steps[e["run"], e["task"]]
        if found is not None:
            found.why = {
                lang: both("next", text=told["next"][lang], signature=told["signature"])[lang] for lang in ("zh", "en")
            }
        return found is not None

    def _add(self, e: Event, severity: int, code: str, text: Text, spot: Spot | None) -> Found | None:
        step = self._steps.get((e["run"], e["task"]))
        if step is None or sum(map(len, self._groups.values())) >= _MOST:
            return None
        made = Found(
            e["run"], step.phase, step.id, float(e["time"]), severity, code, text, spot, sim=e.get("backend") == "sim"
        )
        self._groups.setdefault((step.phase, step.id), []).append(made)
        return made


def _why(told: Event) -> Text:
    return {
        lang: both("cause", text=told["cause"][lang])[lang]
        + "\n"
        + both("next", text=told["next"][lang], signature=told["signature"])[lang]
        for lang in ("zh", "en")
    }


def _joined(before: Text | None, more: Text) -> Text:
    return more if before is None else {lang: f"{before[lang]}\n{more[lang]}" for lang in ("zh", "en")}
