"""Whether the record of one case is what its evidence says: nothing of a result is believed that can be derived again.

Digests show that a file is not what was judged; the verdict is made again from the numbers in ``verification.json``.
What this cannot show: somebody who may write the folder can make all of it anew, digests and numbers; only verifying the
sources again (``opdev bench verify``) tells that.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from opdev.bench import verdicts
from opdev.bench.model import BenchError, Generated, Overall, Verified, overall_of
from opdev.bench.records import FIELDS, NAME, VERIFICATION, digest, read
from opdev.bench.texts import both
from opdev.rules.model import Text

_CLOSE = 1e-6


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a record is not believed: ``key`` of the texts without its prefix, and the file it is about."""

    case: str
    path: str
    key: str
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def text(self) -> Text:
        return both(f"r-p-{self.key}", path=self.path, **self.values)

    def as_dict(self) -> dict[str, Any]:
        return {"case": self.case, "path": self.path, "problem": self.key, "message": dict(self.text)}


@dataclass(frozen=True, slots=True)
class Judged:
    """A case as its evidence has it; ``claimed`` is what its record says.  Figures are of hardware, or None."""

    key: str
    folder: str
    record: Mapping[str, Any]
    overall: str
    claimed: str
    verdict: verdicts.Verdict | None
    problems: tuple[Problem, ...] = ()

    @property
    def success(self) -> bool:
        return self.overall == "success"

    @property
    def backend(self) -> str | None:
        found = self.verdict.backend if self.verdict is not None else self.record.get("backend")
        return found if found in ("ascend", "sim") else None


def judge(folder: str, key: str, *, deep: bool = False) -> Judged:
    """The case in ``folder`` (absolute), whose place in the batch is ``key``; ``deep`` reads logs as well."""
    try:
        record = read(folder)
    except BenchError as error:
        values = {name: value for name, value in error.values.items() if name != "path"}
        bad = Problem(key, f"{folder}/{NAME}", error.key.removeprefix("r-"), values)
        return Judged(key, folder, dict.fromkeys(FIELDS), "unproven", "unproven", None, (bad,))
    except OSError as error:
        bad = Problem(key, error.filename or folder, "unreadable", {"why": error.strerror or "?"})
        return Judged(key, folder, dict.fromkeys(FIELDS), "unproven", "unproven", None, (bad,))
    claimed = record["overall_status"] or "pending"
    status = record["verifier_status"]
    problems = [*_misplaced(record, key, folder)]
    verdict = None
    if status is not None and status != "skipped":
        verdict, found = _verified(record, key, folder, deep=deep)
        problems += found
    overall: str = _overall(record, verdict)
    if overall != claimed:
        problems.append(Problem(key, f"{folder}/{NAME}", "overall", {"claimed": claimed, "derived": overall}))
    if "success" in (overall, claimed) and problems:
        overall = "unproven"
    return Judged(key, folder, record, overall, claimed, verdict, tuple(problems))


def _overall(record: Mapping[str, Any], verdict: verdicts.Verdict | None) -> Overall:
    made = Generated(status=cast("Any", record["pypto_status"] or "exception"))
    status = verdict.status if verdict is not None else record["verifier_status"]
    right = verdict.correctness if verdict is not None else record["correctness"]
    found = Verified(status=cast("Any", status), backend="sim", correctness=right) if status is not None else None
    return overall_of(made, found)


def _misplaced(record: Mapping[str, Any], key: str, folder: str) -> Iterator[Problem]:
    """Whether it is the record of another case."""
    level, _, name = key.partition("/")
    path = f"{folder}/{NAME}"
    if record["level"] not in (None, level):
        yield Problem(key, path, "misplaced", {"name": "level", "found": record["level"]})
    # The field's own benchmark calls the folder by the operator, ours by the case.
    if record["case_id"] is not None and name not in (record["case_id"], record["op_name"]):
        yield Problem(key, path, "misplaced", {"name": "case_id", "found": record["case_id"]})


def _verified(
    record: Mapping[str, Any], key: str, folder: str, *, deep: bool
) -> tuple[verdicts.Verdict | None, list[Problem]]:
    evidence = record["evidence"]
    if not isinstance(evidence, dict) or not isinstance(evidence.get("verification"), str):
        if record["verifier_status"] == "error":
            return None, []  # It claims nothing that could be proven.
        return None, [Problem(key, f"{folder}/{NAME}", "no-evidence")]
    path = os.path.normpath(os.path.join(folder, evidence["verification"]))
    try:
        document = verdicts.read(path)
    except BenchError as error:
        values = {name: value for name, value in error.values.items() if name != "path"}
        return None, [Problem(key, path, error.key.removeprefix("r-"), values)]
    except OSError as error:
        return None, [Problem(key, path, "unreadable", {"why": error.strerror or "?"})]
    problems = []
    if digest(path) != evidence.get("verification_sha256"):
        problems.append(Problem(key, path, "verification-changed"))
    verdict = verdicts.derive(document)
    problems += _files(evidence, key, folder, deep=deep, ran=verdict.status != "error")
    problems += [Problem(key, path, name, values) for name, values in verdict.faults]
    if verdict.status != "error":
        problems += _same_files(record, document, key, folder, path)
    problems += _differences(record, verdict, key, folder)
    return verdict, problems


def _files(evidence: Mapping[str, Any], key: str, folder: str, *, deep: bool, ran: bool) -> Iterator[Problem]:
    """Every file that is named, as it is now; where something ``ran`` there have to be sources."""
    named = [("source", one) for one in _entries(evidence.get("sources"))]
    named += [("case", one) for one in _entries([evidence.get("case")])]
    if ran and not any(kind == "source" for kind, _ in named):
        yield Problem(key, f"{folder}/{NAME}", "no-sources")
    for kind, one in named:
        there = 0
        for name in (one.get("path"), one.get("copy")):
            if not isinstance(name, str):
                continue
            path = os.path.normpath(os.path.join(folder, name))
            found = digest(path)
            there += found is not None
            if found is not None and found != one.get("sha256"):
                yield Problem(key, path, f"{kind}-changed")
        if not there:
            yield Problem(key, os.path.normpath(os.path.join(folder, str(one.get("path")))), f"{kind}-missing")
    for one in _entries(evidence.get("logs")):
        path = os.path.normpath(os.path.join(folder, str(one.get("path"))))
        try:
            size = os.stat(path).st_size
        except (OSError, ValueError):
            yield Problem(key, path, "log-missing")
            continue
        if size != one.get("bytes") or (deep and digest(path) != one.get("sha256")):
            yield Problem(key, path, "log-changed")


def _entries(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _same_files(
    record: Mapping[str, Any], document: Mapping[str, Any], key: str, folder: str, path: str
) -> Iterator[Problem]:
    """Whether what was verified is what the record names."""
    evidence = record["evidence"]
    sources, case = verdicts.digests(document)
    recorded = {one.get("sha256") for one in _entries(evidence.get("sources"))}
    for name, found in sources.items():
        if found not in recorded:
            yield Problem(key, path, "other-source", {"name": name})
    mine = evidence.get("case")
    there = mine.get("path") if isinstance(mine, dict) else None
    named = os.path.normpath(os.path.join(folder, there)) if isinstance(there, str) else None
    asked = record["source_file"]
    if case is None or mine is None or mine.get("sha256") != case or (asked and named != os.path.normpath(asked)):
        yield Problem(key, f"{folder}/{NAME}", "other-case", {"verification": VERIFICATION})


def _differences(record: Mapping[str, Any], verdict: verdicts.Verdict, key: str, folder: str) -> Iterator[Problem]:
    """Fields of the record that say something else than the verdict made again."""
    derived = {
        "verifier_status": verdict.status, "correctness": verdict.correctness, "backend": verdict.backend,
        "failure_category": verdict.category, "perf_gen_time_us": verdict.generated_us,
        "perf_base_time_us": verdict.base_us, "perf_speedup": verdict.speedup,
    }  # fmt: skip
    for name, value in derived.items():
        if not _same(record[name], value):
            yield Problem(key, f"{folder}/{NAME}", "differs", {"name": name, "claimed": record[name], "derived": value})


def _same(one: object, other: object) -> bool:
    if isinstance(one, (int, float)) and isinstance(other, (int, float)) and not isinstance(one, bool):
        return abs(one - other) <= _CLOSE + _CLOSE * abs(other)
    return one == other
