"""What a table of a contract is made of: a key, its meaning in both languages, its values, what is below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["text", "integer", "number", "flag", "list", "object", "any"]
Pair = tuple[str, str]
"""A text in Chinese and in English."""
Step = str | int
"""A key of an object, or the place in a list."""
_FRESH: Mapping[Kind, str] = {
    "text": '""', "integer": "0", "number": "0", "flag": "false", "list": "[]", "object": "{}", "any": "null",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """A key.  Of a list, ``fields`` and ``values`` are those of its items; of an object with free keys, ``each``."""

    key: str
    kind: Kind
    title: Pair
    about: Pair = ("", "")
    required: bool = False
    values: Mapping[str, Pair] = field(default_factory=dict)
    """What may stand there, and what it means."""
    usual: bool = False
    """Whether other values are fine, too."""
    fields: tuple[Field, ...] = ()
    each: Field | None = None
    free: bool = False
    """Whether the object's keys are the author's own."""
    fresh: str = ""
    """JSON of a value to begin with."""

    @property
    def start(self) -> str:
        """JSON of the value a new key gets."""
        return self.fresh or _FRESH[self.kind]

    def get(self, key: str) -> Field | None:
        """The key of that name below this one."""
        return next((f for f in self.fields if f.key == key), self.each)


@dataclass(frozen=True, slots=True)
class Contract:
    """A document: its top, and where its rules come from."""

    name: str
    top: Field
    source: Pair


def at(top: Field, steps: Iterable[Step]) -> Field | None:
    """The key that a path leads to; an item of a list is its list's.  None for what no table has."""
    found: Field | None = top
    for step in steps:
        if found is None:
            return None
        if isinstance(step, str):
            found = found.get(step)
        elif found.kind not in ("list", "any"):
            return None
    return found


def top(*fields: Field) -> Field:
    """The top of a document."""
    return Field("", "object", ("", ""), fields=fields)


def words(text: str) -> dict[str, Pair]:
    """Values without a meaning of their own, split at blanks."""
    return dict.fromkeys(text.split(), ("", ""))


def needed(fields: Sequence[Field]) -> list[Field]:
    return [f for f in fields if f.required]
