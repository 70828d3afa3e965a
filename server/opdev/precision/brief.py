"""A judgement in a few lines, from its JSON: what a run's summary shows of its precision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from opdev.columns import grid
from opdev.precision.text import short
from opdev.precision.texts import say
from opdev.rules.model import Lang

_MOST = 16
_MARKS = {"pass": "✓", "fail": "✗", "error": "!"}


def lines(document: Mapping[str, Any], lang: Lang) -> Iterator[str]:
    """A row for each output, those that do not pass first; why they do not, what may be behind it, and the verdict."""
    results = sorted(document["results"], key=lambda r: r["verdict"] == "pass")
    head = [say("t-output", lang), say("t-verdict", lang), "dtype", "MaxAE", "MaxRE", "precision_percent", "eb"]
    yield from grid(head, [_cells(result, lang) for result in results[:_MOST]], left=3)
    if len(results) > _MOST:
        yield say("s-more", lang, count=len(results) - _MOST)
    for result in results[:_MOST]:
        for reason in result["reasons"]:
            yield f"{_MARKS[result['verdict']]} {result['name']}: {reason['text'][lang]}"
    for one in (*document["hypotheses"], *(h for r in results[:1] for h in r["hypotheses"])):
        yield f"? {one['text'][lang]}"
    passed = sum(r["verdict"] == "pass" for r in results)
    verdict = document["verdict"]
    total = say("t-total", lang, passed=passed, all=len(results), seconds=document["seconds"])
    yield f"{_MARKS[verdict]} {say(f't-{verdict}', lang)}  {total}"


def _cells(result: Mapping[str, Any], lang: Lang) -> list[str]:
    name = [
        result["name"],
        f"{_MARKS[result['verdict']]} {say('t-' + result['verdict'], lang)}",
        result["dtype"] or "-",
    ]
    m = result["metrics"]
    if m is None:
        return [*name, "-", "-", "-", "-"]
    percent = (
        f"{m['precision_percent']:.4f}" if m["within"] == m["elements"] or m["precision_percent"] < 99.9999 else "<100"
    )
    return [*name, short(m["max_abs"]), short(m["max_rel"]), percent, short(m["eb"])]
