"""A report as one HTML file: no network, no script, inline SVG, light and dark, both languages behind a switch."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from opdev.precision.charts import heat, histogram
from opdev.precision.model import Both, Hypothesis, Report, Result, place
from opdev.precision.text import distinct_limits, limits_text, plain, short, table
from opdev.precision.texts import both
from opdev.rules.model import Lang

_STYLE = """
:root{--fg:#1b1f24;--soft:#59636e;--bg:#fff;--line:#d1d9e0;--card:#f6f8fa;--bar:#0969da;--ok:#1a7f37;--bad:#cf222e;--odd:#9a6700}
@media(prefers-color-scheme:dark){:root{--fg:#e6edf3;--soft:#9198a1;--bg:#0d1117;--line:#3d444d;--card:#151b23;--bar:#4493f8;--ok:#3fb950;
--bad:#f85149;--odd:#d29922;color-scheme:dark}}
*{box-sizing:border-box}body{margin:0 auto;max-width:76rem;padding:1.5rem;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,"Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif}
h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:1.6rem 0 .4rem}h3{font-size:1rem;margin:.8rem 0 .3rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;white-space:nowrap}
th,td{padding:.25rem .55rem;border-bottom:1px solid var(--line);text-align:right}th:first-child,td:first-child{text-align:left}
th{color:var(--soft);font-weight:600}.soft{color:var(--soft)}.pass{color:var(--ok)}.fail{color:var(--bad)}.error{color:var(--odd)}
.verdict{font-size:1.2rem;font-weight:700}section h2{margin-top:.3rem}section{border:1px solid var(--line);border-radius:.5rem;padding:.6rem 1rem;margin:1rem 0;background:var(--card)}
.charts{display:flex;flex-wrap:wrap;gap:1.5rem}figure{margin:.4rem 0}figcaption{color:var(--soft);font-size:.85rem}svg{max-width:100%;height:auto}
svg text{fill:var(--soft);font-size:11px}svg .bar{fill:var(--bar)}svg .axis{stroke:var(--line)}svg .cell{fill:var(--bad)}svg .frame{fill:none;stroke:var(--line)}
svg .wrong{fill:none;stroke:var(--fg)}code{overflow-wrap:anywhere}ul{margin:.3rem 0;padding-left:1.2rem}
.pick{position:absolute;opacity:0}.switch{float:right}.switch label{border:1px solid var(--line);padding:.1rem .6rem;cursor:pointer}
#zh:checked~main [lang=en],#en:checked~main [lang=zh]{display:none}#zh:checked~.switch [for=zh],#en:checked~.switch [for=en]{background:var(--bar);color:#fff}
#zh:focus-visible~.switch,#en:focus-visible~.switch{outline:2px solid var(--bar)}
"""


def page(report: Report, lang: Lang) -> str:
    """The whole page; ``lang`` is the language it opens in."""
    title = f"{report.operator + ' · ' if report.operator else ''}{both('t-title').zh if lang == 'zh' else both('t-title').en}"
    return shell(title, lang, "".join(_main(report)))


def shell(title: str, lang: Lang, main: str, style: str = "") -> str:
    """A page around ``main`` (HTML) that needs nothing from outside; ``style`` is CSS of its own."""
    picks = "".join(
        f'<input class="pick" type="radio" name="lang" id="{code}"{" checked" if code == lang else ""}>'
        for code in ("zh", "en")
    )
    head = (
        f'<!DOCTYPE html>\n<html lang="{"zh-CN" if lang == "zh" else "en"}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{_STYLE}{style}</style></head><body>{picks}"
        '<nav class="switch"><label for="zh">中文</label><label for="en">English</label></nav><main>'
    )
    return head + main + "</main></body></html>\n"


def bilingual(text: Both, tag: str = "span", style: str = "") -> str:
    """A text in both languages, one of which is shown."""
    kind = f' class="{style}"' if style else ""
    return f'<{tag} lang="zh"{kind}>{escape(text.zh)}</{tag}><{tag} lang="en"{kind}>{escape(text.en)}</{tag}>'


def _main(report: Report) -> list[str]:
    out = [bilingual(both("t-title"), "h1")]
    if report.operator:
        out.append(f"<div><strong>{escape(report.operator)}</strong> <code>{escape(report.root or '')}</code></div>")
    passed = sum(r.verdict == "pass" for r in report.results)
    total = both("t-total", passed=passed, all=len(report.results), seconds=report.seconds)
    out.append(
        f'<div><span class="verdict {report.verdict}">{bilingual(both(f"t-{report.verdict}"))}</span> {bilingual(total)}</div>'
    )
    if report.backend == "sim":
        out.append(bilingual(both("t-sim"), "p", "error"))
    for limits, of in distinct_limits(report):
        out.append(f"<div>{bilingual(both('t-standard'))}: {report.standard} · {bilingual(limits.source)}</div>")
        out.append(
            f"<div>{bilingual(both('t-limits'))}: <code>{escape(limits_text(limits))}</code>{escape(f' ({of})') if of else ''}</div>"
        )
    out.append(f'<div class="soft">{bilingual(both("t-engine"))}: {bilingual(report.engine_note)}</div>')
    out += [bilingual(note, "div", "soft") for note in report.notes]
    out.append(bilingual(both("t-table"), "h2"))
    out.append(_table(report))
    out += _hypotheses(report.hypotheses)
    for result in report.results:
        out += result_section(result)
    return out


def _table(report: Report) -> str:
    (zh_head, zh_rows), (en_head, en_rows) = table(report, "zh"), table(report, "en")
    head = "".join(f"<th>{_cell(z, e)}</th>" for z, e in zip(zh_head, en_head, strict=True))
    rows = []
    for result, zh, en in zip(report.results, zh_rows, en_rows, strict=True):
        cells = "".join(
            f'<td class="{result.verdict if i == 1 else ""}">{_cell(z, e)}</td>'
            for i, (z, e) in enumerate(zip(zh, en, strict=True))
        )
        rows.append(f"<tr>{cells}</tr>")
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _cell(zh: str, en: str) -> str:
    return escape(zh) if zh == en else bilingual(Both(zh, en))


def result_section(result: Result) -> list[str]:
    out = [
        f'<section><h2>{escape(result.name)} <span class="{result.verdict}">{bilingual(both(f"t-{result.verdict}"))}</span></h2>'
    ]
    out.append(f'<div class="soft"><code>{escape(result.output)}</code> ← <code>{escape(result.golden)}</code></div>')
    if result.reasons:
        out.append(
            "<ul>"
            + "".join(f'<li class="{result.verdict}">{bilingual(reason.text)}</li>' for reason in result.reasons)
            + "</ul>"
        )
    out += [bilingual(note, "div", "soft") for note in result.notes]
    if result.reference is not None and result.reference.ratios:
        out.append(
            f"<div>{bilingual(both('t-reference'))}: "
            + ", ".join(f"{r.name} {short(r.ratio)} ≤ {r.limit:g}" for r in result.reference.ratios)
            + "</div>"
        )
    charts = []
    for one in result.histograms:
        if one.bins:
            count = both("t-exact", count=one.exact)
            more = both("t-uncompared", count=one.uncompared) if one.uncompared else Both("", "")
            caption = f"{bilingual(both(f't-{one.kind}'))} · {bilingual(Both(count.zh + more.zh, count.en + more.en))}"
            charts.append(f"<figure><figcaption>{caption}</figcaption>{histogram(one)}</figure>")
    if result.heat is not None and (result.worst_tiles or result.mismatch_count):
        rows, columns = result.heat.view
        high, wide = result.heat.tile
        caption = bilingual(both("t-heat", rows=rows, columns=columns, high=high, wide=wide))
        charts.append(f"<figure><figcaption>{caption}</figcaption>{heat(result.heat)}</figure>")
    out.append(f'<div class="charts">{"".join(charts)}</div>' if charts else "")
    if result.verdict == "fail" and result.mismatches:
        out.append(bilingual(both("t-first", shown=len(result.mismatches), count=result.mismatch_count), "h3"))
        out.append(_mismatches(result))
    out += _hypotheses(result.hypotheses)
    return [*out, "</section>"]


def _mismatches(result: Result) -> str:
    names: tuple[str | Both, ...] = (
        "idx",
        "[ ]",
        both("t-actual"),
        both("t-expected"),
        both("t-difference"),
        both("t-allowed"),
    )
    head = "".join(f"<th>{escape(n) if isinstance(n, str) else bilingual(n)}</th>" for n in names)
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{escape(text)}</td>"
            for text in (
                str(one.index), place(one.coordinates), *map(plain, (one.actual, one.expected, one.difference, one.allowed)),
            )
        )
        + "</tr>"
        for one in result.mismatches
    )  # fmt: skip
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _hypotheses(found: Sequence[Hypothesis]) -> list[str]:
    if not found:
        return []
    items = "".join(
        f"<li>{bilingual(one.text)} <span class='soft'>({bilingual(both(f't-{one.confidence}'))})</span>"
        f"<div class='soft'>{bilingual(both('t-evidence'))}: {bilingual(one.evidence)}</div></li>"
        for one in found
    )
    return [bilingual(both("t-hypotheses"), "h3"), f"<ul>{items}</ul>"]
