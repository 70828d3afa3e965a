"""The implementation: fed with inputs that were made before, alone with them; no output of the reference exists yet.

What is told of kernels holds against code that does not reach into this process on purpose; ``cheats`` refuses what does, and
what was replaced under the hands of this module is found afterwards by comparing names.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import torch

from .guarding import Guard, hidden, overridden
from .launches import Launches
from .making import changed, loaded, prepared, seeded
from .stages import ProblemError, guarded
from .storing import Kept, all_described, copied, plain

_load, _no_grad = torch.load, torch.no_grad
_OPTIONS = (
    "codegen_options", "host_options", "pass_options", "runtime_options", "verify_options", "debug_options", "captured_locals",
    "infer_controlflow_shape",
)  # fmt: skip
_HELD = (staticmethod, classmethod, property)
# Torch itself replaces it when its compiler is first imported.
_CHANGING = frozenset((("torch", "manual_seed"),))
_WATCHED = (
    "builtins", "sys", "gc", "signal", "threading", "torch", "torch.Tensor", "torch.nn", "torch.nn.Module", "torch.nn.functional", "torch.testing", "torch.cuda", "torch.utils._python_dispatch",
    "torch.overrides", "numpy", "numpy.testing", "json", "os", "hashlib", "pypto", "pypto.frontend", "pypto.frontend.parser.entry",
    "pypto.frontend.parser.entry.JitCallableWrapper",
)  # fmt: skip


class _Log(list[dict[str, Any]]):
    def add(self, kind: str, **fields: Any) -> None:
        self.append({"kind": kind, **fields})


def candidate(spec: dict[str, Any]) -> dict[str, Any]:
    """One forward for each seed; what it gave, and which kernels it started."""
    launches = Launches(spec["folder"])
    known = simulated(spec, launches) if spec["backend"] == "sim" else _on_device(spec, launches)
    return tried(spec, launches, known)


def tried(spec: dict[str, Any], launches: Launches, known: list[str]) -> dict[str, Any]:
    """The same where everything is in place; ``known`` are pypto's names."""
    lacking = (
        list(importlib.import_module("opdev_pypto_inside.lacking").lacking(spec["sources"], known)) if known else []
    )
    fed = [
        _load(f"{spec['fed']}/seed{at}.pt", map_location="cpu", weights_only=False) for at in range(len(spec["seeds"]))
    ]
    kept = Kept(spec["out"])
    sys.path[:0] = [path for path in spec["paths"] if path not in sys.path]
    os.chdir(spec["folder"])
    guard = Guard(spec["folder"])
    own = [module for name, module in sys.modules.items() if name.startswith("opdev_")]
    before, operations = dict(_names(own)), overridden()
    hidden()
    guard.install()
    found: list[dict[str, Any]] = []
    try:
        name = spec["file"].rpartition("/")[2].removesuffix(".py")
        module = guarded(lambda: loaded(f"{spec['folder']}/{spec['file']}", name), spec["folder"])
        _needed(module, spec["file"])
        for seed, one in zip(spec["seeds"], fed, strict=True):
            found.append(_trial(spec, module, seed, one, launches, kept, guard))
            if len(found) - 1 == spec["again"] and _honest(found[-1]):
                found[-1]["unrepeated"] = launches.unrepeated()
    except ProblemError as error:
        problem: dict[str, Any] = {"kind": error.kind, "error": error.error, **error.values}
        lost = [place for place in lacking if f"'{place['name'].partition('.')[2]}'" in error.error]
        if error.kind == "raised" and lost:
            problem["kind"] = "unsupported"
        return {"seeds": found, "problem": problem, **_done(guard, own, before, operations)}
    return {"seeds": found, **_done(guard, own, before, operations)}


def _done(guard: Guard, own: list[Any], before: dict[tuple[str, str], Any], operations: set[str]) -> dict[str, Any]:
    """What was replaced and reached while the implementation ran."""
    changed = guard.builtins_changed() or [*_replaced(own, before), *sorted(overridden() - operations)]
    outside = [{"event": event, "what": what, "path": path, "line": line} for event, what, path, line in guard.outside]
    return {"replaced": changed, "reached": list(guard.reached), "outside": outside}


def _honest(trial: dict[str, Any]) -> bool:
    """Whether nothing else is to be said of it."""
    return len(trial["launches"]) == 1 and all(one["origin"] in ("kernel", None) for one in trial["origins"])


def _needed(module: Any, path: str) -> None:
    if not hasattr(module, "ModelNew"):
        raise ProblemError("artifact", "ModelNew", path=path, line=0)


def _trial(
    spec: dict[str, Any], module: Any, seed: int, fed: dict[str, Any], launches: Launches, kept: Kept, guard: Guard
) -> dict[str, Any]:
    def build() -> Any:
        seeded(seed)
        return module.ModelNew(*fed["init"])

    model = guarded(build, spec["folder"])
    _fill(model, fed["state"])
    given = fed["inputs"]
    if spec["backend"] == "ascend":
        model = model.npu()
        given = [one.npu() if isinstance(one, torch.Tensor) else one for one in given]
    before = all_described(given, "x")

    def forward() -> Any:
        seeded(seed)
        with _no_grad(), launches.forward(model, given):
            return model(*given)

    outputs = guarded(forward, spec["folder"])
    for left in guard.calm():
        guard.reached[left] = None
    if spec["backend"] == "ascend":
        torch.npu.synchronize()
    # Looked at once: what is judged and what is handed over are the same values.
    given_back = list(plain(outputs, "y"))
    frozen = [(name, copied(value)) for name, value in given_back]
    origins = [launches.origin(value, copy) for (_, value), (_, copy) in zip(given_back, frozen, strict=True)]
    return {"outputs": kept.all(frozen), "origins": origins, "changed": changed(before, given), **_told(launches)}


def _told(launches: Launches) -> dict[str, Any]:
    return {
        "launches": [
            {"kernel": one.name, "path": one.path, "line": one.line, "written": one.written, "copied": one.copied,
             "given": [f"{name}: {str(t.dtype).removeprefix('torch.')}{list(t.shape)}" for name, t in zip(one.names, one.given, strict=True)]}
            for one in launches.all
        ],
        "computed": [
            {"operation": one.operation, "path": one.path, "line": one.line, "count": one.count}
            for one in launches.origins.done.values()
        ],
    }  # fmt: skip


def _fill(model: Any, state: list[tuple[str, Any]]) -> None:
    """The reference's parameters; ProblemError where names, their order, shapes or dtypes are others."""
    mine, wanted = model.state_dict(), dict(state)
    if list(mine) != list(wanted):
        missing, more = [k for k in wanted if k not in mine], [k for k in mine if k not in wanted]
        raise ProblemError("state", "keys", missing=missing, more=more, expected=list(wanted), found=list(mine))
    for key, value in wanted.items():
        own = mine[key]
        if isinstance(value, torch.Tensor) and (tuple(own.shape) != tuple(value.shape) or own.dtype != value.dtype):
            raise ProblemError(
                "state", "tensor", name=key, found=f"{str(own.dtype).removeprefix('torch.')}{list(own.shape)}",
                expected=f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}",
            )  # fmt: skip
    model.load_state_dict(wanted, strict=True)


def simulated(spec: dict[str, Any], launches: Launches) -> list[str]:
    """The simulation in place; the names that this pypto has."""
    wheel = importlib.import_module("opdev_pypto_inside.wheel")
    try:
        wheel.installed(spec)
    except wheel.WrongWheelError as error:
        raise ProblemError("environment", what=error.problem, **error.values) from error
    os.environ["TILE_FWK_OUTPUT_DIR"] = f"{spec['out']}/pypto"
    os.makedirs(os.environ["TILE_FWK_OUTPUT_DIR"], exist_ok=True)
    patching = importlib.import_module("opdev_pypto_inside.patches")
    patches = patching.Patches(spec, _Log())
    try:
        patches.interpreter()
    except patching.BuildError as error:
        raise ProblemError("environment", what=error.problem, why=error.why, log=error.log) from error
    patches.apply(launches)
    _heard(launches)
    prepared(spec)
    return list(patches.known)


def _on_device(spec: dict[str, Any], launches: Launches) -> list[str]:
    """The wrapper's call is told of, nothing else is touched.  Not run on hardware so far."""
    prepared(spec)
    try:
        importlib.import_module("pypto")
        entry = importlib.import_module("pypto.frontend.parser.entry")
    except ImportError as error:
        raise ProblemError("environment", str(error), what="no-pypto", python=sys.executable) from error
    wrapper = entry.JitCallableWrapper
    calling = wrapper.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with launches.kernel(self, (*args, *kwargs.values())):
            found = calling(self, *args, **kwargs)
            torch.npu.synchronize()
            return found

    wrapper.__call__ = call
    _heard(launches)
    torch.npu.set_device(spec["device"])
    return []


def _heard(launches: Launches) -> None:
    """``launches`` gets the words of a call as they are, and may call a kernel again: one made anew of its function."""
    entry = importlib.import_module("pypto.frontend.parser.entry")
    wrapper = entry.JitCallableWrapper
    told = wrapper.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        launches.calling(args, kwargs)
        return told(self, *args, **kwargs)

    def again(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        options = {name: getattr(kernel, f"_{name}", None) for name in _OPTIONS}
        # Nothing that was put into the kernel's place in its object, or into pypto's store of kernels, is used.
        return told(wrapper(None, kernel._original_func, None, **options, use_cache=False), *args, **kwargs)

    wrapper.__call__ = call
    launches.again = again


def _names(own: list[Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    """Every function by the names that verification, Torch and pypto know it by."""
    for path in _WATCHED:
        owner = _owner(path)
        for key, value in list(vars(owner).items()) if owner is not None else ():
            if (path, key) not in _CHANGING and (callable(value) or isinstance(value, _HELD)):
                yield (path, key), value
    for module in own:
        for key, value in list(vars(module).items()):
            if callable(value):
                yield (module.__name__, key), value
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield from (
                    ((module.__name__, f"{key}.{name}"), one)
                    for name, one in list(vars(value).items())
                    if callable(one)
                )


def _owner(path: str) -> Any:
    if path in sys.modules:
        return sys.modules[path]
    parent, _, name = path.rpartition(".")
    return getattr(sys.modules.get(parent), name, None)


def _replaced(own: list[Any], before: dict[tuple[str, str], Any]) -> list[str]:
    """Functions that are no longer what they were before the implementation was imported."""
    now: dict[tuple[str, str], Any] = dict(_names(own))
    return [
        f"{path.replace('opdev_bench_inside', 'opdev')}.{key}"
        for (path, key), value in before.items()
        if now.get((path, key)) is not value
    ]
