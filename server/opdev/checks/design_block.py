"""The Canonical DSL as a block: that it is there and can be read, its version, its sections, its keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.design_fields import overwrite
from opdev.checks.design_problems import additions, design, fix_of, parent_of, problems, related
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit

if TYPE_CHECKING:
    from opdev.design.document import DesignDocument
    from opdev.design.nodes import Node
    from opdev.design.problems import Problem

# A fence somebody opened for the DSL and left empty.
_EMPTY_FENCE = re.compile(
    rb"^(?P<open>(?:`{3,}|~{3,})[ \t]*ya?ml[ \t]*(?P<newline>\r?\n))[ \t\r\n]*(?:`{3,}|~{3,})", re.M
)
_EMPTY_LIST = re.compile(rb":[ \t]*(?P<list>\[[ \t]*\])[ \t]*(?:#[^\r\n]*)?(?:\r?\n[ \t]*(?:#[^\r\n]*)?)*\Z")
_COLON = re.compile(r":(?=\s)")


def missing(context: Context) -> Iterator[Hit]:
    """An operator's design without the block that everything is made from."""
    file = context.file
    if file.place.operator is None or file.place.relative != "docs/design.md" or b"pypto" in context.data.lower():
        return
    for problem in problems(context, "no-dsl"):
        yield Hit(problem.start, problem.end, fix=_skeleton(design(context)))
    for problem in problems(context, "not-a-mapping"):
        yield Hit(problem.start, problem.end, "mapping")


def _skeleton(document: DesignDocument) -> Fix:
    """The DSL's skeleton: into the empty fence, below the heading of section 2, or at the end with a heading."""
    from opdev.design.schema import skeleton

    data, newline = document.data, document.source.newline
    heading = document.heading("2")
    begin, stop = (heading.end, heading.stop) if heading is not None else (0, len(data))
    text = skeleton().replace("\n", newline)
    empty = _EMPTY_FENCE.search(data, begin, stop)
    if empty is not None:
        return Fix((Edit(empty.end("open"), empty.end("open"), text),))
    block = f"```yaml{newline}{text}```{newline}"
    if heading is None:
        gap = newline if data.endswith(b"\n") or not data else newline * 2
        return Fix((Edit(len(data), len(data), f"{gap}## 2. Canonical DSL{newline}{newline}{block}"),))
    at = data.find(b"\n", heading.end) + 1
    return Fix((Edit(at, at, f"{newline}{block}") if at else Edit(len(data), len(data), f"{newline * 2}{block}"),))


def unreadable(context: Context) -> Iterator[Hit]:
    """YAML that cannot be read as it stands; the message's key is the parser's reason."""
    document = design(context)
    for problem in problems(context, "yaml"):
        reason = str(problem.args["reason"])
        fix = _mended(document, problem, reason)
        if fix is not None and fix.title == "list":
            reason = "items-after-empty"
        yield Hit(problem.start, problem.end, reason, problem.args, fix)


def _mended(document: DesignDocument, problem: Problem, reason: str) -> Fix | None:
    data = document.data
    if reason == "items-after-empty":
        return Fix((Edit(*_line(data, problem.start, problem.end), ""),), "line")
    if reason in ("colon-in-value", "reserved-character"):
        return _in_quotes(data, problem)
    if reason == "bad-indentation" and data[problem.start : problem.start + 1] == b"-":
        above = _EMPTY_LIST.search(data, max(0, problem.start - 2000), _line(data, problem.start, problem.start)[0])
        if above is not None:
            return Fix((Edit(above.start() + 1, above.end("list"), ""),), "list")
    if reason == "unknown-alias":
        written = data[problem.start : problem.end].decode("utf-8", "replace")
        return Fix((Edit(problem.start, problem.end, f'"{written}"'),), "quote")
    return None


def _line(data: bytes, start: int, end: int) -> tuple[int, int]:
    newline = data.find(b"\n", end)
    return data.rfind(b"\n", 0, start) + 1, len(data) if newline < 0 else newline + 1


def _in_quotes(data: bytes, problem: Problem) -> Fix | None:
    """The value of the problem's line in quotes; None where the line has no key or something else is odd about it."""
    start, end = _line(data, problem.start, problem.end)
    try:
        text = data[start:end].decode().rstrip("\r\n")
    except UnicodeDecodeError:
        return None
    colon = _COLON.search(text)
    at = problem.start - start
    if colon is None or len(text[: colon.start()].encode()) >= at:
        return None
    value = re.split(r"\s#", text[colon.end() :].strip(), maxsplit=1)[0].rstrip()
    if not value or value[0] in "\"'[{|>&*!" or '"' in value or "\\" in value:
        return None
    begin = start + len(text[: text.index(value, colon.end())].encode())
    return Fix((Edit(begin, begin + len(value.encode()), f'"{value}"'),), "quote")


def second(context: Context) -> Iterator[Hit]:
    """Another block that looks like the DSL."""
    for problem in problems(context, "several-dsl"):
        first = related(problem, "读的是这一块", "this one is read")
        yield Hit(problem.start, problem.end, related=first)


def twice(context: Context) -> Iterator[Hit]:
    """A key that is there twice; the second is removed where both say the same."""
    from opdev.design.changes import remove

    document = design(context)
    for problem in problems(context, "duplicate-key"):
        node = document.at(problem.start)
        while node is not None and node.key_start != problem.start:
            node = node.parent
        same = (
            node is not None
            and _first(node, problem).data() == node.data()
            and not any(n.kind == "broken" for n in node.walk())
        )
        fix = fix_of(remove(document, node)) if same and node is not None else None
        other = related(problem, "前一处", "the first one")
        yield Hit(problem.start, problem.end, args=problem.args, fix=fix, related=other)


def _first(node: Node, problem: Problem) -> Node:
    above = node.parent.children if node.parent is not None else []
    begin = problem.related[0] if problem.related is not None else -1
    return next((child for child in above if child.key_start == begin), node)


def version(context: Context) -> Iterator[Hit]:
    """A version other than 0.3, or none."""
    document = design(context)
    for problem in problems(context, "missing-key", "empty-value", "wrong-enum", "wrong-type"):
        if problem.path != "dsl_version":
            continue
        if problem.code == "missing-key":
            fix = fix_of(*additions(document, "", ["dsl_version"], {"dsl_version": '"0.3"'}))
            yield Hit(problem.start, problem.end, "missing", fix=fix)
        else:
            value = {"value": problem.args.get("value", "")}
            fix = overwrite(document.get("dsl_version"), '"0.3"')
            yield Hit(problem.start, problem.end, "default" if value["value"] else "missing", value, fix)
    for problem in problems(context, "unquoted-version"):
        quote = Fix((Edit(problem.start, problem.end, '"0.3"'),), applicability="safe")
        yield Hit(problem.start, problem.end, "unquoted", problem.args, quote, "hint")


def sections(context: Context) -> Iterator[Hit]:
    """Top-level sections that are missing or empty; all that are missing are one finding."""
    from opdev.design.document import SECTIONS

    document = design(context)
    lacking = [p for p in problems(context, "missing-key") if p.path in SECTIONS]
    if lacking:
        keys = [p.path for p in lacking]
        args: dict[str, object] = {"keys": ", ".join(keys), "keys_zh": "、".join(keys)}
        yield Hit(lacking[0].start, lacking[0].end, args=args, fix=fix_of(*additions(document, "", keys, {})))
    for problem in problems(context, "empty-value"):
        if problem.path in SECTIONS:
            fix = fix_of(*additions(document, "", [problem.path], {}), title="fill")
            yield Hit(problem.start, problem.end, "empty", {"key": problem.path}, fix)


def order(context: Context) -> Iterator[Hit]:
    """Top-level sections in another order than the DSL's."""
    from opdev.design.changes import sort
    from opdev.design.document import SECTIONS

    document = design(context)
    for problem in problems(context, "key-order"):
        if not parent_of(problem.path) and document.root is not None:
            fix = fix_of(*sort(document, document.root, ("dsl_version", *SECTIONS, "compile")))
            yield Hit(problem.start, problem.end, args=problem.args, fix=fix)
