"""``npu`` as another name of this machine's CPU, so that tests written for a device run; only inside a simulated run."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_CPU = torch.device("cpu")
_UNFILLED = frozenset({torch.empty, torch.empty_like, torch.empty_strided, torch.Tensor.new_empty})
_FILL = 0xFF
"""NaN in every float: what a kernel leaves out is seen."""


def _here(value: Any) -> Any:
    """A device by another name as this machine's."""
    if isinstance(value, torch.device) and value.type == "npu":
        return _CPU
    if isinstance(value, str) and (value == "npu" or value.startswith("npu:")):
        return "cpu"
    return value


class _Here(TorchFunctionMode):  # type: ignore[misc]
    """Tensors asked for on ``npu`` are made on the CPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        kwargs = {key: _here(value) for key, value in (kwargs or {}).items()}
        found = func(*[_here(value) for value in args], **kwargs)
        if func in _UNFILLED and found.dtype != torch.bool and found.is_contiguous():
            # Memory used again may hold the last case's output: a kernel that writes nothing would seem right.
            found.detach().reshape(-1).view(torch.uint8).fill_(_FILL)
        return found


def apply() -> None:
    """Make ``torch.npu``, ``torch_npu`` and the device ``npu`` known."""
    torch.utils.rename_privateuse1_backend("npu")
    module: Any = ModuleType("torch_npu")
    module.__version__ = "0 (opdev: simulated on the CPU)"
    module.npu = _namespace()
    module.get_npu_format = lambda _: 2
    torch.Tensor.npu = lambda self, *args, **kwargs: self  # noqa: ARG005
    torch._register_device_module("npu", module.npu)
    sys.modules["torch_npu"] = module
    sys.modules["torch_npu.npu"] = module.npu
    _Here().__enter__()


def _namespace() -> Any:
    made: Any = ModuleType("torch.npu")
    nothing = lambda *args, **kwargs: None  # noqa: ARG005, E731 - a table of one-liners
    for name in (
        "set_device",
        "synchronize",
        "empty_cache",
        "manual_seed",
        "manual_seed_all",
        "init",
        "set_compile_mode",
    ):
        setattr(made, name, nothing)
    made.is_available = lambda: True
    made.device_count = lambda: 1
    made.current_device = lambda: 0
    made.is_initialized = lambda: True
    made._is_in_bad_fork = lambda: False
    made.config = ModuleType("torch.npu.config")

    class Stream:
        npu_stream = 0

        def synchronize(self) -> None:
            return None

    made.Stream = Stream
    made.current_stream = lambda *args: Stream()  # noqa: ARG005
    return made
