"""The table of what the stand-in models, from api.yaml and the names its headers declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

Lang = Literal["zh", "en"]
_HEADS = {
    "zh": ("系列", "支持", "检查（出错即结束运行，状态 86）", "环境变量"),
    "en": ("family", "supported", "checks (a fault ends the run with status 86)", "environment variables"),
}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Words(_Strict):
    """A family's title and what becomes of it."""

    title: str
    text: str


class Family(_Strict):
    """Public names, as shell patterns; ``public`` when opdev's tables hold all of them."""

    names: tuple[str, ...]
    public: bool = True
    zh: Words
    en: Words


class Line(_Strict):
    """One text in both languages."""

    zh: str
    en: str


class Support(_Strict):
    """api.yaml."""

    families: tuple[Family, ...]
    faults: dict[str, Line]
    switches: dict[str, Line]


@dataclass(frozen=True)
class Row:
    """A family with how many of its public names are there."""

    family: Family
    there: int
    public: int


@cache
def support() -> Support:
    """The data file; a fault in it is opdev's own (pydantic.ValidationError)."""
    text = (Path(__file__).parent / "api.yaml").read_text(encoding="utf-8")
    return Support.model_validate(yaml.safe_load(text))


def rows(there: Iterable[str], public: Iterable[str]) -> list[Row]:
    """The families over the public names; a name belongs to the last family that matches it, special before general."""
    declared = frozenset(there)
    counted: dict[int, list[int]] = {}
    for name in public:
        # SIMT stands last and wins; of the others the first that names it.
        families = [i for i, family in enumerate(support().families) if _matches(name, family)]
        if not families:
            continue
        last = len(support().families) - 1
        mine = counted.setdefault(last if last in families else families[0], [0, 0])
        mine[0] += name in declared
        mine[1] += 1
    return [
        Row(family, *counted.get(i, [0, 0]))
        if family.public
        else Row(family, sum(_matches(n, family) for n in declared), 0)
        for i, family in enumerate(support().families)
    ]


def _matches(name: str, family: Family) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in family.names)


def table(there: Iterable[str], public: Iterable[str], lang: Lang) -> Iterator[str]:
    """The lines ``opdev sim api`` prints."""
    family, supported, faults, switches = _HEADS[lang]
    yield f"{family}  ({supported})"
    for row in rows(there, public):
        words: Words = getattr(row.family, lang)
        count = f" ({row.there}/{row.public})" if row.public else f" ({row.there})"
        yield f"  {words.title}{count}"
        yield f"      {words.text}"
    for head, lines in ((faults, support().faults), (switches, support().switches)):
        yield ""
        yield head
        yield from (f"  {name:<18} {getattr(line, lang)}" for name, line in lines.items())
