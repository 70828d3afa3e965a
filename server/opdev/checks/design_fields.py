"""What the rules on a design's fields have in common: keys that are not there, values to be written over, words to show.

A claim that something is nowhere has to wait until all of the YAML can be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from opdev.checks.design_problems import additions, below, design, fix_of, in_order, incomplete
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit

if TYPE_CHECKING:
    from opdev.design.document import DesignDocument
    from opdev.design.nodes import Node
    from opdev.design.problems import Problem

# Faults after which all that was written is still read.
_HARMLESS = frozenset({"duplicate-key", "second-document", "unclosed-fence", "control-character"})
_CHINESE = {
    "list": "列表", "mapping": "键值映射", "text": "文本", "integer": "整数", "number": "数", "true/false": "true 或 false",
}  # fmt: skip
_FLOW = re.compile(r"[,\[\]{}]")


def settled(document: DesignDocument) -> bool:
    """Whether the whole DSL could be read: what seems to be nowhere may stand where it could not."""
    return all(fault.reason in _HARMLESS for fault in document.faults)


def lacking(context: Context, *paths: str, values: Callable[[str], dict[str, str]] | None = None) -> Iterator[Hit]:
    """Keys at or below ``paths`` that are not there: one finding a mapping.

    The fix writes them in the DSL's order, with what ``values`` has for a key of the mapping at a
    path or the template's text.
    """
    document = design(context)
    for parent, found in incomplete(context, *paths):
        keys = in_order(parent, [str(p.args["key"]) for p in found])
        args: dict[str, object] = {"keys": ", ".join(keys), "keys_zh": "、".join(keys), "in": parent}
        fix = fix_of(*additions(document, parent, keys, values(parent) if values is not None else {}))
        yield Hit(found[0].start, found[0].end, args=args, fix=fix)


def wrong(context: Context, *paths: str, codes: Iterable[str]) -> Iterator[tuple[Problem, Hit]]:
    """Problems with the values at or below ``paths``: the message's key is the code."""
    for problem in below(context, paths, *codes):
        args = {**problem.args, "key": problem.args.get("key") or problem.path}
        if "expected" in args:
            args["expected_zh"] = expected_zh(str(args["expected"]))
        yield problem, Hit(problem.start, problem.end, message=problem.code, args=args)


def begun(document: DesignDocument, path: str) -> Fix | None:
    """The template's first item in a list that has none."""
    parent, _, key = path.rpartition(".")
    return fix_of(*additions(document, parent, [key], {}), title="begin")


def expected_zh(expected: str) -> str:
    """``list / text`` in Chinese."""
    return " / ".join(_CHINESE.get(word, word) for word in expected.split(" / "))


def narrowed(context: Context, problem: Problem, word: str) -> tuple[int, int]:
    """Where ``word`` stands in the value of a problem; the value where that is not one place."""
    written, sought = context.data[problem.start : problem.end], word.encode()
    if not sought or written.count(sought) != 1:
        return problem.start, problem.end
    start = problem.start + written.index(sought)
    return start, start + len(sought)


def overwrite(node: Node | None, text: str, title: str = "default") -> Fix | None:
    """Put ``text`` where a value on one line stands, its quotes included; None for blocks and aliases."""
    if node is None or node.alias or node.style in ("literal", "folded", "block"):
        return None
    lead = " " if node.start == node.end else ""
    return Fix((Edit(node.start, node.end, lead + text),), title)


def quoted(text: str) -> str:
    """A text as a scalar inside brackets."""
    from opdev.design.changes import plain

    if not _FLOW.search(text):
        return plain(text)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def as_mapping(node: Node | None, key: str, more: dict[str, str]) -> Fix | None:
    """An item that is one line of text as a mapping with the text under ``key``."""
    if node is None or node.kind != "scalar" or node.empty or "\n" in node.value or node.key is not None:
        return None
    rest = "".join(f", {k}: {v}" for k, v in more.items())
    return overwrite(node, f"{{{key}: {quoted(node.value)}{rest}}}", "convert")
