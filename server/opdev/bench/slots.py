"""Devices of hosts: which there are, which of them work, who has one.

A device that cannot do the smallest piece of work is found out before any case is lost on it.  What is asked of an NPU
has not been run on one.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from opdev.atomic import write_bytes
from opdev.bench import placing
from opdev.bench.model import Backend, BenchError, Settings, Slot
from opdev.bench.texts import both
from opdev.pyptosim import wheels
from opdev.rules.model import Text
from opdev.runs.execute import Outcome, Stop, execute

_MOST = 64_000
_WAIT = 0.2
_PYTHON = "python3"
# Folder with the word to be read back, the word's mark, what is wanted: auto, ascend, sim or nothing.
_ASKED = """
import importlib.util, json, os, sys
folder, mark, wanted = sys.argv[1:4]
found = {"backend": None, "why": "", "word": "", "versions": {"python": sys.version.split()[0]}}
try:
    with open(folder + "/state/preflight", encoding="ascii") as stream:
        found["word"] = stream.read()
except OSError as error:
    found["why"] = str(error)
def has(*names):
    return [name for name in names if importlib.util.find_spec(name) is None]
def version(name):
    from importlib import metadata
    try:
        found["versions"][name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
def ascend():
    lacking = has("torch", "torch_npu")
    if lacking:
        return "no " + ", ".join(lacking)
    try:
        import torch, torch_npu
        device = int(os.environ["TILE_FWK_DEVICE_ID"])
        if device >= torch.npu.device_count():
            return "device %d of %d" % (device, torch.npu.device_count())
        torch.npu.set_device(device)
        found["versions"]["arch"] = str(torch.npu.get_device_name(device))
        data = torch.randn(32, 128, dtype=torch.float32)
        made = torch.softmax(data.npu(), dim=-1).cpu()
        torch.testing.assert_close(made, torch.softmax(data, dim=-1), rtol=1e-3, atol=1e-3)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, str(error)[:300])
def sim():
    lacking = has("torch", "pypto", "numpy", "sympy")
    if lacking:
        return "no " + ", ".join(lacking)
if not found["why"]:
    why = []
    for name, ask in (("ascend", ascend), ("sim", sim)):
        if wanted in (name, "auto") and found["backend"] is None:
            fault = ask()
            if fault:
                why.append(name + ": " + fault)
            else:
                found["backend"] = name
    if wanted == "nothing":
        found["backend"] = "sim"
    found["why"] = "" if found["backend"] else "; ".join(why)
    for name in ("torch", "torch_npu", "pypto"):
        version(name)
print("\\n" + mark + json.dumps(found), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Looked:
    """What the preflight found: ``backend`` None with the reason, where a slot is not to be used."""

    slot: Slot
    backend: Backend | None
    why: Text
    versions: Mapping[str, str]


def slots_of(settings: Settings) -> list[Slot]:
    """Every device of every host, first devices first, so that hosts share the load; BenchError for one named twice."""
    most = max((len(host.devices) for host in settings.hosts), default=0)
    found = [Slot(h, h.devices[n]) for n in range(most) for h in settings.hosts if n < len(h.devices)]
    seen: set[tuple[tuple[str, ...], int]] = set()
    for slot in found:
        if (slot.host.prefix, slot.device) in seen:
            raise BenchError("b-device-twice", slot=slot.label)
        seen.add((slot.host.prefix, slot.device))
    if not found:
        raise BenchError("b-no-devices")
    return found


class Pool:
    """Slots handed out in the order they came back."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        self._free = deque(slots)
        self._changed = threading.Condition()

    @contextmanager
    def one(self, stop: Stop) -> Iterator[Slot | None]:
        """A slot for the time of a phase; None where the batch is stopped before there is one."""
        slot = None
        with self._changed:
            while not stop.asked and not self._free:
                self._changed.wait(_WAIT)
            if not stop.asked:
                slot = self._free.popleft()
        try:
            yield slot
        finally:
            if slot is not None:
                with self._changed:
                    self._free.append(slot)
                    self._changed.notify()


def python_of(settings: Settings, slot: Slot) -> str:
    """The Python with torch and pypto on a slot; on another host, where nobody looked, ``python3``."""
    if settings.verifier.python or slot.host.prefix:
        return settings.verifier.python or _PYTHON
    return _python_here()


@cache
def _python_here() -> str:
    return wheels.python_with_pypto("", os.environ)


def preflight(
    settings: Settings, slots: Sequence[Slot], tokens: Sequence[str], stops: Callable[[], Stop]
) -> list[Looked]:
    """Look at all slots at once, each under its token; the result is in their order.  OSError where the batch's folder cannot be written.

    With ``auto`` and a device that works, slots that could only simulate are left out: their results are worth less.
    """
    word = secrets.token_hex(16)
    os.makedirs(f"{settings.root}/state", exist_ok=True)
    write_bytes(f"{settings.root}/state/preflight", word.encode())
    found: list[Looked | None] = [None] * len(slots)

    def look(index: int) -> None:
        found[index] = _look(settings, slots[index], tokens[index], word, stops())

    threads = [threading.Thread(target=look, args=(index,)) for index in range(len(slots))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    looked = [one or Looked(slot, None, both("b-slot-lost"), {}) for one, slot in zip(found, slots, strict=True)]
    if any(one.backend == "ascend" for one in looked):
        looked = [
            Looked(one.slot, None, both("b-only-sim"), one.versions) if one.backend == "sim" and not settings.verifier.skip else one
            for one in looked
        ]  # fmt: skip
    return looked


def _look(settings: Settings, slot: Slot, token: str, word: str, stop: Stop) -> Looked:
    verifier = settings.verifier
    wanted: str = verifier.backend
    if verifier.skip and wanted != "ascend":
        # Where nothing is verified, any Python will do.
        wanted = "nothing"
        python = verifier.python or (_PYTHON if slot.host.prefix else sys.executable)
    else:
        python = python_of(settings, slot)
    mark = f"opdev-preflight-{secrets.token_hex(8)} "
    kept = bytearray()

    def output(stream: str, data: bytes) -> None:
        del stream
        kept.extend(data)
        del kept[:-_MOST]

    env = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    job = placing.command(
        slot, [python, "-c", _ASKED, settings.root, mark, wanted], settings.root, env,
        token=token, timeout=settings.preflight, grace=2.0,
    )  # fmt: skip
    done = execute(job, output, stop)
    text = kept.decode("utf-8", "replace")
    said = text.rpartition(mark)[2].split("\n", 1)[0] if mark in text else ""
    try:
        answer = json.loads(said)
    except ValueError:
        return Looked(slot, None, _fault(settings, done, text), {})
    if answer["word"] != word:
        return Looked(slot, None, both("b-not-shared", path=settings.root, why=answer["why"] or "-"), {})
    backend, versions = answer["backend"], answer["versions"]
    why = answer["why"]
    if backend == "sim" and wanted != "nothing" and (other := _other(versions)):
        backend, why = None, other
    return Looked(slot, backend, {} if backend else both("b-lacks", why=why, python=python), versions)


def _other(versions: Mapping[str, str]) -> str:
    """What simulation was not made for: it replaces private functions of one pypto, built with some torch."""
    found = []
    if versions.get("pypto") != wheels.PYPTO:
        found.append(f"sim: pypto {versions.get('pypto')} (== {wheels.PYPTO})")
    if not wheels.torch_fits(versions.get("torch", "0")):
        low, high = (".".join(map(str, one)) for one in wheels.TORCH)
        found.append(f"sim: torch {versions.get('torch')} (>= {low}, < {high})")
    return "; ".join(found)


def _fault(settings: Settings, done: Outcome, text: str) -> Text:
    tail = " | ".join(line.strip()[:300] for line in text.splitlines()[-3:] if line.strip()) or "-"
    if done.timed_out:
        return both("b-preflight-late", seconds=f"{settings.preflight:g}", log=tail)
    how = done.failed or (f"signal {done.signal}" if done.signal is not None else f"exit {done.exit}")
    return both("b-preflight-failed", how=how, log=tail)
