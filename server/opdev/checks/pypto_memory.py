"""MEMORY.md and the golden's performance report: lists somebody was to work off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.design.markdown import Box, tables
from opdev.facts import pypto_docs as docs
from opdev.facts.pypto_state import state_of
from opdev.rules.context import Context
from opdev.rules.model import Hit

_OPEN = frozenset({"", "❌", "todo", "未实现", "wip"})
_REVIEW = re.compile(r"phase\s+(?P<phase>M_?\d+)\s+self[- ]?review", re.IGNORECASE)
_CHECKS = ("signature", "output", "view", "inventory", "for ... in range", "exactly once")
_ITEM = re.compile(rb"^[ \t]*[-*+][ \t]+\[(?P<mark>[^\]\n]{0,4})\][ \t]*(?P<text>[^\r\n]*)", re.MULTILINE)
_DONE = frozenset({"x", "X", "✓", "✔", "✅"})
_COLUMNS = ("op", "count", "mean_duration", "total")
_MOST_ITEMS = 20


def unfinished_inventory(context: Context) -> Iterator[Hit]:
    """Golden functions listed as not written yet."""
    heading = docs.section(context.file, "golden function inventory")
    if heading is None:
        return
    table = next((t for t in tables(context.data) if heading.end <= t.start < heading.stop), None)
    for row in table.rows if table is not None else []:
        filled = [cell for cell in row if cell.text]
        last = filled[-1] if filled else None
        if last is None:
            continue
        final = row[-1]
        if "❌" in last.text or last.text.lower() in _OPEN or (not final.text and len(row) > 1):
            where = last if last.text.lower() in _OPEN or "❌" in last.text else filled[0]
            yield Hit(where.start, where.end, "default", {"function": filled[0].text.strip("`")})


def unreviewed_phase(context: Context) -> Iterator[Hit]:
    """A self-review with items open or left out, or none for a phase that is up for verification."""
    seen = set()
    for heading in docs.sections(context.file):
        match = _REVIEW.search(heading.title)
        if match is None:
            continue
        seen.add(match["phase"].replace("_", ""))
        items = list(_items(context, heading.end, heading.stop))
        lacking = []
        for word in _CHECKS:
            item = next((i for i in items if word in i[0].text.lower()), None)
            if item is None:
                lacking.append(word)
            elif item[1] not in _DONE:
                yield Hit(item[0].start, item[0].stop, "default", {"phase": match["phase"], "item": item[0].text})
        if lacking:
            args = {"phase": match["phase"], "items": "、".join(lacking), "items_en": ", ".join(lacking)}
            yield Hit(heading.start, heading.end, "lacking", args)
    state = state_of(context.project)
    phases = state.get("stage5_phases") if state is not None else None
    entries = phases.get("phase_status") if phases is not None else None
    for child in entries.children if entries is not None and entries.kind == "mapping" else []:
        status = child.get("status") if child.kind == "mapping" else child
        if status is not None and status.text == "awaiting_verify" and (child.key or "").replace("_", "") not in seen:
            first = next(iter(docs.sections(context.file)), None)
            where = (first.start, first.end) if first is not None else (0, min(1, len(context.data)))
            yield Hit(*where, "none", {"phase": child.key or ""})


def _items(context: Context, start: int, stop: int) -> Iterator[tuple[Box, str]]:
    for match in _ITEM.finditer(context.data, start, stop):
        text = match["text"].decode("utf-8", "replace").rstrip()
        at = match.start("mark") - 1
        end = match.start("text") + len(match["text"].rstrip())
        mark = match["mark"].decode("utf-8", "replace").strip()
        yield Box(mark in _DONE, text, at, match.end("mark") + 1, end), mark


def experience_preflight(context: Context) -> Iterator[Hit]:
    """The list of known traps: worked off, item by item, before code is delivered."""
    heading = docs.section(context.file, "experience preflight")
    if heading is None:
        return
    for table in tables(context.data):
        if heading.end <= table.start < heading.stop:
            head = table.header
            yield Hit(head[0].start, head[-1].end, "table")
    items = list(_items(context, heading.end, heading.stop))
    if not items:
        yield Hit(heading.start, heading.end, "empty")
    elif len(items) > _MOST_ITEMS:
        yield Hit(heading.start, heading.end, "many", {"count": len(items)})
    for index, (box, mark) in enumerate(items):
        if mark != "-":
            continue
        stop = items[index + 1][0].start if index + 1 < len(items) else heading.stop
        note = context.data[box.stop : stop].decode("utf-8", "replace")
        if not re.search(r"^\s*>.*(?:✅|⚠)", note, re.MULTILINE) and not re.search("✅|⚠", box.text):
            yield Hit(box.start, box.stop, "default", {"item": box.text[:40]})


def perf_report_table(context: Context) -> Iterator[Hit]:
    """A performance report of the golden without its table."""
    for table in tables(context.data):
        header = {cell.text.strip("`* ").lower() for cell in table.header}
        if all(any(column in h for h in header) for column in _COLUMNS):
            return
    heading = next(iter(docs.sections(context.file)), None)
    stop = context.data.find(b"\n")
    where = (heading.start, heading.end) if heading is not None else (0, len(context.data) if stop < 0 else stop)
    yield Hit(*where, "default", {"columns": "、".join(_COLUMNS), "columns_en": ", ".join(_COLUMNS)})


__all__ = ["experience_preflight", "perf_report_table", "unfinished_inventory", "unreviewed_phase"]
