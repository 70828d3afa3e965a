"""Output formats, one module each: ``write(records, texts, run) -> str``.

Machine formats are complete documents also for no findings.  What a run was is in ``Run``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from opdev.lint.record import Record, Texts

NAMES = ("full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson", "markdown")


@dataclass
class Run:
    """What a format may want to know beside the findings."""

    version: str
    files: int = 0
    suppressed: int = 0
    baselined: int = 0
    colour: bool = False
    frames: bool = True
    problems: list[tuple[str, str]] = field(default_factory=list)


Writer = Callable[[Sequence[Record], Texts, Run], str]


def writer(name: str) -> Writer:
    """The writer of one of NAMES."""
    found: Writer = import_module(f"opdev.lint.formats.{name}").write
    return found
