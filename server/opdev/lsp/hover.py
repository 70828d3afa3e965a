"""Hover: what a finding means, what a suppression silences, what an API name does, what a design's field is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types

from opdev.design.document import document_of
from opdev.design.explain import Explained, explain
from opdev.lsp import apidocs, contracts
from opdev.lsp.client import Lang
from opdev.lsp.cursor import Cursor, cursor, side_at
from opdev.lsp.designs import is_design
from opdev.lsp.documents import typed_range
from opdev.rules import store
from opdev.rules.model import Finding, Rule

if TYPE_CHECKING:
    from opdev.lsp.session import Session

_DIRECTIVE = re.compile(rb"\bopdev:[ \t]*(?:ignore-file|ignore|off|on)[ \t]*\[([^\]\r\n]*)\]")
_NAME = re.compile(rb"[\w-]+")


def hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    """The hover at a position, in the user's language."""
    at = cursor(session, params)
    if at is None:
        return None
    found = _suppression(at) or _code(at)
    if found is None:
        return None
    text, (start, end) = found
    kind = types.MarkupKind.Markdown if session.client.markdown else types.MarkupKind.PlainText
    return types.Hover(
        types.MarkupContent(kind, text if session.client.markdown else plain(text)),
        typed_range(at.source, start, end, session.client.unit),
    )


def _suppression(at: Cursor) -> tuple[str, tuple[int, int]] | None:
    begin, end = at.line()
    for directive in _DIRECTIVE.finditer(at.data, begin, end):
        for name in _NAME.finditer(at.data, directive.start(1), directive.end(1)):
            if name.start() <= at.offset <= name.end():
                rules = at.session.rulebook.of(at.document.path).rules
                rule = store.by_name(rules).get(name.group().decode().lower())
                return (rule_page(rule, at.lang), name.span()) if rule is not None else None
    return None


def _code(at: Cursor) -> tuple[str, tuple[int, int]] | None:
    parts: list[str] = []
    span = at.word()
    code = at.code()
    word = at.source.text(*span)
    api = apidocs.find(word) if word else None
    if code is not None and api is not None:
        parts.append(apidocs.documentation(api, at.lang, side_at(*code), word))
    elif api is not None and at.document.path.lower().endswith("design.md"):
        parts.append(apidocs.documentation(api, at.lang, "device", word))
    findings = findings_at(at)
    explained = _field(at) or contracts.hovered(at, at.lang)
    if explained is not None:
        parts.append(explained.text)
        span = (explained.start, explained.end) if len(parts) == 1 else span
    if findings and not parts:
        span = (findings[0].start, max(findings[0].end, findings[0].start))
    pages = {finding.rule.name: rule_page(finding.rule, at.lang) for finding in findings}
    parts += pages.values()
    return ("\n\n---\n\n".join(parts), span) if parts else None


def _field(at: Cursor) -> Explained | None:
    """The meaning of a key or value of a design's DSL."""
    file = at.session.file_of(at.document) if at.document.path.lower().endswith("design.md") else None
    if file is None or not is_design(file) or file.source is not at.source:
        return None
    return explain(document_of(file), at.offset, at.lang)


def findings_at(at: Cursor) -> list[Finding]:
    """The findings at the cursor, the smallest first, if they are of this version."""
    shown = at.session.now_shown(at.document)
    if shown is None:
        return []
    covering = [f for f in shown.report.findings if f.start <= at.offset <= f.end and f.rule.page]
    return sorted(covering, key=lambda f: f.end - f.start)


def rule_page(rule: Rule, lang: Lang) -> str:
    """A rule's page without its examples; a rule of the workspace has its title alone."""
    prose = store.docs(rule).get(lang)
    head = f"`{rule.name}` · {rule.id} · {rule.severity}"
    if prose is None:
        return f"**{rule.summary.get(lang) or rule.summary.get('en', rule.name)}**\n\n{head}"
    title, _, body = prose.strip().partition("\n")
    return f"**{title.lstrip('# ')}**\n\n{head}\n\n{body.strip()}"


def plain(markdown: str) -> str:
    """Markdown for a client that shows none: fences, emphasis and code marks go."""
    text = re.sub(r"^(?:```.*|---)$", "", markdown, flags=re.M)
    text = re.sub(r"\*\*|`|^#+ ", "", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text).strip()
