"""A report for the terminal: a table with a line for each output, then what is wrong with those that fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opdev.columns import pad, width
from opdev.precision.model import Hypothesis, Limits, Number, Report, Result, place
from opdev.precision.texts import said, say
from opdev.rules.model import Lang

_MARKS = {"pass": "✓", "fail": "✗", "error": "!"}
_COLOURS = {"pass": "32", "fail": "31", "error": "33"}
_TILES = 3


def render(report: Report, lang: Lang, *, colour: bool = False) -> str:
    """The whole report, with a newline at its end."""
    return "\n".join(_lines(report, lang, colour)) + "\n"


def _lines(report: Report, lang: Lang, colour: bool) -> Iterator[str]:
    def paint(text: str, verdict: str) -> str:
        return f"\x1b[{_COLOURS[verdict]}m{text}\x1b[0m" if colour else text

    if report.operator:
        yield f"{report.operator}  {report.root}"
    if report.backend == "sim":
        yield say("t-sim", lang)
    for note in report.notes:
        yield said(note, lang)
    for limits, of in distinct_limits(report):
        yield f"{say('t-standard', lang)}: {report.standard}  {said(limits.source, lang)}"
        yield f"{say('t-limits', lang)}: {limits_text(limits)}{f'  ({of})' if of else ''}"
    yield f"{say('t-engine', lang)}: {said(report.engine_note, lang)}"
    yield ""
    head, rows = table(report, lang)
    widths = [max(width(row[i]) for row in (head, *rows)) for i in range(len(head))]
    yield _row(head, widths)
    for row, result in zip(rows, report.results, strict=True):
        line = _row(row, widths)
        yield paint(line, result.verdict) if result.verdict != "pass" else line
    for result in report.results:
        yield from _details(result, lang)
    if report.hypotheses:
        yield ""
        yield from _hypotheses(report.hypotheses, lang)
    passed = sum(r.verdict == "pass" for r in report.results)
    yield ""
    verdict = say(f"t-{report.verdict}", lang)
    total = say("t-total", lang, passed=passed, all=len(report.results), seconds=report.seconds)
    yield paint(f"{_MARKS[report.verdict]} {verdict}", report.verdict) + f"  {total}"


def table(report: Report, lang: Lang) -> tuple[list[str], list[list[str]]]:
    """The head and a row for each output, as the text and the page show them."""
    if report.standard == "shmem":
        head = [
            "MaxAE",
            "MaxRE",
            "MeanRE",
            "RMSE",
            "precision_percent",
            "eb",
            say("t-basic", lang),
            say("t-reference", lang),
        ]
    else:
        head = ["max_abs_error", "matched_ratio", "NaN", "Inf"]
    head = [
        say("t-output", lang),
        say("t-verdict", lang),
        "dtype",
        say("t-elements", lang),
        say("t-wrong", lang),
        *head,
    ]
    return head, [_cells(result, report.standard, lang) for result in report.results]


def _cells(result: Result, standard: str, lang: Lang) -> list[str]:
    m = result.metrics
    verdict = f"{_MARKS[result.verdict]} {say(f't-{result.verdict}', lang)}"
    dtype = result.dtype or "-"
    if result.golden_dtype is not None and result.golden_dtype != result.dtype:
        dtype += f" / {result.golden_dtype}"
    if m is None:
        return [result.name, verdict, dtype, *["-"] * (10 if standard == "shmem" else 6)]
    wrong = str(result.mismatch_count)
    if standard == "pypto":
        more = [
            short(m.max_abs),
            f"{m.matched_ratio:.6f}",
            f"{m.nan_output}/{m.nan_golden}",
            f"{m.inf_output}/{m.inf_golden}",
        ]
    else:
        against = "-" if result.reference is None else _word(result.reference.passed, lang)
        percent = f"{m.precision_percent:.4f}" if m.within == m.elements or m.precision_percent < 99.9999 else "<100"
        more = [
            *map(short, (m.max_abs, m.max_rel, m.mean_rel, m.rmse)),
            percent,
            short(m.eb),
            _word(result.basic, lang),
            against,
        ]
    return [result.name, verdict, dtype, str(m.elements), wrong, *more]


def _word(passed: bool | None, lang: Lang) -> str:
    return "-" if passed is None else say("t-pass" if passed else "t-fail", lang)


def short(value: Number) -> str:
    """A number as the checkers print it."""
    return value if isinstance(value, str) else f"{value:.6e}"


def plain(value: Number) -> str:
    """A number as people read it: whole ones whole."""
    return value if isinstance(value, str) else f"{value}" if isinstance(value, int) else f"{value:.9g}"


def distinct_limits(report: Report) -> list[tuple[Limits, str]]:
    """The limits that were held against the outputs; where there are several, each with the results it is of."""
    found: dict[str, tuple[Limits, dict[str, None]]] = {}
    for result in report.results:
        if result.limits is not None:
            name = result.name.partition("[")[2].removesuffix("]") or result.name
            found.setdefault(limits_text(result.limits), (result.limits, {}))[1][name] = None
    return [(limits, ", ".join(names) if len(found) > 1 else "") for limits, names in found.values()]


def limits_text(limits: Limits) -> str:
    """The limits in one line."""
    parts = [f"dtype={limits.dtype}"]
    if limits.op_type:
        parts.append(f"op_type={limits.op_type}")
    parts.append("|a-g| = 0" if limits.exact else f"rtol={limits.rtol:.9g} atol={limits.atol:.9g}")
    if limits.standard == "shmem":
        parts += ["precision_percent=100", f"eb<={limits.eb:.9g}"]
    elif not limits.exact:
        parts += [f"matched_ratio>={limits.matched_ratio:g}", f"max_abs_error<={limits.max_abs:g}"]
    return " ".join(parts)


def _details(result: Result, lang: Lang) -> Iterator[str]:
    if result.verdict == "pass" and not result.notes:
        return
    yield ""
    yield f"{result.name}: {result.output}  ←  {result.golden}"
    for reason in result.reasons:
        yield f"  {_MARKS[result.verdict]} {said(reason.text, lang)}"
    for note in result.notes:
        yield f"  - {said(note, lang)}"
    if result.reference is not None and result.reference.ratios:
        ratios = ", ".join(f"{r.name} {short(r.output)}/{short(r.reference)} = {short(r.ratio)} <= {r.limit:g}" for r in result.reference.ratios)  # fmt: skip
        yield f"  {say('t-reference', lang)}: {ratios}"
    if result.verdict == "pass":
        return
    if result.mismatches:
        yield f"  {say('t-first', lang, shown=len(result.mismatches), count=result.mismatch_count)}"
        for one in result.mismatches:
            where = place(one.coordinates)
            yield (
                f"    idx={one.index} {where}  {say('t-actual', lang)} {plain(one.actual)}  {say('t-expected', lang)} {plain(one.expected)}"
                f"  {say('t-difference', lang)} {plain(one.difference)}  {say('t-allowed', lang)} {plain(one.allowed)}"
            )
    worst = [tile for tile in result.worst_tiles if tile.mismatches][:_TILES]
    if worst:
        yield f"  {say('t-tiles', lang)}"
        for tile in worst:
            rows, columns = f"{tile.rows[0]}:{tile.rows[1]}", f"{tile.columns[0]}:{tile.columns[1]}"
            yield f"    [{rows}, {columns}]  {say('t-wrong', lang)} {tile.mismatches}/{tile.elements}  MaxAE {short(tile.worst)}"
    for line in _hypotheses(result.hypotheses, lang):
        yield f"  {line}"


def _hypotheses(found: Sequence[Hypothesis], lang: Lang) -> Iterator[str]:
    if not found:
        return
    yield say("t-hypotheses", lang)
    for one in found:
        yield f"  ? {said(one.text, lang)} ({say(f't-{one.confidence}', lang)})"
        yield f"    {say('t-evidence', lang)}: {said(one.evidence, lang)}"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(pad(cell, w) for cell, w in zip(cells, widths, strict=True)).rstrip()
