"""A batch on one HTML page: no network, no script, inline SVG, light and dark, both languages behind a switch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from opdev.bench import charts
from opdev.bench.report import (
    PROOF,
    badge,
    inside,
    message,
    plain,
    proven,
    ratio,
    root_of,
    seconds,
    simulated,
    verified,
)
from opdev.bench.showing import comparison
from opdev.bench.texts import both, say
from opdev.precision.model import Both
from opdev.precision.page import bilingual, shell
from opdev.rules.model import Lang

_STYLE = """
:root{--st-success:#1a7f37;--st-unproven:#9a6700;--st-verify_failed:#cf222e;--st-baseline_failed:#8250df;--st-verify_error:#bc4c00;--st-pypto_failed:#bf3989;--st-verifier_skipped:#8c959f;--st-pending:#c4ccd4}
@media(prefers-color-scheme:dark){:root{--st-success:#3fb950;--st-unproven:#d29922;--st-verify_failed:#f85149;--st-baseline_failed:#ab7df8;--st-verify_error:#f0883e;--st-pypto_failed:#f778ba;--st-verifier_skipped:#6e7681;--st-pending:#484f58}}
.cards{display:flex;flex-wrap:wrap;gap:1rem;margin:1rem 0}.card{border:1px solid var(--line);border-radius:.5rem;padding:.5rem 1rem;background:var(--card);min-width:9rem}
.card strong{display:block;font-size:1.35rem}.banner{border:1px solid var(--odd);border-left-width:.35rem;border-radius:.3rem;padding:.5rem .8rem}
td.text,th.text{text-align:left;white-space:normal;min-width:13rem;overflow-wrap:anywhere}td.name,th.name{text-align:left}td.case{white-space:normal;overflow-wrap:anywhere;min-width:9rem;max-width:22rem}.charts section{margin:0}.dense th{white-space:normal}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.85rem;list-style:none;padding:0;margin:.3rem 0}
.swatch{display:inline-block;width:.8rem;height:.8rem;border-radius:.15rem;margin-right:.35rem;vertical-align:-.1rem}
.badge{font-weight:600;white-space:nowrap}svg .made,.swatch.made{fill:var(--bar);background:var(--bar)}svg .verified,.swatch.verified{fill:var(--odd);background:var(--odd)}
svg .fast{fill:var(--ok)}svg .slow{fill:var(--bad)}svg .even{stroke:var(--fg);stroke-dasharray:3 2}dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:.4rem 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere;min-width:0}.problems li{margin:.25rem 0;overflow-wrap:anywhere}.dense{font-size:.88rem}figure{max-width:100%}
@media(max-width:40rem){body{padding:.8rem}section{padding:.5rem}dl{grid-template-columns:1fr}td.text{min-width:11rem}}
""" + "".join(f"svg .st.{s},.swatch.{s}{{fill:var(--st-{s});background:var(--st-{s})}}.badge.{s}{{color:var(--st-{s})}}" for s in charts.STATUSES) + ".badge.pending,.badge.verifier_skipped{color:var(--soft)}"  # fmt: skip
_MOST_PROBLEMS = 500


def html(summary: Mapping[str, Any], lang: Lang, against: Mapping[str, Any] | None = None) -> str:
    """The whole page; ``lang`` is the language it opens in, ``against`` what ``comparing`` found beside another batch."""
    other = _against(against) if against is not None else []
    main = [*_head(summary), *other, *_charts(summary), *_cases(summary), *_evidence(summary), *_meta(summary)]
    return shell(say("r-d-title", lang), lang, "".join(main), _STYLE)


def _said(key: str, **values: object) -> Both:
    return _pair(both(key, **values))


def _pair(text: Mapping[str, str], root: str = "") -> Both:
    zh, en = text.get("zh", ""), text.get("en", "")
    return Both(plain(inside(zh, root) if root else zh), plain(inside(en, root) if root else en))


def _head(summary: Mapping[str, Any]) -> list[str]:
    meta, found = summary["meta"], summary["totals"]
    apart = found["by_backend"]
    out = [bilingual(_said("r-d-title"), "h1")]
    out.append(f"<div><code>{escape(plain(str(meta['artifact_root_dir'])))}</code></div>")
    out.append(f'<div class="soft">{escape(plain(str(meta["generated_at"])))}</div>')
    if (warning := simulated(summary)) is not None:
        out.append(bilingual(_said(warning), "p", "banner error"))
    perf = found.get("perf")
    cards: list[tuple[str, Both]] = [
        (f"{found['success']} / {found['total']}", _said("r-d-success")),
        (f"{apart['ascend']['success']} / {apart['ascend']['total']}", _said("r-g-card-ascend")),
        (f"{apart['sim']['success']} / {apart['sim']['total']}", _said("r-g-card-sim")),
        (str(found["unproven"]), _said("r-w-unproven")),
        (ratio(perf["speedup_geomean"]) if perf else "—", _said("r-d-geomean")),
    ]
    items = "".join(
        f'<div class="card"><strong>{escape(value)}</strong>{bilingual(name)}</div>' for value, name in cards
    )
    return [*out, f'<div class="cards">{items}</div>']


def _against(found: Mapping[str, Any]) -> list[str]:
    """The same lines as on a terminal, in both languages."""
    zh, en = comparison(found, "zh"), comparison(found, "en")
    lines = [Both(one.strip(), other.strip()) for one, other in zip(zh[1:], en[1:], strict=True)]
    items = "".join(f"<li>{bilingual(line)}</li>" for line in lines)
    return [f"<section>{bilingual(Both(zh[0], en[0]), 'strong')}<ul>{items}</ul></section>"]


def _charts(summary: Mapping[str, Any]) -> list[str]:
    cases = summary["cases"]
    by_level = {level: one["by_status"] for level, one in summary["totals"]["by_level"].items()}
    used = [status for status in charts.STATUSES if any(counts.get(status) for counts in by_level.values())]
    out = [_figure("r-g-levels", lambda lang: charts.levels(by_level, {s: say(f"r-w-{s}", lang) for s in used}))]
    out[0] += _legend([(status, _said(f"r-w-{status}")) for status in used])
    measured = [(case["key"], case["perf_speedup"]) for case in cases if _counts(case)]
    measured.sort(key=lambda pair: -pair[1])
    if measured:
        out.append(_figure("r-g-speedups", lambda _: charts.speedups(measured)) + _left_out(len(measured)))
    took = [(case["key"], case["pypto_duration_sec"] or 0.0, case["verifier_duration_sec"] or 0.0) for case in cases]
    took = sorted((one for one in took if one[1] + one[2] > 0), key=lambda one: -(one[1] + one[2]))
    if took:
        words = {lang: (say("r-g-made", lang), say("r-g-verified", lang)) for lang in ("zh", "en")}
        out.append(_figure("r-g-durations", lambda lang: charts.durations(took, words[lang])) + _left_out(len(took)))
        out[-1] += _legend([("made", _said("r-g-made")), ("verified", _said("r-g-verified"))])
    return [f'<div class="charts">{"".join(f"<section>{one}</section>" for one in out)}</div>']


def _counts(case: Mapping[str, Any]) -> bool:
    return case["overall_status"] == "success" and case["backend"] == "ascend" and bool(case["perf_speedup"])


def _figure(key: str, draw: Any) -> str:
    """A chart in both languages: its titles of bars are words too."""
    zh, en = draw("zh"), draw("en")
    svg = zh if zh == en else f'<div lang="zh">{zh}</div><div lang="en">{en}</div>'
    return f"<figure><figcaption>{bilingual(_said(key))}</figcaption>{svg}</figure>"


def _left_out(count: int) -> str:
    return bilingual(_said("r-g-most", most=charts.MOST, count=count), "div", "soft") if count > charts.MOST else ""


def _legend(items: Sequence[tuple[str, Both]]) -> str:
    lines = "".join(f'<li><span class="swatch {kind}"></span>{bilingual(text)}</li>' for kind, text in items)
    return f'<ul class="legend">{lines}</ul>'


def _cases(summary: Mapping[str, Any]) -> list[str]:
    names = ("case", "status", "category", "speedup", "made", "verified", "retry", "message")
    kinds = {"case": "name", "status": "name", "category": "name", "message": "text"}
    head = [f'<th class="{kinds.get(name, "")}">{bilingual(_said(f"r-c-{name}"))}</th>' for name in names]
    rows, root = [], root_of(summary)
    for case in summary["cases"]:
        badges = Both(badge(case, "zh"), badge(case, "en"))
        why = Both(plain(message(case, "zh", root)), plain(message(case, "en", root)))
        rows.append(
            f'<tr><td class="name case">{_text(case["key"])}</td><td class="name badge {_kind(case)}">{bilingual(badges)}</td>'
            f'<td class="name">{_text(case["failure_category"] or "")}</td><td>{ratio(case["perf_speedup"])}</td>'
            f"<td>{seconds(case['pypto_duration_sec'])}</td><td>{seconds(case['verifier_duration_sec'])}</td>"
            f'<td>{_text(case["pypto_retry_count"])}</td><td class="text soft">{bilingual(why)}</td></tr>'
        )
    return [bilingual(_said("r-d-cases"), "h2"), _table(head, rows)]


def _kind(case: Mapping[str, Any]) -> str:
    return case["overall_status"] if case["overall_status"] in charts.STATUSES else "verify_error"


def _evidence(summary: Mapping[str, Any]) -> list[str]:
    out = [bilingual(_said("r-d-evidence"), "h2")]
    some = [case for case in summary["cases"] if case["verdict"]]
    if some:
        head = [
            f'<th class="{"name" if name == "c-case" else ""}">{bilingual(_said(f"r-{name}"))}</th>' for name in PROOF
        ]
        out.append(_table(head, [_proof(case) for case in some]))
    out.append(bilingual(_said("r-d-limits"), "p", "soft"))
    found = summary["unproven"]
    if not found:
        count = verified(summary)
        return [*out, bilingual(Both(proven(count, "zh"), proven(count, "en")), "p", "pass" if count else "soft")]
    out.append(bilingual(_said("r-t-problems", count=len(found)), "p", "error"))
    root = root_of(summary)
    items = "".join(
        f"<li>{_text(one['case'] or '')} {bilingual(_pair(one['message'], root))}</li>"
        for one in found[:_MOST_PROBLEMS]
    )
    more = len(found) - _MOST_PROBLEMS
    items += f"<li>{bilingual(_said('r-t-more', count=more))}</li>" if more > 0 else ""
    return [*out, f'<ul class="problems">{items}</ul>']


def _proof(case: Mapping[str, Any]) -> str:
    facts = case["verdict"]
    share, largest = facts["least_matched"], facts["largest_error"]
    backend = _said("r-sim" if case["backend"] == "sim" else "r-ascend")
    drawn = _said("r-d-drawn", count=facts["drawn"])
    sha = str((case["evidence"] or {}).get("verification_sha256") or "-")
    cells = [
        _text(case["key"]), bilingual(backend), f"{len(facts['seeds'])} ({bilingual(drawn)})", f"{facts['outputs_passed']} / {facts['outputs']}",
        _text(", ".join(map(str, facts["launches"]))), f"{100 * share:.4g}%" if share is not None else "-",
        f"{largest:.3g}" if largest is not None else "-", _text(facts["cheat"]), f'<code title="{_text(sha)}">{_text(sha[:12])}</code>',
    ]  # fmt: skip
    return (
        "<tr>"
        + "".join(f'<td class="{"" if index else "name case"}">{one}</td>' for index, one in enumerate(cells))
        + "</tr>"
    )


def _meta(summary: Mapping[str, Any]) -> list[str]:
    shown = [(name, value) for name, value in summary["meta"].items() if value not in (None, "", [], {})]
    items = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in shown)
    return [bilingual(_said("r-d-meta"), "h2"), f"<dl>{items}</dl>"]


def _text(value: object) -> str:
    if value is None:
        return "-"
    return escape(plain(", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)))


def _table(head: Sequence[str], rows: Sequence[str]) -> str:
    return (
        f'<div class="scroll"><table class="dense"><thead><tr>{"".join(head)}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
