"""Which kernels a forward starts, and what they write: the only work that counts.

In simulation ``opdev_pypto_inside.patches`` tells of every call of a kernel; a tensor is a kernel's when its memory came out
of one other than it went in, or would have with other memory before.  On an NPU the same is asked of the wrapper's call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from .origins import Leaving, Origins, Watching, place
from .stages import ProblemError

_detach, _contiguous, _view = torch.Tensor.detach, torch.Tensor.contiguous, torch.Tensor.view
_reshape, _clone, _copy = torch.Tensor.reshape, torch.Tensor.clone, torch.Tensor.copy_
_EQUAL, _is = torch.equal, isinstance
_double, _allclose = torch.Tensor.double, torch.allclose


def _bytes(tensor: Any) -> Any:
    return _view(_reshape(_contiguous(_detach(tensor)), (-1,)), torch.uint8)


@dataclass
class Launched:
    """One call of a kernel, and what it needs to be called again."""

    wrapper: Any
    name: str
    path: str
    line: int
    given: list[Any]
    names: list[str]
    before: list[Any]
    origins: list[str]
    written: list[str]
    copied: list[str]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    after: dict[int, Any]
    """What it wrote, as bytes, by the number of the tensor."""


class Launches:
    """What ``Patches`` tells of kernels; ``again`` calls one without being told."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.origins = Origins(folder)
        self.all: list[Launched] = []
        self.again: Callable[..., Any] | None = None
        self._watched = False
        self._failed = ""
        self._call: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})

    @contextmanager
    def forward(self, model: Any, inputs: Sequence[Any]) -> Iterator[None]:
        """Around one forward: everything is forgotten before it."""
        self.origins, self.all = Origins(self.folder), []
        for tensor in (*model.state_dict().values(), *inputs):
            for one in _flat(tensor):
                self.origins.put(one, "input")
        self._watched = True
        try:
            with Watching(self.origins), Leaving(self.origins):
                yield
        finally:
            self._watched = False

    def calling(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The words of the call that comes next."""
        self._call = (args, kwargs)

    @contextmanager
    def kernel(self, wrapper: Any, values: Sequence[Any]) -> Iterator[None]:
        """Around a kernel's call: which of its tensors it wrote."""
        if not self._watched or self.origins.off:
            yield
            return
        origins = self.origins
        origins.off += 1
        try:
            with _disable_current_modes():
                given = [value for value in values if _is(value, torch.Tensor)]
                before = [_clone(_bytes(tensor)) for tensor in given]
                found = self._entered(wrapper, given, before)
                try:
                    yield
                finally:
                    self._left(found)
                    self.all.append(found)
        finally:
            origins.off -= 1

    def _entered(self, wrapper: Any, given: list[Any], before: list[Any]) -> Launched:
        kinds = []
        for tensor, old in zip(given, before, strict=True):
            kind = self.origins.of(tensor)
            if kind == "alloc" and not _constant(old, tensor.element_size()):
                # An allocation is one value all over: this memory was written past Torch.
                kind = "foreign"
                self.origins.put(tensor, kind)
            kinds.append(kind)
        code = wrapper._original_func.__code__
        args, kwargs = self._call
        return Launched(
            wrapper, wrapper.__name__, code.co_filename.removeprefix(f"{self.folder}/"), code.co_firstlineno, given,
            _names(code, len(given)), before, kinds, [], [], args, dict(kwargs), {},
        )  # fmt: skip

    def _left(self, one: Launched) -> None:
        after = [_clone(_bytes(tensor)) for tensor in one.given]
        foreign = [at for at, kind in enumerate(one.origins) if kind in ("computed", "foreign")]
        for at, (tensor, old, new) in enumerate(zip(one.given, one.before, after, strict=True)):
            if _EQUAL(old, new):
                continue
            one.written.append(one.names[at])
            one.after[at] = new
            for source in foreign:
                if source != at and one.given[source].dtype == tensor.dtype and _EQUAL(one.before[source], new):
                    one.copied.append(one.names[at])
                    break
            if one.origins[at] not in ("computed", "foreign"):
                self.origins.put(tensor, "kernel")
                self.origins.direct[place(tensor)] = (tensor, new)

    # After the forward

    def origin(self, output: Any, copy: Any) -> dict[str, Any]:
        """Whose work an output is: ``origin``, and what says so.  ``copy`` is what is handed over of it."""
        if not _is(output, torch.Tensor):
            return {"origin": None, "why": ""}
        with _disable_current_modes():
            found = self._origin(output)
            if not _EQUAL(_bytes(output), _bytes(copy)):
                return {"origin": "foreign", "why": "after"}
            return found

    def _origin(self, output: Any) -> dict[str, Any]:
        origins, where = self.origins, place(output)
        kind = origins.of(output)
        launched, at = self._given(where)
        if launched is not None and at is not None and kind != "kernel":
            whole = launched.given[at]
            covered = self._covered(launched, at)
            if covered == whole.numel() and covered:
                if not self._same(launched, at, whole):
                    return {"origin": kind if kind == "computed" else "foreign", "why": "after", **_by(origins, where)}
                kind = "kernel"
            elif kind == "alloc":
                return {"origin": kind, "why": "left", "kernel": launched.name, "parameter": launched.names[at]}
            elif kind != "input" and covered is not None:
                return {
                    "origin": kind, "why": "partly", "kernel": launched.name, "covered": covered, "all": whole.numel(),
                    **_by(origins, where),
                }  # fmt: skip
        if kind == "kernel":
            direct = origins.direct.get(where)
            if direct is not None and not _EQUAL(_bytes(direct[0]), direct[1]):
                return {"origin": "foreign", "why": "after"}
            if direct is None and where in origins.left:
                return {"origin": "foreign", "why": "out"}
            copied = next((one for one in self.all if one.copied), None)
            if copied is not None:
                source = next(at for at, o in enumerate(copied.origins) if o in ("computed", "foreign"))
                return {
                    "origin": "computed", "why": "copied", "kernel": copied.name, **_by(origins, place(copied.given[source])),
                }  # fmt: skip
            return {"origin": "kernel", "why": ""}
        return {"origin": kind, "why": kind, **_by(origins, where)}

    def unrepeated(self) -> list[str]:
        """What kernels wrote and do not write again when they are called with the same by nobody but this.

        What was put into a kernel's place (a method of its object, a kernel in pypto's store) may write as it likes: it is
        not what its function computes.
        """
        if self.again is None:
            return []
        found = []
        with _disable_current_modes():
            for one in self.all:
                if one.after:
                    made = self._rerun(one)
                    if made is None:
                        raise ProblemError("unsupported", f"{one.name}: {self._failed}", path=one.path, line=one.line)
                    found += [
                        f"{one.name} {one.names[at]}" for at, new in one.after.items()
                        if not _near(_bytes(made[at]), new, one.given[at].dtype)
                    ]  # fmt: skip
        return found

    def _given(self, where: int) -> tuple[Launched | None, int | None]:
        """The last kernel that was given this memory."""
        for one in reversed(self.all):
            for at, tensor in enumerate(one.given):
                if where and place(tensor) == where:
                    return one, at
        return None, None

    def _same(self, one: Launched, at: int, tensor: Any) -> bool:
        made = self._rerun(one, flip=at)
        return made is not None and _near(_bytes(made[at]), _bytes(tensor), tensor.dtype)

    def _covered(self, one: Launched, at: int) -> int | None:
        """How many elements the kernel writes whatever was there before; None where it cannot be called again."""
        if self.again is None:
            return None
        size = one.given[at].element_size()
        first, second = self._rerun(one), self._rerun(one, flip=at)
        if first is None or second is None:
            return None
        same = _reshape(_bytes(first[at]) == _bytes(second[at]), (-1, size)).all(dim=1)
        return int(same.sum())

    def _rerun(self, one: Launched, flip: int | None = None) -> list[Any] | None:
        """Tensors after the kernel ran on copies of what it was given, in one of them other bytes before."""
        if self.again is None:
            return None
        copies: list[Any] = []
        for number, (tensor, old) in enumerate(zip(one.given, one.before, strict=True)):
            data = (1 if tensor.dtype == torch.bool else 255) - old if number == flip else _clone(old)
            copies.append(_reshape(_view(data, tensor.dtype), tuple(tensor.shape)))
        left = iter(copies)
        args = [next(left) if _is(value, torch.Tensor) else value for value in one.args]
        kwargs = {key: next(left) if _is(value, torch.Tensor) else value for key, value in one.kwargs.items()}
        self.origins.off += 1
        try:
            self.again(one.wrapper, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - a kernel that cannot be called twice is not known to have written anything
            self._failed = f"{type(error).__name__}: {error}"
            return None
        finally:
            self.origins.off -= 1
        return copies


def _near(one: Any, other: Any, dtype: Any) -> bool:
    """Whether two runs gave the same, as far as an order of additions lets them."""
    if _EQUAL(one, other):
        return True
    if not dtype.is_floating_point:
        return False
    left, right = (_double(_view(data, dtype)) for data in (one, other))
    return bool(_allclose(left, right, rtol=2**-6, atol=2**-10, equal_nan=True))


def _by(origins: Origins, where: int) -> dict[str, Any]:
    done = origins.by.get(where)
    return {} if done is None else {"operation": done.operation, "path": done.path, "line": done.line}


def _constant(data: Any, size: int) -> bool:
    """Whether all elements of some bytes are the same."""
    rows = _reshape(data, (-1, size))
    return not len(rows) or bool((rows == rows[:1]).all())


def _names(code: Any, count: int) -> list[str]:
    names = list(code.co_varnames[: code.co_argcount])
    return [*names, *(f"tensor {at}" for at in range(len(names), count))][:count]


def _flat(value: Any) -> Iterator[Any]:
    if _is(value, torch.Tensor):
        yield value
    elif _is(value, (list, tuple)):
        for one in value:
            yield from _flat(one)
    elif _is(value, dict):
        for one in value.values():
            yield from _flat(one)
