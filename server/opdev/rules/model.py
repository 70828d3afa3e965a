"""The words rules and their users share: rule, hit, fix, finding.

A check yields hits (offsets and a message key, nothing rendered); the engine makes findings of
them; only the edge (CLI, editor) asks a finding for text in a language and for positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from opdev.source import Source, Unit

Severity = Literal["error", "warning", "info", "hint"]
Applicability = Literal["safe", "unsafe", "suggestion"]
Scope = Literal["item", "file", "project"]
Lang = Literal["zh", "en"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info", "hint")
Text = Mapping[str, str]
"""A text in both languages: keys ``zh`` and ``en``."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace ``[start, end)`` by ``text``; ``path`` None means the file of the finding."""

    start: int
    end: int
    text: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together.  ``title`` is a key into the rule's fix titles."""

    edits: tuple[Edit, ...]
    title: str = "default"
    applicability: Applicability | None = None
    """None: what the rule's page says."""


@dataclass(frozen=True, slots=True)
class Related:
    """Another place the reader should see; ``note`` in both languages."""

    start: int
    end: int
    note: Text
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """What a check found: a range in the file it was given, and what to say of it."""

    start: int
    end: int
    message: str = "default"
    args: Mapping[str, object] = field(default_factory=dict)
    fix: Fix | None = None
    severity: Severity | None = None
    related: tuple[Related, ...] = ()

    def moved(self, by: int) -> Hit:
        """The same hit ``by`` bytes further on."""
        if not by:
            return self
        fix = self.fix
        if fix is not None:
            edits = tuple([e if e.path is not None else Edit(e.start + by, e.end + by, e.text) for e in fix.edits])
            fix = Fix(edits, fix.title, fix.applicability)
        related = self.related
        if related:
            related = tuple([r if r.path is not None else Related(r.start + by, r.end + by, r.note) for r in related])
        start, end = self.start + by, self.end + by
        if type(self) is not Hit:
            return replace(self, start=start, end=end, fix=fix, related=related)
        return Hit(start, end, self.message, self.args, fix, self.severity, related)


@dataclass(frozen=True, slots=True)
class Query:
    """A tree-sitter query of a rule, and the text its ``@fix`` capture is replaced by."""

    language: str
    text: str
    replace: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule in compiled form.  What a person reads of it is in ``docs`` (loaded separately)."""

    id: str
    name: str
    severity: Severity
    kinds: frozenset[str]
    languages: frozenset[str]
    messages: Mapping[str, Text]
    summary: Text
    scope: Scope = "file"
    covers: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    profiles: Mapping[str, str] = field(default_factory=dict)
    fix: Applicability | None = None
    fixes: Mapping[str, Text] = field(default_factory=dict)
    check: str | None = None
    queries: tuple[Query, ...] = ()
    needs: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    since: str = "0.1.0"
    source: str = ""
    page: str = ""
    tags: tuple[str, ...] = ()

    @property
    def alone(self) -> bool:
        """Whether a project rule has something to say of a file in no operator, too (tag ``alone``)."""
        return "alone" in self.tags

    @property
    def apart(self) -> bool:
        """Whether opdev itself says it, outside the run of rules over a file (tag ``apart``): no plan has it."""
        return "apart" in self.tags

    @property
    def off_by_default(self) -> bool:
        """Whether the rule only runs where the user asks for it (``profiles: {default: off}``)."""
        return self.profiles.get("default") == "off"

    @property
    def family(self) -> str:
        return self.page.split("/", 1)[0]


@dataclass(frozen=True, slots=True)
class Finding:
    """A hit in the file the user knows, with everything needed to show and to fix it."""

    rule: Rule
    source: Source
    start: int
    end: int
    severity: Severity
    message_key: str = "default"
    args: Mapping[str, object] = field(default_factory=dict)
    fix: Fix | None = None
    related: tuple[Related, ...] = ()
    kind: str = ""
    operator: str | None = None

    @property
    def path(self) -> str:
        return self.source.path

    def message(self, lang: Lang) -> str:
        """What is wrong and what it does to the user, in one sentence."""
        return render(self.rule.messages, self.message_key, self.args, lang)

    def fix_title(self, lang: Lang) -> str:
        """What applying the fix will do; empty without one."""
        if self.fix is None:
            return ""
        return render(self.rule.fixes, self.fix.title, self.args, lang)

    @property
    def applicability(self) -> Applicability | None:
        if self.fix is None:
            return None
        return self.fix.applicability or self.rule.fix or "suggestion"

    def span(self, unit: Unit = "utf-32") -> tuple[int, int, int, int]:
        """0-based (line, column, end line, end column) in ``unit``."""
        return (*self.source.position(self.start, unit), *self.source.position(self.end, unit))

    @property
    def sort_key(self) -> tuple[object, ...]:
        args = sorted(map(str, self.args.items())) if self.args else []
        return (self.path, self.start, self.end, self.rule.id, self.message_key, args)


def render(texts: Mapping[str, Text], key: str, args: Mapping[str, object], lang: Lang) -> str:
    """A message template filled in; a missing key is said, never raised: findings must get out."""
    text = texts.get(key)
    if text is None:
        return f"[{key}]"
    template = text.get(lang) or text.get("en") or f"[{key}]"
    try:
        return template.format_map(_Args(args))
    except (ValueError, IndexError):
        return template


class _Args(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return "{" + key + "}"
