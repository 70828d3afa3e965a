"""Pipelines: their status is the last command's, and their loops run in a shell of their own."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks import shellflow
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash
from opdev.syntax.tree import ancestor, walk

if TYPE_CHECKING:
    from tree_sitter import Node

# Commands that pass text on and succeed whatever it says; `grep -q PASS` judges it instead.
_PASS_ON = {"tee", "tail", "head", "cat", "sed", "sort", "uniq", "cut", "tr", "ts", "less", "column", "nl", "fold"}
_READ = re.compile(rb"\$\{?#?(\w+)|\(\(\s*(\w+)")
_STATUS_NAME = re.compile(
    r"(?:.*_)?(?:ret|rc|status|fail|failed|failures?|err|errors?|pass|passed|ok|result|code|fails)(?:_\w+)?$",
    re.IGNORECASE,
)


def piped(context: Context) -> Iterator[Hit]:
    """``check_result.py … | tee log``: the status is tee's."""
    if shellflow.pipefail(context) or b"|" not in context.code:
        return
    for pipeline in _pipelines(context):
        stages = pipeline.named_children
        last = shellflow.command_at(context, stages[-1])
        if last is None or last.effective_name not in _PASS_ON:
            continue
        lost = next((found for stage in stages[:-1] for found in shellflow.roles_in(context, stage)), None)
        if lost is None or not _matters(context, pipeline):
            continue
        what, command = lost
        words = last.effective
        args = {"by": last.effective_name, "what": what, "command": command.effective[0].loose}
        if what == "checker":
            args["command"] = next((w.loose for w in command.effective if w.loose.endswith(".py")), args["command"])
        yield Hit(
            words[0].start, words[0].end, "pipe", args, context.file.memo("exitpipes.fix", lambda: _pipefail(context))
        )


def _pipelines(context: Context) -> list[Node]:
    return context.file.memo(
        "exitpipes.pipelines", lambda: [n for n in walk(context.file.root) if n.type == "pipeline" and n.named_children]
    )


def _matters(context: Context, pipeline: Node) -> bool:
    """Whether somebody relies on the pipeline's status: a test, ``set -e``, ``wait``, the script's own."""
    if context.file.memo("exitpipes.pipestatus", lambda: context.code.rfind(b"PIPESTATUS")) >= pipeline.end_byte:
        return False
    statement = shellflow.statement_of(context, pipeline)
    if shellflow.in_list_or_test(context, pipeline):
        return b"|| true" not in context.data[pipeline.end_byte : pipeline.end_byte + 12]
    if statement is None:
        return False
    if shellflow.is_background(statement):
        return b"wait" in context.file.words
    if shellflow.errexit(context):
        return True
    block, index = shellflow.place(context, statement)
    index += 1
    while index < len(block) and shellflow.is_print(context, block[index]):
        index += 1
    if index < len(block):
        after = block[index]
        return shellflow.reads_status(context, after) or re.match(r"exit\s*$", context.text(after)) is not None
    return statement.parent is not None and statement.parent.type in ("program", "compound_statement")


def _pipefail(context: Context) -> Fix | None:
    """``set -o pipefail`` below the head of a bash script; other pipelines would feel it too."""
    if shellflow.is_posix_sh(context) or context.file.region is not None:
        return None
    for command in bash.commands(context):
        if command.name == "set" and bash.in_function(command.node) is None and command.args:
            flags = command.args[0]
            if re.fullmatch(r"-[a-z]*[eu][a-z]*", flags.value or "") and len(command.args) == 1:
                text = (flags.value or "") + "o pipefail"
                return Fix((Edit(flags.start, flags.end, text),), "pipefail", "unsafe")
    at = 0
    for line in context.data.split(b"\n"):
        if not line.startswith(b"#"):
            break
        at += len(line) + 1
    if at > len(context.data):
        return None
    alone = sum(1 for p in _pipelines(context)) == 1 and not shellflow.errexit(context)
    return Fix((Edit(at, at, "set -o pipefail\n"),), "pipefail", "safe" if alone else "unsafe")


def in_subshell(context: Context) -> Iterator[Hit]:
    """``tail … | while read``: what the loop sets, and its ``exit``, stay in the loop's own shell."""
    if re.search(rb"\blastpipe\b", context.code) or b"|" not in context.code:
        return
    for pipeline in _pipelines(context):
        loop = pipeline.named_children[-1]
        inner = loop.named_children[0] if loop.type == "redirected_statement" and loop.named_children else loop
        if inner.type not in ("while_statement", "until_statement"):
            continue
        fix = _process_substitution(context, pipeline, loop)
        scope = shellflow.scope_of(context, pipeline)
        seen: set[str] = set()
        for given in bash.assignments_in(context, inner.start_byte, inner.end_byte):
            if given.prefix or given.name in seen or not _STATUS_NAME.match(given.name):
                continue
            if not shellflow.within(context, given.node, scope):
                continue
            if _is_read(context, given.name, pipeline.end_byte, scope.end_byte):
                seen.add(given.name)
                yield Hit(given.node.start_byte, given.node.end_byte, "subshell", {"name": given.name}, fix)
        if not seen and not _used(context, pipeline):
            yield from _exits(context, inner, fix)


def _is_read(context: Context, name: str, start: int, end: int) -> bool:
    """Whether ``$name`` or ``((name`` stands in a range."""

    def collect() -> dict[bytes, list[int]]:
        found: dict[bytes, list[int]] = {}
        for match in _READ.finditer(context.code):
            found.setdefault(match[1] or match[2], []).append(match.start())
        return found

    reads = context.file.memo("exitpipes.reads", collect).get(name.encode(), [])
    index = bisect_left(reads, start)
    return index < len(reads) and reads[index] < end


def _exits(context: Context, loop: Node, fix: Fix | None) -> Iterator[Hit]:
    for command in bash.commands_in(context, loop.start_byte, loop.end_byte):
        if command.name != "exit":
            continue
        if command.args and command.args[0].value == "0":
            continue
        if ancestor(command.node, "subshell", "command_substitution") is not None:
            continue
        yield Hit(command.start, command.end, "subshell-exit", {"name": context.text(command.node)}, fix)
        return


def _used(context: Context, pipeline: Node) -> bool:
    """Whether the loop's status decides: then an ``exit`` in it is heard."""
    if shellflow.errexit(context) or shellflow.in_list_or_test(context, pipeline):
        return True
    statement = shellflow.statement_of(context, pipeline)
    if statement is None:
        return True
    block, index = shellflow.place(context, statement)
    return index + 1 >= len(block) or shellflow.reads_status(context, block[index + 1])


def _process_substitution(context: Context, pipeline: Node, loop: Node) -> Fix | None:
    if shellflow.is_posix_sh(context) or loop.type == "redirected_statement" or len(pipeline.named_children) < 2:
        return None
    producer = context.data[pipeline.start_byte : pipeline.named_children[-2].end_byte].decode("utf-8", "replace")
    if "\n" in producer or "#" in producer:
        return None
    return Fix(
        (Edit(pipeline.start_byte, loop.start_byte, ""), Edit(loop.end_byte, loop.end_byte, f" < <({producer})")),
        "substitution",
    )
