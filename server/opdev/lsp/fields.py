"""Reading the JSON of the messages every keystroke brings, without lsprotocol's half second of import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class FieldError(ValueError):
    """Params that are not what the protocol says; the text names the path."""


def find(params: object, path: str, kind: type | tuple[type, ...]) -> Any:
    """The value at ``textDocument.uri``; FieldError if it is absent or of another kind."""
    value: Any = params
    for step in path.split("."):
        if not isinstance(value, Mapping) or step not in value:
            raise FieldError(f"{path} is missing")
        value = value[step]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        names = kind.__name__ if isinstance(kind, type) else " or ".join(k.__name__ for k in kind)
        raise FieldError(f"{path} is not {names} but {type(value).__name__}")
    return value


def text(params: object, path: str) -> str:
    """A string."""
    found: str = find(params, path, str)
    return found


def number(params: object, path: str) -> int:
    """A whole number."""
    found: int = find(params, path, int)
    return found


def items(params: object, path: str) -> list[Any]:
    """A list."""
    found: list[Any] = find(params, path, list)
    return found


def position(params: object, path: str) -> tuple[int, int]:
    """A position as (line, character)."""
    return number(params, f"{path}.line"), number(params, f"{path}.character")
