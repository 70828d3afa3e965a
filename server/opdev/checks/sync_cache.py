"""Scalar stores to GM that stay in the data cache while another engine reads GM past it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.sync_effects import base, effect
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax.cpp_flow import Event, Item, Step, blocks, flow_of

_STORES = re.compile(rb"\.SetValue\s*\(|\]\s*=(?!=)|(?:^|[;{}])\s*\*\s*\w+\s*=(?!=)", re.M)
_STORE = re.compile(
    r"(?:^|(?<=[;{}),]))\s*(?P<store>\*\s*(?P<star>\w+)(?=\s*=(?!=))|(?P<item>\w+)\s*\[[^\]=;]*\](?=\s*=(?!=))"
    r"|(?P<tensor>\w+)\.SetValue(?=\s*\())"
)
_PUT = re.compile(r"aclshmemx?_(?:\w+_)?put(?:mem)?\d*(?:_signal)?(?:_nbi)?")
_COPY = re.compile(r"DataCopy(?:Pad)?|copy_gm_to_ubuf\w*")
_STORED = {"zh": "标量在这里写，还在数据缓存里", "en": "the scalar unit stores here, into the data cache"}


def unflushed_scalar_store(context: Context) -> Iterator[Hit]:
    """A transfer that reads GM where a scalar store is still in the cache."""
    if not _STORES.search(context.code, context.start, context.end):
        return
    flow = flow_of(context)
    if flow is None:
        return
    declared = (flow.head + context.code[flow.start : flow.end].decode("utf-8", "replace")).replace("\n", " ")
    for block in blocks(flow.body):
        pending: dict[str, tuple[int, int]] = {}
        for item in block:
            steps = _steps(item)
            if any(_settles(event) for step in steps for event in step.events):
                pending = {}
                continue
            for event in item.events if isinstance(item, Step) else ():
                name = _source(event)
                if name in pending:
                    start, end = pending.pop(name)
                    yield Hit(
                        event.name_start, event.name_end, args={"call": event.written, "name": name},
                        related=(Related(start, end, _STORED),),
                    )  # fmt: skip
            for step in steps:
                pending.update(_stores(context, step, declared))


def _steps(item: Item) -> list[Step]:
    """An item's steps, its own and those within it."""
    return [inner for part in blocks((item,)) for inner in part if isinstance(inner, Step)]


def _settles(event: Event) -> bool:
    """Whether a call may write the cache back: it says so, or nobody knows what it does."""
    name = event.name
    return "dcci" in name or "ache" in name or effect(event).kind in ("helper", "barrier")


def _source(event: Event) -> str:
    """What a transfer reads of GM, by name; empty where it is no plain name."""
    if event.receiver or not (_PUT.fullmatch(event.name) or _COPY.fullmatch(event.name)):
        return ""
    return base(event.arg(1))


def _stores(context: Context, step: Step, declared: str) -> Iterator[tuple[str, tuple[int, int]]]:
    text = context.code[step.start : step.end].decode("utf-8", "replace")
    for match in _STORE.finditer(text):
        name = match["star"] or match["item"] or match["tensor"]
        if _tensor(declared, name) if match["tensor"] else _pointer(declared, name):
            at = step.start + len(text[: match.start("store")].encode())
            yield name, (at, at + len(match["store"].encode()))


def _pointer(text: str, name: str) -> bool:
    """Whether a name is declared as a pointer to GM, in one way only, and not volatile."""
    kinds = []
    for match in re.finditer(rf"\b{name}\s*[=,);]", text):
        lead = text[max(map(text[: match.start()].rfind, ";,(){}=")) + 1 : match.start()]
        if re.search(r"__\w+__|\bGM_ADDR\b|\w\s*\*\s*$", lead):
            kinds.append(lead)
    return bool(kinds) and all(("__gm__" in w or "GM_ADDR" in w) and "volatile" not in w for w in kinds)


def _tensor(text: str, name: str) -> bool:
    return re.search(rf"\bGlobalTensor\s*<[^;]*>\s*&?\s*{name}\s*[;,)=]", text) is not None
