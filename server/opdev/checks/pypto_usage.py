"""KB_USAGE.json: where the code keeps what the design promised.

What is promised goes by four things: the selection's field, the document, the requirement's id and its sources.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opdev.checks.pypto_kb import neighbour, opened, whose
from opdev.checks.pypto_values import (
    choice,
    is_text,
    key_of,
    listed,
    objects,
    required,
    text,
    version,
)
from opdev.contracts.knowledge import FIELDS, IMPLEMENTED, USAGE
from opdev.contracts.mend import meant, replaced
from opdev.design.nodes import Node
from opdev.facts.pypto_state import state_of
from opdev.rules.context import Context
from opdev.rules.model import Fix, Hit

_INVARIANT = next(f for f in USAGE.top.fields if f.key == "invariants").fields
_CODE = next(f for f in _INVARIANT if f.key == "implementation").fields
_PREFIX = re.compile(
    r"\s*\[(?P<field>[\w-]+)\s*:\s*(?P<id>\"(?:[^\"\\]|\\.)*\"|[^|\]\"]*?)\s*\|\s*(?P<anchors>\[.*?\])\s*\]", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class _Promise:
    """An obligation that applies: what the code has to keep."""

    field: str
    reference: str
    identity: str

    def __str__(self) -> str:
        return f"{self.reference} {self.identity}"


def kb_usage(context: Context) -> Iterator[Hit]:
    """Where the code keeps what the bindings promise."""
    root, faults = opened(context, "KB_USAGE.json", USAGE.top.fields)
    yield from faults
    if root is None:
        return
    yield from version(root)
    yield from whose(context, root)
    entries, faults = objects(root, "invariants")
    yield from faults
    promised = _promised(neighbour(context, "DESIGN_BINDINGS.json"))
    kept: dict[_Promise, list[Node]] = {}
    for entry in entries:
        yield from required(context.data, entry, _INVARIANT)
        yield from text(entry, "reference", "invariant", "justification")
        invariant = entry.get("invariant")
        if invariant is not None and is_text(invariant):
            yield from _named_promise(entry, invariant, promised, kept)
        code = entry.get("implementation")
        if code is None:
            continue
        if code.kind != "mapping":
            yield Hit(*code.where, "object-of", {"key": "implementation"})
            continue
        yield from required(context.data, code, _CODE)
        yield from text(code, "file", "symbol")
        yield from _implemented(context, code)
    if promised is not None:
        yield from _each_once(context, root, promised, kept)


def _promised(bindings: Node | None) -> Mapping[_Promise, Node] | None:
    """The obligations that apply; None without bindings."""
    if bindings is None:
        return None
    found: dict[_Promise, Node] = {}
    for binding in objects(bindings, "bindings")[0]:
        reference, field = binding.get("reference"), binding.get("selection_field")
        for one in objects(binding, "requirements")[0]:
            kind, status, identity = one.get("kind"), one.get("status"), one.get("req_id")
            if kind is None or status is None or identity is None or reference is None or field is None:
                continue
            if (kind.value, status.value) == ("obligation", "applies"):
                found[_Promise(field.value, reference.value, identity.value)] = one
    return found


def _named_promise(
    entry: Node, invariant: Node, promised: Mapping[_Promise, Node] | None, kept: dict[_Promise, list[Node]]
) -> Iterator[Hit]:
    """Which obligation an entry keeps, by the head of its invariant."""
    match = _PREFIX.match(invariant.value)
    if match is None:
        # Whoever writes the head loosely still says the field; nothing at all answers nothing.
        if not invariant.value.lstrip().startswith("["):
            yield Hit(*invariant.where, "prefix", {})
        return
    if match["field"] not in FIELDS:
        yield Hit(*invariant.where, "prefix-field", {"value": match["field"], "allowed": ", ".join(FIELDS)})
        return
    reference = entry.get("reference")
    identity = match["id"].strip()
    try:
        identity = json.loads(identity) if identity.startswith('"') else identity
        given = json.loads(match["anchors"])
    except ValueError:
        yield Hit(*invariant.where, "prefix", {})
        return
    if promised is None or reference is None:
        return
    promise = _Promise(match["field"], reference.value, str(identity))
    if promise not in promised:
        yield Hit(*invariant.where, "not-promised", {"value": str(promise)})
        return
    kept.setdefault(promise, []).append(entry)
    source = promised[promise].get("source_anchors")
    wanted = source.data() if source is not None else None
    if isinstance(wanted, list) and given != wanted:
        args = {"value": match["anchors"][:80], "wanted": json.dumps(wanted, ensure_ascii=False)[:80]}
        yield Hit(*invariant.where, "other-anchors", args)


def _each_once(
    context: Context, root: Node, promised: Mapping[_Promise, Node], kept: Mapping[_Promise, list[Node]]
) -> Iterator[Hit]:
    """One final record of each obligation; on L1 besides that at most one of each staged file."""
    state = state_of(context.project)
    path = state.get("stage4_path") if state is not None else None
    is_l1 = path is not None and path.value == "L1"
    where = root.get("invariants")
    left = [str(p) for p in promised if p not in kept]
    if left and where is not None:
        yield Hit(*key_of(where), "unkept", listed(left))
    for promise, entries in kept.items():
        seen: set[str] = set()
        for entry in entries:
            file = entry.at("implementation.file")
            if file is None or file.kind != "scalar":
                continue
            name = file.value.removeprefix("./")
            staged = name.startswith("modules/")
            if staged and path is not None and not is_l1:
                yield Hit(*file.where, "staged-on-l0", {"file": name})
            elif name in seen or (seen and not is_l1 and path is not None):
                yield Hit(*file.where, "recorded-twice", {"value": str(promise), "file": name})
            seen.add(name)
        if seen and all(n.startswith("modules/") for n in seen) and is_l1 and _is_done(state):
            file = entries[-1].at("implementation.file")
            yield Hit(*(file.where if file is not None else entries[-1].where), "no-final", {"value": str(promise)})


def _is_done(state: Node | None) -> bool:
    """Whether all modules of L1 are verified, so that the final record is due."""
    found = state.at("stage4_modules.module_status") if state is not None else None
    return found is not None and bool(found.children) and all(c.value == "verified" for c in found.children)


def _implemented(context: Context, code: Node) -> Iterator[Hit]:
    status, file, symbol = code.get("status"), code.get("file"), code.get("symbol")
    if status is not None and status.value in ("verified", "not_applicable"):
        yield Hit(*status.where, "self-verified", {"value": status.value})
    else:
        yield from choice(status, "status", IMPLEMENTED)
    if file is None or not is_text(file) or context.project is None:
        return
    name = file.value.removeprefix("./")
    if "\0" in name or not context.project.exists(name):
        known = [
            f.path.removeprefix(f"{context.project.root}/") for f in context.project.files("pypto-test", "pypto-golden")
        ]
        near = meant(name, known)
        fix = Fix((replaced(file, near, json_=True),)) if near else None
        yield Hit(*file.where, "no-file", {"value": file.value, "wanted": near or ""}, fix)
        return
    found = next(
        (f for f in context.project.files("pypto-test", "pypto-golden", "pypto-impl") if f.path.endswith("/" + name)),
        None,
    )
    if found is not None and symbol is not None and is_text(symbol):
        word = symbol.value.strip().rpartition(".")[2]
        if not re.search(rb"(?<!\w)%s(?!\w)" % re.escape(word.encode("utf-8", "replace")), found.data):
            yield Hit(*symbol.where, "no-symbol", {"value": symbol.value, "file": file.value})
