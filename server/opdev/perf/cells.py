"""Figures of a performance report as they stand in its tables, and the lines they are from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opdev.perf.formulas import delta_pct, percent
from opdev.perf.rows import StepRow
from opdev.perf.tables import BUS, shown


def table(header: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in cells) + " |"

    return "\n".join([line(header), "|" + "---|" * len(header), *map(line, rows)])


def median(group: Mapping[str, Any], name: str) -> str:
    found = group["metrics"].get(name)
    return shown(found["median"]) if found else "-"


def value(value: float | None) -> str:
    return shown(value) if value is not None else "-"


def plain(value: float | None) -> str:
    return f"{value:.6g}" if value is not None else "-"


def signed(value: float | None) -> str:
    return f"{value:+.1f}%" if value is not None else "-"


def _pair(ours: Mapping[str, Any], theirs: Mapping[str, Any] | None, name: str) -> tuple[float, float] | None:
    a, b = ours["metrics"].get(name), theirs["metrics"].get(name) if theirs is not None else None
    return (a["median"], b["median"]) if a and b else None


def ratio(ours: Mapping[str, Any], theirs: Mapping[str, Any] | None, name: str) -> str:
    pair = _pair(ours, theirs, name)
    value = percent(*pair) if pair is not None else None
    return f"{value:.1f}%" if value is not None else "-"


def delta(ours: Mapping[str, Any], theirs: Mapping[str, Any] | None, name: str) -> str:
    pair = _pair(ours, theirs, name)
    return signed(delta_pct(*pair)) if pair is not None else "-"


def where(run: str | None, log: str) -> str:
    return f"run `{run}` 的 `{log}`" if run else f"`{log}`"


def sources(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    out = []
    for g in groups:
        side = "（基线）" if g["side"] == "baseline" else ""
        out.append(f"- 来源：{g['case']}{side}：{places(g['sources'])}，采用 {g['used']} 次，取中位数{_noise(g)}")
    return ["", *out] if out else []


def places(found: Sequence[Mapping[str, Any]]) -> str:
    """Runs, logs and lines as a document names them."""
    return "；".join(f"{where(s['run'], s['log'])} 第 {_ranges(s['lines'])} 行" for s in found)


def from_steps(steps: Sequence[StepRow]) -> list[str]:
    """Where the figures of retests are from, a line each, with a blank line before them."""
    out = [f"- 来源：{one.name}：{one.sources}，取中位数" for one in steps if one.figures and one.sources]
    return ["", *out] if out else []


def _noise(group: Mapping[str, Any]) -> str:
    found = group["metrics"].get(BUS)
    return f"，离散 {found['spread_pct']:.1f}%" if found and found["spread_pct"] is not None else "，波动未知"


def _ranges(lines: Sequence[int]) -> str:
    """``3–5、9`` for 3, 4, 5, 9."""
    out: list[list[int]] = []
    for line in lines:
        if out and line == out[-1][1] + 1:
            out[-1][1] = line
        else:
            out.append([line, line])
    return "、".join(str(a) if a == b else f"{a}–{b}" for a, b in out)
