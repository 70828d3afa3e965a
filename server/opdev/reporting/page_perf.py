"""The page's part on performance: bandwidth and utilisation over payload, the medians with their logs, the rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from opdev.perf.formulas import FLOOR_PCT
from opdev.precision.page import bilingual
from opdev.reporting.charts import COLOURS, Curve, Limit, Point, bars, curves, size
from opdev.reporting.page_texts import both
from opdev.reporting.parts import Sources
from opdev.reporting.picture import Picture
from opdev.rounds.measured import BUS

_PCT = "bandwidth_utilization_pct"
_SHOWN = (
    ("e2e_us", "e2e_us"), ("kernel_us", "kernel_us"), (BUS, "kernel_bus_bandwidth_GBps"), ("algo_bandwidth_GBps", "algo_bandwidth_GBps"),
    (_PCT, "utilization%"),
)  # fmt: skip
_STATES = {"base": "base", "open": "begun", "kept": "kept", "reverted": "reverted"}
_JUDGED = ("pass", "fail", "noisy")
_GOOD = 80.0
"""Share of the peak beyond which a link is used about as well as it gets."""
Group = Mapping[str, Any]
Key = tuple[str, str, int, str]


def performance(found: Picture) -> list[str]:
    """Charts and table of everything that was measured."""
    out = [bilingual(both("bandwidth"), "h2")]
    groups = [g for g in found.perf["groups"] if g["used"]]
    if not groups:
        return [*out, bilingual(both("no-perf"), "p", "soft")]
    keys = list(dict.fromkeys(_key(g) for g in groups))
    goals = _goals(found.perf)
    drawn = [_curve(groups, key, n, BUS) for n, key in enumerate(keys)]
    chart = curves([*drawn, *_goal_curves(groups, keys, goals, share=False)], "GB/s")
    used = [key for key in keys if any(_key(g) == key and g["metrics"].get(_PCT) for g in groups)]
    ours = [_curve(groups, key, keys.index(key), _PCT) for key in used]
    ours += _goal_curves(groups, keys, goals, share=True)
    limits = [Limit(_peak(groups), y=100.0), Limit(f"{_GOOD:g}%", y=_GOOD), Limit(f"{FLOOR_PCT:g}%", y=FLOOR_PCT), *_latency(groups)]  # fmt: skip
    second = curves(ours, "%", limits, logarithmic=True) if used else ""
    note = both("goal-note", line=f"{next(iter(goals.values()))[1]:g}") if goals else None
    below = f"<figcaption>{bilingual(note)}</figcaption>" if note is not None else ""
    figures = f"<figure><figcaption>kernel_bus_bandwidth_GBps</figcaption>{chart}{below}</figure>"
    if second:
        text = bilingual(both("utilisation-note", floor=FLOOR_PCT, good=_GOOD))
        figures += f"<figure><figcaption>{bilingual(both('utilisation'))}</figcaption>{second}<figcaption>{text}</figcaption></figure>"
    return [*out, f'<section><div class="charts">{figures}</div>{_legend(keys)}</section>', bilingual(both("metrics"), "h3"), _medians(found, groups)]  # fmt: skip


def _goals(document: Mapping[str, Any]) -> dict[int, tuple[float, float]]:
    """(kernel_bus to be reached in GB/s, its share of the baseline in percent) of the groups a baseline decides on."""
    every = document["groups"]
    found: dict[int, tuple[float, float]] = {}
    for one in document["comparisons"]:
        if one["by"] != "baseline" or one["verdict"] not in _JUDGED or one["baseline"] is None:
            continue
        value = every[one["baseline"]]["metrics"].get(BUS)
        if value and one["line_pct"]:
            found[one["group"]] = value["median"] * one["line_pct"] / 100, one["line_pct"]
    return {id(every[group]): goal for group, goal in found.items()}


def _goal_curves(
    groups: Sequence[Group], keys: Sequence[Key], goals: Mapping[int, tuple[float, float]], *, share: bool
) -> list[Curve]:
    """What is to be reached, in GB/s or as a share of the peak."""
    out = []
    for n, key in enumerate(keys):
        points = []
        for g in groups:
            if _key(g) != key or id(g) not in goals or (share and not g["peak_bandwidth_GBps"]):
                continue
            bus, line = goals[id(g)]
            value = 100 * bus / g["peak_bandwidth_GBps"] if share else bus
            points.append(Point(g["payload_bytes"], value, value, value, f"{g['case']}: {line:g}% × {100 * bus / line:.4g} GB/s"))  # fmt: skip
        if points:
            out.append(Curve(points, n, goal=True))
    return out


def _peak(groups: Sequence[Group]) -> str:
    """The line at 100 %: with the peak where all that is drawn has the same."""
    peaks = {g["peak_bandwidth_GBps"] for g in groups if g["side"] == "shmem" and g["peak_bandwidth_GBps"]}
    return f"100% = {peaks.pop():g} GB/s" if len(peaks) == 1 else "100%"


def _key(group: Group) -> Key:
    return group["side"], group["backend"], group["n_pes"] or 0, group["dtype"] or ""


def _curve(groups: Sequence[Group], key: Key, colour: int, metric: str) -> Curve:
    points = []
    for g in groups:
        value = g["metrics"].get(metric)
        if _key(g) == key and value and g["payload_bytes"] > 0:
            title = f"{g['case']}: {value['median']:.4g} ({value['low']:.4g} – {value['high']:.4g}), {size(g['payload_bytes'])}"
            points.append(Point(g["payload_bytes"], value["median"], value["low"], value["high"], title))
    return Curve(points, colour, dashed=key[1] == "sim", hollow=key[0] == "baseline")


def _latency(groups: Sequence[Group]) -> list[Limit]:
    """Utilisation by payload byte in the shortest kernel time that was measured, for the PEs that reached it."""
    ours = [
        g for g in groups if g["side"] == "shmem" and g["metrics"].get("kernel_us") and g["peak_bandwidth_GBps"] and g["bus_factor"]
    ]  # fmt: skip
    backends = {g["backend"] for g in ours}
    chosen = [g for g in ours if g["backend"] == "hardware"] if "hardware" in backends else ours
    first = min(chosen, key=lambda g: g["metrics"]["kernel_us"]["low"], default=None)
    if first is None or first["metrics"]["kernel_us"]["low"] <= 0:
        return []
    shortest = first["metrics"]["kernel_us"]["low"]
    slope = first["bus_factor"] / (shortest * 1e-6) / 1e9 / first["peak_bandwidth_GBps"] * 100
    return [Limit(f"{shortest:.4g} us", slope=slope)]


def _legend(keys: Sequence[Key]) -> str:
    items = []
    for n, (side, backend, pes, dtype) in enumerate(keys):
        hollow = side == "baseline"
        name = " ".join(word for word in (f"{pes} PE" if pes else "", escape(dtype)) if word)
        words = [name, bilingual(both("baseline"))] if hollow else [name]
        tag = f' <span class="tag">{bilingual(both("simulated"))}</span>' if backend == "sim" else ""
        items.append(f'<li><span class="swatch c{n % COLOURS}{" hollow" if hollow else ""}"></span>{" ".join(words)}{tag}</li>')  # fmt: skip
    return f'<ul class="legend">{"".join(items)}</ul>'


def _medians(found: Picture, groups: Sequence[Group]) -> str:
    every = found.perf["groups"]
    verdicts = {c["group"]: c for c in found.perf["comparisons"]}
    head = f"<th>{bilingual(both('case'))}</th><th>{bilingual(both('backend'))}</th><th>n_pes</th><th>dtype</th><th>payload</th>"
    head += f"<th>{bilingual(both('verdict'))}</th>"
    head += "".join(f'<th class="wraps">{name.replace("_", "_<wbr>")}</th>' for _, name in _SHOWN)
    head += f'<th class="text">{bilingual(both("from"))}</th>'
    rows = []
    sources = Sources()
    for g in groups:
        real = g["backend"] == "hardware"
        backend = bilingual(both("hardware" if real else "simulated")) + (f" · {bilingual(both('baseline'))}" if g["side"] == "baseline" else "")  # fmt: skip
        cells = f"<td>{escape(g['case'])}</td><td>{backend}</td><td>{g['n_pes'] or '-'}</td><td>{escape(g['dtype'] or '-')}</td><td>{size(g['payload_bytes'])}</td>"
        said = verdicts.get(every.index(g))
        word = bilingual(both(said["verdict"])) if said is not None else ""
        kind = said["verdict"] if said is not None and said["verdict"] in ("pass", "fail") else "soft"
        cells += f'<td class="{kind}">{word}</td>'
        for metric, _ in _SHOWN:
            value = g["metrics"].get(metric)
            cells += f"<td>{value['median']:.5g}</td>" if value else "<td>-</td>"
        cells += f'<td class="text soft">{_sources(g, sources)}</td>'
        rows.append(f"<tr>{cells}</tr>")
    table = f'<div class="scroll"><table class="dense"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    return table + source_list(sources)


def _sources(group: Group, sources: Sources) -> str:
    out = []
    for s in group["sources"]:
        out.append(bilingual(both("at", number=sources.number(s["run"] or "", s["log"]), line=_ranges(s["lines"]))))
    return "; ".join(out)


def _ranges(lines: Sequence[int]) -> str:
    """``1–6, 9``; of many the first."""
    found: list[list[int]] = []
    for line in lines:
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    texts = [f"{first}–{last}" if last > first else str(first) for first, last in found]
    return ", ".join(texts[:4]) + (" …" if len(texts) > 4 else "")


def source_list(sources: Sources) -> str:
    """The runs and logs behind the numbers in brackets."""
    items = "".join(f"<li>[{n}] {escape(run)} <code>{escape(log)}</code></li>" for n, (run, log) in enumerate(sources.known, 1))  # fmt: skip
    return f'<ul class="sources soft">{items}</ul>' if items else ""


def rounds(found: Picture) -> list[str]:
    """The rounds with what each gained; simulated figures are drawn pale and gain nothing."""
    out = [bilingual(both("rounds"), "h2")]
    if not found.rounds:
        return [*out, bilingual(both("no-rounds"), "p", "soft")]
    drawn = []
    lines = []
    for row in found.rounds:
        one, m = row.round, row.measured
        bus = m.value(BUS) if m is not None else None
        sim = m is not None and m.simulated
        if bus is not None:
            style = ("reverted " if one.state == "reverted" else "") + ("dashed" if sim else "")
            drawn.append((f"R{one.number}", bus, (f"{_signed(row.vs_first)}\n" if row.vs_first is not None else "") + f"{bus:.4g}", style))  # fmt: skip
        tag = f' <span class="tag">{bilingual(both("simulated"))}</span>' if sim else ""
        value = f"{bus:.5g}{tag}" if bus is not None else bilingual(both("none"))
        where = f"<code>{escape(row.retest.run)}</code>" if row.retest is not None and row.retest.run else "-"
        lines.append(
            f'<tr><td>{one.number}</td><td class="text">{escape(one.idea) or "-"}</td><td>{bilingual(both(_STATES[one.state]))}</td>'
            f"<td>{row.correctness.upper() if row.correctness in ('pass', 'fail') else '-'}</td><td>{value}</td><td>{_signed(row.vs_first)}</td><td>{_signed(row.vs_kept)}</td><td>{_share(row.vs_baseline)}</td><td>{where}</td></tr>"
        )
    names = ("round", "idea", "state", "correctness")
    head = "".join(f'<th class="{"text" if name == "idea" else ""}">{bilingual(both(name))}</th>' for name in names)
    head += f'<th class="wraps">{BUS.replace("_", "_<wbr>")}</th>'
    head += f"<th>{bilingual(both('vs-first'))}</th><th>{bilingual(both('vs-kept'))}</th><th>{bilingual(both('of-baseline'))}</th><th>{bilingual(both('run'))}</th>"
    table = f'<div class="scroll"><table class="dense"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    chart = bars(drawn, "GB/s")
    return [*out, f"<section>{chart}</section>" if chart else "", table]


def _share(more: float | None) -> str:
    return f"{(more + 1) * 100:.1f}%" if more is not None else "-"


def _signed(share: float | None) -> str:
    return f"{share * 100:+.1f}%" if share is not None else "-"
