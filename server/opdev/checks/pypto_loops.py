"""Loops of PyPTO kernels: what becomes a loop on the device, and what is unrolled or refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.facts.pypto_kernels import (
    Kernel,
    defined,
    dynamic_names,
    expects_error,
    functions,
    is_dynamic,
    is_loop,
    is_stub,
    is_wrapper,
    kernel_names,
    kernels,
    loop_around,
    reached,
    scope_of,
)  # fmt: skip
from opdev.facts.pypto_state import stage_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import py
from opdev.syntax.tree import ancestors, text

if TYPE_CHECKING:
    from tree_sitter import Node

_TUNING = 7
_LOOPS = re.compile(rb"(?<![\w.])(?:for|while)\b|\.loop(?:_unroll)?[ \t]*\(")
_CALLS = re.compile(rb"(?<![\w.])(\w+)\.(\w+)(?:\.\w+)*[ \t]*\(")
_ON_HOST = frozenset({"from_torch", "symbolic_scalar", "to_sym", "to_syms", "tensor", "Tensor", "element", "Element"})
"""What a host prepares a launch with; none of it is an operation of a graph."""
_ROOTS = re.compile(rb"(?<![\w.])([A-Za-z_]\w*)(?:\.\w+)*[ \t]*\(")
_JUMPED = ("for_statement", "while_statement", "function_definition", "lambda", "class_definition")
_LOOP_OF_PYPTO = re.compile(r"(?:pypto|pp|pt)\s*\.\s*(?:loop|loop_unroll)")
"""What a loop of the device is called; ``is_loop`` would take anybody's ``loop`` for one."""
_MEASURING = re.compile(r"bench|perf|profil|warm")


def _unrolled(context: Context) -> Iterator[tuple[Node, Node, Node, Node]]:
    """(keyword argument, its value, the call, the ``for``) of every loop that is given an unroll list."""
    for _, keyword in py.used_as(context, "unroll_list", "keyword_argument", "name"):
        value = keyword.child_by_field_name("value")
        call = keyword.parent.parent if keyword.parent is not None else None
        loop = loop_around(context.file, call) if call is not None else None
        if value is not None and call is not None and loop is not None:
            yield keyword, value, call, loop


def unroll_not_innermost(context: Context) -> Iterator[Hit]:
    """An unroll list on a loop that has another one in it."""
    for keyword, value, _, loop in _unrolled(context):
        if re.fullmatch(r"[\[(]\s*1?\s*,?\s*[\])]", context.text(value)):
            continue
        body = loop.child_by_field_name("body")
        deeper = _first_loop(context, body) if body is not None else None
        if deeper is not None:
            note = {"zh": "里层循环", "en": "the loop inside"}
            right = deeper.child_by_field_name("right") or deeper
            related = (Related(right.start_byte, right.end_byte, note),)
            yield Hit(keyword.start_byte, keyword.end_byte, "default", {}, _without(context, keyword), None, related)


def _first_loop(context: Context, body: Node) -> Node | None:
    for match in re.finditer(rb"(?<![\w.])for\b", context.code[body.start_byte : body.end_byte]):
        at = body.start_byte + match.start()
        node = context.node_at(at, at + 3)
        if (
            node is not None
            and node.type == "for_statement"
            and is_loop(context.file, node.child_by_field_name("right"))
        ):
            return node
    return None


def _without(context: Context, keyword: Node) -> Fix | None:
    """Take an argument out together with the comma before or behind it."""
    data = context.data
    start, end = keyword.start_byte, keyword.end_byte
    before = re.search(rb",\s*\Z", data[:start])
    if before is not None:
        return Fix((Edit(before.start(), end, ""),))
    behind = re.match(rb"\s*,\s*", data[end:])
    return Fix((Edit(start, end + (behind.end() if behind else 0), ""),))


def early_unroll_list(context: Context) -> Iterator[Hit]:
    """Several unroll factors before the operator is tuned."""
    stage = stage_of(context.project)
    if stage is not None and stage >= _TUNING:
        return
    for _, value, call, _ in _unrolled(context):
        callee = call.child_by_field_name("function")
        if callee is None or context.text(callee).endswith("loop_unroll"):
            continue
        if value.type not in ("list", "tuple") or value.named_child_count < 2:
            continue
        args = {"value": " ".join(context.text(value).split()), "stage": stage or 0}
        fix = Fix((Edit(value.start_byte, value.end_byte, "[1]"),))
        key = "default" if stage is not None else "untold"
        yield Hit(value.start_byte, value.end_byte, key, args, fix, None if stage is not None else "info")


def redundant_loop(context: Context) -> Iterator[Hit]:
    """``pypto.loop(1)`` around a loop that really turns, or inside one."""
    calls = [c for c in py.calls(context, "loop") if "." in c.dotted and loop_around(context.file, c.node) is not None]
    for call in calls:
        loop = loop_around(context.file, call.node)
        if (
            len(call.args) != 1
            or context.text(call.args[0]) != "1"
            or loop is None
            or "submit_before_loop" in call.keywords
        ):
            continue
        for other in calls:
            around = loop_around(context.file, other.node)
            if around is None or around == loop or scope_of(around) != scope_of(loop):
                continue
            if loop in ancestors(around) or (around in ancestors(loop) and _is_alone(loop)):
                yield Hit(call.start, call.end)
                break


def _is_alone(node: Node) -> bool:
    """Whether a statement is all there is in its block."""
    block = node.parent
    return block is not None and sum(1 for n in block.named_children if n.type != "comment") == 1


def untraceable_loop(context: Context) -> Iterator[Hit]:
    """``while`` and comprehensions of PyPTO calls, in kernels and in other functions that build graphs."""
    found = context.nodes("while", "while_statement")
    if b"[" in context.code[context.start : context.end] or b"{" in context.code[context.start : context.end]:
        found += [n for at in context.find("for") if (n := _comprehension(context, at)) is not None]
    if not found:
        return
    own = {kernel.node.start_byte: kernel for kernel in kernels(context)}
    for node in found:
        function = _function_of(node)
        if function is None:
            continue
        kernel = own.get(function.start_byte)
        asked = _asked(context, node)
        calls = any(who == "pypto" or (kernel is not None and who == kernel.alias) for who, _ in asked)
        if kernel is None and all(name in _ON_HOST for who, name in asked if who == "pypto"):
            calls = False
        name = text(context.data, function.child_by_field_name("name") or function)
        if (not calls and kernel is None) or (kernel is None and (is_wrapper(name) or name.startswith("test"))):
            continue
        if node.type == "while_statement":
            stop = node.start_byte + len("while")
            key = "while" if kernel else "helper"
            yield Hit(node.start_byte, stop, key, {"name": name}, None, None if kernel else "warning")
        elif calls:
            yield Hit(node.start_byte, node.end_byte, "default", {"name": name}, None, None if kernel else "info")


def _comprehension(context: Context, at: int) -> Node | None:
    node = context.node_at(at, at + 3)
    if node is None or node.type != "for_in_clause":
        return None
    clause = node
    # Of several clauses the first stands for the comprehension.
    before = clause.prev_named_sibling
    return clause.parent if before is None or before.type not in ("for_in_clause", "if_clause") else None


def _function_of(node: Node) -> Node | None:
    return next((a for a in ancestors(node) if a.type == "function_definition"), None)


def _asked(context: Context, node: Node) -> set[tuple[str, str]]:
    """(who, what) of each ``who.what(…)`` in a node."""
    return {(a.decode(), b.decode()) for a, b in _CALLS.findall(context.code, node.start_byte, node.end_byte)}


def jump_out_of_loop(context: Context) -> Iterator[Hit]:
    """``break`` and ``continue`` whose loop is one of the device, and any where the kernel goes through the old parser."""
    if expects_error(context):
        return
    old = {k.node.start_byte for k in kernels(context) if _takes_old_parser(context, k)}
    for word in ("break", "continue"):
        for node in context.nodes(word, f"{word}_statement"):
            loop = _loop_of(node)
            function = _function_of(node)
            if loop is None or loop.type == "function_definition" or function is None:
                continue
            name = text(context.data, function.child_by_field_name("name") or function)
            iterator = loop.child_by_field_name("right")
            related: tuple[Related, ...] = ()
            if iterator is not None and is_loop(context.file, iterator):
                callee = iterator.child_by_field_name("function") or iterator
                if not _LOOP_OF_PYPTO.fullmatch(context.text(callee)):
                    continue
                note = {"zh": "它跳出的循环", "en": "the loop it leaves"}
                related = (Related(iterator.start_byte, iterator.end_byte, note),)
                key = "default"
            elif function.start_byte in old:
                key = "old"
            else:
                continue
            yield Hit(node.start_byte, node.end_byte, key, {"word": word, "name": name}, None, None, related)


def _loop_of(node: Node) -> Node | None:
    """What a jump leaves: its innermost loop, in whose ``else`` it is not; the function where it is in none."""
    below = node
    for above in ancestors(node):
        if above.type in _JUMPED and below.type != "else_clause":
            return above
        below = above
    return None


def _takes_old_parser(context: Context, kernel: Kernel) -> bool:
    """Whether the decorator asks for the parser that knows neither word: ``new_ir=False``."""
    return re.search(r"\bnew_ir\s*=\s*False\b", context.text(kernel.decorator)) is not None


def kernel_without_loop(context: Context) -> Iterator[Hit]:
    """A kernel that never loops, neither itself nor in what it calls."""
    if is_stub(context.file):
        return
    bare = [k for k in primary(context) if not _LOOPS.search(context.code, k.node.start_byte, k.node.end_byte)]
    if not bare:
        return
    known = functions(context.file)
    brought = {one.bound for one in py.imports(context) if one.module.split(".")[0] not in ("pypto", "torch", "math")}
    dynamic = dynamic_names(context)
    for kernel in bare:
        if any(
            _LOOPS.search(context.code, node.start_byte, node.end_byte)
            for node in reached(context.file, [kernel.node]).values()
        ) or _calls_elsewhere(context, kernel, brought - known.keys()):
            continue
        moving = any(is_dynamic(context.file, p.annotation, dynamic) for p in kernel.tensors.values())
        where = kernel.name_node
        key = "default" if moving else "static"
        yield Hit(where.start_byte, where.end_byte, key, {"name": kernel.name}, None, None if moving else "info")


def primary(context: Context) -> list[Kernel]:
    """The kernels a wrapper of the file calls; all of them where none is called."""
    every = kernels(context)
    if not every or not any(is_wrapper(name) for name in defined(context)):
        return every
    called = {
        name.decode()
        for node_name, node in functions(context.file).items()
        if is_wrapper(node_name)
        for name in re.findall(rb"(?<![\w.])([A-Za-z_]\w*)", context.code[node.start_byte : node.end_byte])
    }
    return [kernel for kernel in every if kernel.name in called] or every


def _calls_elsewhere(context: Context, kernel: Kernel, brought: set[str]) -> bool:
    """Whether a kernel calls something imported that may well be where its loop is."""
    body = context.code[kernel.body.start_byte : kernel.body.end_byte] if brought else b""
    return any(word.decode() in brought for word in _ROOTS.findall(body))


def launch_in_loop(context: Context) -> Iterator[Hit]:
    """A wrapper that launches its kernel again and again from Python."""
    if not any(is_wrapper(name) for name in defined(context)) or is_stub(context.file):
        return
    names = kernel_names(context.file)
    if not names:
        return
    for name, function in functions(context.file).items():
        if not is_wrapper(name) or _MEASURING.search(name):
            continue
        words = b"|".join(re.escape(n.encode()) for n in sorted(names))
        for match in re.finditer(
            rb"(?<!\w)(%s)[ \t]*\(" % words, context.code[function.start_byte : function.end_byte]
        ):
            at = function.start_byte + match.start()
            call = py.call_at(context.file, at, at + len(match[1]))
            if call is None:
                continue
            loop = next((a for a in ancestors(call.node) if a.type in _PYTHON_LOOPS or a == function), None)
            if loop is None or loop == function:
                continue
            end = call.node.child_by_field_name("function")
            note = {"zh": "外层循环", "en": "the loop around it"}
            related = (Related(loop.start_byte, _head_end(loop), note),)
            stop = end.end_byte if end is not None else call.end
            yield Hit(call.start, stop, "default", {"wrapper": name, "kernel": call.name}, None, None, related)


_PYTHON_LOOPS = frozenset(
    {"for_statement", "while_statement", "list_comprehension", "set_comprehension", "dictionary_comprehension",
     "generator_expression"}
)  # fmt: skip


def _head_end(loop: Node) -> int:
    body = loop.child_by_field_name("body")
    return body.start_byte if body is not None and body.start_byte > loop.start_byte else loop.end_byte
