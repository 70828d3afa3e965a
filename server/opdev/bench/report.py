"""``summary.md``: a batch for people to read, and for job summaries; a file that is handed on.

Names and messages come from cases and from other people's programs: a cell is one line, and nothing in it is markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opdev.bench.texts import say
from opdev.rules.model import Lang

_BADGES = {
    "success": "PASS", "pypto_failed": "FAIL (pypto)", "verify_failed": "FAIL (verify)", "baseline_failed": "FAIL (baseline)",
    "verify_error": "ERROR", "verifier_skipped": "SKIP (verify)", "pending": "PENDING", "unproven": "UNPROVEN",
}  # fmt: skip
_LONGEST = 240
_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<!\w)_|_(?!\w)")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
_META = (
    "generated_at", "python", "platform", "bench_dir", "cases", "levels", "arch", "backend", "backends", "framework", "mode",
    "verifier_mode", "artifact_root_dir", "run_subdir", "devices", "concurrency", "pypto_repo_root", "agent", "model", "config",
    "opdev_version",
)  # fmt: skip

PROOF = ("c-case", "c-backend", "d-seeds", "d-outputs", "d-launches", "d-matched", "d-error", "d-cheat", "d-sha")
"""What a case's evidence is told by, a column each, in every report."""


def markdown(summary: Mapping[str, Any], lang: Lang, against: Mapping[str, Any] | None = None) -> str:
    """The whole file; ``against`` is what ``comparing`` found beside another batch."""
    out = [f"# {say('r-d-title', lang)}", ""]
    if (warning := simulated(summary)) is not None:
        out += [f"> {say(warning, lang)}", ""]
    for key, part in (
        ("meta", _meta), ("overview", _overview), ("levels", _levels), ("cases", _cases), ("perf", _perf), ("evidence", _evidence)
    ):  # fmt: skip
        out += [f"## {say(f'r-d-{key}', lang)}", "", *part(summary, lang), ""]
    if against is not None:
        out += [f"## {say('r-d-against', lang)}", "", *_against(against, lang), ""]
    return "\n".join(out)


def _against(found: Mapping[str, Any], lang: Lang) -> list[str]:
    before, after = (f"{a}/{b}" for a, b in zip(found["success"], found["total"], strict=True))
    out = [escaped(say("r-a-title", lang, path=found["path"], before=before, after=after)), ""]
    rows = [
        (say(f"r-a-{name}", lang), ", ".join(found[name]))
        for name in ("new_failures", "new_successes", "gained", "lost")
    ]
    rows += [
        (
            say("r-d-of", lang, of=say("r-c-speedup", lang), name=one["key"]),
            f"{ratio(one['before'])} → {ratio(one['after'])}",
        )
        for one in found["speedups"]
    ]
    return [*out, *table([say("r-d-key", lang), say("r-d-value", lang)], rows)]


def cell(value: object) -> str:
    """One cell of a table; what is missing is a dash.  No markup, no line break, no mention of anybody."""
    if value is None or value in ("", [], {}):
        return "-"
    text = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    text = plain(text)
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return escaped(text).strip() or "-"


def escaped(text: str) -> str:
    """A line of which nothing is markup."""
    text = _SPECIAL.sub(lambda found: "\\" + found[0], text)
    return "".join(_ENTITIES.get(ch, ch) for ch in text)


def plain(text: str) -> str:
    """On one line, without what moves a cursor or turns the direction of writing."""
    if text.isprintable():
        return text
    return "".join(ch if ch.isprintable() else " " if ch in "\t\r\n\u3000" else "�" for ch in text)


def simulated(summary: Mapping[str, Any]) -> str | None:
    """The text that says that results, or some of them, are simulated; None where none is."""
    found = summary["totals"]["by_backend"]
    if not found["sim"]["total"]:
        return None
    return "r-m-sim" if not found["ascend"]["total"] else "r-some-sim"


def verified(summary: Mapping[str, Any]) -> int:
    """How many results there are that evidence speaks for."""
    return sum(case["verdict"] is not None for case in summary["cases"])


def proven(count: int, lang: Lang) -> str:
    """That so many results, and all of them, agree with their evidence."""
    return say("r-t-proven", lang, count=count) if count else say("r-t-none", lang)


def badge(case: Mapping[str, Any], lang: Lang) -> str:
    """The status of a case as its badge."""
    word = _BADGES.get(case["overall_status"], "ERROR")
    measured = case["perf_speedup"] is not None
    if word == "PASS" and case["backend"] == "ascend" and case["perf_message"] and not measured:
        word = f"PASS ({say('r-d-no-profile', lang)})"
    return word + (say("r-m-sim-mark", lang) if case["backend"] == "sim" else "")


def message(case: Mapping[str, Any], lang: Lang, root: str) -> str:
    """What is to be said of a case of the batch in ``root``: why it is not proven, else what its last stage said."""
    if case["problems"]:
        return inside(case["problems"][0]["message"][lang], root)
    stage = "verifier" if case["verifier_status"] is not None else "pypto"
    both = (case["messages"] or {}).get(stage)
    said = both.get(lang) if isinstance(both, dict) else None
    return str(said or case[f"{stage}_message"] or "")


def root_of(summary: Mapping[str, Any]) -> str:
    """The batch's folder."""
    return str(summary["meta"]["artifact_root_dir"])


def inside(text: str, root: str) -> str:
    """A message with the paths in the batch named from its folder."""
    return text.replace(f"{root.rstrip('/')}/", "")


def seconds(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, (int, float)) else "-"


def ratio(value: object) -> str:
    return f"{value:.3g}×" if isinstance(value, (int, float)) else "-"


def micros(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, (int, float)) else "-"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Lines of a table."""

    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(cell(one) for one in cells) + " |"

    return [line(head), "|" + "---|" * len(head), *map(line, rows)]


def _meta(summary: Mapping[str, Any], lang: Lang) -> list[str]:
    meta = summary["meta"]
    rows = [(name, meta[name]) for name in _META if meta.get(name) not in (None, "", [])]
    return table([say("r-d-key", lang), say("r-d-value", lang)], rows)


def _overview(summary: Mapping[str, Any], lang: Lang) -> list[str]:
    found = summary["totals"]
    apart, took = found["by_backend"], found["duration_sec"]
    rows: list[tuple[str, object]] = [
        (say("r-c-total", lang), found["total"]),
        (say("r-d-success", lang), f"{found['success']} ({100 * found['success_rate']:.2f}%)"),
        (say("r-d-success-ascend", lang), f"{apart['ascend']['success']} / {apart['ascend']['total']}"),
        (say("r-d-success-sim", lang), f"{apart['sim']['success']} / {apart['sim']['total']}"),
        (say("r-w-unproven", lang), found["unproven"]),
    ]
    by_status = found["by_status"].items()
    of = say("r-c-status", lang)
    rows += [(say("r-d-of", lang, of=of, name=say_status(name, lang)), count) for name, count in by_status]
    right = found["correctness"]
    rows.append((say("r-d-correctness", lang), f"{right['pass']} / {right['fail']} / {right['unknown']}"))
    categories = found["by_failure_category"].items()
    rows += [(say("r-d-of", lang, of=say("r-c-category", lang), name=name), count) for name, count in categories]
    rows += [(say(f"r-d-{name}", lang), seconds(took[name])) for name in took if took[name] is not None]
    perf = found.get("perf")
    if perf:
        rows.append((say("r-d-geomean", lang), ratio(perf["speedup_geomean"])))
    return table([say("r-d-key", lang), say("r-d-value", lang)], rows)


def say_status(name: str, lang: Lang) -> str:
    """A word of state; one that is not ours as it is."""
    return say(f"r-w-{name}", lang) if name in _BADGES else name


def _levels(summary: Mapping[str, Any], lang: Lang) -> list[str]:
    head = [say(f"r-{name}", lang) for name in ("c-level", "c-total", "w-success", "d-rate", "w-unproven", "d-others")]
    rows = []
    for level, one in summary["totals"]["by_level"].items():
        others = "; ".join(
            f"{say_status(name, lang)} {count}"
            for name, count in one["by_status"].items()
            if name not in ("success", "unproven")
        )
        rows.append((level, one["total"], one["success"], f"{100 * one['success_rate']:.2f}%", one["unproven"], others))
    return table(head, rows)


def _cases(summary: Mapping[str, Any], lang: Lang) -> list[str]:
    names = (
        "level",
        "case",
        "op",
        "status",
        "category",
        "correct",
        "backend",
        "speedup",
        "retry",
        "made",
        "verified",
        "message",
    )
    rows = [
        (
            index, case["level"], case["case_id"], case["op_name"], badge(case, lang), case["failure_category"],
            _yes(case["correctness"], lang), backend(case, lang), ratio(case["perf_speedup"]), case["pypto_retry_count"],
            seconds(case["pypto_duration_sec"]), seconds(case["verifier_duration_sec"]), message(case, lang, root_of(summary)),
        )
        for index, case in enumerate(summary["cases"], 1)
    ]  # fmt: skip
    return table(["#", *(say(f"r-c-{name}", lang) for name in names)], rows)


def _perf(summary: Mapping[str, Any], lang: Lang) -> list[str]:
    some = [case for case in summary["cases"] if case["backend"] == "ascend"]
    some = [case for case in some if case["perf_gen_time_us"] is not None or case["perf_message"]]
    if not some:
        return [say("r-t-no-perf", lang)]
    head = [say(f"r-{name}", lang) for name in ("c-level", "c-case", "d-base-us", "d-gen-us", "c-speedup", "c-message")]
    rows = [
        (case["level"], case["case_id"], micros(case["perf_base_time_us"]), micros(case["perf_gen_time_us"]), ratio(case["perf_speedup"]), case["perf_message"])
        for case in some
    ]  # fmt: skip
    return [say("r-d-perf-note", lang), "", *table(head, rows)]


def _evidence(summary: Mapping[str, Any], lang: Lang) -> list[str]:
    out = []
    some = [case for case in summary["cases"] if case["verdict"] is not None]
    if some:
        out += table([say(f"r-{name}", lang) for name in PROOF], [_proof(case, lang) for case in some])
        out.append("")
    out += [say("r-d-limits", lang), ""]
    found = summary["unproven"]
    if not found:
        return [*out, proven(verified(summary), lang)]
    out += [say("r-t-problems", lang, count=len(found)), ""]
    return [
        *out,
        *table(
            [say("r-c-case", lang), say("r-d-why", lang)],
            [(one["case"], inside(one["message"][lang], root_of(summary))) for one in found],
        ),
    ]


def _proof(case: Mapping[str, Any], lang: Lang) -> tuple[object, ...]:
    facts = case["verdict"]
    if not facts:
        return (case["key"], backend(case, lang), "-", "-", "-", "-", "-", "-", "-")
    share, largest = facts["least_matched"], facts["largest_error"]
    return (
        case["key"], backend(case, lang), f"{len(facts['seeds'])} ({say('r-d-drawn', lang, count=facts['drawn'])})",
        f"{facts['outputs_passed']} / {facts['outputs']}", facts["launches"], f"{100 * share:.4g}%" if share is not None else "-",
        f"{largest:.3g}" if largest is not None else "-", facts["cheat"],
        str((case["evidence"] or {}).get("verification_sha256") or "-")[:12],
    )  # fmt: skip


def backend(case: Mapping[str, Any], lang: Lang) -> str:
    """Where a result is from."""
    return say("r-sim", lang) if case["backend"] == "sim" else case["backend"] or "-"


def _yes(value: bool | None, lang: Lang) -> str:
    return "-" if value is None else say("r-yes" if value else "r-no", lang)
