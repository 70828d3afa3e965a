"""RDMA operands traced from the kernel to where the host allocated them.

A network card reaches only what was registered with it, and that is the symmetric heap.  The trace
goes through plain hand-overs alone: kernel parameter, launch, launcher's parameter, local variable.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.facts.heap_calls import argument_name
from opdev.facts.local_values import values_given
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax import cpp
from opdev.syntax.cpp import Call
from opdev.syntax.file import File
from opdev.syntax.tree import ancestor
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_TRANSFERS = ("aclshmemx_roce_put_nbi", "aclshmemx_roce_get_nbi", "shmem_roce_put_mem_nbi", "shmem_roce_get_mem_nbi")
_MOST_HOPS = 3


_NOTHING = re.compile(r"\s*(?:nullptr|NULL|0)\s*")

_Origin = tuple[File, "Node", str]


def rdma_on_plain_memory(context: Context) -> Iterator[Hit]:
    """An operand of an RDMA transfer that lies in memory of aclrtMalloc."""
    project = context.project
    if project is None:
        return
    trace = _Trace([f for f in project.files("cpp") if f.language == "cpp"])
    for call in cpp.calls(context, *_TRANSFERS):
        kernel = call.function
        if kernel is None or not cpp.is_kernel_entry(context.file, kernel):
            continue
        for index, argument in enumerate(call.args[:2]):
            found = trace.origin(context.file, kernel, context.text(argument), call.start, _MOST_HOPS)
            if found is None:
                continue
            file, node, name = found
            side = "src" if index else "dst"
            args = {"call": call.name, "operand": side, "name": name, "file": file.path.rpartition("/")[2]}
            note = {"zh": f"{name} 在这里分配", "en": f"{name} is allocated here"}
            path = None if file.path == context.file.path else file.path
            related = (Related(node.start_byte, node.end_byte, note, path),)
            yield Hit(argument.start_byte, argument.end_byte, args=args, related=related)


def _base(text: str) -> str:
    """The variable an address is made of, its offset left out."""
    plain = re.sub(r"\b(?:__gm__|volatile)\s+", "", text)
    match = re.match(r"[A-Za-z_]\w*$", argument_name(plain.partition("+")[0]))
    return match.group() if match else ""


@dataclass(frozen=True, slots=True)
class _Body:
    """What a function does with its pointers: read once, asked for every transfer and every caller."""

    parameters: list[str]
    given: dict[str, list[tuple[int, str]]]
    """Values other than null a name is given: (offset behind the statement, text), in text order."""
    allocated: dict[str, Call]
    """The first aclrtMalloc into a name."""


def _body(file: File, function: Node) -> _Body:
    def collect() -> _Body:
        start, end = function.start_byte, function.end_byte
        every = values_given(file, start, end).items()
        given = {name: [one for one in values if not _NOTHING.fullmatch(one[1])] for name, values in every}
        allocated: dict[str, Call] = {}
        for call in cpp.calls(View(file, start, end), "aclrtMalloc"):
            for name in re.findall(r"&\s*(\w+)", call.arg_texts[0]) if call.args else ():
                allocated.setdefault(name, call)
        return _Body([name for _, name in cpp.parameters(file, function)], given, allocated)

    return file.memo(("rdma.body", function.start_byte, function.end_byte), collect)


class _Trace:
    """Pointers followed through the files of one operator.

    What is passed for a parameter depends on the function's name alone, so it is looked for once:
    twenty kernels behind one launcher would otherwise be twenty walks to the same allocation.
    """

    def __init__(self, files: list[File]) -> None:
        self._files = files
        self._passed: dict[tuple[str, int, int, int], _Origin | None] = {}

    def origin(self, file: File, function: Node, text: str, at: int, hops: int) -> _Origin | None:
        """The aclrtMalloc a pointer comes from: file, call, variable.  None where it cannot be followed."""
        body = _body(file, function)
        name = _base(text)
        for _ in range(3):
            given = body.given.get(name, [])
            values = bisect_right(given, at, key=lambda one: one[0])
            call = body.allocated.get(name)
            if not values and call is not None and call.start < at:
                return file, call.node, name
            if name in body.parameters:
                if values or not hops:
                    return None
                place = body.parameters.index(name)
                return self._through(cpp.function_name(file, function), place, len(body.parameters), hops)
            if values != 1:
                return None
            name = _base(given[0][1])
        return None

    def _through(self, name: str, index: int, count: int, hops: int) -> _Origin | None:
        """Follow a parameter to what is passed for it, by launch or by call."""
        key = (name, index, count, hops)
        if key not in self._passed:
            self._passed[key] = self._from_callers(name, index, count, hops)
        return self._passed[key]

    def _from_callers(self, name: str, index: int, count: int, hops: int) -> _Origin | None:
        for file in self._files if name else ():
            view = View(file, 0, len(file.data))
            for at in view.find(name):
                made = ancestor(view.node_at(at, at + len(name)), "call_expression")
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
                found = self.origin(file, around, view.text(passed[index]), made.start_byte, hops - 1)
                if found is not None:
                    return found
        return None
