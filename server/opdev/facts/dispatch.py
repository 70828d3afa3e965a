"""Where C++ chooses by dtype: switches, comparisons and checks, and what each of them leaves over.

Only what names dtypes is a dispatch here; a kernel chosen by the element's width (``b16``, ``b32``) takes every
dtype of that width and says nothing of names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from opdev.design.dtypes import fold_dtype
from opdev.syntax import cpp
from opdev.syntax.cpp_text import squeeze
from opdev.syntax.file import File
from opdev.syntax.tree import ancestor, text
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

How = Literal["switch", "if", "check"]

# ATen's names for what has none in C: kLong, ScalarType::Char.
_ATEN = {"Half": "float16", "Float": "float32", "Double": "float64", "BFloat16": "bfloat16", "Char": "int8", "Byte": "uint8",
         "Short": "int16", "Int": "int32", "Long": "int64", "Bool": "bool"}  # fmt: skip
_COMPARED = re.compile(
    rb"(?P<subject>[A-Za-z_][\w.:]*(?:->[\w.]+)*(?:\(\s*\))?)\s*(?P<sign>[!=]=)\s*(?P<label>\"[^\"\n]{1,40}\"|[A-Za-z_][\w:]*)"
)
_STRCMP = re.compile(
    rb"\bstrn?cmp\s*\(\s*(?P<subject>[A-Za-z_][\w.]*)\s*,\s*(?P<label>\"[^\"\n]{1,40}\")[^()]{0,20}\)\s*(?P<sign>[!=]=)\s*0"
)
_SUBJECT = re.compile(rb"(?i)type")
_REFUSES = re.compile(
    rb"(?i)\b(?:throw|abort|_?exit|TORCH_CHECK\w*|AT_ERROR|assert|std::cerr|cerr|f?printf|\w*(?:ERROR|LOG_\w*E\w*)\w*)\b"
    rb"|\breturn\s*(?:-[1-9]\d*|nullptr|NULL|\{\}|[\w:]*(?:ERR|FAIL|INVALID)\w*)\s*;"
)
# In a function whose success is 0 or true, another number and false are failures.
_FAILS = re.compile(rb"\breturn\s*(?:[1-9]\d*|false)\s*;")
_SUCCEEDS = re.compile(rb"\breturn\s*(?:0|true|\w*SUCCESS\w*|ACL_ERROR_NONE)\s*;")
_CHECKS = ("TORCH_CHECK", "TORCH_CHECK_NOT_IMPLEMENTED", "TORCH_INTERNAL_ASSERT", "assert")


@dataclass(frozen=True, slots=True)
class Arm:
    """A dtype (its folded name) that is dealt with, and where it is named."""

    dtype: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One choice by dtype.

    ``[start, end)`` is the subject asked about.  ``closed`` says that a dtype without an arm surely is refused or
    ignored: no default takes the rest, and every label could be read.  ``refuses`` says that the text refuses it.
    """

    how: How
    subject: str
    start: int
    end: int
    function: str
    arms: tuple[Arm, ...]
    closed: bool
    refuses: bool

    @property
    def dtypes(self) -> frozenset[str]:
        return frozenset(arm.dtype for arm in self.arms)


def dtype_label(label: str) -> str | None:
    """The dtype an enumerator, a text or a type names: ``ReduceType::FLOAT16``, ``at::kHalf``, ``"bf16"``."""
    last = label.strip().strip('"').rpartition("::")[2]
    aten = last[1:] if re.match(r"k[A-Z]", last) else last
    if aten in _ATEN and (aten != last or "ScalarType" in label or label.startswith(("at::", "torch::", "c10::"))):
        return _ATEN[aten]
    folded = fold_dtype(last)
    if folded is not None:
        return folded
    # DT_FLOAT16, ACL_BF16, HCCL_DATA_TYPE_FP32, FLOAT_16
    found = {f for part in last.split("_") if (f := fold_dtype(part)) is not None}
    joined = fold_dtype(last.replace("_", ""))
    if joined is not None:
        return joined
    return found.pop() if len(found) == 1 else None


def dispatches(file: File) -> tuple[Dispatch, ...]:
    """The choices by dtype of a C++ file, in text order."""

    def collect() -> tuple[Dispatch, ...]:
        return tuple(sorted((*_switches(file), *_comparisons(file)), key=lambda d: d.start))

    return file.memo("facts.dispatches", collect)


def _switches(file: File) -> Iterator[Dispatch]:
    for node in View(file, 0, len(file.data)).nodes("switch", "switch_statement"):
        subject, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if subject is None or body is None:
            continue
        arms: list[Arm] = []
        closed, refuses = True, False
        for case in body.named_children:
            if case.type != "case_statement":
                continue
            value = case.child_by_field_name("value")
            if value is None:
                closed = closed and _gives_up(file, case)
                refuses = _refuses(file, case)
                continue
            dtype = dtype_label(text(file.data, value))
            if dtype is None:
                closed = False
            else:
                arms.append(Arm(dtype, value.start_byte, value.end_byte))
        if arms:
            shown = squeeze(text(file.data, subject))
            function = ancestor(node, "function_definition")
            name = cpp.function_name(file, function) if function is not None else ""
            inner = subject.named_children[0] if subject.named_children else subject
            yield Dispatch("switch", shown, inner.start_byte, inner.end_byte, name, tuple(arms), closed, refuses)


def _refuses(file: File, node: Node) -> bool:
    """Whether a branch refuses what comes to it."""
    return _refused(file, node, file.code[node.start_byte : node.end_byte])


def _refused(file: File, node: Node, inside: bytes) -> bool:
    if b"<<<" in inside:
        return False
    if _REFUSES.search(inside):
        return True
    if not _FAILS.search(inside):
        return False
    function = node if node.type == "function_definition" else ancestor(node, "function_definition")
    return function is not None and _SUCCEEDS.search(file.code, function.start_byte, function.end_byte) is not None


def _gives_up(file: File, node: Node) -> bool:
    """Whether a branch refuses what comes to it, or does nothing with it."""
    inside = file.code[node.start_byte : node.end_byte]
    return _refuses(file, node) or not re.sub(rb"\bdefault\s*:|\bbreak\s*;|[\s{};]", b"", inside)


@dataclass(slots=True)
class _Asked:
    subject: str
    start: int
    end: int
    arms: list[Arm]
    closed: bool = True
    checked: bool = False
    refuses: bool = False
    returns: bool = False
    last: int = 0


def _comparisons(file: File) -> Iterator[Dispatch]:
    text_of, by_place = file.nocomment, dict[tuple[int, str], _Asked]()
    for pattern in (_COMPARED, _STRCMP):
        for match in pattern.finditer(text_of):
            dtype = dtype_label(match["label"].decode("utf-8", "replace"))
            if dtype is None or not _SUBJECT.search(match["subject"]):
                continue
            node = file.root.named_descendant_for_byte_range(match.start("label"), match.end("label") - 1)
            function = cpp.function_at(file, match.start())
            if (
                node is None
                or function is None
                or file.code[match.start("subject") : match.start("subject") + 1] == b" "
            ):
                continue
            subject = squeeze(match["subject"].decode("utf-8", "replace"))
            asked = by_place.setdefault(
                (function.start_byte, subject), _Asked(subject, *match.span("subject"), [])
            )  # fmt: skip
            asked.arms.append(Arm(dtype, *match.span("label")))
            _outcome(file, node, asked, negated=match["sign"] == b"!=")
    for (start, _), asked in by_place.items():
        function = cpp.function_at(file, start)
        if function is None:
            continue
        if asked.returns and asked.closed and not asked.checked:
            rest = file.code[asked.last : function.end_byte]
            body = re.sub(rb"[\s{};]", b"", rest)
            asked.refuses = _refused(file, function, rest)
            asked.closed = not body or asked.refuses
        how: How = "check" if asked.checked else "if"
        name = cpp.function_name(file, function)
        yield Dispatch(
            how, asked.subject, asked.start, asked.end, name, tuple(asked.arms), asked.closed,
            asked.checked or asked.refuses,
        )  # fmt: skip


def _outcome(file: File, node: Node, asked: _Asked, *, negated: bool) -> None:
    """What a comparison decides: told by the statement it is the condition of."""
    here = node
    while here.parent is not None and here.type not in ("if_statement", "function_definition"):
        above = here.parent
        if above.type == "conditional_expression" or above.type.endswith("declaration"):
            asked.closed = False
            return
        if above.type == "call_expression" and here.type == "argument_list":
            callee = above.child_by_field_name("function")
            if callee is not None and text(file.data, callee) in _CHECKS:
                asked.checked, asked.last = True, max(asked.last, above.end_byte)
                return
        if above.type in ("return_statement", "while_statement", "for_statement"):
            asked.closed = False
            return
        if above.type == "compound_statement":
            asked.closed = False
            return
        here = above
    if here.type != "if_statement":
        asked.closed = False
        return
    then, other = here.child_by_field_name("consequence"), here.child_by_field_name("alternative")
    # An else-if chain ends before whatever stands behind all of it.
    top = here
    while top.parent is not None and top.parent.type == "else_clause" and top.parent.parent is not None:
        top = top.parent.parent
    asked.last = max(asked.last, top.end_byte)
    if negated:
        asked.checked = asked.checked or (then is not None and _refuses(file, then))
        asked.closed = asked.closed and asked.checked and other is None
        return
    if then is not None and re.search(rb"\breturn\b", file.code[then.start_byte : then.end_byte]):
        asked.returns = True
    if other is not None:
        inner = other.named_children[-1] if other.named_children else other
        if inner.type != "if_statement":
            asked.refuses = asked.refuses or _refuses(file, inner)
            asked.closed = asked.closed and _gives_up(file, inner)
