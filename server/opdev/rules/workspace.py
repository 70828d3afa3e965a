"""Rule pages of a workspace: queries only.

A workspace may bring rules, never code: a page with a check is refused, and so is a regular
expression in a predicate that could blow up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tree_sitter import QueryError

from opdev.rules.model import Rule
from opdev.rules.page import PageError, read_page

_GAP = r"(?:\s|;[^\n]*\n)*"
_PREDICATE = re.compile(rf"#(?:not-|any-)*match\?{_GAP}@[^\s\"]+?{_GAP}\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_LONGEST = 500
_FEW = 4
"""Repetitions of something of no fixed length that cannot take for ever yet: ``(?:\\.\\d+){3}``."""


def load_folder(folder: Path, taken: Sequence[Rule]) -> list[Rule]:
    """The rules of a folder of pages; PageError for the first page that may not be used."""
    from opdev.rules.queries import compiled

    names = {word for rule in taken for word in (rule.name, rule.id, *rule.covers, *rule.aliases)}
    found: list[Rule] = []
    for path in sorted(folder.rglob("*.md")):
        rule = read_page(path, folder).rule
        if rule.check is not None:
            raise PageError(str(path), 2, "a workspace's rule is a query: `check` runs Python and is not allowed here")
        for word in (rule.name, rule.id):
            if word in names:
                raise PageError(str(path), 2, f"{word!r} is taken by another rule; choose a name and an id of your own")
            names.add(word)
        for query in rule.queries:
            for problem in dangerous(query.text):
                raise PageError(str(path), 1, problem)
            try:
                compiled(query.language, query.text)
            except QueryError as error:
                raise PageError(str(path), 1, f"the query does not compile: {error}") from None
        found.append(rule)
    return found


def dangerous(query: str) -> Iterator[str]:
    """Why a query's regular expressions may not be used."""
    for match in _PREDICATE.finditer(query):
        text = match.group(1).replace('\\"', '"').replace("\\\\", "\\")
        if len(text) > _LONGEST:
            yield f"a regular expression of {len(text)} characters; {_LONGEST} at most"
        try:
            re.compile(text)
        except re.error as error:
            yield f"the regular expression {text!r} does not compile: {error}"
            continue
        if nested_repeat(text):
            yield f"the regular expression {text!r} repeats a repetition and can take for ever; write it without"


def nested_repeat(text: str) -> bool:
    """Whether something of no fixed length, or a choice, is repeated more than a few times."""
    try:
        from re import _parser as parser  # type: ignore[attr-defined]  # no public name for the parser
    except ImportError:  # Python 3.10
        import sre_parse as parser
    return _nested(parser.parse(text), 1)


def _nested(items: object, times: int) -> bool:
    for op, argument in items:  # type: ignore[attr-defined]  # re's own parse tree
        name = str(op)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, body = argument
            if times > _FEW and low != high:
                return True
            if times * high > _FEW and _has_branch(body):
                return True
            if _nested(body, times * max(high, 1)):
                return True
        elif name == "SUBPATTERN":
            if _nested(argument[-1], times):
                return True
        elif name == "ATOMIC_GROUP":
            if _nested(argument, times):
                return True
        elif name == "BRANCH":
            if any(_nested(branch, times) for branch in argument[1]):
                return True
        elif name in ("ASSERT", "ASSERT_NOT"):
            if _nested(argument[1], times):
                return True
        elif name in ("GROUPREF", "GROUPREF_IGNORE", "GROUPREF_EXISTS"):
            return True
    return False


def _has_branch(items: object) -> bool:
    return any(
        str(op) == "BRANCH" or (str(op) == "SUBPATTERN" and _has_branch(argument[-1]))
        for op, argument in items  # type: ignore[attr-defined]  # re's own parse tree
    )
