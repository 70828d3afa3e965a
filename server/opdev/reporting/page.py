"""The operator on one HTML page: no network, no script, inline SVG, light and dark, both languages behind a switch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape

from opdev.precision.model import Both, Report
from opdev.precision.page import bilingual, result_section, shell
from opdev.reporting.cases import Outcome, Place, Row
from opdev.reporting.charts import errors
from opdev.reporting.page_perf import performance, rounds, source_list
from opdev.reporting.page_texts import both
from opdev.reporting.parts import Sources
from opdev.reporting.perpe import OnePe
from opdev.reporting.picture import Picture
from opdev.rounds.measured import BUS
from opdev.rules.model import Lang
from opdev.runs.store import EVENTS
from opdev.runs.texts import STATES

_STYLE = """
:root{--c0:#0969da;--c1:#bf3989;--c2:#1a7f37;--c3:#9a6700;--c4:#8250df;--c5:#bc4c00}
@media(prefers-color-scheme:dark){:root{--c0:#4493f8;--c1:#f778ba;--c2:#3fb950;--c3:#d29922;--c4:#ab7df8;--c5:#f0883e}}
.cards{display:flex;flex-wrap:wrap;gap:1rem;margin:1rem 0}.card{border:1px solid var(--line);border-radius:.5rem;padding:.5rem 1rem;background:var(--card);min-width:10rem}
.card strong{display:block;font-size:1.35rem}.tag{border:1px solid var(--odd);color:var(--odd);border-radius:.3rem;padding:0 .35rem;font-size:.8rem;white-space:nowrap}
.banner{border:1px solid var(--odd);border-left-width:.35rem;border-radius:.3rem;padding:.5rem .8rem}td.text,th.text{text-align:left;white-space:normal;min-width:8rem}
th.wraps{white-space:normal;min-width:5rem}.sources{list-style:none;padding:0;font-size:.85rem}td.pe.fail{color:inherit;font-weight:700}td.pe{background:color-mix(in srgb,var(--bad) var(--share,0%),transparent)}.legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.85rem;list-style:none;padding:0}
.swatch{display:inline-block;width:.8rem;height:.8rem;border-radius:50%;margin-right:.35rem;vertical-align:-.1rem;border:2px solid}
svg .curve{fill:none;stroke-width:2}svg .spread{stroke-width:1.5}svg .dashed.curve{stroke-dasharray:6 4}svg .limit{stroke:var(--soft);stroke-dasharray:2 3}
svg .point{stroke-width:2}svg .hollow.point{fill:var(--card)}svg .goal{stroke-width:2;stroke-dasharray:3 2}svg .verdict{fill:var(--bar)}svg .verdict.fail{fill:var(--bad)}svg .verdict.error{fill:var(--odd)}
.charts figure{max-width:33rem}.dense{font-size:.85rem}.dense th,.dense td{padding:.2rem .4rem}.dense td.text{min-width:6rem}svg .round{fill:var(--c0)}svg .round.reverted{fill:var(--line)}svg .round.dashed{fill-opacity:.45}
""" + "".join(
    f"svg .c{n}{{stroke:var(--c{n})}}svg .point.c{n}:not(.hollow){{fill:var(--c{n})}}.swatch.c{n}{{border-color:var(--c{n});background:var(--c{n})}}.swatch.hollow.c{n}{{background:none}}"
    for n in range(6)
)  # fmt: skip


def page(found: Picture, lang: Lang) -> str:
    """The whole page; ``lang`` is the language it opens in."""
    title = both("title")
    main = [*_head(found), *_cases(found), *_precision(found), *performance(found), *rounds(found), *_gates(found), *_runs(found)]  # fmt: skip
    return shell(f"{found.operator} · {title.zh if lang == 'zh' else title.en}", lang, "".join(main), _STYLE)


def simulated(found: Picture) -> bool:
    """Whether anything on the page is of the stand-in."""
    shown = [found.found.results.simulated, found.precision is not None and found.precision.backend == "sim"]
    shown += [g["backend"] == "sim" for g in found.perf["groups"]]
    shown += [row.measured is not None and row.measured.simulated for row in found.rounds]
    shown += [g.simulated for g in found.gates]
    return any(shown)


def _head(found: Picture) -> list[str]:
    out = [bilingual(both("title"), "h1"), f"<div><strong>{escape(found.operator)}</strong> <code>{escape(found.root)}</code></div>"]  # fmt: skip
    out.append(bilingual(both("made", when=_time(found.made)), "div", "soft"))
    if simulated(found):
        out.append(bilingual(both("sim"), "p", "banner error"))
    rows = found.found.results.rows
    real = [
        g["metrics"][BUS]["median"]
        for g in found.perf["groups"]
        if g["backend"] == "hardware" and g["side"] == "shmem" and g["used"] and g["metrics"].get(BUS)
    ]
    tag = _tag(found.found.results.simulated)
    opened = f"{sum(g.state == 'open' for g in found.gates)} / {sum(g.state != 'skipped' for g in found.gates)}"
    cards = [
        (both("card-cases"), f"{found.found.results.count('PASS')} / {len(rows)}{tag}"),
        (both("card-gates"), opened + _tag(any(g.simulated for g in found.gates))),
        (both("card-bus"), f"{max(real):.2f} GB/s" if real else bilingual(both("none"))),
    ]
    if found.runs:
        cards.append((both("card-run"), bilingual(Both(*STATES[found.runs[0].now])) + _tag(found.runs[0].backend == "sim")))  # fmt: skip
    items = "".join(f'<div class="card"><strong>{value}</strong>{bilingual(name)}</div>' for name, value in cards)
    return [*out, f'<div class="cards">{items}</div>']


def _tag(shown: bool) -> str:
    return f' <span class="tag">{bilingual(both("simulated"))}</span>' if shown else ""


def _time(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def _table(head: Sequence[str], rows: Sequence[str]) -> str:
    return f'<div class="scroll"><table><thead><tr>{"".join(head)}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _cases(found: Picture) -> list[str]:
    out = [bilingual(both("cases"), "h2")]
    rows = found.found.results.rows
    if not rows:
        return [*out, bilingual(both("no-cases"), "p", "soft")]
    out.append(bilingual(both("cases-note"), "p", "soft"))
    pes = {row.case.id: _pes(row, found.found.pes.get(row.case.id, ())) for row in rows}
    widest = max((pe + 1 for known in pes.values() for pe in known), default=0)
    head = [f"<th>{bilingual(both('case'))}</th>", f"<th>{bilingual(both('result'))}</th>", "<th>n_pes</th><th>dtype</th><th>scale</th>", "<th>MaxAE</th><th>MaxRE</th>", f'<th class="text">{bilingual(both("engine"))}</th>']  # fmt: skip
    head += [f"<th>PE {pe}</th>" for pe in range(widest)]
    head += [f'<th class="text">{bilingual(both("from"))}</th>']
    sources = Sources()
    lines = []
    for row in rows:
        one, case = row.outcome, row.case
        known = pes[case.id]
        kind = {"PASS": "pass", "FAIL": "fail"}.get(row.verdict, "soft")
        word = row.verdict if row.verdict in ("PASS", "FAIL") else bilingual(both("not-run"))
        doubt = f' <span class="tag">{bilingual(both("doubted"))}</span>' if one is not None and one.doubted else ""
        cells = (
            f'<td>{escape(case.id)}</td><td class="{kind}">{word}{_tag(one is not None and one.simulated)}{doubt}</td>'
        )
        cells += f"<td>{case.n_pes or '-'}</td><td>{escape(case.dtype or '-')}</td><td>{escape(case.scale or '-')}</td>"
        cells += "".join(
            f"<td>{escape(one.text(name) if one is not None else '') or '-'}</td>" for name in ("maxae", "maxre")
        )
        cells += _engine(one)
        cells += "".join(_pe(known.get(pe)) for pe in range(widest))
        place = bilingual(both("at", number=sources.number(one.place.run, one.place.log), line=one.place.line)) if one is not None else bilingual(Both(row.why["zh"], row.why["en"]))  # fmt: skip
        cells += f'<td class="text soft">{place}</td>'
        lines.append(f"<tr>{cells}</tr>")
    return [*out, _table(head, lines), source_list(sources)]


def _pes(row: Row, checked: Sequence[OnePe]) -> dict[int, OnePe]:
    """The PEs of a case: the checker's figures, else the engine's; one that either of them fails has failed."""
    known = {one.pe: one for one in checked}
    outcome = row.outcome
    if outcome is None or outcome.judged is None:
        return known
    place = Place(outcome.place.run, EVENTS, outcome.judged.line)
    for one in outcome.judged.pes:
        if one.pe is None:
            continue
        there = known.get(one.pe)
        if there is None or "MaxAE" not in there.values or one.verdict != "pass":
            # Several outputs of a PE: one that is wrong wins.
            known[one.pe] = OnePe(one.pe, one.values, "PASS" if one.verdict == "pass" else "FAIL", place)
    return known


def _engine(one: Outcome | None) -> str:
    """What the precision engine says of a case: its verdict, and of one that is wrong the first place; else why nothing."""
    if one is None or one.judged is None:
        return '<td class="text soft">-</td>'
    found = one.judged
    if not found.verdict:
        why = found.why
        text = bilingual(Both(why["zh"], why["en"])) if why is not None else bilingual(both("engine-none"))
        return f'<td class="text soft">{text}</td>'
    good = found.verdict == "pass"
    text = bilingual(
        both("engine-pass" if good else "engine-fail", passed=len(found.pes) - len(found.wrong), all=len(found.pes))
    )
    for pe in found.wrong[:1]:
        if pe.first is not None:
            text += f"<div>{escape(pe.name)}: {bilingual(Both(pe.first['zh'], pe.first['en']))}</div>"
    return f'<td class="text {"pass" if good else "fail"}">{text}</td>'


def _pe(one: OnePe | None) -> str:
    if one is None or "MaxAE" not in one.values:
        return "<td></td>"
    error, allowed = one.values["MaxAE"], one.values.get("atol", 0.0)
    share = min(100.0, 100 * error / allowed) if allowed > 0 else 100.0 if error else 0.0
    shade = f' style="--share:{share * 0.6:.0f}%"' if share else ""
    return f'<td class="pe {"fail" if one.verdict == "FAIL" else ""}"{shade} title="{escape(one.place.log)}:{one.place.line}">{error:.3g}</td>'


def _precision(found: Picture) -> list[str]:
    out = [bilingual(both("last"), "h2")]
    report = found.precision
    if report is None:
        return [*out, bilingual(found.why_no_precision or both("none"), "p", "soft")]
    outputs = report.results[0].output if report.results else ""
    data = outputs.removeprefix(found.root + "/").rpartition("/")[0] or "output"
    out.append(f"<p class='soft'>{bilingual(both('last-note', data=data))}{_tag(report.backend == 'sim')}</p>")
    out += _each_pe(report)
    for result in report.results:
        out += result_section(result)
    return out


def _each_pe(report: Report) -> list[str]:
    """The largest error on every PE beside what is allowed: a chart for each result, of several only where there is an error."""
    judged: dict[tuple[str, float], list[tuple[str, float, str, str]]] = {}
    for result in report.results:
        if result.metrics is None or result.limits is None:
            continue
        value = float(result.metrics.max_abs)
        name, _, which = result.name.partition("[")
        judged.setdefault((which.removesuffix("]"), result.limits.rtol), []).append((name, value, f"{value:.3g}", result.verdict))  # fmt: skip
    figures = ""
    for (which, rtol), found in judged.items():
        if len(judged) > 1 and not any(value for _, value, _, _ in found):
            continue
        text = bilingual(both("each-pe-note" if rtol else "each-pe-exact"))
        chart = errors(found, rtol or None, f"rtol = {rtol:g}")
        head = bilingual(both("each-pe")) + (f" · {escape(which)}" if which else "")
        figures += f"<figure><figcaption>{head}</figcaption>{chart}<figcaption>{text}</figcaption></figure>"
    return [f'<section><div class="charts">{figures}</div></section>'] if figures else []


def _gates(found: Picture) -> list[str]:
    out = [bilingual(both("gates"), "h2")]
    if not found.gates:
        return [*out, bilingual(both("no-gates"), "p", "soft")]
    head = [f'<th>{bilingual(both("phase"))}</th><th>{bilingual(both("state"))}</th><th class="text">{bilingual(both("why"))}</th>']  # fmt: skip
    lines = []
    for gate in found.gates:
        title = bilingual(Both(gate.phase.title["zh"], gate.phase.title["en"]))
        kind = {"open": "pass", "closed": "fail"}.get(gate.state, "soft")
        closed = gate.closed_by[0].detail if gate.closed_by else gate.why
        why = bilingual(Both(closed.get("zh", ""), closed.get("en", ""))) if closed else ""
        lines.append(f'<tr><td>{escape(gate.phase.id)} {title}</td><td class="{kind}">{bilingual(both(gate.state))}{_tag(gate.simulated)}</td><td class="text">{why}</td></tr>')  # fmt: skip
    return [*out, _table(head, lines)]


def _runs(found: Picture) -> list[str]:
    out = [bilingual(both("runs"), "h2")]
    if not found.runs:
        return [*out, bilingual(both("no-runs"), "p", "soft")]
    names = ("run", "request", "result", "backend", "started", "seconds", "message")
    head = [f'<th class="{"text" if name == "message" else ""}">{bilingual(both(name))}</th>' for name in names]
    lines = []
    for one in found.runs:
        state = bilingual(Both(*STATES[one.now]))
        kind = {"passed": "pass", "failed": "fail", "lost": "fail"}.get(one.now, "soft")
        backend = bilingual(both("simulated" if one.backend == "sim" else "hardware"))
        took = f"{one.ended - one.started:.1f} s" if one.ended is not None else "-"
        lines.append(
            f'<tr><td><code>{escape(one.id)}</code></td><td>{escape(one.request)}</td><td class="{kind}">{state}</td><td>{backend}</td>'
            f'<td>{_time(one.started)}</td><td>{took}</td><td class="text soft">{bilingual(found.said.get(one.id) or Both(one.message, one.message))}</td></tr>'
        )
    return [*out, _table(head, lines)]
