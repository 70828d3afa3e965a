"""Which rules run on a file, at what severity.

A selection is what configuration boils down to for one file; the active rules for a combination
of kinds, language and profile are worked out once and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from opdev.rules.model import SEVERITIES, Hit, Rule, Scope, Severity
from opdev.syntax.pieces import Piece

if TYPE_CHECKING:
    from opdev.syntax.file import File

_SOFTER: dict[Severity, Severity] = {"error": "warning", "warning": "info", "info": "hint", "hint": "hint"}


@dataclass(frozen=True, slots=True)
class Active:
    """A rule as it runs in one setting."""

    rule: Rule
    severity: Severity
    fixable: bool


Found = tuple[tuple[Active, tuple[Hit, ...]], ...]


@dataclass(slots=True, eq=False)
class Kept:
    """What the rules of one plan made of a definition's text."""

    awake: frozenset[str]
    """Names of the rules that could find anything in it."""
    around: tuple[object, bool] | None = None
    """What ``last`` was found under: the file's constants, the very mapping, and whether it has the large UB.

    Under the same there is no need to ask ``found``.
    """
    last: Found = ()
    _used: tuple[object, tuple[tuple[bytes, int], ...]] = (None, ())
    _found: dict[object, Found] = field(default_factory=dict)
    """Hits of the item rules, by everything outside the text that they may look at."""

    def found(
        self, words: frozenset[bytes], known: Mapping[bytes, int], large_ub: bool, find: Callable[[], Found]
    ) -> Found:
        """What ``find`` finds in the text, once for the same values of the constants the text names."""
        if self._used[0] is not known:
            self._used = (known, tuple(sorted([(name, known[name]) for name in words & known.keys()])))
        key = (self._used[1], large_ub)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = find()
        self.around, self.last = (known, large_ub), found
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The active rules of one setting, by scope, with the words that wake them.  Equal to itself only."""

    item: tuple[Active, ...]
    file: tuple[Active, ...]
    project: tuple[Active, ...]
    wakes: Mapping[bytes, tuple[str, ...]]
    prefixes: tuple[tuple[bytes, str], ...]
    always: frozenset[str]
    _ran: dict[object, dict[str, Rule]] = field(default_factory=dict)

    def ran(self, scopes: AbstractSet[Scope], *, operator: bool) -> Mapping[str, Rule]:
        """The rules that run in these scopes by name; those of an operator only where there is one."""
        key = (frozenset(scopes), operator)
        found = self._ran.get(key)
        if found is None:
            found = self._ran[key] = {
                active.rule.name: active.rule
                for active in self.all
                if active.rule.scope in scopes and (active.rule.scope != "project" or operator or active.rule.alone)
            }
        return found

    @property
    def all(self) -> tuple[Active, ...]:
        return (*self.item, *self.file, *self.project)

    def awake(self, words: frozenset[bytes], code: bytes) -> set[str]:
        """Names of the rules that could find anything in code with these words."""
        names = set(self.always)
        for word in words & self.wakes.keys():
            names.update(self.wakes[word])
        for prefix, name in self.prefixes:
            if name not in names and prefix in code:
                names.add(name)
        return names

    def awake_in(self, file: File) -> frozenset[str] | set[str]:
        """Names of the rules that could find anything in a file; in one being typed, looked for where it changed."""
        host = file.region.host if file.region is not None else file
        if not host.typed:
            return self.awake(file.words, file.data)
        names = self.always.union(*[chunk.memo(self, self.kept).awake for chunk in host.chunks])
        # Of embedded code the host's words are more than its own: enough to know that nothing is awake.
        return names if host is file or not names else self.awake(file.words, file.data)

    def kept(self, piece: Piece) -> Kept:
        """A place to keep what these rules find in a definition's text."""
        return Kept(frozenset(self.awake(piece.words, piece.data)))


@dataclass
class Selection:
    """The rules to run, with severities the user set.  ``severity`` maps names to levels.

    ``asked`` are the names of the rules the user asked for, which run although they are off by default.
    """

    rules: tuple[Rule, ...]
    severity: Mapping[str, Severity] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    _plans: dict[object, Plan] = field(default_factory=dict, repr=False, compare=False)

    def only(self, rules: Iterable[Rule]) -> Selection:
        """The same choices for some of its rules."""
        return Selection(tuple(rules), self.severity, self.asked)

    def plan(self, kinds: frozenset[str], language: str | None, profile: str) -> Plan:
        """What runs on a file of these kinds."""
        key = (kinds, language, profile)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = _plan(self._active(kinds, language, profile))
        return plan

    def _active(self, kinds: frozenset[str], language: str | None, profile: str) -> Iterable[Active]:
        for rule in self.rules:
            if not rule.apart and language in rule.languages and not kinds.isdisjoint(rule.kinds):
                active = activate(rule, profile, self.severity.get(rule.name), asked=rule.name in self.asked)
                if active is not None:
                    yield active


# Sample code in skill texts, and the PyPTO framework itself: only rules that say so apply.
_QUIET = frozenset({"skill-text", "pypto-tree"})


def activate(rule: Rule, profile: str, chosen: Severity | None = None, *, asked: bool = False) -> Active | None:
    """A rule under a profile: None where it is off there; soft is one level lower, without fixes.

    A rule that is off by default is on where it was ``asked`` for, but not in a profile that it names as off.
    """
    setting = rule.profiles.get(profile)
    if setting is None:
        setting = "off" if profile in _QUIET and rule.check != "builtin" else rule.profiles.get("default", "on")
        if setting == "off" and asked and profile not in _QUIET:
            setting = "on"
    if setting == "off":
        return None
    severity, fixable = rule.severity, True
    if setting == "soft":
        severity, fixable = _SOFTER[severity], False
    elif setting in SEVERITIES:
        severity = setting
    return Active(rule, chosen or severity, fixable)


def _plan(active: Iterable[Active]) -> Plan:
    scopes: dict[str, list[Active]] = {"item": [], "file": [], "project": []}
    wakes: dict[bytes, list[str]] = {}
    prefixes: list[tuple[bytes, str]] = []
    always: set[str] = set()
    for one in active:
        rule = one.rule
        scopes[rule.scope].append(one)
        if not rule.needs:
            always.add(rule.name)
        for word in rule.needs:
            if word.endswith("*"):
                prefixes.append((word[:-1].encode(), rule.name))
            else:
                wakes.setdefault(word.encode(), []).append(rule.name)
    return Plan(
        tuple(scopes["item"]),
        tuple(scopes["file"]),
        tuple(scopes["project"]),
        {word: tuple(names) for word, names in wakes.items()},
        tuple(prefixes),
        frozenset(always),
    )
