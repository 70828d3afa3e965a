"""Running rules on a file.

A definition's findings are kept by its text: a keystroke runs the item rules on the one
definition it touched.  A rule that raises loses itself on that file and is reported; nothing else
is lost.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module

from opdev.rules import suppress
from opdev.rules.context import Context, Project
from opdev.rules.model import Finding, Fix, Hit, Related, Rule, Scope
from opdev.rules.selection import Active, Found, Kept, Plan, Selection
from opdev.rules.store import by_name
from opdev.rules.watchdog import CheckTimeout, Watchdog
from opdev.syntax.file import File, Segment
from opdev.syntax.pieces import Piece, words_of

log = logging.getLogger("opdev.rules")

Check = Callable[[Context], Iterable[Hit]]
BUILTIN = "builtin"


@dataclass
class Result:
    """Findings of one file, in text order, and the rules that really ran on it."""

    findings: list[Finding] = field(default_factory=list)
    ran: dict[str, Rule] = field(default_factory=dict)
    suppressed: int = 0


class Cancelled(Exception):  # noqa: N818 - an outcome, not an error
    """Nobody waits for this result any more."""


class Linter:
    """Runs a selection of rules; keeps what it found of each definition."""

    def __init__(
        self,
        *,
        watchdog: Watchdog | None = None,
        stats: bool = False,
        ignore_suppressions: bool = False,
        known: Iterable[Rule] = (),
    ) -> None:
        self._watchdog = watchdog
        self._ignore_suppressions = ignore_suppressions
        self._known = by_name(known)
        self.seconds: dict[str, float] | None = {} if stats else None

    def lint(
        self,
        file: File,
        selection: Selection,
        project: Project | None = None,
        *,
        scopes: Iterable[Scope] = ("item", "file", "project"),
        incremental: bool = False,
        cancelled: Callable[[], bool] | None = None,
    ) -> Result:
        """All findings of ``file`` and of what is embedded in it.

        ``incremental`` keeps findings by definition for the next edit.  Raises Cancelled when
        ``cancelled`` says so between two rules.
        """
        result = Result()
        findings = list(self._own(file, selection, project, set(scopes), incremental, cancelled, result))
        if file.language in _HOSTS and _embedded_awake(file, selection):
            for inner in file.regions:
                part = self.lint(inner, selection, project, scopes=scopes, cancelled=cancelled)
                findings += [_to_host(finding, inner) for finding in part.findings]
                result.ran.update(part.ran)
                result.suppressed += part.suppressed
        result.findings = self._suppressed(file, findings, selection, result)
        result.findings.sort(key=lambda finding: finding.sort_key)
        return result

    def _own(
        self,
        file: File,
        selection: Selection,
        project: Project | None,
        scopes: set[Scope],
        incremental: bool,
        cancelled: Callable[[], bool] | None,
        result: Result,
    ) -> Iterator[Finding]:
        if file.language is None:
            return
        plan = selection.plan(file.kind.names, file.language, file.place.profile)
        if not plan.all:
            return
        result.ran.update(plan.ran(scopes, operator=project is not None))
        file.typed = file.typed or (incremental and file.parsed)
        pieces = file.pieces if incremental and "item" in scopes else None
        kept = file.each(plan, plan.kept) if pieces is not None else []
        awake = set().union(*[one.awake for one in kept]) if pieces is not None else plan.awake_in(file)
        if not awake:
            return
        if pieces is not None:
            yield from self._kept(file, plan, pieces, kept, cancelled)
        elif "item" in scopes:
            items = [a for a in plan.item if a.rule.name in awake]
            for segment in file.segments if items else ():
                if cancelled is not None and cancelled():
                    raise Cancelled
                text = file.data[segment.start : segment.end]
                stirred = plan.awake(words_of(text), text)
                for active in items:
                    if active.rule.name in stirred:
                        yield from (_finding(file, active, hit) for hit in self._on_segment(file, segment, active))
        for active in (*plan.file, *plan.project):
            rule = active.rule
            if rule.scope not in scopes or rule.name not in awake or rule.check == BUILTIN:
                continue
            if rule.scope == "project" and project is None and not rule.alone:
                continue
            if cancelled is not None and cancelled():
                raise Cancelled
            context = Context(file, 0, len(file.data), None, rule, project)
            yield from (_finding(file, active, hit) for hit in self._run(active, context))

    def _kept(
        self,
        file: File,
        plan: Plan,
        pieces: list[tuple[int, Piece]],
        kept: list[Kept],
        cancelled: Callable[[], bool] | None,
    ) -> Iterator[Finding]:
        """Findings of the item rules, run only where nothing is kept."""
        known, large_ub = _around(file)

        def find(index: int, start: int, one: Kept) -> Found:
            if cancelled is not None and cancelled():
                raise Cancelled
            segment = file.segments[index]
            runs = ((a, self._on_segment(file, segment, a)) for a in plan.item if a.rule.name in one.awake)
            return tuple([(a, tuple([hit.moved(-start) for hit in hits])) for a, hits in runs if hits])

        for index, (start, piece) in enumerate(pieces):
            one = kept[index]
            if not one.awake:
                continue
            around = one.around
            if around is not None and around[0] is known and around[1] == large_ub:
                found = one.last
            else:
                found = one.found(piece.words, known, large_ub, partial(find, index, start, one))
            for active, hits in found:
                for hit in hits:
                    yield _finding(file, active, hit.moved(start))

    def _on_segment(self, file: File, segment: Segment, active: Active) -> list[Hit]:
        if active.rule.check == BUILTIN:
            return []
        return self._run(active, Context(file, segment.start, segment.end, segment.node, active.rule))

    def _run(self, active: Active, context: Context) -> list[Hit]:
        rule = active.rule
        began = time.perf_counter() if self.seconds is not None else 0.0
        if self._watchdog is not None:
            self._watchdog.begin(rule.name)
        try:
            if rule.check is not None:
                return list(check_of(rule.check)(context))
            return list(_query_hits(rule, context))
        except (Cancelled, KeyboardInterrupt):
            raise
        except (Exception, CheckTimeout) as error:
            log.exception("rule %s failed on %s", rule.name, context.file.path)
            return [_crash(rule, error)]
        finally:
            if self._watchdog is not None:
                self._watchdog.end()
            if self.seconds is not None:
                spent = time.perf_counter() - began
                self.seconds[rule.name] = self.seconds.get(rule.name, 0.0) + spent

    def _suppressed(self, file: File, findings: list[Finding], selection: Selection, result: Result) -> list[Finding]:
        # What stands in a log was printed: it silences nothing.
        if self._ignore_suppressions or file.language == "log" or not _has_directive(file):
            return findings
        found = suppress.find(file)
        kept: list[Finding] = []
        for finding in findings:
            # That a rule failed is never silenced: what it would have found is not known.
            if finding.rule is INTERNAL_ERROR or found.covering(finding.rule, *_lines(file, finding)) is None:
                kept.append(finding)
            else:
                result.suppressed += 1
        known = self._known or by_name(selection.rules)
        builtin = {rule.name: rule for rule in selection.rules if rule.check == BUILTIN}
        reports = suppress_reports(file, found, result.ran, known, builtin, selection)
        return kept + [f for f in reports if found.covering(f.rule, *_lines(file, f)) is None]


_HOSTS = {"markdown": (("docs-fence",), ("bash", "python", "cpp", "cmake", "yaml")),
          "bash": (("heredoc", "python", "shell"), ("python", "bash"))}  # fmt: skip


def _embedded_awake(file: File, selection: Selection) -> bool:
    """Whether any rule could find anything in embedded code: most documents need no look inside."""
    if b"opdev:" in file.data:
        return True
    kinds, languages = _HOSTS[file.language or ""]
    plans = (selection.plan(frozenset(kinds), language, file.place.profile) for language in languages)
    return any(plan.all and plan.awake_in(file) for plan in plans)


def _has_directive(file: File) -> bool:
    """Whether ``opdev:`` stands in a file; one being typed is asked piece by piece."""
    return b"opdev:" in file.data if file.pieces is None else True in file.each(_speaks, _speaks)


def _speaks(piece: Piece) -> bool:
    return b"opdev:" in piece.data


_NOTHING: Mapping[bytes, int] = {}


def _around(file: File) -> tuple[Mapping[bytes, int], bool]:
    """The two things outside a definition an item check may look at: the file's constants, and its UB size."""
    if file.language == "python" and "pypto-pro" in file.kind.names:
        from opdev.syntax import py_values

        return py_values.constants_by_word(file), False
    if file.language != "cpp":
        return _NOTHING, False
    from opdev.syntax.cpp import constants_by_word, has_large_ub

    return constants_by_word(file), has_large_ub(file)


def _lines(file: File, finding: Finding) -> tuple[int, int]:
    """The first and the last line of a finding."""
    return file.source.line_of(finding.start), file.source.line_of(max(finding.start, finding.end - 1))


def suppress_reports(
    file: File,
    found: suppress.Suppressions,
    ran: dict[str, Rule],
    known: dict[str, Rule],
    builtin: dict[str, Rule],
    selection: Selection,
) -> list[Finding]:
    """What is wrong with the directives themselves."""
    from opdev.rules.directives import reports

    out: list[Finding] = []
    for name, hit in reports(file, found, ran, known):
        rule = builtin.get(name)
        if rule is not None:
            severity = selection.severity.get(rule.name, rule.severity)
            out.append(_finding(file, Active(rule, severity, fixable=True), hit))
    return out


def _finding(file: File, active: Active, hit: Hit) -> Finding:
    rule, severity = active.rule, active.severity
    if isinstance(hit, _Crash):
        rule, severity = INTERNAL_ERROR, INTERNAL_ERROR.severity
    elif hit.severity is not None and active.severity == active.rule.severity:
        severity = hit.severity
    return Finding(
        rule=rule,
        source=file.source,
        start=hit.start,
        end=hit.end,
        severity=severity,
        message_key=hit.message,
        args=hit.args,
        fix=hit.fix if active.fixable else None,
        related=hit.related,
        kind=primary_kind(file),
        operator=file.place.operator,
    )


_KIND_ORDER = (
    "torch-binding", "kernel", "host", "header", "cpp", "cmake", "baseline-script", "perf-script", "wrapper-script",
    "build-script", "run-script", "shell", "golden", "checker", "case-runner", "torch-test", "pypto-test", "pypto-impl",
    "pypto-golden", "pypto", "python", "design-doc", "pypto-spec", "pypto-design", "pypto-api-report", "pypto-memory",
    "pypto-perf-report", "readme", "report", "doc", "docs-fence", "heredoc", "cases", "pypto-state", "pypto-interfaces", "pypto-kb", "pypto-perf-cases",
    "contract", "perf-log", "log",
)  # fmt: skip


def primary_kind(file: File) -> str:
    """The most telling of a file's kinds, for output."""
    host = file.region.host if file.region is not None else file
    return _primary(host.kind.names)


@cache
def _primary(names: frozenset[str]) -> str:
    return next((kind for kind in _KIND_ORDER if kind in names), "")


def _to_host(finding: Finding, inner: File) -> Finding:
    """A finding in embedded code, placed in the file that holds it."""
    region = inner.region
    if region is None:
        return finding
    start, end = region.range_to_host(finding.start, finding.end)
    fix = finding.fix
    if fix is not None:
        edits = []
        for edit in fix.edits:
            if edit.path is None:
                low, high = region.range_to_host(edit.start, edit.end)
                edit = replace(edit, start=low, end=high, text=edit.text.replace("\n", "\n" + region.prefix))
            edits.append(edit)
        fix = Fix(tuple(edits), fix.title, fix.applicability)
    related = tuple(
        Related(*region.range_to_host(r.start, r.end), r.note) if r.path is None else r for r in finding.related
    )
    host = region.host
    return replace(finding, source=host.source, start=start, end=end, fix=fix, related=related, kind=primary_kind(host))


class _Crash(Hit):
    """A hit of INTERNAL_ERROR, whatever rule was running."""

    __slots__ = ()


def _crash(rule: Rule, error: BaseException) -> Hit:
    import traceback

    where = traceback.extract_tb(error.__traceback__)
    place = f"{where[-1].filename.rsplit('/', 1)[-1]}:{where[-1].lineno}" if where else "?"
    key = "timeout" if isinstance(error, CheckTimeout) else "default"
    args = {"rule": rule.name, "error": f"{type(error).__name__}: {error}", "place": place}
    return _Crash(0, 0, key, args)


INTERNAL_ERROR = Rule(
    id="OP900",
    name="internal-error",
    severity="error",
    kinds=frozenset(),
    languages=frozenset(),
    messages={
        "default": {
            "zh": "规则 {rule} 在本文件上运行出错（{error}，{place}），该规则的结果缺失；请附上本文件报告此问题",
            "en": "rule {rule} failed on this file ({error} at {place}), so its findings are missing; please report it",
        },
        "timeout": {
            "zh": "规则 {rule} 在本文件上运行超时被中止，该规则的结果缺失；请附上本文件报告此问题",
            "en": "rule {rule} took too long on this file and was stopped, so its findings are missing; please report it",
        },
    },
    summary={"zh": "规则运行出错", "en": "A rule failed"},
    check=BUILTIN,
    page="opdev/internal-error.md",
    tags=("apart",),
)
"""Here as well as on its page: it has to be told even where the pages cannot be read."""


@cache
def check_of(name: str) -> Check:
    """The Python check of a dotted name below ``opdev.checks``."""
    module, _, function = name.rpartition(".")
    found: Check = getattr(import_module(f"opdev.checks.{module}"), function)
    return found


def _query_hits(rule: Rule, context: Context) -> Iterator[Hit]:
    from opdev.rules.queries import run

    for query in rule.queries:
        if query.language == context.file.language:
            yield from run(query, rule, context)


__all__ = ["BUILTIN", "INTERNAL_ERROR", "Cancelled", "Linter", "Related", "Result", "check_of"]
