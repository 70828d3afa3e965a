"""Values as digests and files.  Torch's own functions are taken by name here, before any code of a user's could replace them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

_detach, _cpu, _contiguous, _view = torch.Tensor.detach, torch.Tensor.cpu, torch.Tensor.contiguous, torch.Tensor.view
_numpy, _reshape = torch.Tensor.numpy, torch.Tensor.reshape
_clone = torch.Tensor.clone
_save = np.save
_TENSORS = (torch.Tensor, torch.nn.Parameter)
_PLAIN = (int, float, bool, str, bytes, complex, type(None), torch.dtype, torch.device, torch.Size)
_MOST_BYTES = 4_000_000_000
_MOST_TEXT = 400


def flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """What a forward gives, one after the other, with a name for each; a dict's by sorted keys."""
    if isinstance(value, (list, tuple)):
        for at, one in enumerate(value):
            yield from flat(one, f"{name}[{at}]")
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from flat(value[key], f"{name}[{key!r}]")
    else:
        yield name, value


def plain(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The same of what an implementation gives, where nothing but tensors, numbers and texts as they are is looked into.

    A tensor or a list of a kind of its own could run code, or be something else the second time: it stays what it is.
    """
    kind = type(value)
    if kind is list or kind is tuple:
        for at, one in enumerate(value):
            yield from plain(one, f"{name}[{at}]")
    elif kind is dict and all(type(key) in _PLAIN for key in value):
        for key in sorted(value, key=str):
            yield from plain(value[key], f"{name}[{key!r}]")
    elif kind in _TENSORS or kind in _PLAIN:
        yield name, value
    else:
        yield name, Other(kind)


class Other:
    """Something of a kind that is not looked into."""

    def __init__(self, kind: type) -> None:
        self.name = f"{type.__dict__['__module__'].__get__(kind)}.{type.__dict__['__qualname__'].__get__(kind)}"

    def __repr__(self) -> str:
        return f"<{self.name}>"


def copied(value: Any) -> Any:
    """A tensor's values as they are now, in memory of its own."""
    return _clone(_detach(value)) if type(value) in _TENSORS else value


def raw(tensor: Any) -> Any:
    """A tensor's elements as an array of bytes, row-major."""
    return _numpy(_view(_reshape(_contiguous(_cpu(_detach(tensor))), (-1,)), torch.uint8))


def described(name: str, value: Any) -> dict[str, Any]:
    """A value's fields as ``evidence.Value`` has them, without a file."""
    if isinstance(value, torch.Tensor):
        dtype, shape = str(value.dtype).removeprefix("torch."), list(value.shape)
        digest = hashlib.sha256(f"{dtype}{shape}".encode())
        digest.update(raw(value).data if value.numel() else b"")
        return {"name": name, "kind": "tensor", "dtype": dtype, "shape": shape, "sha256": digest.hexdigest()}
    text = repr(value)
    digest = hashlib.sha256(f"{type(value).__name__}:{text}".encode("utf-8", "surrogatepass"))
    return {
        "name": name, "kind": "value", "dtype": None, "shape": None, "sha256": digest.hexdigest(), "text": text[:_MOST_TEXT],
    }  # fmt: skip


def all_described(value: Any, name: str) -> list[dict[str, Any]]:
    return [described(key, one) for key, one in flat(value, name)]


class Kept:
    """Outputs as files of one folder."""

    def __init__(self, folder: str) -> None:
        self.folder, self._bytes, self._count = folder, 0, 0

    def all(self, values: list[tuple[str, Any]]) -> list[dict[str, Any]]:
        return [{**described(key, one), **self._file(one)} for key, one in values]

    def _file(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, torch.Tensor) or not value.numel():
            return {"file": None}
        dtype = str(value.dtype).removeprefix("torch.")
        data = raw(value)
        if dtype.startswith(("float8", "complex", "q")):
            return {"file": None, "lost": "dtype"}
        if self._bytes + data.nbytes > _MOST_BYTES:
            return {"file": None, "lost": "size"}
        self._count += 1
        self._bytes += data.nbytes
        name = f"{self._count:04d}.npy"
        kind = np.dtype("uint16" if dtype == "bfloat16" else dtype)
        _save(f"{self.folder}/{name}", data.view(kind).reshape(tuple(value.shape)), allow_pickle=False)
        return {"file": name}
