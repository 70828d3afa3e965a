"""What happens to memory at the end: which function frees it, and whether the library is still there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.facts.heap_calls import FREES, Allocation, allocations, argument_name, is_test, name_pattern
from opdev.facts.local_values import function_range
from opdev.facts.memory_origins import origins
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import cpp
from opdev.syntax.cpp import Call
from opdev.syntax.tree import ancestor, ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_FINALIZE = ("aclshmem_finalize", "shmem_finalize")
_NEEDS_LIBRARY = re.compile(
    rb"\b(?:acl)?shmemx?_(?:free|malloc|calloc|align|barrier\w*|sync_all\w*|my_pe|n_pes|team_\w+|ptr|put\w*|get\w*"
    rb"|putmem\w*|getmem\w*|signal\w*|quiet\w*|fence\w*|handle_wait\w*)\b"
)
_STARTS = re.compile(rb"\b(?:acl)?shmemx?_init\w*\s*\(")
_FREED_BY = {"aclrtMalloc": "aclrtFree", "aclrtMallocHost": "aclrtFreeHost"}
_RMA = re.compile(rb"\b(?:acl)?shmemx?_(?:(?:put|get)mem\w*|(?:\w+_)?(?:put|get)(?:_nbi)?|signal_op\w*)\b")


def wrong_free(context: Context) -> Iterator[Hit]:
    """Memory given back by a function of another allocator."""
    known = origins(context)
    for call in cpp.calls(context, *FREES, "aclrtFree", "aclrtFreeHost", "free"):
        if not call.args or call.namespace not in ("", "std"):
            continue
        name = argument_name(call.arg_texts[0])
        found = known.of(context, name, call.start)
        kinds = {origin.kind for origin in found}
        if len(kinds) != 1:
            continue
        origin = found[-1]
        right = _right_call(origin.kind, call)
        if right is None:
            continue
        note = {"zh": f"{name} 在这里分配", "en": f"{name} is allocated here"}
        args = {"name": name, "made": origin.call.name, "call": call.name, "right": right.split("(", 1)[0]}
        message = "host-side" if origin.kind == "host-heap" and call.name in FREES else "default"
        related = (Related(origin.call.start, origin.call.end, note),)
        fix = Fix((Edit(call.start, call.end, right),)) if call.is_statement else None
        yield Hit(call.start, call.end, message, args, fix, related=related)


def _right_call(kind: str, call: Call) -> str | None:
    """What the call should have been; None where it is right."""
    written = call.arg_texts[0]
    ours = call.name in FREES
    if kind == "host-heap":
        typed = call.name == "aclshmemx_free" and len(call.arg_texts) > 1
        return None if typed else f"aclshmemx_free({written}, HOST_SIDE)"
    if kind == "heap":
        return None if ours else f"aclshmem_free({written})"
    if kind == "heap-any":
        return None if ours else f"aclshmemx_free({written})"
    right = _FREED_BY[kind]
    return f"{right}({written})" if ours else None


def use_after_finalize(context: Context) -> Iterator[Hit]:
    """A call that needs the library on a path on which it is already finalized."""
    if is_test(context):
        return
    reported: set[int] = set()
    for final in cpp.calls(context, *_FINALIZE):
        for statement in _afterwards(context, final):
            body = context.code[statement.start_byte : statement.end_byte]
            if _STARTS.search(body):
                break
            for match in _NEEDS_LIBRARY.finditer(body):
                at = statement.start_byte + match.start()
                call = cpp.call_at(context.file, at, statement.start_byte + match.end())
                if call is None or at in reported or ancestor(call.node, "lambda_expression") is not None:
                    continue
                reported.add(at)
                message = "free" if call.name in FREES else "default"
                note = {"zh": "库在这里已经结束", "en": "the library ends here"}
                fix = _before_finalize(context, call, final) if message == "free" else None
                related = (Related(final.start, final.end, note),)
                yield Hit(call.start, call.end, message, {"call": call.name, "final": final.name}, fix, related=related)


def _afterwards(context: Context, final: Call) -> Iterator[Node]:
    """Statements that run after ``final`` on the same path, up to a return or the end of its function."""
    here: Node = final.statement
    while here.parent is not None and here.type not in ("function_definition", "lambda_expression"):
        if here.type in ("return_statement", "goto_statement", "for_statement", "while_statement"):
            return
        if here.parent.type in ("compound_statement", "case_statement"):
            sibling = here.next_named_sibling
            while sibling is not None:
                yield sibling
                if sibling.type in ("return_statement", "break_statement", "goto_statement", "throw_statement"):
                    return
                text = context.code[sibling.start_byte : sibling.end_byte]
                if sibling.type == "expression_statement" and re.match(rb"(?:std::)?(?:_?exit|abort)\s*\(", text):
                    return
                sibling = sibling.next_named_sibling
        here = here.parent


def _before_finalize(context: Context, call: Call, final: Call) -> Fix | None:
    """Move a lone free in front of finalize, when both are lines of one block."""
    freed, ended = call.statement, final.statement
    if freed.parent != ended.parent or not call.is_statement:
        return None
    source = context.file.source
    begin, end = source.line_range(source.line_of(freed.start_byte))
    target, _ = source.line_range(source.line_of(ended.start_byte))
    line = context.data[begin:end]
    if line.strip() != context.data[freed.start_byte : freed.end_byte] or end >= len(context.data):
        return None
    if context.data[target : ended.start_byte].strip():
        return None
    text = line.decode("utf-8", "replace")
    return Fix((Edit(target, target, text + "\n"), Edit(begin, end + 1, "")))


def leaked_allocation(context: Context) -> Iterator[Hit]:
    """A symmetric buffer no code gives back before its name is gone."""
    if is_test(context):
        return
    for one in allocations(context):
        if one.how != "declared" or not one.holder:
            continue
        _, end = function_range(context, one.call.start)
        text = context.code[one.call.end : end].decode("utf-8", "replace")
        name = name_pattern(one.holder)
        if _given_away(text, name):
            continue
        loop = any(
            a.type in ("for_statement", "for_range_loop", "while_statement", "do_statement") for a in _inside(one)
        )
        final = re.search(r"\b(?:acl)?shmemx?_finalize\s*\(", text)
        at = one.call.name_node
        if loop:
            yield Hit(at.start_byte, at.end_byte, "loop", {"name": one.holder, "call": one.call.name})
        elif final is not None:
            fix = _free_before(context, one, one.call.end + len(text[: final.start()].encode()))
            yield Hit(at.start_byte, at.end_byte, args={"name": one.holder, "call": one.call.name}, fix=fix)


def _inside(one: Allocation) -> Iterator[Node]:
    for node in ancestors(one.call.node):
        if node.type in ("function_definition", "lambda_expression"):
            return
        yield node


def _given_away(text: str, name: str) -> bool:
    """Whether the pointer is freed, returned or kept by somebody else."""
    forms = (
        rf"\b\w*(?i:free|release|destroy|cleanup|clean_up|delete)\w*\s*\(\s*[^;]*{name}",
        rf"\breturn\b[^;]*{name}",
        rf"(?<![=!<>])=\s*(?:\([\w\s:*]+\)\s*)?{name}\s*[;,}}]",
        rf"\b(?:push_back|emplace_back|insert|emplace|reset|from_blob)\s*\([^;]*{name}",
        rf"&\s*{name}",
        rf"\{{[^;{{}}]*{name}[^;{{}}]*\}}",
    )
    return any(re.search(form, text) for form in forms)


def _free_before(context: Context, one: Allocation, final_at: int) -> Fix | None:
    """``aclshmem_free`` on the line before finalize, when both are in one block."""
    node = context.node_at(final_at, final_at + 1)
    statement = node
    while statement is not None and statement.parent is not None and statement.parent.type != "compound_statement":
        statement = statement.parent
    if statement is None or one.statement.parent != statement.parent:
        return None
    source = context.file.source
    begin, _ = source.line_range(source.line_of(statement.start_byte))
    lead = context.data[begin : statement.start_byte]
    if lead.strip():
        return None
    call = f"aclshmemx_free({one.holder}, HOST_SIDE)" if one.host_side else f"aclshmem_free({one.holder})"
    return Fix((Edit(begin, begin, f"{lead.decode()}{call};\n"),))


def plain_memory(context: Context) -> Iterator[Hit]:
    """Memory of malloc, new or mmap handed to a kernel or used as the symmetric side of an RMA."""
    for match in _RMA.finditer(context.code):
        call = cpp.call_at(context.file, match.start(), match.end())
        if call is None or len(call.args) < 3 or cpp.is_device(context.file, call.function):
            continue
        index = 1 if re.search(r"(?:^|_)get", call.name) else 0
        yield from _plain_argument(context, call.start, call.args[index], call.name)
    at = context.code.find(b"<<<")
    while at >= 0:
        node = ancestor(context.node_at(at, at + 3), "call_expression")
        listed = node.child_by_field_name("arguments") if node is not None else None
        callee = node.child_by_field_name("function") if node is not None else None
        if listed is not None and callee is not None:
            for argument in listed.named_children:
                yield from _plain_argument(context, at, argument, context.text(callee))
        at = context.code.find(b"<<<", at + 3)


def _plain_argument(context: Context, at: int, argument: Node, callee: str) -> Iterator[Hit]:
    name = argument_name(context.text(argument))
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        return
    start, _ = function_range(context, at)
    before = context.code[start:at].decode("utf-8", "replace")
    given = re.findall(name_pattern(name) + r"\s*=(?!=)\s*([^;{}]+);", before)
    made = (
        re.match(r"(?:\([\w\s:*]+\)\s*|\w+_cast\s*<[^<>]*>\s*\(\s*)?(?:std::)?(malloc|calloc|mmap|new)\b", given[-1])
        if given
        else None
    )
    if made is not None and not re.search(r"aclrtHostRegister|&\s*" + re.escape(name), before):
        args = {"name": name, "made": made[1], "call": callee}
        yield Hit(argument.start_byte, argument.end_byte, args=args)


def host_side_memory(context: Context) -> Iterator[Hit]:
    """A heap allocation on the host side, which needs a platform with fabric handles."""
    for one in allocations(context):
        if one.host_side:
            at = next(a for a, text in zip(one.call.args, one.call.arg_texts, strict=True) if "HOST_SIDE" in text)
            yield Hit(at.start_byte, at.end_byte, args={"call": one.call.name})
