"""What a step's output means: one module a kind of line, all fed with the same whole lines.

A parser is made for one step.  ``feed`` gets whole lines of one stream (bytes, colours gone, see ``lines``) and
gives events as ``(type, fields)``; ``close`` gives what it was still waiting for.  Parsers look for a word before
they look at lines: at 50,000 lines a second most of the output is none of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

Fields = tuple[str, dict[str, Any]]
NAMES = ("progress", "compiler", "checker", "matrix", "perf", "profile", "shmem", "sim")
"""The parsers a step of ``commands/`` may name."""


@dataclass(frozen=True, slots=True)
class Where:
    """What relative paths of a step's output may be relative to; ``outward`` maps a container's path to ours."""

    cwd: str
    folders: tuple[str, ...] = ()
    outward: Callable[[str], str] = str


class Parser(Protocol):
    """See above."""

    def feed(self, lines: bytes, stream: str) -> Iterable[Fields]: ...

    def close(self) -> Iterable[Fields]: ...


def make(names: Iterable[str], where: Where) -> list[Parser]:
    """Parsers by name; KeyError for a name there is none of."""
    made: list[Parser] = []
    for name in names:
        if name not in NAMES:
            raise KeyError(name)
        made.append(import_module(f"opdev.runs.parsers.{name}").Parser(where))
    return made


def plain(texts: Mapping[str, str], *left_out: str) -> dict[str, str]:
    """Pairs as an event carries them."""
    return {k: v for k, v in texts.items() if k not in left_out}
