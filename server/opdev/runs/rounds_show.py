"""The list of rounds as a table for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from typing import Any

from opdev.columns import grid
from opdev.rounds.ledger import Ledger, Retest
from opdev.rounds.measured import BUS, Measured
from opdev.rounds.overview import Row
from opdev.rounds.texts import say as word
from opdev.rounds.texts import verdict
from opdev.rounds.verdict import Verdict
from opdev.rounds.work import Limit
from opdev.rules.model import Lang
from opdev.runs.rounds_texts import say

_MOST_FILES, _MOST_SAVED, _WIDEST = 6, 3, 40
LANGS: tuple[Lang, ...] = ("zh", "en")
_SIGNS = {"added": "+", "removed": "-", "modified": "", "mode": "±"}


def table(rows: Sequence[Row], ledger: Ledger, limit: Limit, saved: Sequence[str], lang: Lang) -> str:
    """Every round on a line, then its files, then what is proposed and what can be done."""
    out = grid(say("columns", lang).split("|"), [_cells(row, lang) for row in rows], left=4)
    out.append("")
    out += [_files(row, lang) for row in rows if row.changed]
    if any(row.measured is not None and row.measured.simulated for row in rows):
        out.append(say("simulated", lang))
    for row in rows:
        if row.best is not None and row.best.measured is not None and row.round.state == "open":
            value = row.best.measured.value(BUS) or 0.0
            out.append(say("step", lang, number=row.round.number, best=row.best.number, value=value))
    last = rows[-1]
    if ledger.open is not None and last.retest is not None:
        out.append(say("proposal", lang, number=last.round.number, text=verdict(last.verdict)[lang]))
    if ledger.open is not None:
        out.append(say("open-next", lang, number=ledger.open.number))
    out.append(say("limit-asked" if limit.by == "asked" else "limit", lang, done=ledger.done, limit=limit.rounds))
    if saved:
        out.append(say("saved", lang, names="  ".join(saved[-_MOST_SAVED:])))
    return "\n".join(out) + "\n"


def states(rows: Sequence[Row], saved: Sequence[str], has: Callable[[str], bool]) -> list[dict[str, Any]]:
    """What `opdev rounds restore` can put back, the newest first: its word, and what it is in both languages.

    ``has`` tells whether a snapshot is there.
    """
    found = [(name, {lang: say("state-saved", lang, time=_moment(name)) for lang in LANGS}) for name in reversed(saved)]
    for row in reversed(rows):
        one = row.round
        found += [
            (
                step,
                {
                    lang: say("state-step", lang, number=one.number, step=step, result=_result(test, lang))
                    for lang in LANGS
                },
            )
            for test in reversed(one.retests)
            if has(f"{one.number}/step-{test.number}") and (step := f"{one.number}.{test.number}")
        ]
        if has(f"{one.number}/end"):
            key = "state-round" if one.number else "state-base"
            texts = {
                lang: say(
                    key, lang, number=one.number, state=word(f"state-{one.state}", lang), idea=shown(one.idea) or "—"
                )
                for lang in LANGS
            }
            found.append((str(one.number), texts))
    return [{"state": name, "text": text} for name, text in found]


def _result(test: Retest, lang: Lang) -> str:
    figure = _figure(test.measured, BUS, lang)
    return word(f"correct-{test.correctness}", lang) + (f", {figure} GB/s" if figure != "—" else "")


def _moment(name: str) -> str:
    """When a state was kept, in this machine's time; its name where that says no time."""
    try:
        taken = datetime.strptime("-".join(name.split("-")[1:3]), "%Y%m%d-%H%M%S").replace(tzinfo=timezone.utc)
    except ValueError:
        return name
    return taken.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _cells(row: Row, lang: Lang) -> list[str]:
    one, m = row.round, row.measured
    ratio = "—" if row.vs_baseline is None else f"{(row.vs_baseline + 1) * 100:.1f}%"
    return [
        str(one.number), _short(shown(one.idea)) or "—", word(f"state-{one.state}", lang), word(f"correct-{row.correctness}", lang), _figure(m, BUS, lang),
        _figure(m, "e2e_us", lang), _percent(row.vs_first), _percent(row.vs_kept), ratio, str(len(row.changed)),
    ]  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _figure(m: Measured | None, name: str, lang: Lang) -> str:
    value = m.value(name) if m is not None else None
    if m is None or value is None:
        return "—"
    return f"{value:.{2 if value >= 1 else 4}f}" + (f" {word('sim', lang)}" if m.simulated else "")


def _percent(value: float | None) -> str:
    return "—" if value is None else f"{value * 100:+.1f}%"


def _files(row: Row, lang: Lang) -> str:
    names = [f"{_SIGNS[change]}{shown(path)}" for path, change in row.changed.items()]
    more = f" {say('more', lang, count=len(names) - _MOST_FILES)}" if len(names) > _MOST_FILES else ""
    return say("changed", lang, number=row.round.number, files=" ".join(names[:_MOST_FILES])) + more


def verdict_line(found: Verdict, lang: Lang) -> str:
    """A verdict on a line of its own."""
    return verdict(found)[lang]


def shown(path: str) -> str:
    """A name as it can be printed: bytes that are no UTF-8 as escapes, nothing that moves the cursor."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode() for ch in text)
