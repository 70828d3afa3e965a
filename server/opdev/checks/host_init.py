"""How the attributes of ``aclshmemx_init_attr`` are filled: mistakes that the call reports late or oddly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp
from opdev.syntax.tree import ancestor

if TYPE_CHECKING:
    from tree_sitter import Node

FIELDS = ("my_pe", "n_pes", "ip_port", "local_mem_size", "option_attr", "comm_args", "instance_id")
# A template of the skills names it so; it never was a member.
_MEANT = {"uniqueid": "comm_args", "unique_id": "comm_args", "uid": "comm_args", "pe": "my_pe", "rank": "my_pe",
          "my_rank": "my_pe", "n_ranks": "n_pes", "npes": "n_pes", "ipport": "ip_port", "mem_size": "local_mem_size"}  # fmt: skip
_DECLARED = re.compile(
    rb"\b(?:acl)?shmemx?_init_attr_t\s*(?:const\s*)?(?P<ref>[*&]*)\s*(?P<name>[A-Za-z_]\w*)\s*(?=[;={,)(])"
)
_TIMEOUT = re.compile(
    rb"(?P<lead>(?:\.|->)\s*(?P<field>shm_init_timeout|control_operation_timeout|data_op_engine_type)\s*=\s*)"
    rb"(?P<value>(?:static_cast\s*<[^<>]*>\s*\(\s*)?0[uUlL]*\s*\)?)\s*;"
)
_OPTION = re.compile(rb"(?:\.|->)\s*option_attr\s*=\s*(?:\w+\s*)?\{")
_IP_MAX = 63
_IP_COPY = ("strcpy", "strncpy", "sprintf", "memcpy", "strcat", "stpcpy")


def unknown_init_field(context: Context) -> Iterator[Hit]:
    """A member that ``aclshmemx_init_attr_t`` does not have."""
    for name in {match["name"] for match in _DECLARED.finditer(context.code, context.start, context.end)}:
        used = re.compile(
            rb"(?<![\w.>])" + re.escape(name) + rb"\s*(?:\.|->)\s*(?P<field>[A-Za-z_]\w*)(?P<call>\s*\()?"
        )
        for match in used.finditer(context.code, context.start, context.end):
            field = match["field"].decode()
            if field in FIELDS or match["call"]:
                continue
            meant = _MEANT.get(field.lower())
            args = {"name": name.decode(), "field": field, "meant": meant or ", ".join(FIELDS)}
            fix = _field_fix(context, match, meant) if meant else None
            yield Hit(match.start("field"), match.end("field"), "meant" if meant else "default", args, fix)


def _field_fix(context: Context, match: re.Match[bytes], meant: str) -> Fix:
    edits = [Edit(match.start("field"), match.end("field"), meant)]
    if meant == "comm_args":
        value = re.compile(rb"\s*=\s*(?P<value>[A-Za-z_]\w*)\s*;").match(context.code, match.end())
        if value is not None:
            name = value["value"].decode()
            edits.append(Edit(value.start("value"), value.end("value"), f"reinterpret_cast<void *>(&{name})"))
    return Fix(tuple(edits))


def dangling_comm_args(context: Context) -> Iterator[Hit]:
    """``comm_args`` of the caller's attributes given the address of something that dies at the return."""
    for at in context.find("comm_args"):
        node = context.node_at(at, at + len("comm_args"))
        assignment = ancestor(node, "assignment_expression")
        function = ancestor(node, "function_definition")
        if assignment is None or function is None:
            continue
        left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
        if left is None or right is None or not left.start_byte <= at < left.end_byte:
            continue
        base = re.match(r"([A-Za-z_]\w*)\s*(?:->|\.)\s*comm_args$", context.text(left))
        taken = re.search(r"&\s*([A-Za-z_]\w*)\s*\)?$", context.text(right).strip())
        if base is None or taken is None:
            continue
        kinds = {name: kind for kind, name in cpp.parameters(context.file, function)}
        outlives = kinds.get(base.group(1), "")
        if "*" not in outlives and "&" not in outlives:
            continue
        name = taken.group(1)
        if name in kinds and not {"*", "&"} & set(kinds[name]):
            yield Hit(right.start_byte, right.end_byte, args={"name": name})
        elif name not in kinds and _is_local(context, function, name, at):
            yield Hit(right.start_byte, right.end_byte, "local", {"name": name})


def _is_local(context: Context, function: Node, name: str, before: int) -> bool:
    """Whether the function declares ``name`` itself, neither static nor as a reference."""
    declared = re.compile(
        rb"(?P<lead>[;{}]\s*(?:[\w:]+(?:<[^;{}<>]*>)?\s+)+)" + re.escape(name.encode()) + rb"\s*(?:=|;|\{)"
    )
    match = declared.search(context.code, function.start_byte, before)
    return match is not None and not re.search(rb"\b(?:static|extern|thread_local|return)\b", match["lead"])


def wrong_attr_version_size(context: Context) -> Iterator[Hit]:
    """The version of ``option_attr`` computed from the size of the outer struct."""
    pattern = re.compile(
        rb"1U?\s*<<\s*16\s*\)?\s*\+\s*(?:static_cast\s*<[^<>]*>\s*\(\s*)?(?P<all>sizeof\s*\(\s*(?P<type>(?:acl)?shmemx?_init_attr_t)\s*\))"
    )
    for match in pattern.finditer(context.code, context.start, context.end):
        edit = Edit(match.start("type"), match.end("type"), "aclshmem_init_optional_attr_t")
        yield Hit(match.start("all"), match.end("all"), args={"type": match["type"].decode()}, fix=Fix((edit,)))


def zero_init_timeout(context: Context) -> Iterator[Hit]:
    """A time-out or engine of 0, which initialisation refuses."""
    for match in _TIMEOUT.finditer(context.code, context.start, context.end):
        yield _zero(match.start("value"), match.end("value"), match["field"].decode())
    order = ("version", "data_op_engine_type", "shm_init_timeout", "shm_create_timeout", "control_operation_timeout")
    for match in _OPTION.finditer(context.code, context.start, context.end):
        node = context.node_at(match.end() - 1, match.end())
        listed = node if node is None or node.type == "initializer_list" else ancestor(node, "initializer_list")
        values = [v for v in listed.named_children if v.type != "comment"] if listed is not None else []
        for field, value in zip(order, values, strict=False):
            if field not in ("version", "shm_create_timeout") and re.fullmatch(r"0[uUlL]*", context.text(value)):
                yield _zero(value.start_byte, value.end_byte, field)


def _zero(start: int, end: int, field: str) -> Hit:
    engine = field == "data_op_engine_type"
    args = {"field": field, "value": "ACLSHMEM_DATA_OP_MTE" if engine else "DEFAULT_TIMEOUT"}
    fix = Fix((Edit(start, end, str(args["value"])),))
    return Hit(start, end, "engine" if engine else "default", args, fix)


def unbounded_ip_port(context: Context) -> Iterator[Hit]:
    """``ip_port`` filled by a copy that does not end, or does not stop."""
    for call in cpp.calls(context, *_IP_COPY):
        if not call.args or not re.search(r"(?:\.|->)\s*ip_port$", context.text(call.args[0])):
            continue
        target = re.sub(r"\s+", "", context.text(call.args[0]))
        if call.name in ("strncpy", "memcpy") and _terminated(context, call, target):
            continue
        literal = call.args[1] if len(call.args) > 1 and call.args[1].type == "string_literal" else None
        if literal is not None and call.name == "strcpy":
            if literal.end_byte - literal.start_byte - 2 > _IP_MAX:
                yield Hit(
                    literal.start_byte, literal.end_byte, "long", {"length": literal.end_byte - literal.start_byte - 2}
                )
            continue
        message = "unterminated" if call.name in ("strncpy", "memcpy") else "default"
        yield Hit(call.start, call.end, message, {"call": call.name})


def _terminated(context: Context, call: cpp.Call, target: str) -> bool:
    """Whether the function writes a terminator itself, or cleared the attributes before."""
    function = call.function
    body = context.code[function.start_byte : function.end_byte] if function is not None else context.code
    text = re.sub(rb"\s+", b"", body)
    base = re.escape(re.split(r"\.|->", target)[0].encode())
    # The literal '\0' is blanked in the code, so any single element that is assigned counts.
    return (
        re.search(re.escape(target.encode()) + rb"\[[^\]]+\]=", text) is not None
        or re.search(rb"memset(?:_s)?\(&?" + base, text) is not None
        or re.search(base + rb"(?:\{\}|=\{)", text) is not None
        or any("-1" in re.sub(r"\s+", "", a) or "- 1" in a for a in call.arg_texts[2:])
    )


def tls_disabled(context: Context) -> Iterator[Hit]:
    """The config store's TLS switched off."""
    for call in cpp.calls(context, "aclshmemx_set_conf_store_tls", "shmem_set_conf_store_tls"):
        if call.args and context.text(call.args[0]) in ("false", "0") and not _is_test(context):
            yield Hit(call.start, call.end)


def _is_test(context: Context) -> bool:
    if "/tests/" in context.file.path:
        return True
    return context.file.memo("host_init.test", lambda: b"gtest/gtest.h" in context.data or b"EXPECT_" in context.code)


_ALONE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"](?P<path>(?:host/)?(?:team/shmem_host_team\.h|utils/shmem_log\.h)|shmem_host_team\.h|shmem_log\.h)[>"]', re.MULTILINE)  # fmt: skip
_WHOLE = re.compile(
    rb'#[ \t]*include[ \t]*[<"](?:[\w/]*/)?(?:shmem|shmem_api|shmem_host_def|shmem_common_types)\.h[>"]'
)


def header_not_self_contained(context: Context) -> Iterator[Hit]:
    """Headers that use ``ACLSHMEM_HOST_API`` without defining it, included first."""
    for match in _ALONE.finditer(context.nocomment):
        if not _WHOLE.search(context.nocomment, 0, match.start()):
            name = match["path"].decode()
            edit = Edit(match.start(), match.start(), '#include "shmem.h"\n')
            yield Hit(match.start("path"), match.end("path"), args={"name": name}, fix=Fix((edit,)))
