"""A document as tables for a terminal, with the columns the field's own reports have.

Simulated rows say so in every table's title, and are never given a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opdev.columns import grid
from opdev.perf import texts
from opdev.perf.formulas import percent
from opdev.perf.rows import RoundRow
from opdev.rules.model import Lang

BUS = "kernel_bus_bandwidth_GBps"
_MOST_PROBLEMS = 8
_ROWS = ((BUS, 2), ("e2e_us", 2), ("kernel_us", 2))


class Tables:
    """Shows documents in one language."""

    def __init__(self, lang: Lang, *, bold: bool = False) -> None:
        self._lang, self._bold = lang, bold

    def text(self, document: Mapping[str, Any]) -> str:
        """Bandwidth, latency, comparison, frames, what is lacking and what is wrong; always ends in a line end."""
        groups: Sequence[Mapping[str, Any]] = document["groups"]
        out: list[str] = []
        if not any(g["used"] for g in groups):
            out.append(self._say("unusable" if document["problems"] else "nothing"))
        for backend in ("hardware", "sim"):
            usable = [g for g in groups if g["backend"] == backend and g["used"]]
            if usable:
                out += self._bandwidth(usable, backend) + self._latency(usable, backend)
                out += self._comparisons(document, backend)
            out += self._frames([f for f in document["frames"] if f["backend"] == backend], backend)
        while out and not out[-1]:
            out.pop()
        out += [f"{self._say('note')}: {text[self._lang]}" for text in document["lacking"]]
        out += self._problems(document)
        return "\n".join(out).rstrip("\n") + "\n"

    def comparison(self, found: Mapping[str, Any], names: tuple[str, str]) -> str:
        """A against B, a block for each thing that was measured; ends in a line end."""
        out: list[str] = []
        if not found["rows"]:
            out.append(self._say("nothing"))
        for row in found["rows"]:
            head = " ".join(str(w) for w in (f"{row['n_pes']} PE" if row["n_pes"] else "", row["dtype"], f"{row['payload_bytes']:.0f} B") if w)  # fmt: skip
            out.append(f"{self._title('against', row['backend'])}: {head}")
            rows = [
                [name, *(shown(f[k]) if f[k] is not None else "-" for k in ("a", "b")), f"{f['ratio_pct']:.1f}%" if f["ratio_pct"] is not None else "-"]
                for name, f in row["figures"].items()
            ]  # fmt: skip
            out += [*grid([self._say("metric"), f"A {names[0]}", f"B {names[1]}", "A/B"], rows)]
            out += [f"{self._say(row['verdict'])}: {row['why'][self._lang]}", ""]
        for side in ("a", "b"):
            out += self._problems(found[side])
        return "\n".join(out).rstrip("\n") + "\n"

    def rounds(self, rows: Sequence[RoundRow]) -> str:
        """The optimisation rounds, a row each; empty where there is none.  Figures of hardware only."""
        if not any(r.number for r in rows):
            return ""
        header = ["Round", self._say("idea"), BUS, self._say("vs-first"), self._say("vs-kept"), self._say("vs-baseline"), "e2e_us", "Correctness", self._say("decision")]  # fmt: skip
        cells = [
            [
                str(r.number), r.idea or "-", shown(r.bus) if r.bus is not None else "-", _signed(r.vs_first), _signed(r.vs_kept),
                f"{r.vs_baseline:.1f}%" if r.vs_baseline is not None else "-", shown(r.e2e_us) if r.e2e_us is not None else "-", r.correctness, r.decision,
            ]
            for r in rows
        ]  # fmt: skip
        return "\n".join(["", self._title("rounds", "hardware"), *grid(header, cells, 2)]) + "\n"

    def _say(self, key: str, **values: object) -> str:
        return texts.say(key, self._lang, **values)

    def _title(self, key: str, backend: str) -> str:
        mark = f"  [{self._say('sim-mark')}]" if backend == "sim" else ""
        title = self._say(key)
        return (f"\x1b[1m{title}\x1b[0m" if self._bold else title) + mark

    def _bandwidth(self, groups: Sequence[Mapping[str, Any]], backend: str) -> list[str]:
        header = [
            self._say("scale"), "case_id", "PE", BUS, "algo_bandwidth_GBps", "e2e_bus_bandwidth_GBps", "utilization%",
            self._say("spread"),
        ]  # fmt: skip
        rows = [
            [
                g["tier"], _label(g), _pes(g), _median(g, BUS, 2), _median(g, "algo_bandwidth_GBps", 2),
                _median(g, "e2e_bus_bandwidth_GBps", 2), _median(g, "bandwidth_utilization_pct", 2), _spread(g, BUS),
            ]
            for g in groups
        ]  # fmt: skip
        return [self._title("bandwidth", backend), *grid(header, rows, 2), ""]

    def _latency(self, groups: Sequence[Mapping[str, Any]], backend: str) -> list[str]:
        header = [self._say("scale"), "case_id", "PE", "e2e_us", "kernel_us", self._say("repeats"), self._say("spread")]
        rows = [
            [g["tier"], _label(g), _pes(g), _median(g, "e2e_us", 2), _median(g, "kernel_us", 2), str(g["used"]), _spread(g, "kernel_us")]
            for g in groups
        ]  # fmt: skip
        notes = [
            f"{_label(g)}: {self._say('unused', count=g['launches'] - g['used'])}"
            for g in groups
            if g["launches"] > g["used"]
        ]
        return [self._title("latency", backend), *grid(header, rows, 2), *notes, ""]

    def _comparisons(self, document: Mapping[str, Any], backend: str) -> list[str]:
        groups = document["groups"]
        out: list[str] = []
        for one in document["comparisons"]:
            ours = groups[one["group"]]
            if ours["backend"] != backend or backend == "sim" or not ours["used"]:
                continue
            verdict = self._say(one["verdict"])
            theirs = groups[one["baseline"]] if one["baseline"] is not None else None
            if theirs is not None and one["verdict"] in ("pass", "fail", "noisy"):
                base = theirs["api"] or self._say("baseline")
                header = [self._say("metric"), "SHMEM", base, "SHMEM/baseline", self._say("met")]
                rows = [
                    [
                        name, _median(ours, name, digits), _median(theirs, name, digits),
                        _ratio(ours, theirs, name), verdict if name == BUS else "-",
                    ]
                    for name, digits in _ROWS
                ]  # fmt: skip
                out += [f"{self._title('comparison', backend)}: {_label(ours)}", *grid(header, rows)]
            out += [f"{_label(ours)}: {verdict}: {one['why'][self._lang]}", ""]
        return out

    def _frames(self, frames: Sequence[Mapping[str, Any]], backend: str) -> list[str]:
        if not frames:
            return []
        header = [self._say("frame"), "Phase", "Avg us", "Max core us", "Count", "% E2E"]
        rows = [
            [
                str(f["frame"]), f["phase"] or "-", f"{f['avg_us']:.3f}", f"{f['max_core_us']:.3f}" + (" !" if f["tail"] else ""),
                str(f["count"]), f"{f['e2e_pct']:.1f}" if f["e2e_pct"] is not None else "-",
            ]
            for f in frames[:64]
        ]  # fmt: skip
        return [self._title("frames", backend), *grid(header, rows, 2), ""]

    def _problems(self, document: Mapping[str, Any]) -> list[str]:
        found = document["problems"]
        if not found:
            return []
        out = ["", f"{self._say('problems')}:"]
        out += [f"  {p['log']}:{p['line']}: {p['text'][self._lang]}" for p in found[:_MOST_PROBLEMS]]
        if document["problem_count"] > _MOST_PROBLEMS:
            out.append("  " + self._say("more", count=document["problem_count"] - _MOST_PROBLEMS))
        return out


def _label(group: Mapping[str, Any]) -> str:
    return str(group["case"] or "-") + (f" ({group['api'] or 'baseline'})" if group["side"] == "baseline" else "")


def _pes(group: Mapping[str, Any]) -> str:
    return str(group["n_pes"] or "-")


def _median(group: Mapping[str, Any], name: str, digits: int) -> str:
    found = group["metrics"].get(name)
    return shown(found["median"], digits) if found else "-"


def shown(value: float, digits: int = 2) -> str:
    """A figure with so many digits behind the point, and more where it would be 0."""
    return f"{value:.{digits}f}" if abs(value) >= 10**-digits or value == 0 else f"{value:.2g}"


def _signed(value: float | None) -> str:
    return f"{value:+.1f}%" if value is not None else "-"


def _spread(group: Mapping[str, Any], name: str) -> str:
    found = group["metrics"].get(name)
    return f"{found['spread_pct']:.1f}" if found and found["spread_pct"] is not None else "-"


def _ratio(ours: Mapping[str, Any], theirs: Mapping[str, Any], name: str) -> str:
    a, b = ours["metrics"].get(name), theirs["metrics"].get(name)
    value = percent(a["median"], b["median"]) if a and b else None
    return f"{value:.1f}%" if value is not None else "-"
