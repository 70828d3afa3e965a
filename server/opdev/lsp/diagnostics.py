"""Findings as the protocol has them.

Plain JSON rather than lsprotocol's classes: diagnostics go out by the thousand and after each
keystroke, and unstructuring objects costs twenty times what making dicts does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from opdev.lsp.client import Client, Lang
from opdev.lsp.documents import plain_range
from opdev.lsp.rulebook import Problem
from opdev.lsp.uris import to_uri
from opdev.rules import store
from opdev.rules.model import Finding, Rule
from opdev.source import Source

SOURCE = "opdev"
MOST = 1000
"""Diagnostics a file; an editor chokes on more, and nobody reads them."""
TOO_MANY = "too-many-findings"
UNUSABLE = "unusable-config"
"""What the server says itself, not of a rule's finding."""

_SEVERITY = {"error": 1, "warning": 2, "info": 3, "hint": 4}
_TAGS = {"unnecessary": 1, "deprecated": 2}
SourceOf = Callable[[str], Source | None]
UriOf = Callable[[str], str]


@dataclass(frozen=True)
class Style:
    """What the client can show, and how the server finds other files for it."""

    client: Client
    source_of: SourceOf
    uri_of: UriOf

    def can(self, feature: str) -> bool:
        """Whether diagnostics may carry a feature, pushed or pulled."""
        return supports(self.client, feature)


def supports(client: Client, feature: str) -> bool:
    """Whether a client takes a feature of diagnostics, pushed or pulled."""
    kinds = ("publishDiagnostics", "diagnostic")
    return any(client.can(f"textDocument.{kind}.{feature}") for kind in kinds)


def render(findings: Iterable[Finding], uri: str, lang: Lang, style: Style) -> list[dict[str, Any]]:
    """The diagnostics of a file, in text order; MOST at most, and one that says how many there are."""
    listed = list(findings)
    # A hundred findings may point into one file: it is read once.
    style = replace(style, source_of=lru_cache(maxsize=64)(style.source_of))
    shown = [_diagnostic(finding, uri, lang, style) for finding in listed[:MOST]]
    if len(listed) > MOST:
        text = {
            "zh": f"本文件共有 {len(listed)} 个问题，编辑器只显示前 {MOST} 个；用 opdev-lint 查看全部",
            "en": f"this file has {len(listed)} findings and the editor shows the first {MOST}; opdev-lint shows all",
        }
        shown.append({"range": _at(0), "severity": 3, **_own(TOO_MANY, text[lang], style.client)})
    return shown


def _diagnostic(finding: Finding, uri: str, lang: Lang, style: Style) -> dict[str, Any]:
    unit = style.client.unit
    rule = finding.rule
    made: dict[str, Any] = {
        "range": plain_range(finding.source, finding.start, finding.end, unit),
        "severity": _SEVERITY[finding.severity],
        "code": rule.name,
        "source": SOURCE,
        "message": finding.message(lang),
        "data": data_of(finding, lang, style),
    }
    if style.can("codeDescriptionSupport") and rule.page:
        made["codeDescription"] = {"href": page_uri(rule)}
    tags = [_TAGS[tag] for tag in rule.tags if tag in _TAGS]
    if tags and style.can("tagSupport"):
        made["tags"] = tags
    if finding.related and style.can("relatedInformation"):
        made["relatedInformation"] = list(_related(finding, uri, lang, style))
    return made


def data_of(finding: Finding, lang: Lang, style: Style) -> dict[str, Any]:
    """What comes back with a code action request: the rule, and the fix if it stays in this file."""
    data: dict[str, Any] = {"rule": finding.rule.name, "id": finding.rule.id}
    fix = finding.fix
    if fix is not None and all(edit.path is None for edit in fix.edits):
        unit = style.client.unit
        data["fix"] = {
            "title": finding.fix_title(lang),
            "applicability": finding.applicability,
            "edits": [
                {"range": plain_range(finding.source, e.start, e.end, unit), "newText": e.text} for e in fix.edits
            ],
        }
    return data


def _related(finding: Finding, uri: str, lang: Lang, style: Style) -> Iterable[dict[str, Any]]:
    for related in finding.related:
        source = finding.source if related.path is None else style.source_of(related.path)
        if source is None:
            continue
        yield {
            "location": {
                "uri": uri if related.path is None else style.uri_of(related.path),
                "range": plain_range(source, related.start, related.end, style.client.unit),
            },
            "message": related.note.get(lang) or related.note.get("en", ""),
        }


def page_uri(rule: Rule) -> str:
    """Where the page of a rule is: on this machine, so that it opens without a network."""
    return _page_uri(rule.page)


@lru_cache(maxsize=1024)
def _page_uri(page: str) -> str:
    return to_uri((store.rules_folder() / page).as_posix())


def of_problem(problem: Problem, lang: Lang, client: Client) -> dict[str, Any]:
    """The diagnostic for a configuration that cannot be used."""
    effect = {
        "zh": "；改好之前沿用上一次可用的配置",
        "en": "; until this is mended the last configuration that worked applies",
    }
    where = _at(max(problem.line - 1, 0), 1 << 16)
    return {"range": where, "severity": 1, **_own(UNUSABLE, problem.text + effect[lang], client)}


def _own(name: str, message: str, client: Client) -> dict[str, Any]:
    """What the server says itself: it has a page like any rule, which may be the one that cannot be read."""
    made: dict[str, Any] = {"code": name, "source": SOURCE, "message": message}
    if supports(client, "codeDescriptionSupport"):
        made["codeDescription"] = {"href": _page_uri(f"opdev/{name}.md")}
    return made


def _at(line: int, column: int = 0) -> dict[str, dict[str, int]]:
    return {"start": {"line": line, "character": 0}, "end": {"line": line, "character": column}}


def result_id(items: list[dict[str, Any]]) -> str:
    """Equal for equal diagnostics, whatever version, configuration or generation they come from."""
    text = json.dumps(items, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
