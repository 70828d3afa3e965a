"""``commands/<phase>.yaml``: what each phase runs.  Read here, filled in here; ``commands.schema.json`` is the contract."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from opdev.rules.model import Text

_PACKAGE = Path(__file__).parents[1]
WORD = re.compile(r"\{([a-z_]+)\}")
WORDS = (
    "op",
    "repo",
    "name",
    "pes",
    "python",
    "jobs",
    "count",
    "dtype",
    "iters",
    "devices",
    "opdev",
    "warm_up",
    "cases",
)
"""What may stand in braces; ``opdev`` is the Python that has opdev."""
HANDED = ("context", "brief", "phase")
"""What may besides in the command of a hand-over: the context as JSON and as Markdown, the phase."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A path that has to be there, or must not be."""

    kind: Literal["exists", "missing"]
    path: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step; the fields are those of the schema."""

    id: str
    title: Text
    argv: tuple[str, ...]
    timeout: float
    record: str = ""
    modes: tuple[str, ...] = ("independent_project", "in_tree_example")
    executors: tuple[str, ...] = ("host", "docker", "sim")
    when: tuple[Condition, ...] = ()
    only: tuple[str, ...] = ()
    cwd: str = "{op}"
    env: Mapping[str, str] = field(default_factory=dict)
    source: tuple[str, ...] = ()
    conda: bool = False
    endpoints: bool = False
    sim: str = ""
    pes: int | None = None
    parse: tuple[str, ...] = ()
    needs: str = ""
    keep: str = ""
    artifacts: tuple[str, ...] = ()
    retry: tuple[int, float] = (0, 0.0)
    pause_after: tuple[str, float] = ("", 0.0)
    by_pes: tuple[str, ...] = ()
    plain: bool = False
    """Whether its output says nothing of the operator: a program that a phase is handed over to."""
    measures: Mapping[str, object] = field(default_factory=dict)
    """What a measuring step is run for: n_pes, count, dtype.  Made by ``sizing``, never written in a file."""


@dataclass(frozen=True, slots=True)
class Commands:
    """What one phase runs, and where its failures lead."""

    phase: str
    work: Literal["person", "commands"]
    ask: Text
    context: tuple[str, ...]
    hardware: Text | None
    probes: bool
    ready: tuple[Condition, ...]
    steps: tuple[Step, ...]
    routes: Mapping[str, str]

    def route(self, cls: str) -> str:
        """Where a class of failure leads: a phase's id, or ``here``."""
        return self.routes.get(cls, self.routes["unknown"])


def folder() -> Path:
    """Where the files are, installed or in a checkout."""
    inside = _PACKAGE / "_data" / "commands"
    return inside if inside.is_dir() else _PACKAGE.parents[1] / "commands"


@cache
def commands(phase: str) -> Commands:
    """What a phase runs; FileNotFoundError for one without a file, ValueError for a file that is wrong."""
    import yaml

    path = folder() / f"{phase}.yaml"
    return parse(yaml.safe_load(path.read_text(encoding="utf-8")), path.name)


def parse(value: Any, name: str) -> Commands:
    """The content of a file; ValueError says what is wrong with it."""
    try:
        return Commands(
            phase=value["phase"],
            work=value["work"],
            ask=value["ask"],
            context=tuple(value.get("context", ())),
            hardware=value.get("hardware"),
            probes=bool(value.get("probes")),
            ready=_conditions(value.get("ready", ())),
            steps=tuple(_step(item) for item in value["steps"]),
            routes=dict(value["routes"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{name}: {error!r} is missing or of a wrong kind") from error


def _conditions(items: Sequence[Mapping[str, str]]) -> tuple[Condition, ...]:
    out = []
    for item in items:
        kind, path = next(iter(item.items()))
        out.append(Condition("exists" if kind == "exists" else "missing", path))
    return tuple(out)


def _step(item: Mapping[str, Any]) -> Step:
    known = dict(item)
    known["by_pes"] = tuple(known.pop("by-pes", ()))
    retry, pause = known.pop("retry", None), known.pop("pause-after", None)
    for key in ("argv", "only", "modes", "executors", "source", "parse", "artifacts"):
        if key in known:
            known[key] = tuple(known[key])
    if "when" in known:
        known["when"] = _conditions(known["when"])
    if retry:
        known["retry"] = (retry["times"], retry["pause"])
    if pause:
        known["pause_after"] = (pause["step"], pause["seconds"])
    return Step(**known)


def alone(step: Step) -> Step:
    """A step that runs some cases alone: what it ends with is no evidence of all."""
    return replace(step, argv=(*step.argv, *step.only), record="", artifacts=()) if step.only else step


def fill(text: str, values: Mapping[str, str]) -> str:
    """A text with its words in braces filled in; KeyError for a word there is none of."""
    return WORD.sub(lambda match: values[match[1]], text)


def holds(
    conditions: Sequence[Condition], values: Mapping[str, str], exists: Callable[[str], bool]
) -> Condition | None:
    """The first condition that does not hold; None when all do."""
    for condition in conditions:
        if exists(fill(condition.path, values)) != (condition.kind == "exists"):
            return condition
    return None


def schema() -> dict[str, Any]:
    """The JSON Schema of a file of ``commands/``."""
    with open(f"{os.path.dirname(__file__)}/commands.schema.json", "rb") as stream:
        found: dict[str, Any] = json.load(stream)
    return found
