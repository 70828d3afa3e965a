"""What can be wrong with a suppression itself, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opdev.rules import suppress
from opdev.rules.model import Edit, Fix, Hit, Rule
from opdev.syntax.file import File


def reports(
    file: File, found: suppress.Suppressions, ran: Mapping[str, Rule], known: Mapping[str, Rule]
) -> Iterator[tuple[str, Hit]]:
    """(name of the built-in rule, hit) for each fault of a directive."""
    for bad in found.malformed:
        yield (
            "malformed-suppression",
            Hit(bad.start, bad.end, bad.problem, {"text": file.source.text(bad.start, bad.end)}),
        )
    guesses: dict[str, str | None] = {}
    for directive in found.directives:
        for name, (start, end) in zip(directive.names, directive.name_spans, strict=True):
            rule = known.get(name.lower())
            if rule is None:
                if name not in guesses:
                    guesses[name] = _guess(name, known)
                yield "unknown-suppression", _unknown(name, start, end, guesses[name])
            elif name.lower() in (alias.lower() for alias in rule.aliases):
                fix = Fix((Edit(start, end, rule.name),))
                yield "unknown-suppression", Hit(start, end, "renamed", {"name": name, "new": rule.name}, fix)
    for directive, name, index in suppress.unused(found, ran, known):
        start, end = directive.name_spans[index]
        yield "unused-suppression", Hit(start, end, args={"name": name}, fix=_remove(directive, index))


def _guess(name: str, known: Mapping[str, Rule]) -> str | None:
    """The rule whose name comes nearest."""
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), list(known), n=1)
    return known[near[0]].name if near else None


def _unknown(name: str, start: int, end: int, guess: str | None) -> Hit:
    if guess is None:
        return Hit(start, end, "default", {"name": name})
    return Hit(start, end, "near", {"name": name, "guess": guess}, Fix((Edit(start, end, guess),)))


def _remove(directive: suppress.Directive, index: int) -> Fix:
    """Take one name out, or the whole comment when it was the last."""
    if len(directive.names) == 1:
        return Fix((Edit(*directive.comment, ""),))
    spans = directive.name_spans
    if index + 1 < len(spans):
        return Fix((Edit(spans[index][0], spans[index + 1][0], ""),))
    return Fix((Edit(spans[index - 1][1], spans[index][1], ""),))
