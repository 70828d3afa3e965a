"""Shapes as contracts write them: symbols, integers and formulas of both, with ``+ - * //`` and brackets."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_LONGEST = 200
_DEEPEST = 40
_BIGGEST = 1 << 62
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)


@dataclass(frozen=True, slots=True)
class Formula:
    """A dimension: its symbols in order, and the tree."""

    text: str
    symbols: tuple[str, ...]
    tree: ast.expr

    @property
    def alone(self) -> str | None:
        """The symbol, where there is nothing else."""
        return self.tree.id if isinstance(self.tree, ast.Name) else None

    def value(self, known: Mapping[str, int]) -> int | None:
        """What it comes to; None where a symbol has no value, or it divides by 0."""
        try:
            found = _value(self.tree, known)
        except (KeyError, ZeroDivisionError):
            return None
        return found if abs(found) < _BIGGEST else None


@lru_cache(maxsize=4096)
def formula(text: str) -> Formula | None:
    """A dimension read; None for what is none."""
    if len(text) > _LONGEST or not text.isascii() or "\n" in text:
        return None
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    symbols: dict[str, None] = {}
    return Formula(text.strip(), tuple(symbols), tree) if _fits(tree, symbols, 0) else None


def _fits(tree: ast.expr, symbols: dict[str, None], depth: int) -> bool:
    if depth > _DEEPEST:
        return False
    if isinstance(tree, ast.Name):
        symbols[tree.id] = None
        return True
    if isinstance(tree, ast.Constant):
        return type(tree.value) is int
    if isinstance(tree, ast.UnaryOp):
        return isinstance(tree.op, (ast.UAdd, ast.USub)) and _fits(tree.operand, symbols, depth + 1)
    return (
        isinstance(tree, ast.BinOp)
        and isinstance(tree.op, _OPERATORS)
        and _fits(tree.left, symbols, depth + 1)
        and _fits(tree.right, symbols, depth + 1)
    )


def _value(tree: ast.expr, known: Mapping[str, int]) -> int:
    if isinstance(tree, ast.Name):
        return known[tree.id]
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return tree.value
    if isinstance(tree, ast.UnaryOp):
        inner = _value(tree.operand, known)
        return -inner if isinstance(tree.op, ast.USub) else inner
    if isinstance(tree, ast.BinOp):
        left, right = _value(tree.left, known), _value(tree.right, known)
        if isinstance(tree.op, ast.Add):
            return left + right
        if isinstance(tree.op, ast.Sub):
            return left - right
        if isinstance(tree.op, ast.FloorDiv):
            return left // right
        return left * right if abs(left) < _BIGGEST and abs(right) < _BIGGEST else _BIGGEST
    raise KeyError
