"""A judgement in a few lines, from its JSON: what a run's summary shows of its precision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opdev.columns import grid
from opdev.precision.model import place
from opdev.precision.text import short
from opdev.precision.texts import say
from opdev.rules.model import Lang

_MOST = 16
MARKS = {"pass": "✓", "fail": "✗", "error": "!"}


def lines(document: Mapping[str, Any], lang: Lang) -> Iterator[str]:
    """A row for each output, those that do not pass first; why they do not, what may be behind it, and the verdict."""
    results = sorted(document["results"], key=lambda r: r["verdict"] == "pass")
    head = [say("t-output", lang), say("t-verdict", lang), "dtype", "MaxAE", "MaxRE", "precision_percent", "eb"]
    yield from grid(head, [_cells(result, lang) for result in results[:_MOST]], left=3)
    if len(results) > _MOST:
        yield say("s-more", lang, count=len(results) - _MOST)
    for result in results[:_MOST]:
        for reason in result["reasons"]:
            yield f"{MARKS[result['verdict']]} {result['name']}: {reason['text'][lang]}"
    for one in (*document["hypotheses"], *(h for r in results[:1] for h in r["hypotheses"])):
        yield f"? {one['text'][lang]}"
    passed = sum(r["verdict"] == "pass" for r in results)
    verdict = document["verdict"]
    total = say("t-total", lang, passed=passed, all=len(results), seconds=document["seconds"])
    yield f"{MARKS[verdict]} {say(f't-{verdict}', lang)}  {total}"


def case_lines(document: Mapping[str, Any], lang: Lang) -> Iterator[str]:
    """One case: a line where it passes; else its reasons, PE by PE with the first wrong element, and what may be behind it."""
    results = document["results"]
    wrong = [result for result in results if result["verdict"] != "pass"]
    counts = say("s-case", lang, passed=len(results) - len(wrong), all=len(results), abs=largest(results, "max_abs"), rel=largest(results, "max_rel"))  # fmt: skip
    yield f"{MARKS[document['verdict']]} {say('t-' + document['verdict'], lang)}  {counts}"
    for result in wrong[:_MOST]:
        yield f"{MARKS[result['verdict']]} {result['name']}: {wrong_in(result, lang)}"
    if len(wrong) > _MOST:
        yield say("s-more", lang, count=len(wrong) - _MOST)
    if wrong:
        yield from (f"? {one['text'][lang]}" for one in (*document["hypotheses"], *wrong[0]["hypotheses"]))


def largest(results: Sequence[Mapping[str, Any]], metric: str) -> str:
    """The largest of a metric over all outputs, as checkers print it; a dash where nothing was compared."""
    found = [result["metrics"][metric] for result in results if result["metrics"] is not None]
    words = [value for value in found if isinstance(value, str)]
    return words[0] if words else short(max(found)) if found else "-"


def wrong_in(result: Mapping[str, Any], lang: Lang) -> str:
    """Why an output does not pass, and its first wrong element."""
    reasons = [reason["text"][lang] for reason in result["reasons"]]
    for one in result["mismatches"][:1]:
        reasons.append(
            say("s-first", lang, place=place(one["coordinates"]), actual=one["actual"], expected=one["expected"])
        )
    return say("s-and", lang).join(reasons)


def _cells(result: Mapping[str, Any], lang: Lang) -> list[str]:
    name = [
        result["name"],
        f"{MARKS[result['verdict']]} {say('t-' + result['verdict'], lang)}",
        result["dtype"] or "-",
    ]
    m = result["metrics"]
    if m is None:
        return [*name, "-", "-", "-", "-"]
    percent = (
        f"{m['precision_percent']:.4f}" if m["within"] == m["elements"] or m["precision_percent"] < 99.9999 else "<100"
    )
    return [*name, short(m["max_abs"]), short(m["max_rel"]), percent, short(m["eb"])]
