"""Whether there is an NPU to run on: asked by importing what drives it, in a process of its own."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any


def backend(spec: dict[str, Any]) -> dict[str, Any]:
    """``{"backend": "ascend", "device": its name}`` where torch_npu has a device, else ``sim`` and why."""
    try:
        if importlib.util.find_spec("torch_npu") is None:
            return {"backend": "sim", "why": f"{sys.executable}: no torch_npu"}
        importlib.import_module("torch")
        npu = importlib.import_module("torch_npu").npu
        if not npu.is_available() or npu.device_count() <= spec["device"]:
            return {"backend": "sim", "why": f"torch_npu: {npu.device_count()} devices"}
        return {"backend": "ascend", "device": str(npu.get_device_name(spec["device"]))}
    except Exception as error:  # noqa: BLE001 - a driver that fails is no device
        return {"backend": "sim", "why": f"{type(error).__name__}: {error}"[:300]}
