"""perf.sh and run_baseline.sh: how they are called, how often they measure, and where the log goes that everything else reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash

_PLACES = (
    ("1", "DEVICE_LIST", re.compile(r"dev", re.IGNORECASE)),
    ("2", "BASE_COUNT", re.compile(r"count|elem|size|num|shape|len", re.IGNORECASE)),
    ("3", "DTYPE", re.compile(r"type", re.IGNORECASE)),
    ("4", "ITERS", re.compile(r"iter|loop|repeat|times|round", re.IGNORECASE)),
)
_POSITION = re.compile(r"\"?\$(?:\{(?P<a>[1-9])(?:[:}\-?=+].*)?|(?P<b>[1-9]))")
_OTHERWISE = re.compile(rb"\$\{?[@*]|\bshift\b|\bgetopts?\b|--[a-z][\w-]+\)")
_COUNTS = (
    (re.compile(r"(?:\w*_)?WARM_?UP(?:_\w+)?", re.IGNORECASE), 10, "WARMUP"),
    (re.compile(r"(?:\w*_)?MEASURE(?:S|D|_ITERS|_TIMES|_COUNT)?", re.IGNORECASE), 40, "MEASURE"),
    (re.compile(r"(?:PERF_|BENCH_)?ITER(?:S|ATIONS)?", re.IGNORECASE), 50, "ITERS"),
)
_VALUE = re.compile(r"\"?(?:\$\{\w+:?[-=](?P<default>\d{1,6})\}|(?P<plain>\d{1,6}))\"?")
_TARGET = re.compile(rb"(?:\btee[ \t]+(?:-a[ \t]+|--[ \t]+)*|>>?[ \t]*|\b\w+=)(?P<path>\"[^\"\r\n]*\.log\"|[^\s\"'|;&<>()]+\.log)(?=[\s\"'|;&)]|$)")  # fmt: skip
_GOOD = re.compile(
    r"(?:shmem|baseline)_\$\{?\w+\}?_\$\{?\w+\}?[\w.${}-]*\.log\Z|(?:shmem|baseline)_\d+_[a-z]+\d+[\w.-]*\.log\Z"
)
_MEANT = re.compile(r"perf|shmem|baseline|hccl", re.IGNORECASE)
_OTHER = re.compile(r"build|compile|err|debug|prof|plog|check", re.IGNORECASE)
_SMOKE = re.compile(r"冒烟|smoke|快速|quick|调试|debug", re.IGNORECASE)


def arguments(context: Context) -> Iterator[Hit]:
    """perf.sh that does not take devices, count, dtype and iterations in this order."""
    if not context.file.path.endswith("/scripts/perf.sh") or _OTHERWISE.search(context.code):
        return
    taken: dict[str, tuple[str, int, int]] = {}
    for one in bash.assignments(context):
        match = _POSITION.match(one.raw)
        if match is not None and one.value_node is not None:
            taken.setdefault(match["a"] or match["b"], (one.name, one.node.start_byte, one.node.end_byte))
    for number, meant, pattern in _PLACES:
        found = taken.get(number)
        if found is None:
            continue
        other = next((m for n, m, p in _PLACES if n != number and p.search(found[0])), None)
        if other is not None and not pattern.search(found[0]):
            yield Hit(found[1], found[2], "order", {"number": number, "name": found[0], "meant": meant})
    lacking = [f"${n} {m}" for n, m, _ in _PLACES if n not in taken and not re.search(rb"\$\{?" + n.encode(), context.code)]  # fmt: skip
    if lacking:
        first = context.file.source.line_range(0)
        yield Hit(*first, args={"missing": ", ".join(lacking)})


def counts(context: Context) -> Iterator[Hit]:
    """Fewer warm-up or measured iterations than a figure can be trusted with."""
    for one in bash.assignments(context):
        known = next(((least, what) for pattern, least, what in _COUNTS if pattern.fullmatch(one.name)), None)
        match = _VALUE.fullmatch(one.raw) if known is not None else None
        if known is None or match is None or one.value_node is None:
            continue
        group = "default" if match["default"] else "plain"
        value, (least, what) = int(match[group]), known
        line = context.file.source.line_bytes(context.file.source.line_of(one.node.start_byte))
        if value >= least or _SMOKE.search(line.decode("utf-8", "replace")):
            continue
        start = one.value_node.start_byte + match.start(group)
        place = start, start + len(match[group])
        args = {"name": one.name, "value": str(value), "least": str(least), "what": what}
        yield Hit(*place, args=args, fix=Fix((Edit(*place, str(least)),)))


def log_names(context: Context) -> Iterator[Hit]:
    """A log of measurements under a name that nothing looks for."""
    baseline = "baseline-script" in context.kinds
    for match in _TARGET.finditer(context.nocomment):
        raw = match["path"].decode("utf-8", "replace").strip('"')
        folder, _, name = raw.rpartition("/")
        if not _MEANT.search(raw) or _OTHER.search(name) or (_GOOD.match(name) and _folder(folder)):
            continue
        wanted = f"data/perf/{'baseline' if baseline else 'shmem'}_${{BASE_COUNT}}_${{DTYPE}}.log"
        start, end = match.span("path")
        quoted = match["path"].startswith(b'"')
        yield Hit(start + quoted, end - quoted, args={"path": raw, "wanted": wanted})


def _folder(folder: str) -> bool:
    """Whether a folder is data/perf, or a variable that may be."""
    return folder.endswith("data/perf") or re.search(r"\$\{?\w+\}?\Z", folder) is not None
