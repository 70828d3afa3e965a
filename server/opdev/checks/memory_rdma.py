"""RDMA operands traced from the kernel to where the host allocated them.

A network card reaches only what was registered with it, and that is the symmetric heap.  The trace
goes through plain hand-overs alone: kernel parameter, launch, launcher's parameter, local variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.heap_calls import argument_name
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax import cpp
from opdev.syntax.file import File
from opdev.syntax.tree import ancestor
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_TRANSFERS = ("aclshmemx_roce_put_nbi", "aclshmemx_roce_get_nbi", "shmem_roce_put_mem_nbi", "shmem_roce_get_mem_nbi")
_MOST_HOPS = 3


def rdma_on_plain_memory(context: Context) -> Iterator[Hit]:
    """An operand of an RDMA transfer that lies in memory of aclrtMalloc."""
    project = context.project
    if project is None:
        return
    files = [f for f in project.files("cpp") if f.language == "cpp"]
    for call in cpp.calls(context, *_TRANSFERS):
        kernel = call.function
        if kernel is None or not cpp.is_kernel_entry(context.file, kernel):
            continue
        for index, argument in enumerate(call.args[:2]):
            found = _origin(files, context.file, kernel, context.text(argument), call.start, _MOST_HOPS)
            if found is None:
                continue
            file, node, name = found
            side = "src" if index else "dst"
            args = {"call": call.name, "operand": side, "name": name, "file": file.path.rpartition("/")[2]}
            note = {"zh": f"{name} 在这里分配", "en": f"{name} is allocated here"}
            path = None if file.path == context.file.path else file.path
            related = (Related(node.start_byte, node.end_byte, note, path),)
            yield Hit(argument.start_byte, argument.end_byte, args=args, related=related)


def _origin(
    files: list[File], file: File, function: Node, text: str, at: int, hops: int
) -> tuple[File, Node, str] | None:
    """The aclrtMalloc a pointer comes from: file, call, variable.  None where it cannot be followed."""
    name = _base(text)
    for _ in range(3):
        view = View(file, function.start_byte, min(at, function.end_byte))
        body = file.code[view.start : view.end].decode("utf-8", "replace")
        given = [
            v
            for v in re.findall(rf"(?<![\w.>]){name}\s*=(?!=)\s*([^;]+);", body)
            if not re.fullmatch(r"nullptr|NULL|0", v.strip())
        ]
        if name and not given:
            for call in cpp.calls(view, "aclrtMalloc"):
                if call.args and re.search(rf"&\s*{name}\b", call.arg_texts[0]):
                    return file, call.node, name
        order = [parameter for _, parameter in cpp.parameters(file, function)]
        if name in order:
            return _through(files, file, function, order.index(name), len(order), hops) if hops and not given else None
        if len(given) != 1:
            return None
        name = _base(given[0])
    return None


def _base(text: str) -> str:
    """The variable an address is made of, its offset left out."""
    plain = re.sub(r"\b(?:__gm__|volatile)\s+", "", text)
    match = re.match(r"[A-Za-z_]\w*$", argument_name(plain.partition("+")[0]))
    return match.group() if match else ""


def _through(
    files: list[File], file: File, function: Node, index: int, count: int, hops: int
) -> tuple[File, Node, str] | None:
    """Follow a parameter to what is passed for it, by launch or by call."""
    name = cpp.function_name(file, function)
    for other in files if name else ():
        view = View(other, 0, len(other.data))
        for at in view.find(name):
            node = view.node_at(at, at + len(name))
            made = ancestor(node, "call_expression")
            callee = made.child_by_field_name("function") if made is not None else None
            listed = made.child_by_field_name("arguments") if made is not None else None
            around = ancestor(made, "function_definition")
            if (
                made is None
                or callee is None
                or listed is None
                or around is None
                or not callee.start_byte <= at < callee.end_byte
            ):
                continue
            passed = [a for a in listed.named_children if a.type != "comment"]
            if len(passed) != count:
                continue
            found = _origin(files, other, around, view.text(passed[index]), made.start_byte, hops - 1)
            if found is not None:
                return found
    return None
