"""A case run once for what its source does not say: shapes and dtypes of what goes in and comes out.

In a child of the verifier's Python, with a time limit and a memory limit, and best effort: what cannot be found out is
a warning and nothing else.
"""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from opdev.bench import placing
from opdev.bench.model import Slot, Tensor
from opdev.bench.texts import both
from opdev.pyptosim.wheels import memory_megabytes
from opdev.rules.model import Text
from opdev.runs import process
from opdev.runs.execute import Command, Outcome, Stop, Stream, execute

SECONDS = 30.0
STARTING = 60.0
"""Seconds for Python and torch to start, which are no case's."""
MOST = 1 << 24
"""Elements (inputs and parameters) with which a model is computed at most."""
_MEGABYTES = 4_000
_GRACE = 1.0
_MOST_BYTES = 4_000_000
_MOST_ERRORS = 4_000
_SCRIPT = f"{os.path.dirname(os.path.abspath(__file__))}/inside/probe.py"


@dataclass
class Probed:
    """What was found out.  ``inputs`` and ``outputs`` None: that was not."""

    inputs: tuple[Tensor, ...] | None = None
    outputs: tuple[Tensor, ...] | None = None
    init_args: str = ""
    globals: Mapping[str, Any] = field(default_factory=dict)
    warnings: list[Text] = field(default_factory=list)


@cache
def _script() -> str:
    with open(_SCRIPT, encoding="utf-8") as stream:
        return stream.read()


def probe(
    path: str, python: str, slot: Slot | None = None, stop: Stop | None = None,
    seconds: float = SECONDS, starting: float = STARTING,
) -> Probed:  # fmt: skip
    """Run the case at ``path`` (absolute) on a slot, or without any device, for ``seconds`` at most once torch is there."""
    nonce = secrets.token_hex(16)
    asked = {"path": path, "most": MOST, "seconds": seconds, "memory": min(_MEGABYTES, memory_megabytes())}
    argv = [python, "-c", _script(), nonce, json.dumps(asked)]
    said, errors = bytearray(), bytearray()

    def output(stream: Stream, data: bytes) -> None:
        if stream == "stdout":
            said.extend(data[: _MOST_BYTES - len(said)])
        else:
            errors.extend(data)
            del errors[:-_MOST_ERRORS]

    own = stop or Stop()
    try:
        with tempfile.TemporaryDirectory(prefix="opdev-probe-") as folder:
            done = execute(_command(argv, folder, slot, nonce, seconds + starting), output, own)
    finally:
        if stop is None:
            own.close()
    return _read(_records(bytes(said), nonce.encode()), done, bytes(errors), path, python, (seconds, starting))


def _command(argv: Sequence[str], folder: str, slot: Slot | None, nonce: str, seconds: float) -> Command:
    env = {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    # Weights are not fetched to learn a shape, unless the user says how.
    env |= {name: "1" for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE") if name not in os.environ}
    token = f"bench-probe-{nonce[:8]}"
    if slot is None:
        env |= {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", process.TOKEN: token}
        return Command(argv, folder, {**os.environ, **env}, seconds, _GRACE)
    # Folders of this machine that are not shared are not there.
    where = "/" if slot.host.prefix else folder
    return placing.command(slot, argv, where, env, token=token, timeout=seconds, grace=_GRACE)


def _records(said: bytes, nonce: bytes) -> list[dict[str, Any]]:
    """Whole lines of ours; a child that was ended may have left a part of one, and a host its greeting."""
    found = []
    for line in said.split(b"\n")[:-1]:
        _, ours, text = line.partition(nonce)
        if not ours:
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _read(
    records: Sequence[Mapping[str, Any]],
    done: Outcome,
    errors: bytes,
    path: str,
    python: str,
    limits: tuple[float, float],
) -> Probed:
    found = Probed()
    step = ""
    for record in records:
        kind = record.get("kind")
        if kind == "step":
            step = str(record.get("step"))
        elif kind == "globals":
            found.globals = record
        elif kind == "init":
            found.init_args = str(record.get("text", ""))
        elif kind in ("inputs", "outputs"):
            tensors = tuple(_tensor(one) for one in record["tensors"])
            if kind == "inputs":
                found.inputs = tensors
            else:
                found.outputs = tensors
            if record["other"]:
                found.warnings.append(both(f"c-other-{kind}", what=", ".join(record["other"])))
        elif kind == "skipped":
            where = _where(path, record)
            values = {"elements": record["elements"], "most": MOST, "why": record["why"]}
            found.warnings.append(both("c-outputs-skipped", where=where, **values))
        elif kind == "late":
            found.warnings.append(_late(path, str(record["step"]), limits[0]))
        elif kind == "problem":
            where = _where(path, record)
            found.warnings.append(both("c-probe-failed", where=where, step=record["step"], why=record["why"]))
    if not any(record.get("kind") == "end" for record in records):
        found.warnings.append(_cut_off(done, errors, path, python, step, limits))
    return found


def _late(path: str, step: str, seconds: float) -> Text:
    return both("c-probe-timeout", where=path, step=step, seconds=f"{seconds:g}")


def _where(path: str, record: Mapping[str, Any]) -> str:
    return f"{path}:{record['line']}" if record["line"] else path


def _cut_off(done: Outcome, errors: bytes, path: str, python: str, step: str, limits: tuple[float, float]) -> Text:
    """Why a child did not come to its end."""
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    why = lines[-1][:300] if lines else ""
    if done.failed:
        return both("c-probe-start", python=python, why=done.failed)
    if done.timed_out:
        return _late(path, step, limits[0]) if step else _late(path, "import torch", sum(limits))
    if done.stopped:
        return both("c-probe-stopped", where=path)
    how = f"signal {done.signal}" if done.signal is not None else f"exit {done.exit}"
    return both("c-probe-ended", where=path, step=step or "import", how=f"{how}: {why}" if why else how)


def _tensor(one: Mapping[str, Any]) -> Tensor:
    return Tensor(str(one["name"]), tuple(int(n) for n in one["shape"]), str(one["dtype"]))
