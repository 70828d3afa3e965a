"""Measurements taken in main.cpp: what is inside the timed loop, and the numbers made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import cpp
from opdev.syntax.cpp_flow import flow_of
from opdev.syntax.tree import ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_LOOPS = ("for_statement", "while_statement", "do_statement")
_MEASURED = re.compile(
    rb"(?i)\b\w*(?:perf_?times|perf_?iters?|measure\w*|bench_?iters?|timed_?iters?|repeat_?times)\w*\b"
)
_WARM = re.compile(rb"(?i)warm")
_LAUNCH = re.compile(rb"<<<|\b(?:stream|Stream)\b")
FIELDS = ("e2e_us", "kernel_us", "algo_bandwidth_GBps", "e2e_bus_bandwidth_GBps", "kernel_bus_bandwidth_GBps",
          "bandwidth_utilization_pct", "payload_bytes", "bus_factor", "peak_bandwidth_GBps")  # fmt: skip


def memset_in_measured_loop(context: Context) -> Iterator[Hit]:
    """A buffer cleared in every measured round."""
    for call in cpp.calls(context, "aclrtMemset", "aclrtMemsetAsync"):
        for loop in ancestors(call.node):
            if loop.type in ("function_definition", "lambda_expression"):
                break
            if loop.type not in _LOOPS:
                continue
            body = loop.child_by_field_name("body")
            head = context.code[loop.start_byte : body.start_byte] if body is not None else b""
            if _MEASURED.search(head) and not _WARM.search(head) and _launches(context, loop, call.node):
                yield Hit(call.start, call.end, args={"call": call.name})
                break


def _launches(context: Context, loop: Node, memset: Node) -> bool:
    """Whether the loop starts a kernel besides clearing a buffer."""
    before = context.code[loop.start_byte : memset.start_byte]
    after = context.code[memset.end_byte : loop.end_byte]
    return any(_LAUNCH.search(re.sub(rb"aclrt\w+\s*\([^;]*;", b"", part)) for part in (before, after))


def incomplete_perf_line(context: Context) -> Iterator[Hit]:
    """A [PERF] line without fields that the report is made of."""
    text = context.nocomment
    at = text.find(b"[PERF]", context.start, context.end)
    while at >= 0:
        node = context.node_at(at, at + 6)
        statement = node
        while statement is not None and statement.type not in ("expression_statement", "declaration"):
            statement = statement.parent
        printed = text[statement.start_byte : statement.end_byte] if statement is not None else b""
        # A line put together in pieces: whatever the function names counts.
        if b"<<" in printed or re.search(rb"print|LOG|format", printed):
            named = text[context.start : context.end]
            missing = [f for f in FIELDS if not re.search(rb"(?<![A-Za-z_])" + f.encode() + rb"\s*=", named)]
            some = len(missing) < len(FIELDS) or b"us=" in printed or b"GBps" in printed
            if missing and some:
                yield Hit(at, at + 6, args={"missing": ", ".join(missing)})
            elif not missing and not re.search(rb"\bpe\s*=", named):
                yield Hit(at, at + 6, "pe", severity="warning")
            return
        at = text.find(b"[PERF]", at + 6, context.end)


_BANDWIDTH = re.compile(rb"(?P<name>\b(?:\w*(?:bandwidth|GBps|gbps)\w*|\w*_?bw(?:_\w+)?))\s*=(?!=)\s*(?P<value>[^;]+);")
_GIB = re.compile(rb"/\s*\(?\s*(?:1024(?:\.0?)?[fFuUlL]*\s*\*\s*1024(?:\.0?)?[fFuUlL]*\s*\*\s*1024(?:\.0?)?[fFuUlL]*|\(?\s*1(?:ULL|UL|LL|L)?\s*<<\s*30|1073741824(?:\.0?)?)")  # fmt: skip
_TWICE = re.compile(rb"(?<![\w.])(?:2(?:\.0)?[fF]?\s*\*(?!\s*\()|\*\s*2(?:\.0)?[fF]?(?![\w.]))")


def wrong_bandwidth_formula(context: Context) -> Iterator[Hit]:
    """Algorithm bandwidth from kernel time, doubled, or in units of 2^30."""
    for match in _BANDWIDTH.finditer(context.code, context.start, context.end):
        name, value = match["name"].decode(), match["value"]
        start = match.start("value")
        if re.search(r"(?i)algo", name):
            kernel = re.search(rb"/[^;*]*?\b(?P<time>\w*kernel_(?:us|time\w*|ms|sec\w*))\b", value)
            if kernel is not None:
                args = {"name": name, "time": kernel["time"].decode()}
                fix = _e2e_fix(context, start + kernel.start("time"), start + kernel.end("time"))
                yield Hit(start + kernel.start("time"), start + kernel.end("time"), "kernel-time", args, fix)
            twice = _TWICE.search(value)
            if twice is not None:
                yield Hit(start + twice.start(), start + twice.end(), "doubled", {"name": name})
        gib = _GIB.search(value)
        if gib is not None and not re.search(r"(?i)gib", name):
            yield Hit(start + gib.start(), start + gib.end(), "binary", {"name": name}, severity="warning")


def _e2e_fix(context: Context, start: int, end: int) -> Fix | None:
    """The end-to-end time of the same unit, where the function has a variable of that name."""
    word = context.code[start:end].replace(b"kernel", b"e2e")
    known = any(at < start for at in context.find(word))
    return Fix((Edit(start, end, word.decode()),)) if known else None


_FACTOR = re.compile(rb"\bbus_?[fF]actor\s*=(?!=)\s*(?P<value>[^;,]+)[;,]")
_COUNT = rb"(?:static_cast\s*<[^<>]*>\s*\(\s*)?\(?\s*(?:\w+(?:\.|->))*\w*(?:n_?pes?|npes|pe_size|world_?size|n_?ranks?|rank_?size)\w*\s*\)?"


def wrong_bus_factor(context: Context) -> Iterator[Hit]:
    """A bus factor of n - 1, or one that integer division makes 0."""
    for match in _FACTOR.finditer(context.code, context.start, context.end):
        value = match["value"].strip()
        start, end = match.start("value"), match.start("value") + len(match["value"].rstrip())
        if re.fullmatch(rb"(?:static_cast\s*<[^<>]*>\s*\(\s*|\()*" + _COUNT + rb"\s*-\s*1(?:\.0)?[fF]?\s*\)*", value):
            yield Hit(start, end, args={"value": value.decode("utf-8", "replace")})


_PEAK = re.compile(
    rb"\b\w*peak_?(?:bandwidth|bw|gbps)\w*\s*=(?!=)\s*(?P<value>\d+(?:\.\d+)?)[fF]?\s*[;,]", re.IGNORECASE
)
_PEAKS = frozenset({28.0 * n for n in range(1, 16)} | {270.0})


def odd_peak_bandwidth(context: Context) -> Iterator[Hit]:
    """A peak that is no multiple of a link's 28 GB/s, and nobody says where it is from."""
    for match in _PEAK.finditer(context.code, context.start, context.end):
        value = float(match["value"])
        if value == 0 or value in _PEAKS:
            continue
        line = context.data.rfind(b"\n", 0, context.data.rfind(b"\n", 0, match.start())) + 1
        stop = context.data.find(b"\n", match.end())
        around = slice(line, stop if stop >= 0 else len(context.data))
        if context.data[around] != context.nocomment[around]:
            continue
        yield Hit(match.start("value"), match.end("value"), args={"value": match["value"].decode()})


_FETCHES = re.compile(rb"(?i)\b\w*(?:prof|perf)\w*\s*(?:<[^<>;]*>\s*)?\(")


def profile_not_exported(context: Context) -> Iterator[Hit]:
    """Cycles counted in a kernel of the operator, and no host file that fetches them."""
    project = context.project
    if project is None or not context.file.path.endswith(("/main.cpp", "/main.cc")):
        return
    # A helper of another folder may fetch them: anything of the kind that is called counts.
    if any(_FETCHES.search(file.code) for file in project.files("host")):
        return
    for kernel in project.files("kernel"):
        probe = re.search(rb"\bSHMEMI_PROF_(?:START|END)\b", kernel.code)
        if probe is None:
            continue
        for function in cpp.functions(context):
            if cpp.function_name(context.file, function) == "main":
                declarator = function.child_by_field_name("declarator") or function
                notes = {"zh": "这里在计数", "en": "counted here"}
                related = (Related(probe.start(), probe.end(), notes, kernel.path),)
                args = {"kernel": kernel.path.rpartition("/")[2]}
                yield Hit(declarator.start_byte, declarator.end_byte, args=args, related=related)
                return


_STARTS = re.compile(rb"<<<|\b[Ll]aunch\w*\s*\(")


def profile_before_sync(context: Context) -> Iterator[Hit]:
    """Counters fetched between a launch and the first synchronisation after it."""
    flow = flow_of(context)
    for event in flow.named("aclshmemx_get_prof") if flow is not None else []:
        starts = (
            [m.start() for m in _STARTS.finditer(context.code, flow.start, event.start)] if flow is not None else []
        )
        waited = any(
            starts and starts[-1] <= e.start and e.end <= event.start and re.search(r"[Ss]ync|wait|barrier", e.name)
            for e in (flow.events if flow is not None else [])
        )
        if starts and not waited:
            yield Hit(event.name_start, event.end)
