"""Which cases a batch has: the field's own grammar of selection, looked up in the folders that are there.

``level=selectors[;level2=selectors…]``, selectors with commas between them: a whole name (``19_ReLU``), the number before
it (``19``), or a range of numbers, both ends included (``1:40``).  No selector at all is the whole level.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from opdev.bench.model import BenchError, Case

NAMED = 10
"""How many of what is there an error names."""
_NUMBER = re.compile(r"[0-9]+")
_RANGE = re.compile(r"([^:]*):(.*)", re.DOTALL)
_LONGEST = 60


def select(bench_dir: str, text: str, limit: int | None = None) -> list[Case]:
    """The cases that ``text`` selects below ``bench_dir``, by level and number, each once.

    ``limit`` cuts whole levels only.  BenchError names the piece that cannot be, and what is there.
    """
    root = os.path.abspath(bench_dir)
    if not os.path.isdir(root):
        raise BenchError("c-no-bench", path=root)
    there = _levels(root)
    asked = _parsed(text)
    for level in asked:
        if level not in there:
            raise BenchError(
                "c-no-level", level=_short(level), path=root, there=_listed(levels(root)) or _hint(root) or "-"
            )
    found: list[Case] = []
    for level in sorted(asked, key=_order):
        stems = _stems(f"{root}/{level}")
        if not stems:
            raise BenchError("c-empty-level", level=level, path=f"{root}/{level}")
        chosen = _chosen(level, asked[level], stems) if asked[level] else stems[:limit]
        found += (Case(level, stem, op_of(stem), f"{root}/{level}/{stem}.py") for stem in chosen)
    return found


def levels(bench_dir: str) -> list[str]:
    """The levels that have cases."""
    root = os.path.abspath(bench_dir)
    return [level for level in _levels(root) if _stems(f"{root}/{level}")] if os.path.isdir(root) else []


def op_of(stem: str) -> str:
    """An operator's name of a case's: ``19_ReLU`` is ``ReLU``, ``10_3D_matmul`` is ``op_3D_matmul``."""
    rest = re.sub(r"\A[0-9]+_", "", stem)
    name = "".join(ch if f"a{ch}".isidentifier() else "_" for ch in rest).strip("_")
    return (name if name.isidentifier() else f"op_{name}") if name else "op"


def number_of(stem: str) -> int | None:
    """The number a case's name begins with."""
    found = _NUMBER.match(stem)
    return _int(found[0]) if found else None


def _order(name: str) -> tuple[tuple[int, int, str], ...]:
    """Names as people count: ``level2`` before ``level10``."""
    return tuple((0, _int(part), part) if part[0] in "0123456789" else (1, 0, part) for part in re.findall(r"[0-9]+|[^0-9]+", name))  # fmt: skip


def _by_number(stem: str) -> tuple[bool, int, str]:
    number = number_of(stem)
    return number is None, number or 0, stem


def _levels(root: str) -> list[str]:
    return sorted((e.name for e in os.scandir(root) if not e.name.startswith(".") and e.is_dir()), key=_order)


def _stems(folder: str) -> list[str]:
    """The cases of a level; what begins with an underscore or a dot belongs to Python or to nobody."""
    names = (e.name for e in os.scandir(folder) if e.name.endswith(".py") and e.name[0] not in "._" and e.is_file())
    return sorted((name[:-3] for name in names), key=_by_number)


def _parsed(text: str) -> dict[str, list[str]]:
    """Selectors by level, in the order they were written."""
    asked: dict[str, list[str]] = {}
    for piece in text.split(";"):
        if not piece.strip():
            continue
        level, equals, selectors = (part.strip() for part in piece.partition("="))
        if not equals:
            raise BenchError("c-no-equals", piece=_short(piece.strip()))
        if not level:
            raise BenchError("c-no-level-name", piece=_short(piece.strip()))
        if level in asked:
            raise BenchError("c-level-twice", level=_short(level))
        asked[level] = [word for word in map(str.strip, selectors.split(",")) if word]
    if not asked:
        raise BenchError("c-nothing-selected")
    return asked


def _chosen(level: str, selectors: Sequence[str], there: Sequence[str]) -> list[str]:
    numbers = {stem: number_of(stem) for stem in there}
    chosen: set[str] = set()
    unknown: list[str] = []
    for selector in selectors:
        span = _RANGE.fullmatch(selector)
        if span:
            low, high = _ends(level, selector, span)
            found = {stem for stem, number in numbers.items() if number is not None and low <= number <= high}
        elif _NUMBER.fullmatch(selector):
            found = {stem for stem, number in numbers.items() if number == _int(selector)}
        else:
            found = {selector} & numbers.keys()
        chosen |= found
        if not found:
            unknown.append(selector)
    if unknown:
        raise BenchError("c-unknown-cases", cases=_listed(unknown), level=level, there=_listed(there))
    return sorted(chosen, key=_by_number)


def _ends(level: str, selector: str, span: re.Match[str]) -> tuple[int, int]:
    low, high = span[1].strip(), span[2].strip()
    if not (_NUMBER.fullmatch(low) and _NUMBER.fullmatch(high)):
        raise BenchError("c-bad-range", piece=_short(selector), level=level)
    if _int(low) > _int(high):
        raise BenchError("c-range-down", piece=_short(selector), level=level, turned=_short(f"{high}:{low}"))
    return _int(low), _int(high)


def _int(digits: str) -> int:
    """A number; one of more digits than any case has is larger than all of them."""
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= 18 else 10**18


def _hint(root: str) -> str:
    """Where the levels may be, when the folder above them was named."""
    return _listed([f"{name}/{level}" for name in _inside(root) for level in _levels(f"{root}/{name}")])


def _inside(root: str) -> Iterator[str]:
    return (name for name in _levels(root) if not name.startswith("_"))


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - NAMED
    return ", ".join(map(_short, names[:NAMED])) + (f" … (+{rest})" if rest > 0 else "")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
