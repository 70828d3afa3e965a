"""The cases an operator is tested by, for editors that show them as tests: where each stands, and what it last said.

The list follows unsaved text.  Verdicts come from the runs' records; what a checker printed of elements that differ
is taken from the case's own log, else from what the step printed since the case before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opdev.lsp import fields
from opdev.lsp.running.roots import root_of
from opdev.lsp.running.texts import say
from opdev.runs import store
from opdev.runs.lines import text_of
from opdev.runs.reader import Reader
from opdev.runs.status import ACTIVE
from opdev.runs.store import LOGS, Run
from opdev.syntax.file import File

if TYPE_CHECKING:
    from opdev.facts.cases import Case, CaseList
    from opdev.lsp.operators import LiveOperator
    from opdev.lsp.running.desk import Desk
    from opdev.lsp.running.messages import CaseRecord, CasesResult, CaseVerdict, Picks

_MOST_CASES = 2000
_MOST_RUNS = 30
"""Runs that are looked through for verdicts, the newest."""
_KEPT = 64
_TAIL = 64 * 1024
_MOST_MISMATCHES = 8
_LONGEST = 200
_CASE_LINE = re.compile(rb"^[^\n]*\[CASE\][^\n]*$", re.M)
_ID = re.compile(rb"\b(?:id|case_id)=(\S+)")
_MISMATCH = re.compile(rb"^[ \t]*first mismatch (.*)$|^(PE \d{1,6}: FAIL \((?!\d+ elements\)).*)$", re.M)
_PE = re.compile(rb"^(PE \d{1,6}):", re.M)
_ACTUAL = re.compile(r"^(?P<at>.*?)[ ,;]*actual[=:] ?(?P<actual>\S+) +(?:expected|golden)[=:] ?(?P<expected>\S+)")
_ONLY = re.compile(rb"""["']--only["']""")
_LIST = re.compile(rb"""only[^\n]{0,40}\.split\(|["']--only["'][^)]{0,200}(?:nargs|append)""")


@dataclass(frozen=True, slots=True)
class _Said:
    """What one run said of one case."""

    run: Run
    backend: str
    time: float
    verdict: str
    values: Mapping[str, str]
    log: str


class Cases:
    """``opdev/cases``."""

    def __init__(self, desk: Desk) -> None:
        self._session = desk.session
        self._known: dict[str, dict[str, _Said]] = {}

    def cases(self, params: Mapping[str, Any]) -> CasesResult:
        """The cases of one operator, in text order."""
        unknown = sorted(set(params) - {"root"})
        if unknown:
            raise fields.FieldError(f"{unknown[0]} is not root")
        root = root_of(self._session, params)
        operator = self._session.operators.now(root)
        listed, file = _listed(operator)
        if listed is None or file is None:
            return {"cases": [], "origin": None, "complete": True, "picks": "none"}
        verdicts = self._verdicts(root)
        made: dict[str, CaseRecord] = {}
        for case in listed.cases[:_MOST_CASES]:
            # Two of one id are a finding; as tests they are one.
            if case.id and case.id not in made:
                made[case.id] = self._record(case, file, root, verdicts.get(case.id))
        return {
            "cases": list(made.values()),
            "origin": listed.origin,
            "complete": listed.complete and len(listed.cases) <= _MOST_CASES,
            "picks": _picks(operator.files("case-runner")),
        }

    def _record(self, case: Case, file: File, root: str, said: _Said | None) -> CaseRecord:
        start = case.places.get("id", (case.start, case.end))[0]
        return {
            "id": case.id, "purpose": case.purpose or case.special or "", "category": case.category, "dtype": case.dtype,
            "tier": case.tier or case.scale, "pes": case.n_pes, "shape": case.shape,
            "place": {"uri": self._session.uri_of(file.path), "line": file.data.count(b"\n", 0, start)},
            "last": self._last(case, root, said) if said is not None else None,
        }  # fmt: skip

    def _last(self, case: Case, root: str, said: _Said) -> CaseVerdict:
        lang = self._session.lang_of("auto")
        expected: list[str] = []
        actual: list[str] = []
        # Events of one moment are in no order, so what belongs to a case is told from the text.
        text = _text(root, case.id, said) if said.verdict != "PASS" else b""
        checked = _checked(text)
        limits = [(name, checked.get(name, getattr(case, name))) for name in ("rtol", "atol")]
        if any(value is not None for _, value in limits):
            expected.append(" ".join(f"{name}={value:g}" for name, value in limits if value is not None))
        measured = _measured(said, checked)
        if measured:
            actual.append(" ".join(measured))
        for at, want, got in _mismatches(text):
            expected += [f"{at}{want}"] if want else []
            actual.append(f"{at}{got}")
        return {
            "run": said.run.id, "backend": said.backend, "time": said.time, "verdict": said.verdict,
            "text": say("case-failed", lang, case=case.id, verdict=said.verdict), "expected": "\n".join(expected),
            "actual": "\n".join(actual),
        }  # fmt: skip

    def _verdicts(self, root: str) -> dict[str, _Said]:
        """What was said last of each case."""
        found: dict[str, _Said] = {}
        for run in reversed(store.runs(root)[-_MOST_RUNS:]):
            for case, said in self._of(run).items():
                found.setdefault(case, said)
        return found

    def _of(self, run: Run) -> dict[str, _Said]:
        known = self._known.get(run.folder)
        if known is not None:
            return known
        status = run.status
        found = dict(_read(run))
        if status is not None and status.now not in ACTIVE:
            self._known[run.folder] = found
            while len(self._known) > _KEPT:
                del self._known[next(iter(self._known))]
        return found


def _listed(operator: LiveOperator) -> tuple[CaseList | None, File | None]:
    """The operator's cases and the file they stand in: its matrix, else its design's."""
    from opdev.facts.cases import cases_of, matrix_of

    found = matrix_of(operator)
    if found is None:
        found = next((c for file in operator.files("design-doc") if (c := cases_of(file)) is not None), None)
    if found is None:
        return None, None
    files = (file for kind in ("cases", "case-runner", "design-doc") for file in operator.files(kind))
    return found, next((file for file in files if file.path == found.path), None)


def _picks(runners: Iterable[File]) -> Picks:
    """Whether the runner can be told which cases to run."""
    texts = [file.data for file in runners]
    if any(_LIST.search(text) for text in texts):
        return "some"
    return "one" if any(_ONLY.search(text) for text in texts) else "none"


def _read(run: Run) -> Iterator[tuple[str, _Said]]:
    logs: dict[str, str] = {}
    for event in Reader(run).more():
        kind = event["type"]
        try:
            if kind == "step-started":
                logs[event["task"]] = str(event["logs"].get("stdout", ""))
            elif kind == "case" and event["verdict"] is not None:
                values: Mapping[str, str] = event.get("values") or {}
                yield str(event["case"]), _Said(
                    run, str(event["backend"]), float(event["time"]), str(event["verdict"]), values, logs.get(event["task"], "")
                )  # fmt: skip
        except (KeyError, TypeError, ValueError, AttributeError):
            # An event of another version, or a damaged one.
            continue


def _checked(text: bytes) -> dict[str, float]:
    """The worst of what the checker printed of its PEs."""
    from opdev.facts.logs import check_lines

    found: dict[str, float] = {}
    for line in check_lines(text):
        for name, value in line.values.items():
            found[name] = max(found.get(name, value), value)
    return found


def _measured(said: _Said, checked: Mapping[str, float]) -> list[str]:
    """The errors that were measured, the checker's own before the runner's."""
    own = [f"{name}={checked[name]:g}" for name in ("MaxAE", "MaxRE", "MeanRE") if name in checked]
    return own or [f"{n}={v}" for n in ("maxae", "maxre") if (v := said.values.get(n, "nan")) != "nan"]


def _mismatches(text: bytes) -> Iterator[tuple[str, str, str]]:
    """(where, expected, actual) of the first elements that differ; what is not told apart is ``actual``."""
    for index, match in enumerate(_MISMATCH.finditer(text)):
        if index >= _MOST_MISMATCHES:
            return
        line = text_of(match[1] if match[1] is not None else match[2]).strip()[:_LONGEST]
        pe = next((text_of(m[1]) + " " for m in reversed(list(_PE.finditer(text, 0, match.start())))), "")
        apart = _ACTUAL.match(line)
        yield (f"{pe}{apart['at']}: ", apart["expected"], apart["actual"]) if apart is not None else ("", "", line)


def _text(root: str, case: str, said: _Said) -> bytes:
    """What was printed while the case ran."""
    own = said.values.get("log")
    if own:
        path = os.path.realpath(os.path.join(root, own))
        # A later run may have written it anew.
        if path.startswith(os.path.realpath(root) + "/") and _written(path) <= said.time + 1.0:
            found = _tail(path)
            if found:
                return found
    printed = _tail(f"{said.run.folder}/{LOGS}/{os.path.basename(said.log)}", whole=case)
    lines = list(_CASE_LINE.finditer(printed))
    for index, line in enumerate(lines):
        name = _ID.search(line[0])
        if name is not None and text_of(name[1]).strip("'\",") == case:
            return printed[lines[index - 1].end() if index else 0 : line.start()]
    return b""


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return float("inf")


def _tail(path: str, whole: str = "") -> bytes:
    """The end of a file; with ``whole`` its end up to that case's line, wherever it is."""
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            end = size
            if whole:
                at, mark = size, f"={whole}".encode()
                while at > 0:
                    at = max(0, at - _TAIL)
                    stream.seek(at)
                    hit = stream.read(_TAIL + 4096).rfind(mark)
                    if hit >= 0:
                        end = min(size, at + hit + len(mark) + 400)
                        break
            start = max(0, end - _TAIL)
            stream.seek(start)
            return stream.read(end - start)
    except OSError:
        return b""
