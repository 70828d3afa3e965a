"""What belongs into main.cpp and what does not: processes, PEs, golden data, files, devices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.facts.heap_calls import initial_text, names_pe
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp
from opdev.syntax.tree import ancestor, ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_SPAWN = ("fork", "vfork", "system", "popen", "posix_spawn", "posix_spawnp", "execl", "execlp", "execle", "execv",
          "execvp", "execvpe")  # fmt: skip
_LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")
_LONG = 400


def is_main(context: Context) -> bool:
    """Whether the file is an operator's main.cpp."""
    return context.file.path.rpartition("/")[2] in ("main.cpp", "main.cc")


def spawned_process(context: Context) -> Iterator[Hit]:
    """A host program that starts processes of its own."""
    if b"gtest/gtest.h" in context.data:
        return
    for call in cpp.calls(context, *_SPAWN):
        if call.namespace in ("", "std") and "." not in call.callee and "->" not in call.callee:
            yield Hit(call.start, call.end, args={"call": call.name})


def several_pes_in_process(context: Context) -> Iterator[Hit]:
    """Initialisation in a loop over PEs."""
    for call in cpp.calls(context, "aclshmemx_init_attr", "shmemx_init_attr", "shmem_init_attr"):
        loop = ancestor(call.node, *_LOOPS)
        if loop is None or loop.type != "for_statement":
            continue
        body = loop.child_by_field_name("body")
        if body is None:
            continue
        head = context.code[loop.start_byte : body.start_byte]
        counted = re.search(
            rb"(?:int|size_t|auto|uint\d+_t|int\d+_t)\s+(?P<name>\w+)\s*=[^;]*;[^;]*<=?\s*\w*(?:pe|rank|world)\w*", head
        )
        inside = context.code[body.start_byte : body.end_byte]
        if counted is None or re.search(rb"instance_id|finalize", inside):
            continue
        variable = counted["name"].decode()
        if re.search(rf"my_pe\s*=\s*{variable}\b|set_attr\w*\s*\(\s*{variable}\b|aclrtSetDevice\s*\([^;]*\b{variable}\b".encode(), inside):  # fmt: skip
            yield Hit(call.start, call.end, args={"variable": variable})


_GOLDEN = re.compile(rb"(?i)golden|\bMaxAE\b|\bmax_ae\b")


def golden_in_main(context: Context) -> Iterator[Hit]:
    """Golden data or a comparison with it in main.cpp."""
    if not is_main(context):
        return
    for match in _GOLDEN.finditer(context.nocomment):
        start, end = match.span()
        while start > 0 and re.match(rb"\w", context.nocomment[start - 1 : start]):
            start -= 1
        while end < len(context.nocomment) and re.match(rb"\w", context.nocomment[end : end + 1]):
            end += 1
        if context.nocomment[end : end + 1] == b"/":
            continue  # a folder in a path: gen_data.py's inputs lie there too
        yield Hit(start, end, args={"word": context.data[start:end].decode("utf-8", "replace")})
        return


def main_too_long(context: Context) -> Iterator[Hit]:
    """More lines than a reader takes in."""
    lines = context.data.count(b"\n") + (0 if context.data.endswith(b"\n") else 1)
    if not is_main(context) or lines <= _LONG:
        return
    for function in cpp.functions(context):
        if cpp.function_name(context.file, function) == "main":
            declarator = function.child_by_field_name("declarator") or function
            yield Hit(declarator.start_byte, declarator.end_byte, args={"lines": lines, "limit": _LONG})
            return


def kernel_in_main(context: Context) -> Iterator[Hit]:
    """Device code in main.cpp."""
    if not is_main(context) or b"CATLASS" in context.code or b"Catlass" in context.code:
        return
    for function in cpp.functions(context):
        if cpp.is_device(context.file, function):
            declarator = function.child_by_field_name("declarator") or function
            name = cpp.function_name(context.file, function)
            yield Hit(declarator.start_byte, declarator.end_byte, args={"name": name})
            return


_WRITERS = ("WriteFile", "write_file", "WriteBinFile", "SaveFile")


def output_without_pe(context: Context) -> Iterator[Hit]:
    """A result file that every PE writes under the same name."""
    for call in cpp.calls(context, *_WRITERS):
        if not call.args:
            continue
        text = _path_text(context, call.args[0])
        if text is None or names_pe(text) or re.search(r"(?i)pe|rank|dev", re.sub(r'"[^"]*"', "", text)):
            continue
        if _for_one_pe(context, call.node):
            continue
        yield Hit(call.args[0].start_byte, call.args[0].end_byte, args={"path": text.strip().strip('"')[:60]})


def _path_text(context: Context, node: Node) -> str | None:
    """A path made of literals only, as written; None where anything else may be in it."""
    text = context.text(node)
    if node.type == "identifier":
        text = _initial(context, text, node.start_byte)
    literal = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    plain = re.sub(r"\bstd::string\b|\bstring\b|[\s+()]", "", literal)
    return text if text and '"' in text and not plain else None


def _initial(context: Context, name: str, at: int) -> str:
    """The one text a local path variable was given; with the literals, unlike ``initial_text``."""
    if not initial_text(context, name, at):
        return ""
    function = ancestor(context.node_at(at, at + 1), "function_definition")
    start = function.start_byte if function is not None else context.start
    used = re.compile(rb"(?<![\w.>])" + re.escape(name.encode()) + rb"\s*(?P<op>\+?=)(?!=)\s*(?P<value>[^;]+);")
    found = list(used.finditer(context.nocomment, start, at))
    if len(found) != 1 or found[0]["op"] != b"=":
        return ""
    return found[0]["value"].decode("utf-8", "replace").strip()


def _for_one_pe(context: Context, node: Node) -> bool:
    for above in ancestors(node):
        if above.type == "if_statement":
            condition = above.child_by_field_name("condition")
            if condition is not None and (names_pe(context.text(condition)) or "my_pe" in context.text(condition)):
                return True
    return False


_PE = re.compile(r"(?:args\.|opts?\.|g_)?(?:my_?pe(?:_id)?|pe(?:_id)?|rank(?:_id)?|my_?rank|rankId|peId)")


def device_is_pe(context: Context) -> Iterator[Hit]:
    """The PE number taken for the device number."""
    for call in cpp.calls(context, "aclrtSetDevice"):
        if len(call.args) != 1 or not _PE.fullmatch(context.text(call.args[0])):
            continue
        name = context.text(call.args[0])
        first = next((w for w in (b"first_npu", b"f_npu", b"npu_offset") if w in context.file.words), None)
        fix = None
        if first is not None and call.function is not None and _is_known(context, call, first):
            fix = Fix((Edit(call.args[0].start_byte, call.args[0].start_byte, f"{first.decode()} + "),))
        yield Hit(call.args[0].start_byte, call.args[0].end_byte, args={"name": name}, fix=fix)


def _is_known(context: Context, call: cpp.Call, word: bytes) -> bool:
    """Whether a variable can be named at the call: a global, or declared before it in the function."""
    function = call.function
    if function is None:
        return False
    if any(function.start_byte < at < call.start for at in context.find(word)):
        return True
    return (
        re.search(
            rb"(?m)^(?:static\s+)?(?:int|int32_t|uint32_t)\s+" + word + rb"\b", context.code[: function.start_byte]
        )
        is not None
    )
