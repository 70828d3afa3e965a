"""A summary as text for a terminal: what it comes to, every case, and what does not agree with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opdev.bench.report import backend, badge, plain, proven, ratio, say_status, seconds, simulated, verified
from opdev.bench.texts import say
from opdev.columns import clip, grid
from opdev.rules.model import Lang

_MOST = 40
_WIDEST = 48


def text(summary: Mapping[str, Any], lang: Lang, against: Mapping[str, Any] | None = None) -> str:
    """The whole text."""
    found, apart = summary["totals"], summary["totals"]["by_backend"]
    out = [plain(say("r-t-title", lang, root=summary["meta"]["artifact_root_dir"]))]
    if (warning := simulated(summary)) is not None:
        out.append(say(warning, lang))
    out.append(
        say(
            "r-t-total", lang, success=found["success"], total=found["total"], ascend=apart["ascend"]["success"],
            ascends=apart["ascend"]["total"], sim=apart["sim"]["success"], sims=apart["sim"]["total"], unproven=found["unproven"],
        )
    )  # fmt: skip
    perf = found.get("perf")
    if perf:
        values = {"geomean": "speedup_geomean", "least": "speedup_min", "most": "speedup_max"}
        shown = {name: ratio(perf[key]) for name, key in values.items()}
        out.append(say("r-t-perf", lang, count=perf["cases_with_perf"], **shown))
    elif apart["ascend"]["total"] or apart["sim"]["total"]:
        out.append(say("r-t-no-perf", lang))
    categories = ", ".join(f"{name} {count}" for name, count in found["by_failure_category"].items())
    if categories:
        out.append(plain(say("r-t-category", lang, text=categories)))
    out += ["", *_cases(summary["cases"], lang), ""]
    if against is not None:
        out += [*comparison(against, lang), ""]
    return "\n".join(out) + "\n" + problems(summary["unproven"], verified(summary), lang)


def problems(found: Sequence[Mapping[str, Any]], count: int, lang: Lang) -> str:
    """What does not agree with the evidence, or that all of ``count`` results do."""
    if not found:
        return proven(count, lang) + "\n"
    lines = [say("r-t-problems", lang, count=len(found))]
    for one in found[:_MOST]:
        case = f"{one['case']}: " if one["case"] else ""
        lines.append(plain(f"  {case}{one['message'][lang]}"))
    if len(found) > _MOST:
        lines.append("  " + say("r-t-more", lang, count=len(found) - _MOST))
    return "\n".join(lines) + "\n"


def comparison(found: Mapping[str, Any], lang: Lang) -> list[str]:
    """What changed against another batch."""
    before, after = (f"{a}/{b}" for a, b in zip(found["success"], found["total"], strict=True))
    out = [plain(say("r-a-title", lang, path=found["path"], before=before, after=after))]
    old, new = (", ".join(some) or "-" for some in found["backends"])
    if old != new:
        out.append(say("r-a-backends", lang, before=old, after=new))
    quiet = True
    for name in ("new_failures", "new_successes", "gained", "lost"):
        if found[name]:
            quiet = False
            shown = ", ".join(found[name][:_MOST]) + (" …" if len(found[name]) > _MOST else "")
            out.append(f"  {say(f'r-a-{name}', lang)}: {plain(shown)}")
    named = {*found["new_failures"], *found["new_successes"]}
    for one in [one for one in found["changed"] if one["key"] not in named][:_MOST]:
        quiet = False
        out.append(f"  {plain(one['key'])}: {say_status(one['before'], lang)} → {say_status(one['after'], lang)}")
    moved = [one for one in found["speedups"] if abs(one["ratio"] - 1) >= 0.005]
    if moved:
        out.append(f"  {say('r-a-speedups', lang)}:")
        for one in sorted(moved, key=lambda one: one["ratio"])[:_MOST]:
            change = f"{100 * (one['ratio'] - 1):+.1f}%"
            out.append(f"    {plain(one['key'])}: {ratio(one['before'])} → {ratio(one['after'])} ({change})")
    return out if moved or not quiet else [*out, f"  {say('r-a-same', lang)}"]


def _cases(cases: Sequence[Mapping[str, Any]], lang: Lang) -> list[str]:
    head = [say(f"r-c-{name}", lang) for name in ("case", "status", "backend", "category", "speedup", "seconds")]
    rows = []
    for case in cases:
        took = (case["pypto_duration_sec"] or 0.0) + (case["verifier_duration_sec"] or 0.0)
        cells = [case["key"], badge(case, lang), backend(case, lang), case["failure_category"] or "-"]
        rows.append([clip(str(one), _WIDEST) for one in cells] + [ratio(case["perf_speedup"]), seconds(took or None)])
    return grid(head, rows, left=4)
