"""Tensors in files, read a piece at a time: raw ``.bin``, ``.npy``, and ``.pt`` by way of a child process.

Files are read, not mapped: a mapped file counts as memory used page by page, and one that is cut short meanwhile kills
the reader.  Elements come as numpy arrays of the stored type; bfloat16, which numpy lacks, as uint16.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from opdev.design.dtypes import SIZES, fold_dtype, is_integer
from opdev.precision.texts import PrecisionError

if TYPE_CHECKING:
    from typing_extensions import Self

Array = NDArray[Any]
NUMPY = {dtype: "uint16" if dtype == "bfloat16" else "uint8" if dtype == "bool" else dtype for dtype in SIZES}
"""What a dtype is stored as."""
_GAP = 512
"""Elements between two asked for that are rather read than skipped."""
_MAGIC = b"\x93NUMPY"


@dataclass(frozen=True)
class Stored:
    """A tensor in a file: ``count`` elements of ``dtype`` from byte ``offset`` on."""

    path: str
    dtype: str
    count: int
    shape: tuple[int, ...] | None = None
    """None where the file does not say."""
    offset: int = 0
    swapped: bool = False
    """Whether the bytes of an element lie the other way round."""
    fortran: bool = False
    """Whether the first index runs fastest in the file; elements are given row-major all the same."""
    shown: str = ""
    """How the tensor is called in texts, where it is one of several in a file."""

    @property
    def name(self) -> str:
        return self.shown or self.path

    @property
    def raw(self) -> np.dtype[Any]:
        """The stored type."""
        found = np.dtype(NUMPY[self.dtype])
        return found.newbyteorder() if self.swapped else found

    def first(self, count: int) -> Stored:
        """The first elements only, as a flat tensor."""
        return replace(self, count=min(count, self.count), shape=None)

    def open(self) -> Reading:
        return Reading(self)

    def at(self, indices: NDArray[np.int64]) -> Array:
        """The elements at flat indices, of the stored type in native order; PrecisionError when it cannot be read."""
        found = np.empty(indices.size, NUMPY[self.dtype])
        order = np.argsort(indices, kind="stable")
        ends = np.flatnonzero(np.diff(indices[order]) > _GAP) + 1
        with self.open() as reading:
            for near in np.split(order, ends):
                if near.size:
                    first, last = int(indices[near[0]]), int(indices[near[-1]])
                    read = reading.read(first, np.empty(last - first + 1, found.dtype))
                    found[near] = read[indices[near] - first]
        return found


class Reading:
    """An open file of a tensor; one for each thread."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self._native = np.dtype(NUMPY[stored.dtype])
        self._mapped: Array | None = None
        try:
            if stored.fortran:
                shape = stored.shape or (stored.count,)
                self._mapped = np.memmap(
                    stored.path, dtype=stored.raw, mode="r", offset=stored.offset, shape=shape, order="F"
                )
            self._file: BinaryIO = open(stored.path, "rb", buffering=0)  # noqa: SIM115 - closed by __exit__
        except (OSError, ValueError) as error:
            raise PrecisionError(
                "unreadable", path=stored.path, why=getattr(error, "strerror", None) or error
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._mapped = None

    def read(self, start: int, buffer: Array) -> Array:
        """``buffer.size`` elements from ``start`` on, in ``buffer`` or beside it; PrecisionError where the file ends before."""
        if self._mapped is not None:
            return np.asarray(self._mapped.flat[start : start + buffer.size]).astype(self._native, copy=False)
        size = self._native.itemsize
        left = memoryview(buffer.view(np.uint8))  # type: ignore[arg-type]  # arrays are buffers
        try:
            self._file.seek(self._stored.offset + start * size)
            while left:
                got = self._file.readinto(left)  # type: ignore[attr-defined]  # a raw file has it
                if not got:
                    raise PrecisionError("cut-short", path=self._stored.path)
                left = left[got:]
        except OSError as error:
            raise PrecisionError("unreadable", path=self._stored.path, why=error.strerror or error) from error
        return buffer.byteswap() if self._stored.swapped else buffer


def stored(path: str, dtype: str | None, shape: Sequence[int] | None = None) -> Stored:
    """A ``.npy`` or raw file as a tensor.

    ``dtype`` is needed for raw files and checked against the header of the others.  PrecisionError names the file and says
    what to do: it is missing, empty, no whole number of elements, not of that dtype, or not of that shape.
    """
    folded = None
    if dtype is not None:
        folded = fold_dtype(dtype)
        if folded is None:
            raise PrecisionError("bad-dtype", dtype=dtype, known=", ".join(SIZES))
    size = _size(path)
    found = _npy(path, folded) if path.endswith(".npy") or _head(path) == _MAGIC else _raw(path, folded, size)
    if shape is not None:
        if prod(shape) != found.count:
            raise PrecisionError(
                "bad-shape", path=path, shape=list(shape), wanted=prod(shape), count=found.count, dtype=found.dtype
            )
        if found.fortran and tuple(shape) != found.shape:
            raise PrecisionError("fortran-shape", path=path, shape=list(shape), found=list(found.shape or ()))
        found = replace(found, shape=tuple(shape))
    return found


def _size(path: str) -> int:
    try:
        if not os.path.isfile(path):
            raise PrecisionError("not-a-file" if os.path.exists(path) else "missing", path=path)
        size = os.path.getsize(path)
    except OSError as error:
        raise PrecisionError("unreadable", path=path, why=error.strerror or error) from error
    if size == 0:
        raise PrecisionError("empty", path=path)
    return size


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(len(_MAGIC))
    except OSError as error:
        raise PrecisionError("unreadable", path=path, why=error.strerror or error) from error


def _raw(path: str, dtype: str | None, size: int) -> Stored:
    if dtype is None:
        raise PrecisionError("dtype-needed", path=path)
    count, rest = divmod(size, SIZES[dtype])
    if rest:
        raise PrecisionError("not-whole", path=path, size=size, dtype=dtype, each=SIZES[dtype])
    return Stored(path, dtype, count)


def _npy(path: str, dtype: str | None) -> Stored:
    try:
        with open(path, "rb") as stream:
            version = np.lib.format.read_magic(stream)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, kind = read(stream)
            offset = stream.tell()
    except (OSError, ValueError, EOFError) as error:
        raise PrecisionError("bad-npy", path=path, why=str(error)[:200]) from error
    if kind.kind == "V" and kind.itemsize == 2 and kind.names is None:
        # What numpy makes of a bfloat16 array it does not know.
        if dtype is None:
            raise PrecisionError("void-dtype", path=path)
        found = "bfloat16" if dtype == "bfloat16" else None
    elif kind.name == "uint16" and dtype == "bfloat16":
        found = "bfloat16"
    else:
        found = fold_dtype(kind.name) if kind.kind in "fiub" else None
    if found is None:
        raise PrecisionError("npy-dtype", path=path, dtype=str(kind))
    if dtype is not None and found != dtype:
        raise PrecisionError("other-dtype", path=path, found=found, dtype=dtype)
    count = prod(shape)
    if count and os.path.getsize(path) < offset + count * SIZES[found]:
        raise PrecisionError("cut-short", path=path)
    several = fortran and sum(length > 1 for length in shape) > 1
    return Stored(path, found, count, tuple(shape), offset, not kind.isnative, several)


def decode(raw: Array, dtype: str, into: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Stored elements as float64, in ``into`` where it is given; whole numbers beyond 2^53 are rounded."""
    out = np.empty(raw.shape) if into is None else into[: raw.size]
    if dtype == "bfloat16":
        wide = raw.astype(np.uint32)
        wide <<= 16
        raw = wide.view(np.float32)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        np.copyto(out, raw, casting="unsafe")
    return out


def shown(raw: Array, dtype: str) -> list[int | float]:
    """Elements as Python's numbers; whole numbers exactly."""
    found: list[int | float] = raw.tolist() if is_integer(dtype) else decode(raw, dtype).tolist()
    return found
