"""What a checker's verdict rests on: exactness where data are only moved, and the place of a failure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash, py

if TYPE_CHECKING:
    from tree_sitter import Node

_COMPARES = ("allclose", "isclose", "array_equal", "equal")
# Whoever computes, prints or walks positions tells where it went wrong.
_PLACE = re.compile(
    rb"\b(?:argwhere|nonzero|count_nonzero|flatnonzero|where|argmax|argmin|argsort|enumerate|unravel_index|ndenumerate|nditer"
    rb"|assert_\w+|testing|hexdigest|unittest|pytest)\b|(?i:\bidx|index|indices|position|coord|first_\w*|mismatch_at)|\[\s*~"
    rb"|\brange\(\s*(?:len|min|\w+\.(?:size|numel|shape))"
)
_MOVES = re.compile(r"broadcast|allgather|alltoall|all2all|scatter|gather|kvshuffle|sendrecv")
_COMPUTES = re.compile(
    r"reduce|matmul|gemm|mm$|mm_|quant|(?<!broad)cast|norm|ffn|attention|combine|dispatch|moe|add|mul|act|gelu|swiglu|rope"
)
_NAMES = re.compile(r"(?:r|a)tol", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|2\s*\*\*\s*\(?-\d+\)?")


def first_mismatch_not_reported(context: Context) -> Iterator[Hit]:
    """A checker that says that it failed and nowhere says where."""
    if (
        b"__main__" not in context.nocomment
        and b"sys.argv" not in context.code
        and b"ArgumentParser" not in context.code
    ):
        return
    if _PLACE.search(context.code):
        return
    for call in py.calls(context, *_COMPARES):
        if call.dotted.split(".")[0] in ("np", "numpy", "torch") and len(call.args) > 1:
            function = call.node.child_by_field_name("function") or call.node
            yield Hit(function.start_byte, function.end_byte, args={"name": call.dotted})
            return


def only_moves(context: Context) -> bool:
    """Whether the operator's name says that it moves data and computes nothing."""
    name = (context.place.operator or "").lower()
    return _MOVES.search(name.replace("_", "")) is not None and _COMPUTES.search(name) is None


def tolerance_for_moved_data(context: Context) -> Iterator[Hit]:
    """A tolerance other than 0 for an operator that only moves data."""
    if not only_moves(context):
        return
    found = _in_python(context) if context.file.language == "python" else _in_shell(context)
    for start, end, name, value in found:
        args = {"operator": context.place.operator, "name": name, "value": value}
        yield Hit(start, end, args=args, fix=Fix((Edit(start, end, "0"),)))


def _not_zero(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and ("**" in text or float(text) != 0)


def _in_python(context: Context) -> Iterator[tuple[int, int, str, str]]:
    for call in py.calls(context, "allclose", "isclose", "assert_allclose", "assert_close"):
        given: list[tuple[str, Node]] = [(n, v) for n, v in call.keywords.items() if n in ("rtol", "atol")]
        given += list(zip(("rtol", "atol"), call.args[2:4], strict=False))
        for name, node in given:
            if _not_zero(context.text(node)):
                yield node.start_byte, node.end_byte, name, context.text(node)


def _in_shell(context: Context) -> Iterator[tuple[int, int, str, str]]:
    for command in bash.commands(context):
        if bash.is_echoed(command) or not any(w.loose.endswith(".py") for w in command.words):
            continue
        for option, word in zip(command.words, command.words[1:] + command.words[-1:], strict=True):
            name, equals, value = option.raw.partition("=")
            if name not in ("--rtol", "--atol"):
                continue
            if equals and _not_zero(value):
                begin = option.start + len(name) + 1
                yield begin, option.end, name[2:], value
            elif not equals and _not_zero(word.raw):
                yield word.start, word.end, name[2:], word.raw
    for given in bash.assignments(context):
        node = given.value_node
        if node is None or not _NAMES.fullmatch(given.name):
            continue
        match = re.fullmatch(r"\"?\$\{\w+:?-(?P<value>[^{}$]+)\}\"?|(?P<plain>[\d.eE+-]+)", given.raw)
        value = (match["value"] or match["plain"]) if match is not None else ""
        if match is not None and _not_zero(value):
            begin = node.start_byte + match.start("value" if match["value"] else "plain")
            yield begin, begin + len(value), given.name, value
