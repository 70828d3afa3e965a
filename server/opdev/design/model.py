"""Validates a design: its YAML, its fields one by one, and how they agree.

The models judge plain data; here their verdicts get their places back, and what follows from a
half-written line (a key that is swallowed by an unclosed quote) is kept quiet.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from opdev.design.cross import check
from opdev.design.document import SECTIONS, DesignDocument, document_of
from opdev.design.dsl import Design
from opdev.design.judged import judged
from opdev.design.nodes import Node
from opdev.design.problems import PLACEHOLDER, Problem, at, at_key, is_placeholder, label, nearest, short
from opdev.design.walk import field, keys_at
from opdev.syntax.file import File

# Faults after which the text still says what its author wrote.
_HARMLESS = frozenset(
    {"duplicate-key", "second-document", "unclosed-fence", "control-character", "complex-key", "unknown-alias"}
)
_EXPECTED = {
    "bool": "true/false", "string": "text", "list": "list", "model": "mapping", "dict": "mapping", "int": "integer",
    "float": "number",
}  # fmt: skip
_ORDER = (("", ("dsl_version", *SECTIONS, "compile")), ("schedule", ("core_partition", "tiling", "phases")))


def problems_of(file: File) -> list[Problem]:
    """The problems of a design document's file; found once a file."""
    return file.memo("design-problems", lambda: validate(document_of(file)))


def load(document: DesignDocument) -> Design | None:
    """The design as a model; None where it does not validate."""
    if document.root is None:
        return None
    try:
        return Design.model_validate(document.root.data())
    except ValidationError:
        return None


def validate(document: DesignDocument) -> list[Problem]:
    """Everything wrong with a design, in text order; the codes are listed in the package's docstring."""
    found = [*_fence(document)]
    if document.root is not None:
        found += [*_placeholders(document), *_fields(document), *_orders(document), *check(document)]
    return sorted(found, key=lambda p: (p.start, p.end, p.code, p.path))


def _fence(document: DesignDocument) -> Iterator[Problem]:
    dsl = document.dsl
    if dsl is None:
        heading = document.heading("2") or (document.headings[0] if document.headings else None)
        where = (heading.start, heading.end) if heading is not None else (0, document.source.line_range(0)[1])
        yield Problem("no-dsl", "", *where)
        return
    for fence in document.rivals:
        yield Problem("several-dsl", "", *fence.opening, {}, dsl.opening)
    for fault in document.faults:
        if fault.reason == "duplicate-key":
            yield Problem("duplicate-key", "", fault.start, fault.end, {"key": fault.detail}, fault.related)
        else:
            args = {"reason": fault.reason, "detail": fault.detail}
            yield Problem("yaml", "", fault.start, fault.end, args, fault.related)
    if document.root is None and not document.faults:
        yield Problem("not-a-mapping", "", *dsl.opening)


def _placeholders(document: DesignDocument) -> Iterator[Problem]:
    fence, word = document.dsl, PLACEHOLDER.encode()
    if fence is None:
        return
    before: Node | None = None
    offset = document.data.find(word, fence.start, fence.end)
    while offset >= 0:
        node = document.at(offset)
        if node is not None and node is not before and node.kind == "scalar" and node.start <= offset < node.end:
            before = node
            if is_placeholder(node.value):
                yield at(node, "placeholder", value=node.value)
        offset = document.data.find(word, offset + len(word), fence.end)


def _fields(document: DesignDocument) -> Iterator[Problem]:
    root = document.root
    if root is None:
        return
    try:
        Design.model_validate(judged(root, document.data))
    except ValidationError as error:
        verdicts = error.errors(include_url=False, include_input=False)
    else:
        return
    torn, keys = _torn(document), _Keys()
    seen: dict[str, list[tuple[Node, Mapping[str, Any]]]] = {}
    for verdict in verdicts:
        node, rest = _walk(root, verdict["loc"], keys)
        if node.kind == "broken" or (node.kind == "scalar" and is_placeholder(node.value)):
            continue
        if verdict["type"] == "missing":
            if id(node) not in torn:
                yield _missing(document, node, str(rest[-1]) if rest else "")
        else:
            seen.setdefault(node.path, []).append((node, verdict))
    for verdicts_here in seen.values():
        yield _verdict(verdicts_here[0][0], [v for _, v in verdicts_here])


def _walk(root: Node, loc: tuple[int | str, ...], keys: _Keys) -> tuple[Node, list[int | str]]:
    """The node a verdict is about, and the steps that lead no further (a missing key, a union's branch)."""
    node, rest = root, []
    for step in loc:
        below = keys.of(node).get(step) if isinstance(step, str) else None
        if isinstance(step, int) and node.kind == "sequence" and step < len(node.children):
            below = node.children[step]
        if below is None:
            rest.append(step)
        else:
            node, rest = below, []
    return node, rest


class _Keys:
    """The entries of mappings by key, each mapping looked through once: there may be a verdict on each."""

    def __init__(self) -> None:
        self._made: dict[int, dict[str | None, Node]] = {}

    def of(self, node: Node) -> dict[str | None, Node]:
        if node.kind != "mapping":
            return {}
        if id(node) not in self._made:
            self._made[id(node)] = {child.key: child for child in node.children}
        return self._made[id(node)]


def _missing(document: DesignDocument, node: Node, key: str) -> Problem:
    path = f"{node.path}.{key}" if node.path else key
    view = field(path)
    names = view.title if view is not None else {"zh": key, "en": key}
    args = {"key": key, "in": node.path, "zh": names["zh"], "en": names["en"]}
    return Problem("missing-key", path, *label(document, node), args)


def _verdict(node: Node, verdicts: list[Mapping[str, Any]]) -> Problem:
    """One problem of all the verdicts on a value: the branches of a union each have one."""
    first = verdicts[0]
    kind = str(first["type"])
    view = field(node.path)
    if kind == "extra_forbidden":
        parent = node.parent.path if node.parent is not None else ""
        known = list(keys_at(parent))
        return at_key(
            node, "unknown-key", key=node.key, nearest=nearest(node.key or "", known), allowed=", ".join(known)
        )
    if node.empty and not (kind == "literal_error" and node.tag != "null" and node.value):
        return at(node, "empty-value", key=_name(node))
    if kind in ("literal_error", "wrong_enum"):
        allowed = (
            view.values if view is not None and view.values else tuple(str(first["ctx"].get("allowed", "")).split(", "))
        )
        return at(
            node,
            "wrong-enum",
            key=_name(node),
            value=node.text,
            allowed=", ".join(allowed),
            nearest=nearest(node.text, allowed),
        )
    if kind == "string_pattern_mismatch":
        pattern = str(first["ctx"]["pattern"])
        return at(node, "wrong-pattern", key=_name(node), value=node.text, pattern=pattern, nearest=snake(node.text))
    if kind in ("greater_than", "greater_than_equal", "less_than", "less_than_equal"):
        limit = next(iter(first["ctx"].values()))
        return at(node, "out-of-range", key=_name(node), value=node.text, limit=limit, bound=kind)
    if kind == "wrong_number":
        inner = node.get(str(first.get("ctx", {}).get("key", "")))
        return at(inner or node, "wrong-number", key=_name(inner or node), value=(inner or node).text)
    expected = {_EXPECTED.get(str(v["type"]).split("_", 1)[0], str(v["type"])) for v in verdicts}
    return at(node, "wrong-type", key=_name(node), value=short(node.text), expected=" / ".join(sorted(expected)))


def _name(node: Node) -> str:
    return node.key or node.path.rsplit(".", 1)[-1]


def snake(text: str) -> str | None:
    """``AllGather v2`` → ``all_gather_v2``; None where nothing is left."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\s.-]+", "_", text[:80].strip())
    text = re.sub(r"[^a-z0-9_]", "", text.lower()).strip("_")
    text = re.sub(r"__+", "_", re.sub(r"^[0-9_]+", "", text))
    return text or None


def _torn(document: DesignDocument) -> set[int]:
    """The mappings a fault lies in: what they seem to lack may stand in the part that cannot be read."""
    root = document.root
    torn: set[int] = set()
    begins: dict[int, tuple[list[int], list[Node]]] = {}
    for fault in document.faults:
        if root is None or fault.reason in _HARMLESS:
            continue
        node = root
        while True:
            if id(node) not in begins:
                children = [c for c in node.children if not c.alias]
                begins[id(node)] = ([c.name_range[0] for c in children], children)
            starts, children = begins[id(node)]
            index = bisect_right(starts, fault.start) - 1
            if index < 0 or children[index].kind not in ("mapping", "sequence"):
                break
            node = children[index]
        torn.add(id(node))
    return torn


def _orders(document: DesignDocument) -> Iterator[Problem]:
    for path, order in _ORDER:
        node = document.get(path) if path else document.root
        if node is None or node.kind != "mapping":
            continue
        last = -1
        for child in node.children:
            place = order.index(child.key) if child.key in order else -1
            if 0 <= place < last:
                yield at_key(child, "key-order", key=child.key, before=order[last], order=", ".join(order))
            last = max(last, place)
