"""What kernels wrote and what the test compared it with: taken where it happens, judged elsewhere.

A comparison counts when one side came out of a kernel: it lies in memory a kernel wrote, or has the same values (a test
may have copied or cast it).  A test that compares nothing itself may still hold a golden in a variable of that name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from .records import Records

_GOLDEN = re.compile(
    r"(?:^|_)(?:golden|goldens|expected|expect|expectation|ref|reference|gt|torch_(?:out|output|result))(?:$|_|\d)"
)
_ACTUAL = re.compile(r"(?:^|_)(?:actual|out|output|outputs|result|res|got)(?:$|_|\d)")
_EQUAL = torch.equal
"""Torch's own: that of the module is watched."""
_MOST_PAIRS = 400
"""Comparisons of one case that are kept."""
_MOST_VALUES = 64_000_000
"""Elements up to which values are compared to find out where they came from."""


@dataclass
class _Written:
    """A tensor that a kernel was given: ``changed`` if it came out other than it went in."""

    tensor: torch.Tensor
    name: str
    changed: bool
    shown: bool = False


@dataclass
class _Case:
    written: list[_Written] = field(default_factory=list)
    frames: list[FrameType] = field(default_factory=list)
    pairs: int = 0
    kernels: int = 0


class Taking:
    """The record of one case after the other; see the module."""

    def __init__(self, records: Records, folders: Sequence[str]) -> None:
        self.records, self.folders = records, tuple(folder.rstrip("/") + "/" for folder in folders)
        self.case: str | None = None
        self._cases: dict[str, _Case] = {}
        self._depth = 0
        self._wrapped: set[int] = set()

    # Kernels

    @contextmanager
    def kernel(self, wrapper: Any, values: Sequence[Any]) -> Iterator[None]:
        """Around a kernel's call: which of its tensors it wrote."""
        given = [value for value in values if isinstance(value, torch.Tensor)]
        before = [_bytes(tensor).clone() for tensor in given]
        frames = self._frames()
        name = self._current(frames)
        case = self._cases.setdefault(name, _Case())
        case.frames += [frame for frame in frames if all(frame is not other for other in case.frames)]
        case.kernels += 1
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
        names = _parameters(wrapper, len(given))
        written = []
        for at, (tensor, old) in enumerate(zip(given, before, strict=True)):
            changed = not _EQUAL(_bytes(tensor), old)
            case.written = [one for one in case.written if one.tensor is not tensor]
            case.written.append(_Written(tensor, names[at], changed))
            if changed:
                written.append(names[at])
        code = wrapper._original_func.__code__
        self.records.add(
            "kernel", case=name, name=wrapper.__name__, path=code.co_filename, line=code.co_firstlineno, written=written,
            given=[f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)}" for t in given],
        )  # fmt: skip

    def _frames(self) -> list[FrameType]:
        """The user's own frames, the innermost first."""
        found: list[FrameType] = []
        frame: FrameType | None = sys._getframe(2)  # there is no other way to see who calls
        while frame is not None:
            if frame.f_code.co_filename.startswith(self.folders):
                found.append(frame)
            frame = frame.f_back
        return found

    def _current(self, frames: Sequence[FrameType]) -> str:
        """The case that is running: the one pytest runs, else the test function on the stack, else the outermost function."""
        if self.case is not None:
            return self.case
        names = [frame.f_code.co_name for frame in frames]
        tests = [name for name in names if name.startswith("test")]
        others = [name for name in names if name not in ("<module>", "main")]
        return (tests or others or ["main"])[-1]

    # Comparisons

    def apply(self) -> None:
        """Watch the comparisons that numpy and torch have; before the test is imported, which may take them by name."""
        for owner, names in (
            (torch.testing, ("assert_close", "assert_allclose")),
            (torch, ("allclose", "equal", "isclose")),
            (torch.Tensor, ("allclose", "equal", "isclose")),
            (np.testing, ("assert_allclose", "assert_array_almost_equal", "assert_almost_equal", "assert_array_equal", "assert_equal")),
            (np, ("allclose", "array_equal", "isclose")),
        ):  # fmt: skip
            for name in names:
                if hasattr(owner, name):
                    setattr(owner, name, self.watching(getattr(owner, name), name))

    def watching(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """A comparison that is recorded; one called by another is that one's."""
        if id(function) in self._wrapped:
            return function

        def watched(*args: Any, **kwargs: Any) -> Any:
            if self._depth == 0:
                sides = [
                    *args[:2],
                    *(kwargs[k] for k in ("actual", "expected", "golden", "desired", "input", "other") if k in kwargs),
                ]
                frames = self._frames()
                if frames and len(sides) > 1:
                    self._compared(name, sides[0], sides[1], frames)
            self._depth += 1
            try:
                return function(*args, **kwargs)
            finally:
                self._depth -= 1

        watched.__name__ = getattr(function, "__name__", name)
        watched.__doc__ = function.__doc__
        watched.__wrapped__ = function  # type: ignore[attr-defined]
        self._wrapped.add(id(watched))
        return watched

    def _compared(self, how: str, one: Any, other: Any, frames: Sequence[FrameType]) -> None:
        if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
            for first, second in zip(one, other, strict=False):
                self._compared(how, first, second, frames)
            return
        if not all(isinstance(side, (torch.Tensor, np.ndarray)) for side in (one, other)):
            return
        name = self._current(frames)
        case = self._cases.setdefault(name, _Case())
        found = [self._from_kernel(side, case) for side in (one, other)]
        if _worth(found[1]) > _worth(found[0]):
            one, other, found = other, one, found[::-1]
        source = found[0]
        if source is None or not source.changed:
            self.records.add(
                "unrelated",
                case=name,
                how=how,
                unwritten=source.name if source is not None else None,
                **_place(frames[0]),
            )
            if source is None:
                return
        self._pair(name, case, how, (one, other), source, frames[0].f_code.co_filename, frames[0].f_lineno)

    def _pair(
        self, name: str, case: _Case, how: str, sides: tuple[Any, Any], source: _Written, path: str, line: int
    ) -> None:
        case.pairs += source.changed
        source.shown = True
        if case.pairs > _MOST_PAIRS:
            return
        self.records.add(
            "pair", case=name, how=how, output=source.name, written=source.changed, path=path, line=line,
            actual=self.records.keep(_as_written(sides[0], source.tensor)), golden=self.records.keep(sides[1]),
        )  # fmt: skip

    def _from_kernel(self, side: Any, case: _Case) -> _Written | None:
        """The tensor of a kernel that a value is, or was made of."""
        newest = case.written[::-1]
        known = [one for one in newest if one.changed] + [one for one in newest if not one.changed]
        place = _memory(side)
        for one in known:
            if place is not None and place == _memory(one.tensor):
                return one
        value = (
            torch.from_numpy(side)
            if isinstance(side, np.ndarray) and side.dtype.kind in "fiub" and side.dtype.isnative
            else side
        )
        if not isinstance(value, torch.Tensor) or value.numel() > _MOST_VALUES or not value.numel():
            return None
        for one in known:
            if one.changed and one.tensor.numel() == value.numel() and _same(one.tensor, value):
                return one
        return None

    # The end of a case

    def finish(self, name: str) -> None:
        """What a case that compared nothing holds in its variables; then its tensors are let go."""
        case = self._cases.pop(name, None)
        if case is None:
            return
        if not case.pairs:
            self._variables(name, case)
        self.records.add("compared", case=name, pairs=case.pairs, kernels=case.kernels)

    def finish_all(self) -> list[str]:
        """Every case that is still open; their names."""
        names = list(self._cases)
        for name in names:
            self.finish(name)
        return names

    def _variables(self, name: str, case: _Case) -> None:
        for frame in case.frames:
            values = frame.f_locals
            goldens = [
                (key, v) for key, value in values.items() if _GOLDEN.search(key.lower()) for v in _tensors(value)
            ]
            outputs = [
                one for one in case.written if one.changed and any(_holds(v, one.tensor) for v in values.values())
            ]
            for one in outputs:
                fitting = [(key, golden) for key, golden in goldens if tuple(golden.shape) == tuple(one.tensor.shape)]
                if len(fitting) > 1:
                    # `out2` goes with `golden2`.  Of several that still fit, which one is meant is a guess: none is taken.
                    ends = {_end(key) for key, value in values.items() if _holds(value, one.tensor)}
                    fitting = [(key, golden) for key, golden in fitting if {_end(key)} == ends]
                if len(fitting) == 1 and _memory(fitting[0][1]) != _memory(one.tensor):
                    key, golden = fitting[0]
                    self._pair(
                        name,
                        case,
                        f"variable {key}",
                        (one.tensor, golden),
                        one,
                        frame.f_code.co_filename,
                        frame.f_lineno,
                    )
            if case.pairs:
                return


def comparers(namespace: dict[str, Any], watching: Callable[[Callable[..., Any], str], Callable[..., Any]]) -> None:
    """Watch the user's own comparisons of a module: functions with an output and a golden among their first parameters."""
    for key, value in list(namespace.items()):
        code = getattr(value, "__code__", None)
        if code is None or key.startswith("test") or code.co_argcount < 2:
            continue
        first, second = code.co_varnames[:2]
        if _ACTUAL.search(first.lower()) and _GOLDEN.search(second.lower()):
            namespace[key] = watching(value, key)


def _worth(one: _Written | None) -> int:
    """How well a value can be a kernel's output: not at all, by name only, truly written."""
    return 0 if one is None else 1 + one.changed


def _end(name: str) -> str:
    """The number a variable's name ends in."""
    return name[len(name.rstrip("0123456789")) :]


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


def _memory(value: Any) -> int | None:
    """Where a value's memory begins, as far as it can be told."""
    if isinstance(value, torch.Tensor):
        return int(value.untyped_storage().data_ptr())
    if isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        return int(value.__array_interface__["data"][0])
    return None


def _same(written: torch.Tensor, value: torch.Tensor) -> bool:
    """Whether a value is a kernel's output, copied or cast."""
    flat, other = written.detach().reshape(-1), value.detach().cpu().reshape(-1)
    try:
        return bool(torch.all((flat.to(other.dtype) == other) | ((flat != flat) & (other != other)))) or bool(  # noqa: PLR0124 - NaN
            torch.all(flat == other.to(flat.dtype))
        )
    except (RuntimeError, TypeError):
        return False


def _as_written(side: Any, written: torch.Tensor) -> Any:
    """A compared value in the dtype the kernel wrote, whose limits hold: tests often cast both sides before they compare."""
    value = torch.from_numpy(side) if isinstance(side, np.ndarray) and side.dtype.kind in "fiub" else side
    if not isinstance(value, torch.Tensor) or value.dtype == written.dtype or value.numel() != written.numel():
        return side
    if not written.is_floating_point():
        return side
    return written.detach().reshape(value.shape) if _same(written, value) else side


def _parameters(wrapper: Any, count: int) -> list[str]:
    code = wrapper._original_func.__code__
    names = list(code.co_varnames[: code.co_argcount])
    return [*names, *(f"tensor {at}" for at in range(len(names), count))][:count]


def _place(frame: FrameType) -> dict[str, Any]:
    return {"path": frame.f_code.co_filename, "line": frame.f_lineno}


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return [value]
    return [v for v in value if isinstance(v, (torch.Tensor, np.ndarray))] if isinstance(value, (list, tuple)) else []


def _holds(value: Any, tensor: torch.Tensor) -> bool:
    place = _memory(tensor)
    return any(_memory(one) == place for one in _tensors(value))
