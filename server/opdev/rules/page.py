"""A rule's Markdown page, read and checked.

The page is the documentation, the hover, ``explain``, the compiled rule and its tests.  Reading it
needs PyYAML only, so that building a wheel needs nothing else; whether queries compile and
examples hold is for ``opdev rule test``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from opdev.kinds import KINDS
from opdev.rules.errors import PageError
from opdev.rules.model import SEVERITIES, Query, Rule
from opdev.syntax.aliases import ALIASES

_KEYS = {
    "id", "name", "severity", "kinds", "language", "profiles", "fix", "check", "scope", "needs", "reads",
    "covers", "aliases", "since", "source", "messages", "fixes", "replace", "tags",
}  # fmt: skip
_REQUIRED = ("id", "name", "severity", "kinds", "messages", "since")
_PROFILE_VALUES = {"on", "off", "soft", *SEVERITIES}
_ROLES = {"good", "bad", "fixed", "file", "todo-bad", "todo-good"}
NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
ID = re.compile(r"[A-Z]{2,4}[0-9][0-9A-Z]{1,2}")
_FENCE = re.compile(
    r"^(?P<ticks>`{3,}|~{3,})(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=ticks)[ \t]*$", re.MULTILINE | re.DOTALL
)
# A heading or a caption whose example was cut off.
_DANGLING = re.compile(r"(?:\n+(?:##[^\n]*|[^\n]*[:：]))+\s*\Z")
_CJK = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Example:
    """One example fence.  ``aux`` are the ``file`` fences that follow it."""

    role: str
    language: str
    path: str
    text: str
    line: int
    aux: tuple[tuple[str, str], ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """A page: the rule, its prose in both languages, its examples in order."""

    rule: Rule
    docs: Mapping[str, str]
    examples: tuple[Example, ...]
    path: str


def read_page(path: Path, root: Path) -> Page:
    """Read one page; PageError names the line of what is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PageError(str(path), 1, f"not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8") from None
    return parse_page(text, path.relative_to(root).as_posix(), str(path))


def parse_page(text: str, name: str, shown: str | None = None) -> Page:
    """Parse a page's text; ``name`` is its path below the rules folder."""
    shown = shown or name
    text = text.replace("\r\n", "\n")
    if not text.startswith("---\n"):
        raise PageError(shown, 1, "a rule page starts with front matter between two lines of ---")
    close = text.find("\n---\n", 3)
    if close < 0:
        raise PageError(shown, 1, "the front matter is not closed by a line of ---")
    meta = _front_matter(text[4 : close + 1], shown)
    body_at = close + 5
    body = text[body_at:]
    first_line = text.count("\n", 0, body_at) + 1
    queries, examples, prose = _fences(body, first_line, shown, meta)
    titles, docs = _prose(prose, first_line, shown)
    rule = _rule(meta, titles, queries, name, shown)
    return Page(rule, docs, tuple(examples), name)


def _front_matter(text: str, shown: str) -> dict[str, Any]:
    try:
        meta = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark else 2
        raise PageError(shown, line, f"the front matter is not YAML: {getattr(error, 'problem', error)}") from None
    if not isinstance(meta, dict):
        raise PageError(shown, 2, "the front matter is not a mapping")

    def line_of(key: str) -> int:
        found = re.search(rf"^{re.escape(key)}\s*:", text, re.MULTILINE)
        return text.count("\n", 0, found.start()) + 2 if found else 2

    for key in meta:
        if key not in _KEYS:
            raise PageError(shown, line_of(str(key)), f"unknown key {key!r}; known: {', '.join(sorted(_KEYS))}")
    for key in _REQUIRED:
        if key not in meta:
            raise PageError(shown, 2, f"the front matter lacks {key!r}")
    if not ID.fullmatch(str(meta["id"])):
        raise PageError(shown, line_of("id"), f"id {meta['id']!r} is not letters and a number such as SH700")
    if not NAME.fullmatch(str(meta["name"])):
        raise PageError(shown, line_of("name"), f"name {meta['name']!r} is not words joined by dashes")
    if meta["severity"] not in SEVERITIES:
        raise PageError(shown, line_of("severity"), f"severity is one of {', '.join(SEVERITIES)}")
    for kind in meta["kinds"]:
        if kind not in KINDS:
            raise PageError(shown, line_of("kinds"), f"unknown kind {kind!r}; known: {', '.join(KINDS)}")
    if meta.get("scope", "file") not in ("item", "file", "project"):
        raise PageError(shown, line_of("scope"), "scope is item, file or project")
    if meta.get("fix") not in (None, "safe", "unsafe", "suggestion"):
        raise PageError(shown, line_of("fix"), "fix is safe, unsafe or suggestion")
    for profile, value in (meta.get("profiles") or {}).items():
        # YAML 1.1 reads on and off as booleans.
        value = {True: "on", False: "off"}.get(value, value)
        meta["profiles"][profile] = value
        if value not in _PROFILE_VALUES:
            raise PageError(
                shown, line_of("profiles"), f"profile {profile}: one of {', '.join(sorted(_PROFILE_VALUES))}"
            )
    for group in ("messages", "fixes"):
        for key, texts in (meta.get(group) or {}).items():
            if not isinstance(texts, dict) or set(texts) != {"zh", "en"}:
                raise PageError(shown, line_of(group), f"{group}.{key} needs a text in zh and one in en")
            if not _CJK.search(texts["zh"]) or _CJK.search(texts["en"]):
                raise PageError(shown, line_of(group), f"{group}.{key}: zh is Chinese and en is not")
    if "default" not in meta["messages"]:
        raise PageError(shown, line_of("messages"), "messages needs a 'default'")
    if meta.get("fix") and "default" not in (meta.get("fixes") or {}):
        raise PageError(shown, line_of("fix"), "a rule with a fix needs fixes.default, the fix's title")
    return meta


def _fences(body: str, first_line: int, shown: str, meta: dict[str, Any]) -> tuple[list[Query], list[Example], str]:
    queries: list[Query] = []
    examples: list[Example] = []
    prose: list[str] = []
    at, cut = 0, len(body)
    for match in _FENCE.finditer(body):
        words = match.group("info").split()
        line = first_line + body.count("\n", 0, match.start())
        if not words:
            continue
        if words[0] == "query":
            language = ALIASES.get(words[1].lower() if len(words) > 1 else "")
            if language is None:
                raise PageError(shown, line, "a query fence names a language: ```query bash")
            queries.append(Query(language, match.group("body"), meta.get("replace")))
        elif len(words) > 1 and words[1] in _ROLES:
            language = ALIASES.get(words[0].lower(), words[0])
            if len(words) < 3:
                raise PageError(shown, line, f"an example names its file: ```{words[0]} {words[1]} scripts/run.sh")
            options = dict(word.partition("=")[::2] for word in words[3:])
            if words[1] == "file":
                if not examples:
                    raise PageError(shown, line, "a `file` fence belongs to the example before it")
                last = examples[-1]
                examples[-1] = Example(
                    last.role, last.language, last.path, last.text, last.line,
                    (*last.aux, (words[2], match.group("body"))), last.options,
                )  # fmt: skip
            else:
                examples.append(Example(words[1], language, words[2], match.group("body"), line, (), options))
        else:
            continue
        if examples:
            # What a page says stands before its first example; between examples are captions.
            cut = min(cut, match.start())
        else:
            prose.append(body[at : match.start()])
            at = match.end()
    prose.append(body[at:cut])
    return queries, examples, _DANGLING.sub("", "".join(prose))


def _prose(prose: str, first_line: int, shown: str) -> tuple[dict[str, str], dict[str, str]]:
    heads = list(re.finditer(r"^# (?P<title>.+)$", prose, re.MULTILINE))
    if len(heads) != 2:
        raise PageError(
            shown, first_line, "a page has two headings of level 1: the Chinese title, then the English one"
        )
    if not _CJK.search(heads[0]["title"]) or _CJK.search(heads[1]["title"]):
        raise PageError(shown, first_line, "the first heading is Chinese, the second English")
    docs = {
        "zh": prose[heads[0].start() : heads[1].start()].strip() + "\n",
        "en": prose[heads[1].start() :].strip() + "\n",
    }
    for lang, text in docs.items():
        if len(text.split("\n", 1)[-1].strip()) < (15 if lang == "zh" else 40):
            raise PageError(
                shown, first_line, f"the {lang} text says too little: what it finds, why it hurts, what to do"
            )
    return {"zh": heads[0]["title"].strip(), "en": heads[1]["title"].strip()}, docs


def _rule(meta: dict[str, Any], titles: dict[str, str], queries: list[Query], name: str, shown: str) -> Rule:
    languages = meta.get("language") or [q.language for q in queries]
    languages = [languages] if isinstance(languages, str) else list(languages)
    for language in languages:
        if language not in ALIASES.values():
            raise PageError(shown, 2, f"unknown language {language!r}")
    if bool(queries) == bool(meta.get("check")):
        raise PageError(shown, 2, "a rule has either a query or a check")
    if meta.get("check") and not languages:
        raise PageError(shown, 2, "a rule with a check names its language: `language: cpp`")
    scope = meta.get("scope", "item" if queries else "file")
    return Rule(
        id=str(meta["id"]),
        name=meta["name"],
        severity=meta["severity"],
        kinds=frozenset(meta["kinds"]),
        languages=frozenset(languages),
        messages=meta["messages"],
        summary=titles,
        scope=scope,
        covers=tuple(meta.get("covers") or [str(meta["id"])]),
        aliases=tuple(meta.get("aliases") or ()),
        profiles=meta.get("profiles") or {},
        fix=meta.get("fix"),
        fixes=meta.get("fixes") or {},
        check=meta.get("check"),
        queries=tuple(queries),
        needs=tuple(meta.get("needs") or ()),
        reads=tuple(meta.get("reads") or ()),
        since=str(meta["since"]),
        source=str(meta.get("source", "")),
        page=name,
        tags=tuple(meta.get("tags") or ()),
    )


def schema() -> dict[str, Any]:
    """The JSON Schema of a rule page's front matter."""
    words = {"type": "array", "items": {"type": "string"}}
    text = {
        "type": "object",
        "required": ["zh", "en"],
        "additionalProperties": False,
        "properties": {"zh": {"type": "string"}, "en": {"type": "string"}},
    }
    texts = {"type": "object", "additionalProperties": text}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "opdev rule page front matter",
        "type": "object",
        "additionalProperties": False,
        "required": list(_REQUIRED),
        "properties": {
            "id": {"type": "string", "pattern": f"^{ID.pattern}$"},
            "name": {"type": "string", "pattern": f"^{NAME.pattern}$"},
            "severity": {"enum": list(SEVERITIES)},
            "kinds": {"type": "array", "items": {"enum": list(KINDS)}},
            "language": {"anyOf": [{"type": "string"}, words]},
            "profiles": {"type": "object", "additionalProperties": {"enum": sorted(_PROFILE_VALUES)}},
            "fix": {"enum": ["safe", "unsafe", "suggestion"]},
            "check": {"type": "string"},
            "scope": {"enum": ["item", "file", "project"]},
            "needs": words,
            "reads": words,
            "covers": words,
            "aliases": words,
            "tags": words,
            "since": {"type": "string"},
            "source": {"type": "string"},
            "replace": {"type": "string"},
            "messages": {**texts, "required": ["default"]},
            "fixes": texts,
        },
    }


__all__ = ["ID", "NAME", "Example", "Page", "PageError", "parse_page", "read_page", "schema"]
