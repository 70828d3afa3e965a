"""What a case is fed with and gives, found out inside the user's Python; started by its text, so it stands alone.

Shapes are worked out on torch's ``meta`` device, where tensors have no elements: a case with gigabytes of inputs costs
nothing.  Where a case needs real numbers it is run on the CPU, its model only where there are few enough elements.
What is found is written, a line at a time, to a copy of the standard output that the case does not know of; what the
case prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

_SHORT, _LONG = 300, 4000
_PATIENCE = 8
"""Seconds for working shapes out without elements."""


class _TooManyError(Exception):
    """A model has to be computed with so many elements; its cause is why it has to be."""


class _SlowError(Exception):
    """Without elements it takes too long: recurrent layers are then taken apart, step by step."""


@contextlib.contextmanager
def _patience() -> Iterator[None]:
    def slow(*_: object) -> None:
        raise _SlowError(f"more than {_PATIENCE} s without numbers")

    before = signal.signal(signal.SIGALRM, slow)
    signal.alarm(_PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Probe:
    """One case, asked step by step; what fails is told and the rest goes on without it."""

    def __init__(self, nonce: str, asked: dict[str, Any]) -> None:
        self.nonce, self.path, self.most, self.seconds = nonce, asked["path"], asked["most"], asked["seconds"]
        self.out = os.dup(1)
        os.dup2(2, 1)
        self.step = "import"
        self.module: Any = None
        self.torch: Any = None

    def tell(self, kind: str, **values: Any) -> None:
        line = f"{self.nonce}{json.dumps({'kind': kind, **values})}\n".encode()
        while line:
            line = line[os.write(self.out, line) :]

    def run(self) -> None:
        try:
            self._steps()
        except BaseException as error:  # noqa: BLE001 - a case may raise anything, SystemExit included
            self.tell("problem", step=self.step, why=_why(error), line=self._line(error))
        self.tell("end")

    def _steps(self) -> None:
        import torch

        self.torch = torch
        # Starting torch is no case's fault; what takes a case's own time, be it in C, is ended from outside of it.
        limit = threading.Timer(self.seconds, self._late)
        limit.daemon = True
        limit.start()
        self.tell("step", step="import")
        self.module = self._loaded()
        self.tell("globals", **{
            name: value for name in ("FORMULA", "DYNAMIC_AXIS", "CASES")
            if isinstance(value := getattr(self.module, name, None), (str, list, tuple)) and len(str(value)) < 1_000_000
        })  # fmt: skip
        self._step("get_inputs")
        inputs = self._either(self._inputs)
        found, other = self._described(inputs, "x")
        self.tell("inputs", tensors=found, other=other)
        self._step("get_init_inputs")
        init = self._either(lambda: self._called("get_init_inputs"))
        self.tell("init", text=_text(init))
        self._step("forward")
        try:
            output = self._output(inputs)
        except _TooManyError as error:
            why = error.__cause__
            self.tell("skipped", elements=error.args[0], why=_why(why or error), line=self._line(why or error))
            return
        found, other = self._described(output if isinstance(output, (list, tuple, dict)) else [output], "y")
        self.tell("outputs", tensors=found, other=other)

    def _late(self) -> None:
        self.tell("late", step=self.step)
        self.tell("end")
        os._exit(0)

    def _step(self, name: str) -> None:
        self.step = name
        self.tell("step", step=name)

    def _loaded(self) -> Any:
        found = importlib.util.spec_from_file_location("opdev_case", self.path)
        if found is None or found.loader is None:
            raise ImportError(self.path)
        module = importlib.util.module_from_spec(found)
        sys.modules["opdev_case"] = module
        found.loader.exec_module(module)
        return module

    def _called(self, name: str) -> Any:
        self.torch.manual_seed(42)
        return getattr(self.module, name)()

    def _inputs(self) -> list[Any]:
        given = self._called("get_inputs")
        return list(given) if isinstance(given, (list, tuple)) else [given]

    def _either(self, work: Callable[[], Any]) -> Any:
        """The result without elements, or with them where it cannot be had without."""
        with self.torch.no_grad():
            try:
                with self.torch.device("meta"):
                    return work()
            except Exception:  # noqa: BLE001 - the next way says why, if that fails, too
                return work()

    def _model(self) -> Any:
        init = self._called("get_init_inputs")
        self.torch.manual_seed(42)
        return self.module.Model(*(init if isinstance(init, (list, tuple)) else [init]))

    def _output(self, inputs: list[Any]) -> Any:
        """What the model gives; _TooManyError where it needs elements and there are too many."""
        torch = self.torch
        small = self._moved(inputs)
        elements = sum(t.numel() for _, t in self._tensors(small, "x"))
        parameters = 0
        why: Exception | None = None
        with torch.no_grad():
            for make in (self._model_without_elements, self._model_made_with_elements):
                try:
                    model = make()
                    parameters = max(parameters, sum(one.numel() for one in [*model.parameters(), *model.buffers()]))
                    with torch.device("meta"), _patience():
                        return model(*small)
                except _SlowError as error:
                    why = error
                    break
                except Exception as error:  # noqa: BLE001 - the next way says why, if that fails, too
                    why = error
            if elements + parameters > self.most:
                raise _TooManyError(elements + parameters) from why
            return self._model()(*self._inputs())

    def _model_without_elements(self) -> Any:
        with self.torch.device("meta"):
            return self._model()

    def _model_made_with_elements(self) -> Any:
        """For a model whose making needs numbers, and whose work does not."""
        return self._model().to("meta")

    def _moved(self, value: Any) -> Any:
        if isinstance(value, self.torch.Tensor):
            return value.to("meta")
        if isinstance(value, (list, tuple)):
            return [self._moved(one) for one in value]
        return {k: self._moved(v) for k, v in value.items()} if isinstance(value, dict) else value

    def _tensors(self, value: Any, name: str) -> list[tuple[str, Any]]:
        """Everything in a value that is no list and no dict, by name: ``y0``, ``y0_1``, ``y<key>``."""
        if isinstance(value, dict):
            parts = list(value.items())
        elif isinstance(value, (list, tuple)):
            parts = list(enumerate(value))
        else:
            return [(name, value)] if isinstance(value, self.torch.Tensor) else []
        bar = "" if name in ("x", "y") else "_"
        return [one for key, part in parts for one in self._tensors(part, f"{name}{bar}{str(key)[:60]}")]

    def _described(self, value: Any, name: str) -> tuple[list[dict[str, Any]], list[str]]:
        tensors = self._tensors(value, name)
        found = [
            {"name": key, "shape": list(t.shape), "dtype": str(t.dtype).replace("torch.", "")}
            for key, t in tensors[:1000]
        ]
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        other = [f"{name}{str(k)[:60]} = {_text(v)[:_SHORT]}" for k, v in parts if not self._tensors(v, name)]
        return found, other[:20]

    def _line(self, error: BaseException) -> int:
        """Where in the case it happened; 0 where that is not known."""
        lines = [
            frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.path
        ]
        return lines[-1] if lines else (error.lineno or 0 if isinstance(error, SyntaxError) else 0)


def _why(error: BaseException) -> str:
    try:
        said = str(error).strip().split("\n")[0]
    except Exception:  # noqa: BLE001 - a case's own exception
        said = ""
    name = type(error).__name__
    return (f"{name}: {said}" if said else name)[:_SHORT]


def _text(value: Any) -> str:
    try:
        return repr(value)[:_LONG]
    except Exception as error:  # noqa: BLE001 - a case's own class
        return f"<{type(value).__name__}: {_why(error)}>"


def _bound(megabytes: int) -> None:
    import resource

    for what, wanted in (
        (resource.RLIMIT_DATA, megabytes * 1_000_000),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 1_000_000_000),
    ):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


if __name__ == "__main__":
    _nonce, _asked = sys.argv[1:3]
    sys.argv[:] = [""]
    sys.path[:] = [entry for entry in sys.path if entry]
    _spec = json.loads(_asked)
    _bound(_spec["memory"])
    Probe(_nonce, _spec).run()
    # What a case left to be done at exit is not done.
    os._exit(0)
