"""Judges section 3: what of SHMEM serves each requirement, and what has to be made.

A domain nobody thought of, or something new without a plan, is what stops the implementation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from opdev.design.cross_data import reduces
from opdev.design.document import DesignDocument
from opdev.design.frame import CLASSES, DOMAINS, GRIDS, NEW
from opdev.design.frame_find import anchor, columns, is_prompt, names, rows_of, sections, spot, table_of, text, topics
from opdev.design.problems import Problem

_VERIFIED = re.compile(r"验证|测试|用例|比对|对拍|golden|verif|\btests?\b|\bcases?\b", re.IGNORECASE)
_NO_GAP = re.compile(r"no known gaps?|(?:无|没有|不存在|未发现)(?:已知)?(?:的)?(?:能力)?(?:缺口|gap)", re.IGNORECASE)
_ATOMIC = re.compile(r"atomic-add-pattern|SetAtomic\w*|atomic\s?add|原子累?加", re.IGNORECASE)
_CLASS_WORDS = {
    "复用": CLASSES[0], "直接复用": CLASSES[0], "已有": CLASSES[0], "reuse": CLASSES[0], "reusable": CLASSES[0],
    "适配": CLASSES[1], "需要适配": CLASSES[1], "adapt": CLASSES[1], "adaptation": CLASSES[1], "needs adaptation": CLASSES[1],
    "新实现": NEW, "需实现": NEW, "需要新实现": NEW, "新增": NEW, "需新增": NEW, "新开发": NEW, "自研": NEW, "new": NEW,
}  # fmt: skip
_DOMAIN_WORD = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(d.key for d in DOMAINS)})", re.IGNORECASE)


def judge_capability(document: DesignDocument) -> Iterator[Problem]:
    """The problems of section 3."""
    if "3" not in sections(document):
        return
    grid, table = GRIDS["3"], table_of(document, "3")
    if table is None:
        missing = ", ".join(column.title for column in grid.columns)
        yield Problem("columns-missing", "3", *anchor(document, "3"), {"number": "3", "missing": missing})
        return
    where = (table.header[0].start, table.header[-1].end) if table.header else (table.start, table.end)
    need, _, kind, plan, _ = taken = columns(grid, table)
    lacking = [column.title for column, index in zip(grid.columns, taken, strict=True) if index is None]
    if lacking:
        yield Problem("columns-missing", "3", *where, {"number": "3", "missing": ", ".join(lacking)})
    rows = rows_of(table)
    spoken = {d.key for row in rows for d in topics(text(row, need or 0), "3")}
    spoken |= {word for row in rows for cell in row for word in _domain_words(cell.text)}
    absent = [d for d in DOMAINS if d.key not in spoken]
    if absent:
        yield Problem("domain-missing", "3", *where, names(absent))
    new = settled = 0
    # Below a header that lacks one, cells are easily another column's.
    for row in rows if kind is not None and not lacking else ():
        value, name = text(row, kind), text(row, need or 0)[:40]
        if is_prompt(value):
            continue
        if value not in CLASSES:
            args = {"value": value, "nearest": _class(value), "allowed": ", ".join(CLASSES), "name": name}
            yield Problem("class-unknown", "3", *spot(row, kind), args)
            continue
        settled += 1
        new += value == NEW
        lacks = (
            _plan_lacks(text(row, plan), " ".join(c.text for c in row)) if value == NEW and plan is not None else None
        )
        if lacks is not None:
            args = {"name": name, "missing_zh": lacks[0], "missing_en": lacks[1]}
            yield Problem("gap-unplanned", "3", *spot(row, plan), args)
    heading = sections(document)["3"]
    if (
        rows
        and settled == len(rows)
        and not new
        and not _NO_GAP.search(document.source.text(heading.end, heading.stop))
    ):
        yield Problem("gap-unstated", "3", *anchor(document, "3"))
    compute = next(
        (row for row in rows if any(d.key == "compute" for d in topics(text(row, need or 0), "3")[:1])), None
    )
    if compute is not None and reduces(document):
        said = " ".join(c.text for c in compute)
        if not _ATOMIC.search(said) and not any(is_prompt(c.text) for c in compute):
            yield Problem("accumulation-unchosen", "3", *spot(compute, need), {"name": text(compute, need)[:40]})


@lru_cache(maxsize=4096)
def _domain_words(said: str) -> frozenset[str]:
    """The domains a cell calls by their English names."""
    return frozenset(word.lower() for word in _DOMAIN_WORD.findall(said))


def _class(value: str) -> str | None:
    bare = re.split(r"[（(，,；;：: ]", value.strip().lower())[0]
    if value.lower() in _CLASS_WORDS:
        return _CLASS_WORDS[value.lower()]
    return bare if bare in CLASSES else _CLASS_WORDS.get(bare)


def _plan_lacks(plan: str, row: str) -> tuple[str, str] | None:
    """What a row of something new does not say, in both languages."""
    if is_prompt(plan):
        return None
    if len(plan) < 8:
        return "缺口原因、设计方案和验证方式", "why nothing fits, the design and how it is verified"
    return None if _VERIFIED.search(row) else ("验证方式", "how it is verified")
