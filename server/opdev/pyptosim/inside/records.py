"""The record of what happened, a JSON line each, and the tensors beside it: what is judged is what lies on disk."""

from __future__ import annotations

import json
import os
from typing import Any

NAME = "records.jsonl"
_MOST_BYTES = 4_000_000_000
"""Of all tensors together; what is beyond is told, not kept."""


class Records:
    """Appends to one folder's record."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._count = 0
        self._bytes = 0
        self._stream = open(f"{folder}/{NAME}", "a", encoding="utf-8")  # noqa: SIM115 - open as long as the process

    def add(self, kind: str, **fields: Any) -> None:
        """One line, on disk when this returns."""
        self._stream.write(json.dumps({"kind": kind, **fields}, ensure_ascii=False, default=str) + "\n")
        self._stream.flush()

    def keep(self, value: Any) -> dict[str, Any]:
        """A tensor or an array as a file; its dtype and shape.  ``file`` is None for what cannot be kept, ``why`` says it."""
        import numpy as np
        import torch

        if isinstance(value, torch.Tensor):
            value = value.detach().cpu().contiguous()
            dtype = str(value.dtype).removeprefix("torch.")
            shape = list(value.shape)
            if dtype == "bfloat16":
                array = value.view(torch.int16).numpy().view(np.uint16) if value.dim() else value.reshape(1).view(torch.int16).numpy().view(np.uint16)  # fmt: skip
            elif dtype.startswith(("float8", "complex", "q")):
                return {"file": None, "why": "dtype", "dtype": dtype, "shape": shape}
            else:
                array = value.numpy()
        else:
            array = np.ascontiguousarray(value)
            dtype, shape = str(array.dtype), list(array.shape)
            if array.dtype.kind not in "fiub":
                return {"file": None, "why": "dtype", "dtype": dtype, "shape": shape}
        if self._bytes + array.nbytes > _MOST_BYTES:
            return {"file": None, "why": "size", "dtype": dtype, "shape": shape}
        self._count += 1
        self._bytes += array.nbytes
        name = f"tensor{self._count:04d}.npy"
        os.makedirs(f"{self.folder}/tensors", exist_ok=True)
        np.save(f"{self.folder}/tensors/{name}", array)
        return {"file": f"tensors/{name}", "dtype": dtype, "shape": shape}
