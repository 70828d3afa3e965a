"""Tensors of a ``.pt`` file, unpacked by a child process that has torch: opdev itself never imports it.

The child writes each tensor's bytes to a file of a folder that the caller deletes, and says what is in it as JSON.
``weights_only`` keeps a pickle from running code.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from math import prod

from opdev.design.dtypes import fold_dtype
from opdev.precision.files import Stored
from opdev.precision.texts import PrecisionError

SUFFIXES = (".pt", ".pth")
_TIMEOUT = 1800
_NO_TORCH = 7
_CHILD = """
import json, sys
try:
    import torch
except ImportError as error:
    sys.stderr.write(str(error))
    sys.exit(7)
path, folder = sys.argv[1:]
try:
    loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
except RuntimeError as error:
    if "mmap" not in str(error):
        raise
    loaded = torch.load(path, map_location="cpu", weights_only=True)
named = list(loaded.items()) if isinstance(loaded, dict) else list(enumerate(loaded)) if isinstance(loaded, (list, tuple)) else [(None, loaded)]
told = []
for at, (name, tensor) in enumerate(named):
    one = {"name": None if name is None else str(name), "kind": "none"}
    if isinstance(tensor, torch.Tensor):
        tensor = tensor.detach()
        one.update(kind="tensor", dtype=str(tensor.dtype), shape=list(tensor.shape), file="%s/%d.bin" % (folder, at))
        if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_complex():
            one["kind"] = "other"
        else:
            with open(one["file"], "wb") as out:
                rows = tensor.reshape(-1) if tensor.is_contiguous() else tensor.contiguous().reshape(-1)
                for start in range(0, rows.numel(), 1 << 22):
                    out.write(memoryview(rows[start:start + (1 << 22)].view(torch.uint8).numpy()))
    elif tensor is not None:
        one.update(kind="other", dtype=type(tensor).__name__)
    told.append(one)
json.dump(told, sys.stdout)
"""


def unpack(path: str, folder: str, python: str | None = None) -> list[tuple[str | None, Stored | None]]:
    """(name, tensor) of each output in the file, in order; the tensor is None where None was saved.

    ``folder`` takes the bytes.  PrecisionError where the file or torch is missing, or it holds something else.
    """
    if not os.path.isfile(path):
        raise PrecisionError("not-a-file" if os.path.exists(path) else "missing", path=path)
    if not os.path.getsize(path):
        raise PrecisionError("empty", path=path)
    program = python or os.environ.get("PYTHON_CMD") or sys.executable
    try:
        done = subprocess.run(
            [program, "-c", _CHILD, os.path.abspath(path), folder],
            capture_output=True, timeout=_TIMEOUT, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PrecisionError("no-torch", path=path, python=program, why=error) from error
    said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:300]
    if done.returncode == _NO_TORCH:
        raise PrecisionError("no-torch", path=path, python=program, why=said)
    if done.returncode:
        raise PrecisionError("bad-pt", path=path, why=said)
    found: list[tuple[str | None, Stored | None]] = []
    for at, one in enumerate(json.loads(done.stdout)):
        shown = f"{path}[{one['name'] if one['name'] is not None else at}]"
        if one["kind"] == "none":
            found.append((one["name"], None))
            continue
        dtype = fold_dtype(one["dtype"]) if one["kind"] == "tensor" else None
        if dtype is None:
            raise PrecisionError("npy-dtype", path=shown, dtype=one["dtype"])
        shape = tuple(one["shape"])
        found.append((one["name"], Stored(one["file"], dtype, prod(shape), shape, shown=shown)))
    if not found:
        raise PrecisionError("empty", path=path)
    return found
