"""Measuring on an NPU: the reference under the profiler, the implementation with its swimlane trace on.

Only reached with ``backend: ascend`` after the implementation was found right.  Not run on hardware so far.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import torch

from .making import case_of, loaded, made, prepared
from .stages import ProblemError, guarded


def _on(value: Any) -> Any:
    return value.npu() if isinstance(value, torch.Tensor) else value


def base(spec: dict[str, Any]) -> dict[str, Any]:
    """Write the profiler's tables of ``runs`` forwards of the reference into ``files``."""
    prepared(spec)
    torch.npu.set_device(spec["device"])
    module = case_of(spec)
    profiler = importlib.import_module("torch_npu.profiler")

    def run() -> None:
        _, model, given = made(module, spec["seed"])
        model, given = model.npu(), [_on(one) for one in given]
        config = profiler._ExperimentalConfig(
            profiler_level=profiler.ProfilerLevel.Level1, aic_metrics=profiler.AiCMetrics.PipeUtilization
        )
        with torch.no_grad():
            for _ in range(1 + spec["warmup"]):
                model(*given)
            torch.npu.synchronize()
            with profiler.profile(
                activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU], experimental_config=config,
                on_trace_ready=profiler.tensorboard_trace_handler(spec["files"]),
            ):  # fmt: skip
                for _ in range(spec["runs"]):
                    model(*given)
                torch.npu.synchronize()

    guarded(run, spec["folder"])
    return {"forwards": spec["runs"]}


def generated(spec: dict[str, Any]) -> dict[str, Any]:
    """Write the swimlane trace of one forward of the implementation into ``files``."""
    prepared(spec)
    torch.npu.set_device(spec["device"])
    os.environ["TILE_FWK_OUTPUT_DIR"] = spec["files"]
    importlib.import_module("pypto")
    wrapper = importlib.import_module("pypto.frontend.parser.entry").JitCallableWrapper
    calling = wrapper.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._debug_options = {**(self._debug_options or {}), "runtime_debug_mode": 1}
        return calling(self, *args, **kwargs)

    wrapper.__call__ = call
    _, model, given = guarded(lambda: made(case_of(spec), spec["seed"]), spec["folder"])
    state, init = model.state_dict(), list(case_of(spec).get_init_inputs())
    own = spec["implementation"]
    sys.path[:0] = [path for path in own["paths"] if path not in sys.path]
    os.chdir(own["folder"])

    def run() -> None:
        module = loaded(f"{own['folder']}/{own['file']}", own["file"].rpartition("/")[2].removesuffix(".py"))
        if not hasattr(module, "ModelNew"):
            raise ProblemError("artifact", "ModelNew", path=own["file"], line=0)
        mine = module.ModelNew(*init)
        mine.load_state_dict(state, strict=True)
        mine = mine.npu()
        with torch.no_grad():
            mine(*[_on(one) for one in given])
        torch.npu.synchronize()

    guarded(run, own["folder"])
    return {}
