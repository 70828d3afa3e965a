"""Where the memory behind a pointer of host code comes from: the symmetric heap, or which allocator of ACL.

Rules follow a pointer by its name, within its function or, where the name outlives one, within the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opdev.facts.heap_calls import allocations, argument_name, member_like
from opdev.facts.local_values import function_range
from opdev.syntax import cpp
from opdev.syntax.cpp import Call
from opdev.syntax.view import View

ACL_ALLOCATORS = ("aclrtMalloc", "aclrtMallocHost")


@dataclass(frozen=True, slots=True)
class Origin:
    """``kind`` is ``heap``, ``host-heap``, ``heap-any`` (of the symmetric heap) or the name of an ACL allocator."""

    kind: str
    call: Call

    @property
    def on_device(self) -> bool:
        return self.kind in ("heap", "aclrtMalloc")


class Origins:
    """All allocations of a file by the variable that holds them."""

    def __init__(
        self, local: Mapping[tuple[int, str], Sequence[Origin]], lasting: Mapping[str, Sequence[Origin]]
    ) -> None:
        self._local, self._lasting = local, lasting

    def of(self, view: View, name: str, at: int) -> Sequence[Origin]:
        """Those of a name as it is seen at an offset, in text order."""
        start, _ = function_range(view, at)
        return self._local.get((start, name)) or (self._lasting.get(name, ()) if member_like(name) else ())


def origins(view: View) -> Origins:
    """The origins of all pointers in a view, read once a file."""

    def collect() -> Origins:
        local: dict[tuple[int, str], list[Origin]] = {}
        lasting: dict[str, list[Origin]] = {}

        def add(name: str, origin: Origin) -> None:
            start, _ = function_range(view, origin.call.start)
            local.setdefault((start, name), []).append(origin)
            lasting.setdefault(name, []).append(origin)

        for one in allocations(view):
            if one.holder and one.how in ("declared", "assigned"):
                texts = one.call.arg_texts
                typed = one.call.name.startswith("aclshmemx_") and len(texts) > (1 if "malloc" in one.call.name else 2)
                kind = "host-heap" if one.host_side else "heap-any" if typed and "DEVICE_SIDE" not in texts[-1] else "heap"  # fmt: skip
                add(one.holder, Origin(kind, one.call))
        for call in cpp.calls(view, *ACL_ALLOCATORS):
            if call.args and "&" in call.arg_texts[0]:
                add(argument_name(call.arg_texts[0]), Origin(call.name, call))
        return Origins(local, lasting)

    return view.file.memo(("memory.origins", view.start, view.end), collect)
