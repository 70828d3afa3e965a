"""One endpoint taken twice: by a second init of a process, or by two programs of one operator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from opdev.checks import endpoints
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax import cpp, py
from opdev.syntax.file import File
from opdev.syntax.tree import ancestor, ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_URL = re.compile(rb"tcp6?://(?P<host>\[[0-9A-Fa-f:]+\]|[\w.-]+):(?P<port>\d+)")
_PLAIN = re.compile(rb"(?P<host>\d{1,3}(?:\.\d{1,3}){3}|localhost):(?P<port>\d{2,5})\b")
_INITS = ("aclshmemx_init_attr", "aclshmem_init_attr", "shmem_init_attr")
_SETS_ENDPOINT = re.compile(rb"(?i)ip_?port|endpoint|set_attr")
_BRANCHES = ("if_statement", "else_clause", "elif_clause", "case_statement", "conditional_expression", "switch_statement",
             "for_statement", "while_statement", "for_range_loop", "do_statement", "try_statement", "except_clause",
             "catch_clause", "lambda_expression", "lambda", "with_statement")  # fmt: skip
_NOTE = {"zh": "第一次初始化在这里", "en": "the first init is here"}


def reinit_on_same_endpoint(context: Context) -> Iterator[Hit]:
    """A second init with the literal endpoint of the first, and no finalize between them."""
    if context.file.language == "python":
        inits = [(c.node, _python_endpoint(context, c)) for c in py.calls(context, "attr_init")]
    else:
        inits = [(c.node, None) for c in cpp.calls(context, *_INITS)]
    for first, second in pairwise(inits):
        function = ancestor(first[0], "function_definition")
        if function is None or ancestor(second[0], "function_definition") != function:
            continue
        between = (first[0].end_byte, second[0].start_byte)
        if re.search(rb"(?i)finali[sz]e", context.code[between[0] : between[1]]) or not _follows(first[0], second[0]):
            continue
        if context.file.language == "python":
            same = first[1] if first[1] is not None and first[1] == second[1] else None
        else:
            same = _cpp_endpoint(context, function, first[0], second[0])
        if same is not None:
            related = (Related(first[0].start_byte, first[0].end_byte, _NOTE),)
            yield Hit(second[0].start_byte, second[0].end_byte, args={"value": same}, related=related)


def _follows(first: Node, second: Node) -> bool:
    """Whether whoever comes to the second has passed the first: it stands under no condition of its own."""
    around = {a.id for a in ancestors(second)}
    for above in ancestors(first):
        if above.id in around:
            return above.type not in _BRANCHES or _is_condition(above, first)
        if above.type in _BRANCHES and not _is_condition(above, first):
            return False
    return False


def _is_condition(branch: Node, node: Node) -> bool:
    """``if (init(...) != 0) { return; }``: the call is the condition, and always made."""
    condition = branch.child_by_field_name("condition")
    return (
        branch.type == "if_statement"
        and condition is not None
        and condition.start_byte <= node.start_byte < condition.end_byte
    )


def _cpp_endpoint(context: Context, function: Node, first: Node, second: Node) -> str | None:
    before = list(_URL.finditer(context.nocomment, function.start_byte, first.start_byte))
    if not before or not int(before[-1]["port"]):
        return None
    again = list(_URL.finditer(context.nocomment, first.end_byte, second.start_byte))
    if again:
        same = len(again) == 1 and again[0].group() == before[-1].group()
        return before[-1].group().decode() if same else None
    if _SETS_ENDPOINT.search(context.code, first.end_byte, second.start_byte):
        return None
    # Nothing was set anew: the same attributes go in once more.
    pointer = [context.text(c).partition("(")[2].rpartition(",")[2].strip(") &") for c in (first, second)]
    return before[-1].group().decode() if pointer[0] and pointer[0] == pointer[1] else None


def _python_endpoint(context: Context, call: py.Call) -> str | None:
    node = call.keywords.get("ip_port") or (call.args[3] if len(call.args) > 3 else None)
    text = py.string_value(context.file, node) if node is not None else None
    if node is not None and node.type == "identifier":
        name = context.text(node)
        given = context.file.memo("ports_again.values", lambda: _values(context)).get(name, [])
        literal = re.fullmatch(r"""["']([^"']+)["']\s*""", given[0]) if len(given) == 1 else None
        text = literal[1] if literal is not None else None
    found = endpoints.parse(text) if text is not None else None
    return text if found is not None and found.port else None


def _values(context: Context) -> dict[str, list[str]]:
    """The values each name is given, one a line."""
    found: dict[str, list[str]] = {}
    for match in re.finditer(rb"(?m)^[ \t]*(\w+)[ \t]*=[ \t]*(.+)$", context.nocomment):
        found.setdefault(match[1].decode("utf-8", "replace"), []).append(match[2].decode("utf-8", "replace"))
    return found


def endpoint_shared_with_run(context: Context) -> Iterator[Hit]:
    """A Torch test on the literal endpoint that the operator's own run script or main.cpp uses."""
    project = context.project
    if project is None:
        return
    mine = list(_endpoints(context.file))
    if not mine:
        return
    theirs: dict[tuple[bytes, bytes], tuple[File, int, int]] = {}
    for file in project.files("run-script", "perf-script", "host"):
        if file.path != context.file.path:
            for key, start, end in _endpoints(file):
                theirs.setdefault(key, (file, start, end))
    for key, start, end in mine:
        if key not in theirs or _asks_environment(context, start):
            continue
        file, begin, stop = theirs[key]
        name = file.path.rpartition("/")[2]
        note = {"zh": f"{name} 用的也是这个端点", "en": f"{name} takes this endpoint too"}
        related = (Related(begin, stop, note, file.path),)
        args = {"value": context.data[start:end].decode(), "file": name}
        yield Hit(start, end, args=args, related=related)
        return


def _endpoints(file: File) -> Iterator[tuple[tuple[bytes, bytes], int, int]]:
    for pattern in (_URL, _PLAIN):
        for match in pattern.finditer(file.nocomment):
            if pattern is _PLAIN and file.nocomment[match.start() - 3 : match.start()] == b"://":
                continue
            if int(match["port"]) and match["host"] != b"0.0.0.0":
                yield (match["host"], match["port"]), match.start(), match.end()


def _asks_environment(context: Context, at: int) -> bool:
    line = context.file.source.line_range(context.file.source.line_of(at))
    return re.search(rb"environ\s*\.|getenv|add_argument|\bor\b", context.data[line[0] : line[1]]) is not None
