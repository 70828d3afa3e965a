"""Judges the handoff boxes: each claims something of the document, and the document can be asked.

Box and document disagreeing is how a half-made design gets into code generation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from opdev.design.document import DesignDocument
from opdev.design.frame import BOXES, QUESTION
from opdev.design.frame_find import anchor, names, sections, topic
from opdev.design.markdown import Box, boxes
from opdev.design.problems import Problem


class Claim(NamedTuple):
    """What a box claims, and what speaks against it: codes anywhere, codes at or below ``paths``."""

    zh: str
    en: str
    anywhere: frozenset[str] = frozenset()
    below: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()


_ASKS = re.compile(QUESTION, re.IGNORECASE)
_UNFINISHED = frozenset({"missing-key", "empty-value", "placeholder", "wrong-enum", "wrong-type", "wrong-number"})
_UNREADABLE = frozenset({"no-dsl", "not-a-mapping", "yaml", "several-dsl"})
_TABLE = frozenset({"section-missing", "template-text"})
CLAIMS = {
    "dsl": Claim("DSL 完整", "the DSL is complete", _UNFINISHED | _UNREADABLE),
    "question": Claim("没有阻塞的未决问题", "no question is open", frozenset({"question-blocking", "question-undecided"})),
    "confirmed": Claim(
        "op_name 与 dtype 已确认", "op_name and dtype are confirmed",
        frozenset({"dtype-not-confirmed", "confirmation-open"}), _UNFINISHED, ("source.user_confirmations", "meta.op_name"),
    ),
    "capability": Claim(
        "能力域都已覆盖并分类", "the domains are covered and classified",
        frozenset({"columns-missing", "class-unknown", "domain-missing", "gap-unplanned"}), _TABLE, ("3",),
    ),
    "schedule": Claim(
        "调度可以照着实现", "the schedule can be built", frozenset({"partition-avoided", "role-vague", "aiv-overlap"}),
        _UNFINISHED | {"key-order", "unknown-key"}, ("schedule",),
    ),
    "correctness": Claim(
        "不变量与用例齐全", "invariants and cases are complete", frozenset({"category-missing"}), _UNFINISHED,
        ("correctness.invariants", "correctness.case_matrix"),
    ),
    "performance": Claim(
        "基线与规模已填写", "baseline and scale are filled in", frozenset({"baseline-none"}), _UNFINISHED, ("performance",)
    ),
    "review": Claim(
        "设计评审填写完整且没有 fail", "the review is complete and holds no fail",
        frozenset({"review-missing", "review-result", "review-unexplained", "review-fail"}), _TABLE, ("5",),
    ),
    "boundary": Claim("实现边界清楚", "the boundary is clear", frozenset({"boundary-missing"}), _TABLE, ("4",)),
    "contract": Claim(
        "编译与测试契约完整", "the contracts are complete", frozenset({"contract-missing", "contract-empty"}), _TABLE,
        ("6", "6.1", "6.2"),
    ),
}  # fmt: skip


_BY_CODE: dict[str, list[tuple[str, Claim]]] = {}
for _key, _claim in CLAIMS.items():
    for _code in (*_claim.anywhere, *_claim.below):
        _BY_CODE.setdefault(_code, []).append((_key, _claim))


def judge_boxes(document: DesignDocument, found: list[Problem]) -> Iterator[Problem]:
    """The problems of section 7, given those of the rest of the frame."""
    heading = sections(document).get("7")
    if heading is None:
        return
    there = boxes(document.data, heading.end, heading.stop)
    keys = {row.key for box in there if (row := topic(box.text, "7")) is not None}
    lacking = [row for row in BOXES if row.key not in keys]
    if len(there) < len(BOXES):
        # A box in words of its own stands for one of those that were not found.
        short = lacking[: max(len(BOXES) - len(there), 1)] if len(there) > len(keys) else lacking
        if short:
            yield Problem("box-missing", "7", *anchor(document, "7"), {**names(short), "have": len(there)})
    against = _against(document, found) if there else {}
    for box in there:
        yield from _judge_box(box, against)


def _judge_box(box: Box, against: dict[str, Problem | None]) -> Iterator[Problem]:
    claimed = claims_of(box)
    refuted = next((key for key in claimed if against[key] is not None), None)
    name = box.text[:60]
    path = f"7.{claimed[0]}" if claimed else "7"
    if not box.ticked:
        yield Problem("box-open", path, box.start, box.end, {"name": name, "holds": bool(claimed) and refuted is None})
    elif refuted is not None and (problem := against[refuted]) is not None:
        claim = CLAIMS[refuted]
        args = {"name": name, "claim_zh": claim.zh, "claim_en": claim.en, "code": problem.code}
        yield Problem("box-false", path, box.start, box.end, args, (problem.start, problem.end))


def claims_of(box: Box) -> list[str]:
    """The keys of what a box claims: its topic, and that no question is open where it says so."""
    row = topic(box.text, "7")
    asks = _ASKS.search(box.text) is not None
    return [*([row.key] if row is not None else []), *(["question"] if asks else [])]


def _against(document: DesignDocument, found: list[Problem]) -> dict[str, Problem | None]:
    """For each claim the first problem that refutes it."""
    from opdev.design.model import problems_of

    first: dict[str, Problem | None] = dict.fromkeys(CLAIMS)
    for problem in (*problems_of(document.file), *found):
        for key, claim in _BY_CODE.get(problem.code, ()):
            if first[key] is None and (problem.code in claim.anywhere or problem.under(*claim.paths)):
                first[key] = problem
    return first
