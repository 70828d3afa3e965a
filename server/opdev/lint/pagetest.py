"""Running a rule page's examples.

A ``bad`` example fires exactly at its marks, a ``good`` one stays silent, ``fixed`` is what fixing
the ``bad`` before it yields; that parses, is clean, and fixing again changes nothing.  Weak pages
are refused: no bad or no good example, a fix nobody shows, a placeholder nobody filled.

Marks stand in comment lines below the code they mean and are taken out before the rule runs::

    IPPORT="tcp://127.0.0.1:27010"
    #      ^^^^^^^^^^^^^^^^^^^^^^^ hardcoded-endpoint
    pkill -f shmem
    #<------------ unscoped-process-kill      (a range that starts where the comment does)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from opdev.kinds import classify
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules.engine import BUILTIN, Linter
from opdev.rules.fixes import fix_to_the_end
from opdev.rules.model import Finding, Rule
from opdev.rules.page import Example, Page
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File
from opdev.syntax.tree import errors

Verdict = Literal["Missing", "Noisy", "Fix", "Weak", "Broken"]

_MARK = re.compile(
    r"^(?P<lead>[ \t]*)(?P<open>#|//|<!--|%)(?P<body>[ \t]*\^+|<-*)[ \t]+(?P<name>[a-z][a-z0-9-]*)(?:[ \t].*)?$"
)
_WORLD = "/w"
_OPERATOR = "/w/custom-ops/demo"
_OUTSIDE = {"custom-ops", "examples", "custom", "elsewhere"}
_UNWRITTEN = re.compile(r"^# (?:中文标题|English title)$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{[a-z_]+\}")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a page fails: at which line of the page, and what to do."""

    page: str
    line: int
    verdict: Verdict
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.verdict}: {self.text}"


@dataclass(frozen=True, slots=True)
class Mark:
    line: int
    start: int
    end: int
    name: str


@dataclass
class Report:
    """What testing some pages came to."""

    problems: list[Problem] = field(default_factory=list)
    examples: int = 0
    todos: int = 0


def test_page(page: Page, all_rules: Sequence[Rule]) -> Report:
    """Run all examples of a page; ``all_rules`` is what its suppressions may name."""
    report = Report()
    shown = f"rules/{page.path}"
    report.problems += [Problem(shown, line, "Weak", text) for line, text in _weaknesses(page)]
    previous: Example | None = None
    for example in page.examples:
        report.examples += 1
        if example.role == "fixed":
            problems = _fixed(page, previous, example, all_rules)
        else:
            problems = _fires(page, example, all_rules)
            if example.role.startswith("todo-"):
                report.todos += 1
                problems = [] if problems else ["the known gap is closed: make this example good or bad"]
            previous = example
        report.problems += [
            Problem(
                shown, example.line, _verdict(text), text.partition(": ")[2] if _verdict(text) != "Broken" else text
            )
            for text in problems
        ]
    return report


def _verdict(text: str) -> Verdict:
    word = text.partition(":")[0]
    return word if word in ("Missing", "Noisy", "Fix", "Weak") else "Broken"  # type: ignore[return-value]  # narrowed by the test


def _weaknesses(page: Page) -> Iterator[tuple[int, str]]:
    roles = [e.role for e in page.examples]
    if page.rule.apart:
        if roles:
            yield page.examples[0].line, "opdev itself says it, whatever a file holds: an example cannot show it"
    elif "bad" not in roles:
        yield 1, "no bad example: the page does not show what it finds"
    if "good" not in roles and not page.rule.apart:
        yield 1, "no good example: nothing shows what it leaves alone"
    if page.rule.fix and "fixed" not in roles:
        yield 1, "the rule has a fix and no `fixed` example shows it"
    if not page.rule.fix and "fixed" in roles:
        yield 1, "a `fixed` example on a rule without a fix"
    if _UNWRITTEN.search("".join(page.docs.values())):
        yield 1, "the prose is the scaffold's: say what the rule finds, why it hurts, what to do"
    seen: dict[tuple[str, str, str], int] = {}
    for example in page.examples:
        key = (example.role, example.path, example.text)
        if key in seen:
            yield example.line, f"the same example stands at line {seen[key]}"
        seen[key] = example.line


def strip_marks(text: str) -> tuple[str, list[Mark]]:
    """The example without its mark lines, and the marks with 0-based positions."""
    lines: list[str] = []
    marks: list[Mark] = []
    for line in text.splitlines(keepends=True):
        match = _MARK.match(line.rstrip("\n"))
        if match is None:
            lines.append(line)
            continue
        opener = len(match["lead"]) + len(match["open"])
        if match["body"].startswith("<"):
            start, end = len(match["lead"]), opener + len(match["body"])
        else:
            carets = match["body"].lstrip(" \t")
            start = opener + len(match["body"]) - len(carets)
            end = start + len(carets)
        marks.append(Mark(len(lines) - 1, start, end, match["name"]))
    return "".join(lines), marks


def absolute(path: str) -> str:
    """Where an example's file stands in the examples' world; ``repo/…`` is the checkout of SHMEM itself."""
    first, _, rest = path.partition("/")
    if first == "repo":
        return f"{_WORLD}/{rest}"
    return f"{_WORLD}/{path}" if first in _OUTSIDE else f"{_OPERATOR}/{path}"


class World:
    """The files of one example, and linting them with one page's rule."""

    def __init__(self, page: Page, example: Example, text: str, all_rules: Sequence[Rule]) -> None:
        self.main = absolute(example.path)
        self.files = {self.main: text.encode(), **{absolute(p): t.encode() for p, t in example.aux}}
        markers = {f"{_WORLD}/include/shmem.h", f"{_WORLD}/version.info"}
        self.places = Places(lambda path: path in markers or path in self.files)
        chosen = {page.rule.name, *example.options.get("select", "").split(",")}
        rules = [page.rule, *(r for r in all_rules if r.name in chosen and r.name != page.rule.name)]
        if page.rule.check == BUILTIN:
            rules = [*rules, *(r for r in all_rules if r.check == BUILTIN and r.name != page.rule.name)]
        self.selection = Selection(tuple(rules), asked=frozenset(r.name for r in rules))
        self.linter = Linter(known=[page.rule, *all_rules])
        self.rule = page.rule

    def file(self, source: Source) -> File:
        place = self.places.of(source.path)
        return File(source, classify(source.path, source.data, in_operator=place.operator is not None), place)

    def lint(self, source: Source) -> list[Finding]:
        file = self.file(source)
        root = file.place.root or _OPERATOR
        files = {**self.files, source.path: source.data}
        project = Operator(root, self.places, files.get, files)
        result = self.linter.lint(file, self.selection, project)
        return [f for f in result.findings if f.rule.name in (self.rule.name, "internal-error")]

    def source(self, data: bytes | None = None) -> Source:
        return Source.from_disk(self.main, self.files[self.main] if data is None else data)


def _fires(page: Page, example: Example, all_rules: Sequence[Rule]) -> list[str]:
    text, marks = strip_marks(example.text)
    world = World(page, example, text, all_rules)
    source = world.source()
    file = world.file(source)
    good = example.role.endswith("good")
    problems: list[str] = []
    if page.rule.check != BUILTIN and file.language is not None and not _applies(page.rule, file):
        problems.append(
            f"the rule does not apply to {example.path} (kinds there: {', '.join(sorted(file.kind.names)) or 'none'})"
        )
    if file.parsed and errors(file.root) and example.options.get("parse") != "broken":
        where = errors(file.root)[0].start_point[0] + 1
        problems.append(f"the example does not parse (line {where} of it); fix it or say parse=broken")
    found = [_found(finding) for finding in world.lint(source)]
    crashes = [f for f in found if f[1].rule.name == "internal-error"]
    problems += [f"the rule raised: {f[1].message('en')}" for f in crashes]
    found = [f for f in found if f[1].rule.name != "internal-error"]
    if good and marks:
        problems.append("Weak: a good example carries marks")
    if not good and not marks:
        problems.append("Weak: a bad example has no mark: show where it fires")
    expected = {(m.line, m.start, m.end) for m in marks if m.name == page.rule.name}
    for mark in marks:
        if mark.name != page.rule.name:
            problems.append(f"Weak: a mark names {mark.name!r}, this page is {page.rule.name!r}")
    actual = {place for place, _ in found}
    lines = text.split("\n")
    for line, start, end in sorted(expected - actual):
        near = ", ".join(f"{s}-{e}" for at, s, e in sorted(actual) if at == line)
        hint = f" (it fires at columns {near} of that line)" if near else ""
        problems.append(f"Missing: nothing at columns {start}-{end} of {lines[line].strip()!r}{hint}")
    for place, finding in found:
        if place not in expected:
            line, start, end = place
            problems.append(
                f"Noisy: fires at columns {start}-{end} of {lines[line].strip()!r}: {finding.message('en')}"
            )
    for _, finding in found:
        for lang in ("zh", "en"):
            for shown in (finding.message(lang), finding.fix_title(lang)):
                left = _PLACEHOLDER.search(shown) if "${" not in shown else None
                if left or shown.startswith("["):
                    problems.append(f"Weak: unfilled {left.group() if left else shown} in: {shown}")
    return problems


def _applies(rule: Rule, file: File) -> bool:
    here = not rule.kinds.isdisjoint(file.kind.names) and file.language in rule.languages
    return here or any(
        _applies(rule, inner) for inner in (file.regions if file.language in ("markdown", "bash") else [])
    )


def _found(finding: Finding) -> tuple[tuple[int, int, int], Finding]:
    line, start, end_line, end = finding.span("utf-32")
    if end_line > line:
        end = finding.source.position(finding.source.line_range(line)[1])[1]
    return (line, start, end), finding


def _fixed(page: Page, bad: Example | None, fixed: Example, all_rules: Sequence[Rule]) -> list[str]:
    if bad is None or bad.role != "bad":
        return ["Weak: a `fixed` example follows the bad one it mends"]
    text, _ = strip_marks(bad.text)
    world = World(page, bad, text, all_rules)
    source = world.source()
    outcome = fix_to_the_end(source, world.lint, world.file, ("safe", "unsafe", "suggestion"))
    problems: list[str] = []
    actual = outcome.data.decode("utf-8", "replace")
    if outcome.broke:
        problems.append("Fix: the fix leaves text that does not parse")
    if outcome.fighting:
        problems.append(f"Fix: fixing does not come to an end ({', '.join(outcome.fighting)})")
    if fixed.text == text:
        problems.append("Weak: the fixed text is the bad one")
    if actual != fixed.text:
        problems.append("Fix: the fix yields\n" + _indent(_diff(fixed.text, actual)))
    elif any(f.fix is not None for f in world.lint(world.source(outcome.data))):
        problems.append("Fix: the fixed text has a fix still to make")
    return problems


def _diff(expected: str, actual: str) -> str:
    from difflib import unified_diff

    return "".join(unified_diff(expected.splitlines(True), actual.splitlines(True), "page", "fix", n=1))


def _indent(text: str) -> str:
    return "".join(f"    {line}" for line in text.splitlines(True))


def test_pages(pages: Iterable[Page], all_rules: Sequence[Rule]) -> Report:
    """Test several pages; queries that do not compile are problems, not exceptions."""
    total = Report()
    for page in pages:
        try:
            one = test_page(page, all_rules)
        except Exception as error:  # noqa: BLE001 - a page must not stop the others
            one = Report([Problem(f"rules/{page.path}", 1, "Broken", f"{type(error).__name__}: {error}")])
        total.problems += one.problems
        total.examples += one.examples
        total.todos += one.todos
    return total
