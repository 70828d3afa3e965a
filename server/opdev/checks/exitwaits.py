"""``wait`` that covers several PEs and keeps the status of one, or of none."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from opdev.checks import shellflow
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash
from opdev.syntax.tree import ancestor, ancestors, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_TOOLS = {"sleep", "tail", "npu-smi", "watch", "tee", "top", "dmesg", "cat"}
# A fix that collects more jobs than this one by one is none that anybody reads.
_MOST_COLLECTED = 32
_WATCHDOG = re.compile(r"watch|timer|monitor|timeout|tail|guard|sampler", re.IGNORECASE)
_COLLECTED = re.compile(
    rb"[ \t]*(?:#[^\n]*)?[\s;]*(?:pid=\$!\s*;?\s*)?(?P<name>\w+)\+=\(\s*\"?\$(?:!|\{!\}|pid|\{pid\})\"?\s*\)"
)
_LOOP = """{indent}ret=0
{indent}for pid in "${{{pids}[@]}}"; do
{indent}    wait "$pid" || ret=1
{indent}done
{indent}(( ret == 0 )) || exit 1"""


def bare(context: Context) -> Iterator[Hit]:
    """``wait`` without arguments is 0 whatever happened; with several PIDs it is the last one's."""
    for command in bash.commands(context):
        if command.name != "wait":
            continue
        last = command.args and command.args[0].raw.strip('"') in ("$!", "${!}") and bash.in_loop(command.node) is None
        many = _many(command)
        if command.args and not many and not last:
            continue
        scope = shellflow.scope_of(context, command.node)
        jobs = context.file.memo(("exitwaits.jobs", scope.id), partial(_jobs, context, scope))
        started, count, statuses = jobs.before(command.node)
        if not started or shellflow.in_cleanup(context, command.node) or _after_kill(context, command.node):
            continue
        if jobs.each_waited or not statuses or (last and count < 2 and bash.in_loop(statuses[0]) is None):
            continue
        first = statuses[0]
        shown = " ".join(context.text(first).split())
        args = {"count": count, "command": shown if len(shown) <= 40 else shown[:37] + "..."}
        fix = _waits_for_each(context, command, statuses) if count <= _MOST_COLLECTED else None
        yield Hit(command.start, command.end, "wait-many" if many or last else "wait-bare", args, fix)


def _many(command: bash.Command) -> bool:
    if len(command.args) > 1 and all(not w.raw.startswith("-") and w.raw not in ("2>", ">") for w in command.args):
        return True
    return len(command.args) == 1 and (
        "[@]" in command.args[0].raw or "[*]" in command.args[0].raw or "jobs" in command.args[0].raw
    )


def _each_waited(command: bash.Command) -> bool:
    return bool(command.args) and not _many(command) and command.args[0].raw.strip('"') not in ("$!", "${!}")


@dataclass(frozen=True, slots=True)
class _Jobs:
    """What a scope starts with ``&``, in the order of those signs."""

    signs: list[int]
    worth: dict[int, bool]
    """Whether a job's status is worth having (no tool, and it does not note its failure itself), by its id."""
    statuses: list[tuple[int, Node]]
    """(sign, job) of those that are."""
    each_waited: bool
    """Whether the scope waits for each of them somewhere."""

    def before(self, wait: Node) -> tuple[bool, int, list[Node]]:
        """Whether anything is started before a ``wait``, the number of statuses it loses, and the first of those."""
        # A job that holds the wait begins before it as well.
        around = [a for a in ancestors(wait) if a.id in self.worth]
        count = bisect_left(self.statuses, wait.start_byte, key=lambda one: one[0])
        first = [node for _, node in self.statuses[: min(count, _MOST_COLLECTED)]]
        outer = [a for a in around if self.worth[a.id]]
        earlier = bool(self.signs) and self.signs[0] < wait.start_byte
        return earlier or bool(around), count + len(outer), first + outer


def _jobs(context: Context, scope: Node) -> _Jobs:
    waits = (c for c in bash.commands_in(context, scope.start_byte, scope.end_byte) if c.name == "wait")
    jobs = _Jobs([], {}, [], any(_each_waited(c) and shellflow.within(context, c.node, scope) for c in waits))
    for node in walk(scope):
        started = node.prev_sibling if node.type == "&" else None
        if started is not None and shellflow.within(context, node, scope):
            jobs.signs.append(node.start_byte)
            jobs.worth[started.id] = not _is_tool(context, started) and not _keeps_status(context, started)
            if jobs.worth[started.id]:
                jobs.statuses.append((node.start_byte, started))
    return jobs


def _is_tool(context: Context, node: Node) -> bool:
    inside = bash.commands_in(context, node.start_byte, node.end_byte)
    return bool(inside) and inside[0].effective_name in _TOOLS


def _keeps_status(context: Context, node: Node) -> bool:
    """Whether the background job notes its own failure (``|| touch failed``, ``echo $? > rc.0``)."""
    if node.type not in ("subshell", "compound_statement", "list", "redirected_statement"):
        return False
    text = context.data[node.start_byte : node.end_byte]
    return b"$?" in text or b"||" in text


def _after_kill(context: Context, node: Node) -> bool:
    statement = shellflow.statement_of(context, node)
    if statement is None:
        return False
    block, index = shellflow.place(context, statement)
    texts = [context.data[s.start_byte : s.end_byte] for s in block[max(0, index - 2) : index + 1]]
    # A trap only says what happens at the end.
    return any(not t.startswith(b"trap") and re.search(rb"\b(?:kill|pkill|killall)\b", t) for t in texts)


def _waits_for_each(context: Context, command: bash.Command, started: list[Node]) -> Fix | None:
    """Collect the PIDs where they are not, and wait for each of them."""
    statement = shellflow.statement_of(context, command.node)
    plain = command.node
    if statement is None or statement.id != plain.id or shellflow.is_posix_sh(context):
        return None
    if not shellflow.alone_on_line(context, plain.start_byte, plain.end_byte):
        return None
    edits: list[Edit] = []
    names = {m["name"] for n in started if (m := _COLLECTED.match(context.data, _amp_end(n))) is not None}
    words = context.file.words
    if len(names) == 1 and all(_COLLECTED.match(context.data, _amp_end(n)) for n in started):
        pids = names.pop().decode()
        if {b"ret"} & words:
            return None
    else:
        if names or {b"pids", b"ret", b"pid"} & words:
            return None
        pids = "pids"
        holder = next((n for n in (started[0], *ancestors(started[0])) if n.parent == statement.parent), None)
        if holder is None or shellflow.place(context, holder)[1] == len(shellflow.place(context, holder)[0]):
            return None
        if not _first_on_line(context, holder.start_byte):
            return None
        begin = context.data.rfind(b"\n", 0, holder.start_byte) + 1
        edits.append(Edit(begin, begin, f"{shellflow.indent_of(context, begin)}pids=()\n"))
        for node in started:
            end = shellflow.line_end(context, _amp_end(node))
            rest = context.data[_amp_end(node) : end].strip()
            if rest and not rest.startswith(b"#"):
                return None
            edits.append(Edit(end, end, f'\n{shellflow.indent_of(context, node.start_byte)}pids+=("$!")'))
    indent = shellflow.indent_of(context, plain.start_byte)
    loop = _LOOP.format(indent=indent, pids=pids).removeprefix(indent)
    edits.append(Edit(plain.start_byte, plain.end_byte, loop))
    top = bash.in_function(plain) is None
    return Fix(tuple(edits), "each", "safe" if top else "unsafe")


def _amp_end(node: Node) -> int:
    return node.next_sibling.end_byte if node.next_sibling is not None else node.end_byte


def _first_on_line(context: Context, offset: int) -> bool:
    begin = context.data.rfind(b"\n", 0, offset) + 1
    return not context.data[begin:offset].strip()


def unread(context: Context) -> Iterator[Hit]:
    """``wait "$pid"`` in a loop whose status nothing reads: only the last PE's counts, if any."""
    if shellflow.errexit(context):
        return
    for command in bash.commands(context):
        if command.name != "wait" or len(command.args) != 1 or _many(command) or command.args[0].raw.startswith("-"):
            continue
        plain = command.node
        if plain.parent is not None and plain.parent.type == "redirected_statement":
            plain = plain.parent
        loop = bash.in_loop(plain)
        statement = shellflow.statement_of(context, plain)
        if loop is None or statement is None or statement.id != plain.id:
            continue
        if _WATCHDOG.search(command.args[0].raw) or shellflow.in_cleanup(context, plain) or _after_kill(context, plain):
            continue
        if shellflow.is_read_later(context, statement):
            continue
        args = {"command": context.text(command.node)}
        yield Hit(command.start, command.end, "wait-unread", args, _counted(context, plain, loop))


def _counted(context: Context, plain: Node, loop: Node) -> Fix | None:
    """``ret=0`` before the loop, ``|| ret=1`` in it, an exit after it."""
    if b"ret" in context.file.words or ancestor(loop, "subshell", "pipeline") is not None:
        return None
    line = shellflow.line_end(context, loop.end_byte)
    if not _first_on_line(context, loop.start_byte) or context.data[loop.end_byte : line].strip():
        return None
    indent = shellflow.indent_of(context, loop.start_byte)
    begin = context.data.rfind(b"\n", 0, loop.start_byte) + 1
    edits = (
        Edit(begin, begin, f"{indent}ret=0\n"),
        Edit(plain.end_byte, plain.end_byte, " || ret=1"),
        Edit(loop.end_byte, loop.end_byte, f"\n{indent}(( ret == 0 )) || exit 1"),
    )
    top = bash.in_function(plain) is None and bash.in_loop(loop) is None
    return Fix(edits, "count", "safe" if top and not shellflow.is_posix_sh(context) else "unsafe")


def never(context: Context) -> Iterator[Hit]:
    """PEs in the background of a script that never waits: it ends with 0 while they still run."""
    if re.search(rb"\bwait\b|\bdisown\b|\bsetsid\b", context.code) or "heredoc" in context.kinds:
        return
    for command in bash.commands(context):
        if command.background and shellflow.role(context, command) == "PE":
            words = command.effective
            yield Hit(words[0].start, words[0].end, "never", {"command": words[0].loose})
            return
