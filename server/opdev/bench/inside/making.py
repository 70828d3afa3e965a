"""The case itself: what it is fed with, and, in another process and later, what its model makes of that."""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .stages import ProblemError, guarded
from .storing import Kept, all_described, flat

_NEEDED = ("Model", "get_inputs", "get_init_inputs")


def seeded(seed: int) -> None:
    """Every generator that a case or an implementation may draw from."""
    random.seed(seed)
    np.random.seed(seed % (1 << 32))  # noqa: NPY002 - what cases draw from
    torch.manual_seed(seed)


def prepared(spec: dict[str, Any]) -> None:
    """In simulation, what is written for an NPU finds one."""
    if spec["backend"] == "sim":
        importlib.import_module("opdev_pypto_inside.devices").apply()
    else:
        importlib.import_module("torch_npu")


def loaded(path: str, name: str) -> Any:
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise ProblemError("artifact", path)
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module


def case_of(spec: dict[str, Any]) -> Any:
    """The case's module; ProblemError where it lacks what makes it one."""
    module = guarded(lambda: loaded(f"{spec['folder']}/{spec['file']}", "opdev_case"), spec["folder"])
    missing = [name for name in _NEEDED if not hasattr(module, name)]
    if missing:
        raise ProblemError("artifact", ", ".join(missing), missing=missing)
    return module


def made(module: Any, seed: int) -> tuple[list[Any], Any, list[Any]]:
    """(arguments of the model, the model, its inputs) for a seed."""
    seeded(seed)
    init = _list(module.get_init_inputs())
    seeded(seed)
    model = module.Model(*init)
    seeded(seed)
    return init, model, _list(module.get_inputs())


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def inputs(spec: dict[str, Any]) -> dict[str, Any]:
    """Write what each seed gives; nothing is computed of it."""
    prepared(spec)
    module = case_of(spec)
    found = []
    for at, seed in enumerate(spec["seeds"]):
        init, model, given = guarded(_made(module, seed), spec["folder"])
        state = model.state_dict()
        torch.save({"init": init, "state": list(state.items()), "inputs": given}, f"{spec['out']}/seed{at}.pt")
        found.append({"inputs": all_described(given, "x"), "state": _state(state)})
    folders = [*sys.path, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {"seeds": found, "folders": [os.path.realpath(folder) for folder in folders if os.path.isdir(folder)]}


def reference(spec: dict[str, Any]) -> dict[str, Any]:
    """Make the same inputs again, and compute the reference's outputs of them."""
    prepared(spec)
    module = case_of(spec)
    kept = Kept(spec["out"])
    found = []
    for seed, expected in zip(spec["seeds"], spec["expected"], strict=True):
        _, model, given = guarded(_made(module, seed), spec["folder"])
        before = all_described(given, "x")
        if _digests(before) != expected["inputs"] or _digests(_state(model.state_dict())) != expected["state"]:
            raise ProblemError("unstable", seed=seed)
        outputs = guarded(_forward(model, given, seed), spec["folder"])
        found.append({"outputs": kept.all(list(flat(outputs, "y"))), "changed": changed(before, given)})
    return {"seeds": found}


def changed(before: list[dict[str, Any]], given: list[Any]) -> list[str]:
    """The inputs that are no longer what they were."""
    after = all_described(given, "x")
    return [old["name"] for old, new in zip(before, after, strict=False) if old["sha256"] != new["sha256"]]


def _made(module: Any, seed: int) -> Callable[[], tuple[list[Any], Any, list[Any]]]:
    return lambda: made(module, seed)


def _forward(model: Any, given: list[Any], seed: int) -> Callable[[], Any]:
    def run() -> Any:
        seeded(seed)
        with torch.no_grad():
            return model(*given)

    return run


def _state(state: Any) -> list[dict[str, Any]]:
    return [one for key, value in state.items() for one in all_described(value, key)]


def _digests(values: list[dict[str, Any]]) -> list[str]:
    return [one["sha256"] for one in values]
