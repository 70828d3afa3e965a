"""Two measurements of one thing side by side: ours and a baseline, or before and after a change."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from opdev.perf import texts
from opdev.perf.consistency import agrees
from opdev.perf.document import Aim, Document, document
from opdev.perf.formulas import percent
from opdev.perf.model import Log, Series
from opdev.perf.series import series_of, spread_of
from opdev.perf.verdict import BUS, broken, change, incomparable, judge
from opdev.rules.model import Text

FIGURES = (BUS, "e2e_us", "kernel_us")


def compare(a: Sequence[Log], b: Sequence[Log], operator: str = "", aim: Aim | None = None) -> Document:
    """A against B: for everything in A what B has of the same; the schema is ``compare.schema.json``.

    Where B is a baseline the pass line decides; else a row says better, worse, same or noisy.
    """
    asked = aim or Aim()
    ours, theirs = ([s for s in series_of(logs)[0] if s.good] for logs in (a, b))
    return {
        "version": 1,
        "operator": operator,
        "a": document(a, operator, asked),
        "b": document(b, operator, asked),
        "rows": [_row(one, _nearest(one, theirs), asked) for one in ours],
    }


def _nearest(ours: Series, theirs: Iterable[Series]) -> Series | None:
    def distance(other: Series) -> tuple[bool, ...]:
        return (
            other.backend != ours.backend, other.n_pes != ours.n_pes, other.dtype != ours.dtype,
            not agrees(other.payload_bytes, ours.payload_bytes, 0.0), other.side != ours.side,
        )  # fmt: skip

    return min(theirs, key=distance, default=None)


def _row(ours: Series, theirs: Series | None, aim: Aim) -> dict[str, Any]:
    verdict, why, delta = _verdict(ours, theirs, aim)
    figures = {}
    for name in FIGURES:
        a, b = spread_of(ours, name), spread_of(theirs, name) if theirs is not None else None
        ratio = percent(a.median, b.median) if a and b and verdict != "incomparable" else None
        figures[name] = {"a": a.median if a else None, "b": b.median if b else None, "ratio_pct": ratio}
    return {
        "n_pes": ours.n_pes, "dtype": ours.dtype, "count": ours.count, "payload_bytes": ours.payload_bytes,
        "backend": ours.backend, "verdict": verdict, "why": dict(why), "delta_pct": delta, "figures": figures,
    }  # fmt: skip


def _verdict(ours: Series, theirs: Series | None, aim: Aim) -> tuple[str, Text, float | None]:
    if theirs is None:
        return "unmeasured", texts.both("why-nothing-there"), None
    why = incomparable(ours, theirs)
    if why is not None:
        return "incomparable", why, None
    if ours.side != theirs.side:
        mine, base = (ours, theirs) if ours.side == "shmem" else (theirs, ours)
        found = judge(mine, base, aim.target_pct)
        return found.state, found.why or texts.both("why-unusable"), None
    new, old = spread_of(ours, BUS), spread_of(theirs, BUS)
    delta, word = change(new, old)
    if word is None or delta is None:
        return "unmeasured", texts.both("why-unusable"), None
    if word != "worse" and (why := broken(ours, theirs)) is not None:
        return "noisy", why, delta
    note = "change-sim" if ours.backend == "sim" else f"change-{word}"
    single = (new is not None and new.count == 1) or (old is not None and old.count == 1)
    text = texts.both(note, delta=delta)
    if single:
        text = {lang: f"{said}; {texts.both('one-sample')[lang]}" for lang, said in text.items()}
    return word, text, delta


def schema() -> dict[str, Any]:
    """The JSON Schema of a comparison; ``a`` and ``b`` are documents."""
    with open(f"{os.path.dirname(__file__)}/compare.schema.json", "rb") as stream:
        found: dict[str, Any] = json.load(stream)
    return found
