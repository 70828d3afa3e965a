"""From the record of a run to a verdict: by outputs that were compared, never by the exit status alone.

A case passes when its test raised nothing and every output of a kernel it compared holds by PyPTO's precision standard.
A case that compared nothing is unchecked, and that is no pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from opdev.pyptosim.texts import both

if TYPE_CHECKING:
    from opdev.precision.model import Report, Result
    from opdev.rules.model import Text

Verdict = Literal["pass", "fail", "unchecked", "skipped"]


@dataclass(frozen=True, slots=True)
class Case:
    """One case; ``why`` says what keeps it from passing, ``path`` and ``line`` where; ``compared`` counts outputs."""

    id: str
    verdict: Verdict
    why: Text
    path: str = ""
    line: int = 0
    compared: int = 0
    matched: float | None = None
    """The smallest share of elements within tolerance."""
    errors: Mapping[str, float | str] = field(default_factory=dict)
    """The largest of what its outputs are off, by the names that checkers have for it; words where JSON has no number."""


@dataclass(frozen=True, slots=True)
class Judged:
    """All cases, and the reports of the precision engine, one for each pair of dtypes."""

    cases: tuple[Case, ...]
    reports: tuple[Report, ...] = ()

    @property
    def verdict(self) -> Verdict:
        found = {case.verdict for case in self.cases}
        if "fail" in found:
            return "fail"
        return "pass" if "pass" in found and "unchecked" not in found else "unchecked"

    def count(self, verdict: Verdict) -> int:
        return sum(case.verdict == verdict for case in self.cases)


@dataclass(slots=True)
class _Open:
    ended: dict[str, Any] | None = None
    pairs: list[dict[str, Any]] = field(default_factory=list)
    kernels: int = 0
    unwritten: str = ""


def judge(records: Sequence[Mapping[str, Any]], folder: str, *, name: str, root: str, whole: bool) -> Judged:
    """Judge a record; ``folder`` holds its tensors, ``whole`` says that the child came to its end."""
    cases: dict[str, _Open] = {}
    for record in records:
        kind, case = record["kind"], record.get("case")
        if not isinstance(case, str):
            continue
        one = cases.setdefault(case, _Open())
        if kind == "pair":
            one.pairs.append(dict(record))
        elif kind == "kernel":
            one.kernels += 1
        elif kind == "unrelated" and record.get("unwritten"):
            one.unwritten = str(record["unwritten"])
        elif kind == "case" and (one.ended is None or one.ended["state"] == "passed"):
            one.ended = dict(record)
    reports, results = _reports(cases, folder, name, root)
    return Judged(
        tuple(_case(key, one, results.get(key, []), whole=whole) for key, one in cases.items()), tuple(reports)
    )


def _reports(
    cases: Mapping[str, _Open], folder: str, name: str, root: str
) -> tuple[list[Report], dict[str, list[Result]]]:
    """The engine's reports, and its results by case."""
    from opdev.precision import Ask, Pair, judge_pairs

    groups: dict[tuple[str, str], list[tuple[str, Pair]]] = {}
    for key, one in cases.items():
        for at, pair in enumerate(one.pairs):
            actual, golden = pair["actual"], pair["golden"]
            if not pair["written"] or not actual["file"] or not golden["file"]:
                continue
            title = f"{key} {pair['output']}" + (f" #{at + 1}" if len(one.pairs) > 1 else "")
            made = Pair(title, f"{folder}/{actual['file']}", f"{folder}/{golden['file']}")
            groups.setdefault((actual["dtype"], golden["dtype"]), []).append((key, made))
    reports: list[Report] = []
    results: dict[str, list[Result]] = {}
    for (dtype, other), group in groups.items():
        ask = Ask(standard="pypto", dtype=dtype, golden_dtype=other)
        report = judge_pairs([pair for _, pair in group], ask, operator=name, root=root, backend="sim")
        reports.append(report)
        titles = {pair.name: key for key, pair in group}
        for result in report.results:
            results.setdefault(titles[result.name], []).append(result)
    return reports, results


def _case(key: str, one: _Open, results: Sequence[Result], *, whole: bool) -> Case:
    ended, pairs = one.ended, [pair for pair in one.pairs if pair["written"]]
    place = (str(ended.get("path", "")), int(ended.get("line") or 0)) if ended is not None else ("", 0)
    first = (str(pairs[0]["path"]), int(pairs[0]["line"])) if pairs else ("", 0)
    shares = [r.metrics.matched_ratio for r in results if r.metrics is not None]
    more: dict[str, Any] = {
        "compared": len(results), "matched": min(shares) if shares else None, "errors": _errors(results),
    }  # fmt: skip
    if ended is None:
        return Case(key, "fail", both("no-end" if whole else "cut-off"), *first, **more)
    if ended["state"] == "skipped":
        return Case(key, "skipped", both("skipped", why=_line(ended.get("error"))))
    bad = next((r for r in results if r.verdict != "pass"), None)
    shaped = next((p for p in pairs if p["actual"]["shape"] != p["golden"]["shape"]), None)
    if ended["state"] == "failed":
        return Case(key, "fail", both("raised", why=_line(ended.get("error"))), *place, **more)
    if shaped is not None:
        why = both("shape", output=shaped["output"], actual=shaped["actual"]["shape"], golden=shaped["golden"]["shape"])
        return Case(key, "fail", why, str(shaped["path"]), int(shaped["line"]), **more)
    if bad is not None:
        pair = next((p for p in pairs if bad.name.startswith(f"{key} {p['output']}")), pairs[0])
        reason = bad.reasons[0].text if bad.reasons else None
        why = both(
            "wrong",
            output=bad.name.removeprefix(f"{key} "),
            zh=reason.zh if reason else "",
            en=reason.en if reason else "",
        )
        return Case(key, "fail", why, str(pair["path"]), int(pair["line"]), **more)
    kept = next((p for p in pairs if not p["actual"]["file"] or not p["golden"]["file"]), None)
    if kept is not None:
        lost = kept["actual"] if not kept["actual"]["file"] else kept["golden"]
        why = both(
            "not-kept-size" if lost["why"] == "size" else "not-kept-dtype", output=kept["output"], dtype=lost["dtype"]
        )
        return Case(key, "unchecked", why, str(kept["path"]), int(kept["line"]), **more)
    if not results:
        why = (
            both("unwritten", name=one.unwritten)
            if one.unwritten
            else both("nothing-compared" if one.kernels else "no-kernel")
        )
        return Case(key, "unchecked", why, *place, **more)
    return Case(key, "pass", both("passed", count=len(results)), **more)


def _errors(results: Sequence[Result]) -> dict[str, float | str]:
    """The worst of each; what is no number is worse than any."""
    found: dict[str, float | str] = {}
    for name, of in (("maxae", "max_abs"), ("maxre", "max_rel"), ("meanre", "mean_rel")):
        values: list[float | str] = [getattr(r.metrics, of) for r in results if r.metrics is not None]
        words = [value for value in values if isinstance(value, str)]
        if values:
            found[name] = words[0] if words else max(value for value in values if not isinstance(value, str))
    return found


def _line(text: object) -> str:
    """The first line of what was raised."""
    return next((line.strip() for line in str(text or "").splitlines() if line.strip()), "")[:300]


def lacks(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The names this pypto does not have, each use."""
    return [record for record in records if record["kind"] == "lacking"]
