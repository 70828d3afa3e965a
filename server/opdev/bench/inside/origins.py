"""Whose work a tensor's content is: a kernel's, Torch's own, an input's, an allocation's, or nobody's that is known.

Known by the memory it lies in.  Every operation of Torch in a forward passes through here; one that only allocates, views
or copies hands the origin on, any other makes its result Torch's.  What leaves Torch (numpy, addresses) is remembered, for
it may come back changed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALLOC = _words(
    """
    empty empty_like empty_strided empty_permuted empty_quantized new_empty new_empty_strided zeros zeros_like
    new_zeros ones ones_like new_ones full full_like new_full fill fill_ zero_ scalar_tensor resize_ zero
    """
)
_GENERATED = frozenset(("arange", "linspace", "eye", "tril_indices", "triu_indices", "range"))
_COPY = _words(
    """
    clone contiguous _to_copy copy_ copy cat stack constant_pad_nd repeat repeat_interleave lift_fresh
    lift_fresh_copy detach alias _reshape_copy _reshape_alias _unsafe_view slice_scatter select_scatter
    as_strided_scatter flip roll view_copy permute_copy transpose_copy t_copy expand_copy slice_copy select_copy
    squeeze_copy unsqueeze_copy split_copy unbind_copy narrow_copy pin_memory _pin_memory _copy_from npu_dtype_cast
    npu_format_cast _npu_dtype_cast
    """
)
_LEAVING = frozenset(
    ["numpy", "__array__", "data_ptr", "untyped_storage", "storage", "_typed_storage", "__dlpack__", "set_"]
)
_RANK = {"alloc": 0, "input": 1, "kernel": 2, "foreign": 3, "computed": 4}
_MOST_PLACES = 200
_storage = torch.Tensor.untyped_storage


def place(tensor: Any) -> int:
    """Where a tensor's memory begins; 0 where it has none."""
    try:
        return int(_storage(tensor).data_ptr())
    except (RuntimeError, NotImplementedError):
        return 0


@dataclass
class Done:
    """An operation that computed: its name, the user's line, how often."""

    operation: str
    path: str
    line: int
    count: int = 0


class Origins:
    """The origins of all memory in one forward; ``off`` while a kernel runs."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.off = 0
        self.known: dict[int, str] = {}
        self.by: dict[int, Done] = {}
        self.left: set[int] = set()
        """Memory that went out to numpy or as an address."""
        self.direct: dict[int, Any] = {}
        """Memory that a kernel wrote, with its bytes as the kernel left them."""
        self.done: dict[tuple[str, str, int], Done] = {}

    def of(self, tensor: Any) -> str:
        return self.known.get(place(tensor), "foreign")

    def put(self, tensor: Any, origin: str) -> None:
        where = place(tensor)
        if where:
            self.known[where] = origin
            if origin != "kernel":
                self.direct.pop(where, None)

    def computing(self, operation: str) -> Done:
        path, line = self.line()
        key = (operation, path, line)
        if key not in self.done and len(self.done) >= _MOST_PLACES:
            key = (operation, "", 0)
        found = self.done.setdefault(key, Done(*key))
        found.count += 1
        return found

    def line(self) -> tuple[str, int]:
        """The user's innermost line."""
        frame: FrameType | None = sys._getframe(2)  # there is no other way to see who calls
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(f"{self.folder}/"):
                return name[len(self.folder) + 1 :], frame.f_lineno
            frame = frame.f_back
        return "", 0

    def seen(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> None:
        """One operation of Torch that was done."""
        space, _, name = func._schema.name.rpartition("::")
        given = list(_tensors((args, kwargs)))
        made = list(_tensors(out))
        if space not in ("aten", "prims"):
            # An operation of the implementation's own: the kernels in it were seen, nothing else of it was.
            for tensor in made:
                self.known.setdefault(place(tensor), "foreign")
            return
        if name in _ALLOC:
            for tensor in made:
                self.put(tensor, "alloc")
            return
        if func._schema.is_mutable:
            self._written(name, func, args, kwargs)
            return
        places = {place(tensor) for tensor in given}
        new = [tensor for tensor in made if place(tensor) not in places]
        if not new or not made:
            return
        if name in _COPY:
            origin = max((self.of(tensor) for tensor in given), key=_RANK.__getitem__, default="alloc")
            source = next((self.by[place(t)] for t in given if self.of(t) == origin and place(t) in self.by), None)
        else:
            origin, source = "computed", None
            if name not in _GENERATED:
                source = self.computing(name)
        for tensor in new:
            self.put(tensor, origin)
            if source is not None:
                self.by[place(tensor)] = source

    def _written(self, name: str, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """An operation that writes into its arguments."""
        targets: list[Any] = []
        others: list[Any] = []
        for at, argument in enumerate(func._schema.arguments):
            value = args[at] if at < len(args) else kwargs.get(argument.name)
            writes = argument.alias_info is not None and argument.alias_info.is_write
            (targets if writes else others).extend(_tensors(value))
        source = None
        if name in _COPY:
            origin = max((self.of(tensor) for tensor in others), key=_RANK.__getitem__, default="alloc")
            source = next((self.by[place(t)] for t in others if self.of(t) == origin and place(t) in self.by), None)
        else:
            origin, source = "computed", self.computing(name)
        for tensor in targets:
            before = self.of(tensor)
            whole = tensor.numel() * tensor.element_size() == _storage(tensor).nbytes()
            mixed = origin if whole or before == "alloc" else max(origin, before, key=_RANK.__getitem__)
            self.put(tensor, mixed)
            self.direct.pop(place(tensor), None)
            if source is not None:
                self.by[place(tensor)] = source


class Watching(TorchDispatchMode):  # type: ignore[misc]
    """Every operation that computes."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # True, as Torch has it, imports its compiler for a forward that compiles nothing: seconds.
        return False

    def __init__(self, origins: Origins) -> None:
        super().__init__()
        self.origins = origins

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        out = func(*args, **(kwargs or {}))
        if not self.origins.off:
            self.origins.off += 1
            try:
                self.origins.seen(func, args, kwargs or {}, out)
            finally:
                self.origins.off -= 1
        return out


class Leaving(TorchFunctionMode):  # type: ignore[misc]
    """Every way out of Torch."""

    def __init__(self, origins: Origins) -> None:
        super().__init__()
        self.origins = origins

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        if not self.origins.off and getattr(func, "__name__", "") in _LEAVING:
            self.origins.left |= {place(tensor) for tensor in _tensors(args)}
        return func(*args, **(kwargs or {}))


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _tensors(one)
