"""``opdev-lint explain``, ``rules`` and ``init``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from opdev.config import expand_word
from opdev.lint.decisions import DECISIONS
from opdev.lint.elsewhere import ELSEWHERE
from opdev.lint.texts import say, severity_word
from opdev.rules import store
from opdev.rules.model import Lang, Rule

_CONFIG = """\
# opdev.toml — https://json-schema.org description: `opdev-lint --print-schema config`
# Paths are relative to this file.

# Which rules run: names, ids, catalogue rows, families, or "all".
# select = ["all"]
# Rules on top of those; name a rule that is off by default to turn it on.
# extend-select = []
# ignore = []

# Severities other than the rules' own: error, warning, info, hint.
[severity]
# magic-ub-offset = "info"

# Rules that do not apply to some files (gitignore patterns).
[per-file-ignores]
# "legacy/**" = ["style"]
"""


def explain(word: str, rules: Sequence[Rule], lang: Lang) -> tuple[str, int]:
    """(text, exit status): a rule's page, or what is near the word."""
    table = store.by_name(rules)
    rule = table.get(word.lower())
    if rule is None and (decision := DECISIONS.get(word.upper())) is not None:
        return say("decided", lang, row=word.upper(), why=decision[lang]) + "\n", 0
    if rule is None and (held := ELSEWHERE.get(word.upper())) is not None:
        return say("elsewhere", lang, row=word.upper(), by=held[lang]) + "\n", 0
    if rule is None:
        near = get_close_matches(word.lower(), list(table), n=1)
        guess = say("guess", lang, name=table[near[0]].name) if near else ""
        return say("no-rule", lang, name=word, guess=guess) + "\n", 2
    lines = [say("rule-head", lang, name=rule.name, id=rule.id, severity=severity_word(rule.severity, lang))]
    if len(rule.covers) > 1:
        lines.append(say("covers", lang, rows=", ".join(rule.covers)))
    others = sorted(expand_word(word, table, rules) - {rule.name})
    if others:
        lines.append(say("others", lang, word=word.upper(), names=", ".join(others)))
    if rule.off_by_default:
        lines.append(say("off-hint" if rule.severity == "hint" else "off", lang, name=rule.name))
    if rule.fix:
        lines.append(say("fix-level", lang, level=rule.fix))
    lines += ["", store.docs(rule).get(lang, rule.summary.get(lang, "")).rstrip(), *_examples(rule)]
    return "\n".join(lines) + "\n", 0


def _examples(rule: Rule) -> list[str]:
    """The page's first bad and good example."""
    from opdev.rules.page import PageError, read_page

    path = store.rules_folder() / rule.page
    try:
        page = read_page(path, store.rules_folder())
    except (PageError, OSError):
        return []
    out: list[str] = []
    for role in ("bad", "fixed", "good"):
        example = next((e for e in page.examples if e.role == role), None)
        if example is not None:
            out += ["", f"{role}: {example.path}", "", *(f"    {line}" for line in example.text.rstrip().split("\n"))]
    return out


def list_rules(rules: Sequence[Rule], lang: Lang, *, as_json: bool) -> str:
    """All rules, a line each, or as JSON."""
    if as_json:
        data = [
            {
                "id": r.id,
                "name": r.name,
                "family": r.family,
                "severity": r.severity,
                "fix": r.fix,
                "default": "off" if r.off_by_default else "on",
                "kinds": sorted(r.kinds),
                "covers": list(r.covers),
                "since": r.since,
                "summary": dict(r.summary),
            }
            for r in rules
        ]
        return json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    width = max((len(r.name) for r in rules), default=0)
    rows = [
        f"{r.id}  {r.name:<{width}}  {severity_word(r.severity, lang):<7}  {'*' if r.fix == 'safe' else ' '}  {r.summary[lang]}"
        f"{say('off-mark', lang) if r.off_by_default else ''}"
        for r in rules
    ]
    return "\n".join(rows) + "\n"


def init(folder: str, lang: Lang) -> tuple[str, int]:
    """Write an opdev.toml to start from; an existing one is left alone."""
    path = Path(folder) / "opdev.toml"
    if path.exists():
        return say("init-exists", lang, path=path) + "\n", 2
    path.write_text(_CONFIG, encoding="utf-8")
    return say("init-written", lang, path=path) + "\n", 0
