"""The linter's verdicts as checks: a gate asks the rules, it has no opinion of its own.

Only errors close a gate, at the severity the configuration gives them, and only those nobody suppressed.
Rules that are switched off leave a check ``unknown``: off is not the same as kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from opdev.phases.evidence import Evidence
from opdev.phases.model import Check, Spot, Title, both
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules.context import Project
from opdev.rules.engine import Linter
from opdev.rules.model import Finding, Rule, Text
from opdev.rules.selection import Selection
from opdev.syntax.file import File

_ENGINE = "internal-error"


def words_of(rule: Rule) -> frozenset[str]:
    """The catalogue rows a rule stands for."""
    return frozenset({rule.id, *rule.covers})


@dataclass(frozen=True, slots=True)
class Named:
    """A gate condition that rules decide: errors of these catalogue rows close it."""

    title: Title
    rows: frozenset[str]
    good: Text


class Verdicts:
    """The errors that rules of some families find in some files of an operator."""

    def __init__(
        self, evidence: Evidence, files: Iterable[File], families: Sequence[str], *, project: bool = True
    ) -> None:
        self._evidence = evidence
        self._files = list(files)
        self._families = frozenset(families)
        self._project = project

    @cached_property
    def errors(self) -> list[Finding]:
        """In the order of the files and their text."""
        found: list[Finding] = []
        for file in self._files:
            selection = self._selection(file)
            if selection is not None:
                project = self._project_of(file) if self._project else None
                found += [
                    f
                    for f in Linter().lint(file, selection, project, cancelled=self._evidence.cancelled).findings
                    if f.severity == "error"
                ]
        return found

    def _project_of(self, file: File) -> Project | None:
        """Whose file it is: a shared binding belongs to the folder of bindings."""
        root = file.place.root
        if root is None or root == self._evidence.root:
            return self._evidence.project
        return Operator(root, Places())

    @cached_property
    def on(self) -> frozenset[str]:
        """The catalogue rows that a rule which is on judges."""
        out: set[str] = set()
        for file in self._files:
            selection = self._selection(file)
            if selection is not None:
                plan = selection.plan(file.kind.names, file.language, file.place.profile)
                out.update(row for active in plan.all if active.severity == "error" for row in words_of(active.rule))
        return frozenset(out)

    def _selection(self, file: File) -> Selection | None:
        whole = self._evidence.selection(file)
        return narrowed(whole, self._families) if whole is not None else None

    def named(self, groups: Iterable[Named]) -> Iterator[Check]:
        """A check a group, then one a rule for the errors of no group."""
        left = self.errors
        for group in groups:
            mine = [f for f in left if words_of(f.rule) & group.rows]
            left = [f for f in left if not words_of(f.rule) & group.rows]
            if mine:
                yield group.title.failed(_messages(mine), _opens(mine), spot_of(mine[0]))
            elif group.rows & self.on:
                yield group.title.ok(group.good)
            else:
                yield group.title.unknown(*_OFF)
        yield from by_rule(left)

    def more(self, title: Title, good: Text, known: frozenset[str] = frozenset()) -> Iterator[Check]:
        """As ``all``, but nothing where no rule is on: for rules that add to a gate's own conditions.

        Errors of the rules in ``known`` (ids) are left out: the gate has a condition of its own for each of them.
        """
        left = [f for f in self.errors if f.rule.id not in known]
        if left:
            yield from by_rule(left)
        elif self.on:
            yield title.ok(good)

    def all(self, title: Title, good: Text) -> Iterator[Check]:
        """A check a rule that fails, or the one that says that none does."""
        if self.errors:
            yield from by_rule(self.errors)
        elif self.on:
            yield title.ok(good)
        else:
            yield title.unknown(*_OFF)


_OFF = (
    both("判断这一项的规则没有启用", "the rules that judge this are switched off"),
    both(
        "在 opdev.toml 里启用这些规则（去掉 ignore 或 select 的限制）",
        "switch them on in opdev.toml (take them out of `ignore`, or into `select`)",
    ),
)


def by_rule(errors: Iterable[Finding]) -> Iterator[Check]:
    """A failed check a rule, the first of its findings as the place."""
    groups: dict[str, list[Finding]] = {}
    for finding in errors:
        groups.setdefault(finding.rule.name, []).append(finding)
    for name, found in groups.items():
        summary = found[0].rule.summary
        title = Title(f"rule:{name}", summary.get("zh", name), summary.get("en", name))
        yield title.failed(_messages(found), _opens(found), spot_of(found[0]))


def _messages(found: list[Finding]) -> Text:
    first, more = found[0], len(found) - 1
    zh, en = first.message("zh"), first.message("en")
    if not more:
        return both(zh, en)
    return both(f"{zh}（另有 {more} 处）", f"{en} (and {more} more)")


def _opens(found: list[Finding]) -> Text:
    first = found[0]
    name = first.rule.name
    if name == _ENGINE:
        return both("附上这个文件报告此问题", "report it with this file")
    zh, en = first.fix_title("zh"), first.fix_title("en")
    ask_zh, ask_en = f"opdev-lint explain {name} 说明怎么改", f"`opdev-lint explain {name}` says how to mend it"
    if not zh or not en:
        return both(ask_zh, ask_en)
    return both(
        f"{zh}（编辑器的快速修复或 opdev-lint --fix；{ask_zh}）", f"{en} (quick fix or opdev-lint --fix; {ask_en})"
    )


def spot_of(finding: Finding) -> Spot:
    """Where a finding stands."""
    line, column, _, _ = finding.span()
    return Spot(finding.path, line + 1, column + 1)


_narrowed: dict[tuple[int, frozenset[str]], tuple[Selection, Selection]] = {}
_MOST_KEPT = 32


def narrowed(whole: Selection, families: frozenset[str]) -> Selection:
    """The rules of a selection that are of some families; kept, because its plans are costly."""
    key = (id(whole), families)
    kept = _narrowed.get(key)
    if kept is None or kept[0] is not whole:
        if len(_narrowed) >= _MOST_KEPT:
            _narrowed.clear()
        kept = _narrowed[key] = (whole, whole.only(rule for rule in whole.rules if rule.family in families))
    return kept[1]
