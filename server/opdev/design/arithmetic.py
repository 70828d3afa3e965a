"""Evaluates the small formulas designs hold: ``2 * n_pes``, ``32M``, ``n_pes * 64 KB``, ``sizeof(fp16)``.

Not Python's eval, and without powers, so that no design can make it slow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from opdev.design.dtypes import SIZES, fold_dtype

_LONGEST = 200
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)[ ]*(?P<unit>(?:[KMG]i?B?|[kmg]b)\b)?|(?P<name>[A-Za-z_]\w*)|(?P<op>//|[-+*/%()×]))"
)
_UNITS = {"k": 1024, "m": 1024**2, "g": 1024**3}
_BIGGEST = 1e18


def evaluate(text: str, names: Mapping[str, float] | None = None) -> float | None:
    """The value of a formula; None for one with an unknown name, or that is no formula."""
    if len(text) > _LONGEST:
        return None
    try:
        parser = _Parser(text, names or {})
        value = parser.sum()
    except (_UnknownError, ZeroDivisionError):
        return None
    return value if parser.done and abs(value) < _BIGGEST else None


class _UnknownError(Exception):
    """Something in the formula has no value."""


class _Parser:
    def __init__(self, text: str, names: Mapping[str, float]) -> None:
        self.names = names
        self.tokens: list[re.Match[str]] = []
        at = 0
        text = text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise _UnknownError
            self.tokens.append(match)
            at = match.end()
        self.at = 0
        self.depth = 0

    @property
    def done(self) -> bool:
        return self.at == len(self.tokens)

    def _operator(self, *wanted: str) -> str | None:
        if not self.done and (op := self.tokens[self.at].group("op")) in wanted:
            self.at += 1
            return op
        return None

    def sum(self) -> float:
        value = self._product()
        while op := self._operator("+", "-"):
            other = self._product()
            value = value + other if op == "+" else value - other
        return value

    def _product(self) -> float:
        value = self._factor()
        while op := self._operator("*", "×", "/", "//", "%"):
            other = self._factor()
            if op in "*×":
                value *= other
            elif op == "%":
                value %= other
            else:
                value = value // other if op == "//" or (value % other == 0) else value / other
        return value

    def _factor(self) -> float:
        self.depth += 1
        if self.depth > _LONGEST or self.done:
            raise _UnknownError
        try:
            if self._operator("("):
                value = self.sum()
                if not self._operator(")"):
                    raise _UnknownError
                return value
            if self._operator("-"):
                return -self._factor()
            return self._atom()
        finally:
            self.depth -= 1

    def _atom(self) -> float:
        token = self.tokens[self.at]
        self.at += 1
        if token.group("number"):
            return float(token.group("number")) * _UNITS.get((token.group("unit") or " ")[0].lower(), 1)
        name = token.group("name")
        if name == "sizeof" and self._operator("("):
            dtype = fold_dtype(self.tokens[self.at].group("name") or "") if not self.done else None
            self.at += 1
            if dtype is None or not self._operator(")"):
                raise _UnknownError
            return SIZES[dtype]
        if name is None or name not in self.names:
            raise _UnknownError
        return self.names[name]
