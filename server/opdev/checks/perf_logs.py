"""Measurements where they were printed: each ``[PERF]`` line by itself.

What is wrong with a line is decided in ``opdev.perf`` alone, so that the linter, ``opdev perf`` and the reports never
differ; here it is given a rule and the place of the value in question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from opdev.design.derived import Collective
from opdev.facts.logs import ALIASES, LARGEST, cleared, head, perf_of
from opdev.perf.model import Problem
from opdev.perf.reader import SIMULATED, Judged, judged
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax.file import File

MOST_LINES = 2_000
"""Measurements of a log that rules look at: a finding a line would help nobody sooner."""
_MOST = 40
DERIVED = ("algo-from-kernel", "doubled", "binary-unit", "disagrees")


def lines_of(file: File, n_pes: int | None = None, kind: Collective | None = None) -> list[Judged]:
    """The measurements of a log and what is wrong with each, as far as ``n_pes`` and ``kind`` tell; once a file."""

    def read() -> list[Judged]:
        data = head(file.data)
        if b"PERF]" not in data:
            return []
        return list(islice(judged(data, file.path, n_pes=n_pes, kind=kind, lines=perf_of(file)), MOST_LINES))

    return file.memo(("perf.judged", n_pes, kind), read)


def simulated(file: File) -> bool:
    """Whether a log is of the CPU stand-in, by what the log itself says."""
    return SIMULATED in file.data[:LARGEST]


def token(file: File, one: Judged, field: str, *, name: bool = False, last: bool = False) -> tuple[int, int]:
    """Where a field's value stands in a line (``name``: the field's name); the tag where it has no such field."""
    if one.line is None:
        return one.start, one.end
    pattern = re.compile(rb"(?<!\w)(" + re.escape(field.encode()) + rb")=([^\s\[]+)")
    text = cleared(file.data[one.end : one.line.end])
    found = list(pattern.finditer(text))
    if not found:
        return one.start, one.end
    start, end = found[-1 if last else 0].span(1 if name else 2)
    return one.end + start, one.end + end


def told(context: Context, *keys: str, n_pes: int | None = None, kind: Collective | None = None) -> Iterator[tuple[Judged, Problem]]:  # fmt: skip
    """The lines with a problem of ``keys``, the first of them."""
    found = ((one, p) for one in lines_of(context.file, n_pes, kind) for p in one.problems if p.key in keys)
    yield from islice(found, _MOST)


def incomplete(context: Context) -> Iterator[Hit]:
    """A measurement without fields that its numbers are checked by, or without any."""
    without_pe = False
    for one, problem in told(context, "lacking", "no-values", "no-pe"):
        what = context.data[one.start : one.end].decode()
        if problem.key == "no-values":
            yield Hit(one.start, one.end, "nothing", {"tag": what})
        elif problem.key == "lacking":
            yield Hit(one.start, one.end, args={"tag": what, "fields": problem.args["fields"]})
        elif one.line is not None and "pe" not in one.line.texts and not without_pe:
            # Programs that print on PE 0 alone often leave it out: said once.
            without_pe = True
            yield Hit(one.start, one.end, "pe", {"tag": what}, None, "warning")


def impossible(context: Context) -> Iterator[Hit]:
    """A value that is no number, or one that no measurement has."""
    for one, problem in told(context, "no-number", "not-positive", "no-pe"):
        field = problem.args.get("field", "pe")
        if one.line is None or (problem.key == "no-pe" and "pe" not in one.line.texts):
            continue
        if problem.key == "no-pe" and "pe" in one.line.repeated:
            continue
        key = {"no-number": "default", "not-positive": "zero", "no-pe": "pe"}[problem.key]
        args = {"field": field, "value": problem.args.get("text", "")}
        yield Hit(*token(context.file, one, field), key, args)


def retired(context: Context) -> Iterator[Hit]:
    """A field by a name that is not used any more."""
    for one, problem in told(context, "old-name"):
        field = problem.args["field"]
        args = {"field": field, "now": problem.args["now"]}
        yield Hit(*token(context.file, one, field, name=True), args=args)


def repeated(context: Context) -> Iterator[Hit]:
    """A field that stands in a line twice."""
    for one, problem in told(context, "repeated"):
        field = problem.args["field"]
        first, second = (token(context.file, one, field, last=last) for last in (False, True))
        note = {"zh": "第一次在这里", "en": "the first one"}
        values = [context.file.source.text(*place) for place in (first, second)]
        args = {"field": field, "first": values[0], "second": values[1]}
        yield Hit(*second, args=args, related=(Related(*first, note),))


def inconsistent(context: Context) -> Iterator[Hit]:
    """A derived field that does not follow from what it is derived from."""
    for one, problem in told(context, *DERIVED):
        args = dict(problem.args)
        place = token(context.file, one, _written(one, args["field"]))
        yield Hit(*place, problem.key if problem.key != "disagrees" else "own", args)


def _written(one: Judged, field: str) -> str:
    """The name a field has in the line: old samples have other ones."""
    texts = one.line.texts if one.line is not None else {}
    return field if field in texts else next((name for name in texts if ALIASES.get(name) == field), field)


def longer_kernel(context: Context) -> Iterator[Hit]:
    """A kernel that took longer than all of which it is a part."""
    for one, problem in told(context, "kernel-longer"):
        yield Hit(*token(context.file, one, "kernel_us"), args=dict(problem.args))


def lossy(context: Context) -> Iterator[Hit]:
    """Bytes of which some digits were lost when they were printed."""
    for one in lines_of(context.file):
        text = one.line.texts.get("payload_bytes", "") if one.line is not None else ""
        step = one.measurement.steps.get("payload_bytes", 0.0) if one.measurement is not None else 0.0
        if "e" in text.lower() and step > 1:
            # All lines were printed by one statement.
            yield Hit(*token(context.file, one, "payload_bytes"), args={"value": text})
            return


def cut(context: Context) -> Iterator[Hit]:
    """A line whose last value nothing ended, and a log that was not read to its end."""
    for one, problem in told(context, "cut"):
        if one.line is None:
            continue
        field = problem.args["field"]
        severity = None if problem.severity == "error" else "warning"
        yield Hit(*token(context.file, one, field, last=True), args={"field": field}, severity=severity)  # type: ignore[arg-type]  # one of two words
    yield from _unread(context)


def mixed(context: Context) -> Iterator[Hit]:
    """SHMEM's measurements and the baseline's in one log."""
    found = [one for one in lines_of(context.file) if one.line is not None]
    other = next((one for one in found if one.line and found[0].line and one.line.baseline != found[0].line.baseline), None)  # fmt: skip
    if other is not None:
        note = {"zh": "另一方的数据在这里", "en": "the other side's first measurement"}
        yield Hit(other.start, other.end, related=(Related(found[0].start, found[0].end, note),))


def _unread(context: Context) -> Iterator[Hit]:
    """A log that is longer than what is read of it, or has more measurements than are looked at."""
    found = lines_of(context.file)
    if len(found) >= MOST_LINES:
        yield Hit(found[-1].start, found[-1].end, "lines", {"lines": str(MOST_LINES)}, None, "info")
    elif len(context.data) > LARGEST:
        yield Hit(*context.file.source.line_range(0), "long", {"bytes": str(LARGEST)}, None, "info")
