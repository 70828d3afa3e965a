"""C++ expressions as text: cut at commas, brought to one spelling, taken apart where they are conditions."""

from __future__ import annotations

import re
from functools import lru_cache

_ASSIGNS = re.compile(r"=|\+\+|--|&\s*(?P<out>[A-Za-z_]\w*)\s*[,)]")
_LAST_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_NEXT_NAME = re.compile(r"\s*([A-Za-z_]\w*)")


def closing(code: bytes, opening: int, end: int) -> int:
    """Offset of the parenthesis that closes the one at ``opening``; -1 if it is not before ``end``."""
    depth = 0
    at = opening
    while at < end:
        char = code[at]
        if char == 40:
            depth += 1
        elif char == 41:
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return -1


def split_args(text: str) -> list[str]:
    """``text`` cut at top-level commas; nothing for blank text."""
    if not text.strip():
        return []
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0 and text.count("<", start, at) <= text.count(">", start, at):
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


_BLANKS = re.compile(r"\s+")
_AROUND_SIGNS = re.compile(r" ?([^\w ]) ?")


@lru_cache(maxsize=16384)
def squeezed_args(text: str) -> tuple[str, ...]:
    """The arguments in ``text``, each squeezed."""
    return tuple([squeeze(part) for part in split_args(text)])


@lru_cache(maxsize=16384)
def squeeze(text: str) -> str:
    """Text with blanks only where two words meet, and without parentheses round all of it."""
    text = _BLANKS.sub(" ", text.strip())
    if " " in text:
        text = _AROUND_SIGNS.sub(r"\1", text)
    while text.startswith("(") and closing(text.encode(), 0, len(text.encode())) == len(text.encode()) - 1:
        text = text[1:-1]
    return text


@lru_cache(maxsize=16384)
def names_assigned(text: str) -> frozenset[str]:
    """Names a piece of code assigns, counts up or down, or hands out the address of."""
    found: set[str] = set()
    for match in _ASSIGNS.finditer(text):
        if match["out"]:
            found.add(match["out"])
            continue
        at, sign = match.start(), match.group()
        if sign == "=" and (text[at + 1 : at + 2] == "=" or text[at - 1 : at] in ("=", "!")):
            continue
        if sign == "=" and text[at - 1 : at] in ("<", ">") and text[at - 2 : at - 1] != text[at - 1 : at]:
            continue
        before = (
            text[max(0, at - 160) : at].rstrip("+-*/%&|^<> \t\r\n")
            if sign == "="
            else text[max(0, at - 160) : at].rstrip()
        )
        if before.endswith("]"):
            before = before[: before.rfind("[")].rstrip()
        name = _LAST_NAME.search(before[-80:])
        if name is None and sign != "=":
            name = _NEXT_NAME.match(text, match.end())
            found.update(name.groups() if name else ())
        elif name is not None:
            found.add(name.group())
    return frozenset(found)


_NEGATED = {"==": ("!=", False), "!=": ("==", True), "<": (">=", True), ">": ("<=", True)}
_COMPARE = re.compile(r"^(?P<left>[^=<>!&|?]+)(?P<op>==|!=|<|>)(?P<right>[^=<>!&|?]+)$")


@lru_cache(maxsize=4096)
def atoms(cond: str, *, holds: bool) -> tuple[tuple[str, bool], ...]:
    """What is known when a condition holds or fails: conditions in one spelling, with their value."""
    if not cond:
        return ()
    for joiner, splits in (("||", not holds), ("&&", holds)):
        parts = _split_top(cond, joiner)
        if len(parts) > 1:
            return tuple(a for part in parts for a in atoms(squeeze(part), holds=holds)) if splits else ()
    if cond.startswith("!") and not cond.startswith("!="):
        inner = squeeze(cond[1:])
        if re.fullmatch(r"[\w.:>\-\[\]]+(?:\([^()]*\))?", inner) or cond[1:2] == "(":
            return atoms(inner, holds=not holds)
    match = _COMPARE.match(cond)
    if match is not None and match["op"] in ("==", "!=") and match["right"] in ("0", "nullptr", "NULL", "false"):
        return atoms(squeeze(match["left"]), holds=holds == (match["op"] == "!="))
    if match is not None and match["op"] in ("!=", "<", ">"):
        return ((f"{match['left']}{_NEGATED[match['op']][0]}{match['right']}", not holds),)
    return ((cond, holds),)


def _split_top(text: str, joiner: str) -> list[str]:
    parts, depth, start, at = [], 0, 0, 0
    while at < len(text):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith(joiner, at):
            parts.append(text[start:at])
            start = at = at + len(joiner)
            continue
        at += 1
    return [*parts, text[start:]]
