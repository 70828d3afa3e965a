"""The gate that callers of the existing PyPTO linter ask for, judged by opdev's rules: same keys, same exit status.

Unlike there, nothing is let through because it could not be judged: a stage there is none of, a file that cannot be
parsed and a configuration that cannot be used are failures.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from opdev.config import Configs
from opdev.facts.pypto_kernels import functions, is_stub
from opdev.facts.pypto_names import named
from opdev.phases.model import Check
from opdev.phases.pypto_checks import FAMILIES, PyptoEvidence, evidence_of
from opdev.phases.pypto_status import stage_gate
from opdev.phases.verdicts import narrowed, words_of
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.pypto.finding import name_of
from opdev.pypto.states import Workflow
from opdev.rules.engine import Linter
from opdev.rules.model import Finding, Lang
from opdev.syntax.file import File
from opdev.workflow import prorows
from opdev.workflow.rows import ABSENT, MISSING, ROWS, base

Status = Literal["PASS", "FAIL", "WARN", "INFO", "SKIP"]
_STATUS: dict[str, Status] = {"error": "FAIL", "warning": "WARN", "info": "INFO", "hint": "INFO"}
_GRAVITY = {"error": "S1", "warning": "S2", "info": "S3", "hint": "S3"}
_STATE: dict[str, Status] = {"ok": "PASS", "failed": "FAIL", "unknown": "WARN", "not-applicable": "SKIP"}
_STRICT_ROWS = frozenset({"OL39", "OL40"})
_STAGED = re.compile(r"(?:\w+_golden_stage|(?:test_)?\w+_module)(\d+)(?:_impl|_golden)?\.py")


@dataclass(frozen=True, slots=True)
class Found:
    """A result with the keys its callers read; ``file`` is relative to the operator, ``line`` from 1, 0 for none."""

    rule_id: str
    severity: str
    status: Status
    message: str
    file: str = ""
    line: int = 0
    dimension: str = ""
    fix_effort: str = ""
    name: str = ""
    hint: str = ""

    def json(self) -> dict[str, Any]:
        return {
            "rule_id": self.rule_id, "severity": self.severity, "dimension": self.dimension, "fix_effort": self.fix_effort,
            "status": self.status, "message": self.message, "file": self.file, "line": self.line, "name": self.name,
            "fix_hint": self.hint,
        }  # fmt: skip


@dataclass
class Judgement:
    """All results of one question."""

    found: list[Found] = field(default_factory=list)

    @property
    def blocking(self) -> list[Found]:
        """Failures that close a gate."""
        return [f for f in self.found if f.status == "FAIL" and f.severity in ("S0", "S1")]

    def json(self) -> dict[str, Any]:
        count = {
            status: sum(f.status == status for f in self.found) for status in ("PASS", "WARN", "INFO", "FAIL", "SKIP")
        }
        return {
            "passed": not count["FAIL"],
            "findings": [f.json() for f in self.found],
            "summary": {**{k.lower(): n for k, n in count.items()}, "has_error_fail": bool(self.blocking)},
        }


def evidence_at(root: str, kind: Workflow | None = None) -> PyptoEvidence:
    """The evidence of a folder that somebody says is a PyPTO operator's; ConfigError for an unusable configuration."""
    configs = Configs()
    configs.for_folder(root)
    operator = Operator(root, Places())
    found = evidence_of(operator, configs)
    return found if found is not None else PyptoEvidence(operator, kind or "classic", configs)


def stage_judged(evidence: PyptoEvidence, stage: int, lang: Lang) -> Judgement:
    """The gate of a stage, row by row; the last of PyPTO-Pro, which its linter has none for, check by check."""
    if evidence.kind != "classic" and stage <= prorows.LAST:
        return _pro_judged(evidence, stage, lang)
    if evidence.kind != "classic":
        return Judgement([_of_check(evidence, check, lang) for check in stage_gate(evidence, str(stage)).checks])
    rows = {row.id for row in ROWS.values() if stage in row.stages}
    return rows_judged(evidence, rows, lang, stage)


def _pro_judged(evidence: PyptoEvidence, stage: int, lang: Lang) -> Judgement:
    """What PyPTO-Pro's linter asks of a stage; in code also what the other rules find."""
    rows = prorows.of_stage(stage)
    kinds = frozenset().union(*(row.kinds for row in rows.values()))
    out: list[Found] = []
    for file in evidence.files.values():
        if not file.kind.names & kinds or (stage < prorows.LAST and evidence.below(file).startswith("modules/")):
            continue
        out += syntax_found(evidence, file, lang)
        for finding in findings(evidence, file)[0]:
            words = words_of(finding.rule)
            row = prorows.row_of(words, file.kind.names, rows)
            is_other = file.language == "python" and not any(w.startswith("PL") for w in words)
            if finding.rule.name != prorows.FILES and (row is not None or is_other):
                out.append(_of_finding(evidence, finding, row, lang))
    for name, one in rows.items():
        if one.file and evidence.there(one.file) is None and (name != prorows.SECOND or evidence.kind == "pro"):
            real = one.file.replace("<op>", evidence.name)
            text = f"没有 {real}" if lang == "zh" else f"there is no {real}"
            hint = f"写出 {real}" if lang == "zh" else f"write {real}"
            out.append(Found(name, "S1", "FAIL", text, real, 0, "", "E2", prorows.FILES, hint))
    test = evidence.named("test_<op>.py") if "PL02" in rows else None
    if test is not None and not functions(test):
        # A file that is only begun is let be while it is written; delivered it is nothing.
        text = "里面没有核函数，也没有测试" if lang == "zh" else "it has neither a kernel nor a test"
        hint = "opdev-lint explain not-one-pro-kernel"
        out.append(Found("PL02", "S1", "FAIL", text, evidence.below(test), 1, "", "E2", "not-one-pro-kernel", hint))
    seen = {f.rule_id for f in out}
    out += [Found(name, "S1", "PASS", "") for name in rows if name not in seen]
    return Judgement(sorted(out, key=lambda f: (f.rule_id, f.file, f.line)))


def rows_judged(
    evidence: PyptoEvidence,
    rows: Iterable[str],
    lang: Lang,
    stage: int | None = None,
    only: Callable[[File], bool] | None = None,
) -> Judgement:
    """What the rules for some rows find in the operator's files, a pass for the rows nothing was found of."""
    wanted = set(rows) - _left_out()
    files = [f for f in evidence.files.values() if only is None or only(f)]
    out: list[Found] = []
    judged: set[str] = set()
    for file in files:
        if stage is None or stage >= 5 or file.language != "python":
            out += syntax_found(evidence, file, lang)
        found, on = findings(evidence, file)
        judged |= {base(word) for word in on}
        for finding in found:
            row = next(
                (base(w) for w in sorted(words_of(finding.rule)) if w.startswith("OL") and base(w) in wanted), None
            )
            if row is not None or not any(w.startswith("OL") for w in words_of(finding.rule)):
                out.append(_of_finding(evidence, finding, row, lang))
    if only is None:
        out += _absent(evidence, wanted, stage, lang)
    seen = {f.rule_id for f in out}
    for row in sorted(wanted - seen):
        at = ROWS[row]
        status: Status = "PASS" if row in judged else "SKIP"
        out.append(Found(row, at.severity, status, "", dimension=at.dimension, fix_effort=at.effort))
    order = {row: index for index, row in enumerate(sorted(ROWS))}
    return Judgement(sorted(out, key=lambda f: (order.get(f.rule_id, -1), f.file, f.line)))


def _absent(evidence: PyptoEvidence, rows: set[str], stage: int | None, lang: Lang) -> Iterable[Found]:
    for row, (names, stages) in MISSING.items():
        if row not in rows or (stage is not None and stage not in stages):
            continue
        missing = [n.replace("<op>", evidence.name) for n in names if evidence.there(n) is None]
        if missing:
            at = ROWS[row]
            text = f"没有 {'、'.join(missing)}" if lang == "zh" else f"there is no {', '.join(missing)}"
            hint = f"写出 {'、'.join(missing)}" if lang == "zh" else f"write {', '.join(missing)}"
            # A golden that is not there is worse than one that does not import, which is all the row means elsewhere.
            yield Found(row, "S1", "FAIL", text, missing[0], 0, at.dimension, at.effort, ABSENT[row], hint)


def _left_out() -> frozenset[str]:
    """Rows that the existing linter's environment switches off: front matter, unless it is strict."""
    return _STRICT_ROWS if os.environ.get("PYPTO_OP_LINT_STRICT", "1") == "0" else frozenset()


def file_judged(evidence: PyptoEvidence, file: File, lang: Lang) -> Judgement:
    """Everything PyPTO's rules find in one file; nothing in one that waits to be written."""
    if file.language == "python" and is_stub(file):
        return Judgement()
    found = [f for f in findings(evidence, file)[0] if not words_of(f.rule) & _left_out()]
    return Judgement([*syntax_found(evidence, file, lang), *(_of_finding(evidence, f, None, lang) for f in found)])


def findings(evidence: PyptoEvidence, file: File) -> tuple[list[Finding], frozenset[str]]:
    """What PyPTO's rules find in a file, and the rows that are judged there."""
    whole = evidence.selection(file)
    if whole is None:
        return [], frozenset()
    selection = narrowed(whole, frozenset(FAMILIES))
    plan = selection.plan(file.kind.names, file.language, file.place.profile)
    on = frozenset(word for active in plan.all for word in words_of(active.rule) if word.startswith("OL"))
    return list(Linter().lint(file, selection, evidence.project).findings), on


def syntax_found(evidence: PyptoEvidence, file: File, lang: Lang) -> list[Found]:
    """A failure for Python that cannot be parsed: no rule can say anything about it."""
    kinds = file.kind.names
    if (
        file.language != "python"
        or not ("pypto" in kinds or {"pypto-impl", "pypto-test", "pypto-golden"} & kinds)
        or is_stub(file)
    ):
        return []
    try:
        ast.parse(file.data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = getattr(error, "msg", str(error))
        text = (
            f"Python 语法错误：{why}，其余规则无从判断"
            if lang == "zh"
            else f"a syntax error: {why}; no rule can judge the rest"
        )
        hint = "改正语法" if lang == "zh" else "mend the syntax"
        line = getattr(error, "lineno", None) or 1
        return [Found("SYNTAX", "S0", "FAIL", text, evidence.below(file), line, "SYSTEM", "E1", "syntax-error", hint)]
    return []


def _of_finding(evidence: PyptoEvidence, finding: Finding, row: str | None, lang: Lang) -> Found:
    words = sorted(w for w in words_of(finding.rule) if w.startswith(("OL", "PL")))
    row_id = row or (base(words[0]) if words and words[0].startswith("OL") else words[0] if words else finding.rule.id)
    at = ROWS.get(row_id)
    # opdev's severity decides what blocks: it is what the configuration of the project says.
    severity = _GRAVITY[finding.severity]
    if at is not None and severity == "S1" and at.severity == "S0":
        severity = "S0"
    line, _, _, _ = finding.span()
    path = finding.path
    root = evidence.root + "/"
    return Found(
        row_id, severity, _STATUS[finding.severity], finding.message(lang),
        path.removeprefix(root), line + 1,
        at.dimension if at is not None else "", at.effort if at is not None else "", finding.rule.name,
        finding.fix_title(lang) or (f"opdev-lint explain {finding.rule.name}"),
    )  # fmt: skip


def _of_check(evidence: PyptoEvidence, check: Check, lang: Lang) -> Found:
    status = _STATE[check.state]
    place = check.place
    path = os.path.relpath(place.path, evidence.root).replace("\\", "/") if place is not None else ""
    return Found(
        check.id, "S1" if status in ("FAIL", "PASS") else "S2", status, f"{check.title[lang]}: {check.detail[lang]}", path,
        place.line if place is not None else 0, name=check.id.removeprefix("rule:"), hint=check.opens.get(lang, ""),
    )  # fmt: skip


def of_phase(evidence: PyptoEvidence, number: int) -> Callable[[File], bool]:
    """Whether a file is one of phase or module ``number``: its suffix has all numbers up to it; of one piece, the whole."""
    suffix = "".join(str(n) for n in range(1, number + 1))
    staged = any(_STAGED.fullmatch(r.rpartition("/")[2]) for r in evidence.files)

    def mine(file: File) -> bool:
        name = file.path.rpartition("/")[2]
        match = _STAGED.fullmatch(name)
        if match is not None:
            return match[1] == suffix
        if not name.endswith(".py"):
            return name == "MEMORY.md"
        found = named(file.path)
        return not staged and found is not None and not found.suffix

    return mine


__all__ = ["Found", "Judgement", "evidence_at", "file_judged", "name_of", "of_phase", "rows_judged", "stage_judged"]
