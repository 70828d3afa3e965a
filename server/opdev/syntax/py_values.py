"""Integer constants of a Python module, computed without running it.

Tile sizes stand at the top of a kernel's file (``TILE_M = 128``) and are what a rule needs to judge a
shape by.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from opdev.syntax.file import File
from opdev.syntax.pieces import Piece

_ASSIGNED = re.compile(
    rb"^(?P<names>\w+(?:[ \t]*,[ \t]*\w+)*)[ \t]*(?::[^=\n]*)?=(?!=)[ \t]*(?P<value>[^\n]+)", re.MULTILINE
)
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitOr: operator.or_, ast.BitAnd: operator.and_,
}  # fmt: skip
_LARGEST = 1 << 62

_Known = tuple[Mapping[str, int], Mapping[bytes, int]]
_Definitions = tuple[tuple[str, str], ...]


def constants(file: File) -> Mapping[str, int]:
    """The names at module level that are one integer each; a name with two values is none."""
    return _constants(file)[0]


def constants_by_word(file: File) -> Mapping[bytes, int]:
    """As ``constants``, by the bytes of the name; the very same mapping for as long as nothing changes."""
    return _constants(file)[1]


def _constants(file: File) -> _Known:
    def collect() -> _Known:
        pieces = file.pieces
        if pieces is not None:
            every = file.each(_defined, _of_piece)
        else:
            every = [_defined(file.code[segment.start : segment.end]) for segment in file.segments]
        return _computed(tuple([some for some in every if some]))

    return file.memo("py.constants", collect)


def _of_piece(piece: Piece) -> _Definitions:
    return _defined(piece.code)


def _defined(code: bytes) -> _Definitions:
    """(name, value) of what a stretch of text assigns at the beginning of a line."""
    if code.lstrip()[:4] in (b"def ", b"asyn", b"clas") or code.lstrip()[:1] == b"@":
        return ()
    found: list[tuple[str, str]] = []
    # A stretch begins where the one before ended, with the line's end between.
    for match in _ASSIGNED.finditer(code):
        names = [name.strip() for name in match["names"].decode("utf-8", "replace").split(",")]
        value = match["value"].decode("utf-8", "replace").strip()
        parts = value.split(",") if len(names) > 1 else [value]
        if len(parts) != len(names):
            parts = [""] * len(names)
        found += zip(names, parts, strict=True)
    return tuple(found)


@lru_cache(maxsize=64)
def _computed(definitions: tuple[_Definitions, ...]) -> _Known:
    known: dict[str, int] = {}
    seen: set[str] = set()
    for name, text in (one for some in definitions for one in some):
        value = None if name in seen else evaluate(text, known)
        seen.add(name)
        known.pop(name, None)
        if value is not None:
            known[name] = value
    return known, {name.encode(): value for name, value in known.items()}


def evaluate(text: str, known: Mapping[str, int] | None = None) -> int | None:
    """The value of an integer expression of literals and ``known`` names; None if it is none."""
    tree = _expression(text.strip())
    return None if tree is None else _value(tree, known or {})


@lru_cache(maxsize=4096)
def _expression(text: str) -> ast.expr | None:
    if len(text) > 300:
        return None
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _value(node: ast.expr, known: Mapping[str, int]) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _value(node.operand, known)
        return -value if value is not None and isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left, known), _value(node.right, known)
        if left is None or right is None or (isinstance(node.op, (ast.LShift, ast.RShift)) and not 0 <= right < 64):
            return None
        try:
            value = _OPERATORS[type(node.op)](left, right)
        except (ZeroDivisionError, ValueError):
            return None
        return value if abs(value) < _LARGEST else None
    return None
