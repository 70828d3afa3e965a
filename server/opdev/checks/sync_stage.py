"""Stages of a fused operator: the Cube cores may write a stage again only when all PEs have read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax import cpp

if TYPE_CHECKING:
    from tree_sitter import Node

_FLAG = re.compile(r"(?i)aiv_?(?:finish|done|compute_?finish)|(?:finish|done)\w*aiv")
_BARRIER = re.compile(rb"\b(?:acl)?shmemx?_(?:barrier|sync)(?:_all)?(?:_vec)?\s*\(")
_TRANSFER = re.compile(rb"\b(?:acl)?shmemx?_(?:\w+_)?(?:get|put)\w*\s*\(|\breduceScatter\w*\s*\(|\ballGather\w*\s*\(")


def flag_before_barrier(context: Context) -> Iterator[Hit]:
    """The AIV tells the AIC that a stage is free before the barrier that says that every PE has read it."""
    for call in cpp.calls(context, "CrossCoreSetFlag"):
        if not call.args or not _FLAG.search(" ".join(call.arg_texts)):
            continue
        statement = call.statement
        block = statement.parent
        if block is None or block.type != "compound_statement":
            continue
        before, barrier = _around(context, block, statement)
        if not before or barrier is None:
            continue
        note = {"zh": "此后其他 PE 才都读完", "en": "only from here on has every PE read the stage"}
        related = (Related(barrier.start_byte, barrier.end_byte, note),)
        yield Hit(call.start, call.end, args={"flag": call.arg_texts[0]}, related=related)


def _around(context: Context, block: Node, statement: Node) -> tuple[bool, Node | None]:
    """Whether transfers before the flag are under no barrier yet; the barrier that follows it, if any."""
    pending = False
    for child in block.named_children:
        text = context.code[child.start_byte : child.end_byte]
        if child.start_byte < statement.start_byte:
            last = max((m.start() for m in _TRANSFER.finditer(text)), default=-1)
            fenced = max((m.start() for m in _BARRIER.finditer(text)), default=-1)
            pending = last > fenced if max(last, fenced) >= 0 else pending
        elif child.start_byte > statement.start_byte:
            if _BARRIER.search(text) and child.type == "expression_statement":
                return pending, child
            if _TRANSFER.search(text):
                break
    return pending, None
