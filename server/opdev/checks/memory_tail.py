"""Tails: what is left when a total is divided by cores or cut into chunks, and what an offset counts.

All of these see one function only, so their findings are kept between keystrokes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from opdev.facts.heap_calls import name_pattern
from opdev.facts.local_values import closing
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp
from opdev.syntax.tree import ancestor

if TYPE_CHECKING:
    from tree_sitter import Node

_CORES = re.compile(
    r"(?:AscendC::)?GetBlockNum\s*\(\s*\)|\b(?:aiv|aic|core|block)_?(?:num|nums|cnt|count|dim)\b|\b(?:aiv|core|block)(?:Num|Dim|Count)\b"
    r"|\bnum_?(?:cores|blocks|aiv)\b|\bcore_group_num\b"
)
_SHARE = re.compile(
    rb"\b(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<total>[A-Za-z_]\w*)\s*/\s*"
    rb"(?P<cores>(?:AscendC::)?GetBlockNum\s*\(\s*\)|[A-Za-z_]\w*|\(\s*(?:[A-Za-z_]\w*|(?:AscendC::)?GetBlockNum\s*\(\s*\))\s*/\s*\w+\s*\))\s*;"
)
_PART = re.compile(r"\(?\s*(?P<cores>.+?)\s*/\s*\w+\s*\)?")
_INDEX_REST = re.compile(r"(?:\b\w*(?i:idx|index|rank|_id|pe)|GetBlockIdx\s*\(\s*\)|\))\s*%")
_HANDLED = re.compile(
    r"%|\b\w*(?i:remain|rest|tail|last|extra|leftover|residual|align)\w*\b|\b(?:std::)?(?i:min|max|ceil\w*|div_?up|div_?ceil|round_?up)\b"
)
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=8192)
def _handles(word: str) -> bool:
    return _HANDLED.fullmatch(word) is not None


def _handled(text: str) -> bool:
    """Whether a function deals with a remainder somewhere (word by word: they repeat, within files and between)."""
    # Which of several cores one is says nothing of what is left.
    return text.count("%") > len(_INDEX_REST.findall(text)) or any(_handles(word) for word in set(_WORD.findall(text)))


_WHILE = re.compile(rb"\bwhile\s*\(\s*(?P<left>[A-Za-z_]\w*)\s*(?P<op>>=|>)\s*(?P<chunk>[A-Za-z_][\w:]*|\d+)\s*\)")
_ELEMENTS = re.compile(r"\b\w*(?:elems?|elements?|elem_count|elem_num|numel)\b|\bn_?elems?\b|\bnumel\b")
_MOVES = re.compile(rb"\b(?:aclshmem\w*|DataCopy\w*|\w*(?i:copy|put|get|transfer|send)\w*)\s*[<(]")


def missing_tail(context: Context) -> Iterator[Hit]:
    """``total / cores`` in a kernel that gives nobody the remainder."""
    for match in _shares(context):
        name, total, cores = (match[g].decode("utf-8", "replace") for g in ("name", "total", "cores"))
        if _CORES.fullmatch(total) or not (_CORES.fullmatch(cores) or _some_cores(context, cores)):
            continue
        function = ancestor(context.node_at(match.start(), match.start() + 1), "function_definition")
        if function is None or not cpp.is_device(context.file, function):
            continue
        text = context.code[function.start_byte : function.end_byte].decode("utf-8", "replace")
        if _handled(text) or re.search(name_pattern(total) + r"\s*-|-\s*1\b", text):
            continue
        if not re.search(r"\*\s*" + name_pattern(name) + "|" + name_pattern(name) + r"\s*\*", text):
            continue
        at = match.start("total")
        args = {"name": name, "total": total, "cores": cores}
        yield Hit(at, match.end("cores"), args=args)


def _some_cores(context: Context, cores: str) -> bool:
    """Whether it is a part of the cores, in place or by a name: ``(aiv_num / 2)``."""
    part = _PART.fullmatch(cores)
    if part is not None:
        return _CORES.fullmatch(part["cores"]) is not None
    text = context.code[context.start : context.end].decode("utf-8", "replace")
    given = re.findall(rf"\b{cores}\s*=\s*([^;=]+);", text) if cores in text else []
    return len(given) == 1 and (part := _PART.fullmatch(given[0].strip())) is not None and _CORES.fullmatch(part["cores"]) is not None  # fmt: skip


def _shares(context: Context) -> Iterator[re.Match[bytes]]:
    """``name = total / cores;``, looked for from the slash."""
    code, done = context.code, context.start
    at = code.find(b"/", context.start, context.end)
    while at >= 0:
        begin = max(code.rfind(b";", done, at), code.rfind(b"{", done, at), code.rfind(b"}", done, at), done - 1) + 1
        end = code.find(b";", at, context.end) + 1
        match = _SHARE.search(code, begin, end) if end else None
        if match is not None:
            yield match
            done = match.end()
        at = code.find(b"/", max(at + 1, done), context.end)


def dropped_remainder(context: Context) -> Iterator[Hit]:
    """``while (left >= chunk)`` with nothing moved for what is left below one chunk."""
    for match in _WHILE.finditer(context.code, context.start, context.end):
        left, chunk, operator = (match[g].decode("utf-8", "replace") for g in ("left", "chunk", "op"))
        if chunk.isdecimal() and int(chunk) <= 1:
            continue
        if operator == ">" and chunk.isdecimal():
            continue
        node = ancestor(context.node_at(match.start(), match.start() + 5), "while_statement")
        here = context.node_at(match.start(), match.start() + 5)
        loop = here if here is not None and here.type == "while_statement" else node
        function = ancestor(loop, "function_definition")
        if loop is None or function is None:
            continue
        body = context.code[match.end() : loop.end_byte].decode("utf-8", "replace")
        if not re.search(
            name_pattern(left) + r"\s*(?:-=|=\s*" + re.escape(left) + r"\s*-)\s*" + re.escape(chunk), body
        ):
            continue
        if not _MOVES.search(context.code, match.end(), loop.end_byte):
            continue
        after = context.code[loop.end_byte : function.end_byte].decode("utf-8", "replace")
        if re.search(name_pattern(left) + r"|%", after) or _loops_again(loop):
            continue
        yield Hit(match.start("left"), match.end("chunk"), args={"left": left, "chunk": chunk})


def _loops_again(loop: Node) -> bool:
    """Whether the loop stands in another loop, where the remainder may be taken up by the next round."""
    return ancestor(loop, "for_statement", "while_statement", "do_statement") is not None


def element_offset(context: Context) -> Iterator[Hit]:
    """A byte pointer advanced by a number of elements and then used as ``T *``."""
    pattern = re.compile(
        rb"\(\s*__gm__\s+(?P<c>[\w:]+)\s*\*\s*\)\s*(?=\()|reinterpret_cast\s*<\s*__gm__\s+(?P<r>[\w:]+)\s*\*\s*>\s*(?=\()"
    )
    for match in pattern.finditer(context.code, context.start, context.end):
        kind = (match["c"] or match["r"]).decode("utf-8", "replace")
        if kind.rpartition("::")[2] in ("uint8_t", "int8_t", "char", "void", "bool"):
            continue
        close = closing(context.code, match.end())
        if close < 0:
            continue
        inner = context.code[match.end() + 1 : close].decode("utf-8", "replace")
        parts = re.fullmatch(r"\s*(?P<base>[A-Za-z_]\w*)\s*\+\s*(?P<offset>.+?)\s*", inner, re.DOTALL)
        if parts is None or "sizeof" in inner or not _ELEMENTS.search(parts["offset"]):
            continue
        if re.search(r"(?i)byte|size|stride|\(", parts["offset"]):
            continue
        function = ancestor(context.node_at(match.start(), match.start() + 1), "function_definition")
        if function is None or not _byte_pointer(context, function, parts["base"]):
            continue
        offset = parts["offset"]
        begin = match.end() + 1 + len(inner[: parts.start("offset")].encode())
        end = begin + len(offset.encode())
        plain = re.fullmatch(r"[\w\s*]+", offset) is not None
        text = f"{offset} * sizeof({kind})" if plain else f"({offset}) * sizeof({kind})"
        args = {"base": parts["base"], "offset": offset, "type": kind}
        yield Hit(begin, end, args=args, fix=Fix((Edit(begin, end, text),)))


def _byte_pointer(context: Context, function: Node, name: str) -> bool:
    """Whether a parameter or local of the function is ``GM_ADDR`` or ``__gm__ uint8_t *``."""
    text = cpp.head(context.file, function) + context.code[function.start_byte : function.end_byte]
    declared = rb"\b(?:GM_ADDR|__gm__\s+(?:u?int8_t|char)\s*\*)\s*" + re.escape(name.encode()) + rb"\b"
    return re.search(declared, text) is not None
