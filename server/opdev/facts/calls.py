"""The SHMEM calls of a C++ file: what each does, which engine carries it, and the signals among them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from opdev.api import table
from opdev.syntax import cpp
from opdev.syntax.cpp_text import squeeze
from opdev.syntax.file import File
from opdev.syntax.view import View

Act = Literal[
    "put", "get", "put-signal", "atomic", "signal", "wait", "barrier", "quiet", "fence", "allocate", "free", "other"
]  # fmt: skip
"""What a call does.  ``barrier`` holds ``sync`` too; ``wait`` holds tests."""

_NAME = re.compile(rb"\b(?:acl)?shmemx?_\w+|\butil_[gs]et_ffts_config\b")
_ACTS: tuple[tuple[Act, re.Pattern[str]], ...] = (
    ("wait", re.compile(r"_(?:wait|test)(?:_|\Z)|handle_wait")),
    ("put-signal", re.compile(r"put\w*_signal")),
    ("signal", re.compile(r"_signal_op|notify_record")),
    ("barrier", re.compile(r"_barrier|_sync(?:_|\Z)")),
    ("quiet", re.compile(r"_quiet")),
    ("fence", re.compile(r"_fence\Z")),
    ("atomic", re.compile(r"_atomic_")),
    ("allocate", re.compile(r"shmemx?_(?:malloc|calloc|align)\Z")),
    ("free", re.compile(r"shmemx?_free\Z")),
    ("put", re.compile(r"_(?:i?put|p)(?:mem|\d|_|\Z)")),
    ("get", re.compile(r"_(?:i?get|g)(?:mem|\d+(?:_|\Z)|_nbi|_warp|_block|\Z|mem)")),
)
_NOT_DATA = re.compile(r"_get_(?:prof|uniqueid|heap_base|name|version|config|ffts\w*)|ctx_get|ffts_config")


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One call of a public SHMEM function.  ``[start, end)`` is its name as written, ``name`` what it stands for.

    ``engines`` may carry it: MTE, SDMA, RDMA, UDMA; empty for calls tied to none.  ``device`` says that the
    function around it runs on the device.
    """

    name: str
    family: str
    act: Act
    engines: frozenset[str]
    start: int
    end: int
    call_end: int
    args: tuple[str, ...]
    device: bool

    @property
    def engine(self) -> str:
        """The one engine of the call; ``any`` where several may carry it, empty where none does."""
        return next(iter(self.engines)) if len(self.engines) == 1 else "any" if self.engines else ""


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal that is set, added to, or waited for, with the expressions as written.

    ``compare`` is the last part of the comparison's name (``EQ``, ``GE``) of a wait.  ``number`` is the value
    where the file's constants settle it.
    """

    how: Literal["set", "add", "wait"]
    address: str
    value: str
    compare: str
    number: int | None
    call: ApiCall


def api_calls(file: File) -> tuple[ApiCall, ...]:
    """The calls of public SHMEM functions, in text order."""

    def collect() -> tuple[ApiCall, ...]:
        found = []
        for start, end in View(file, 0, len(file.data)).spans(_NAME):
            api = table.lookup(file.code[start:end].decode())
            call = cpp.call_at(file, start, end) if api is not None and api.kind == "function" else None
            if api is None or call is None:
                continue
            device = cpp.is_device(file, call.function)
            args = tuple(squeeze(text) for text in call.arg_texts)
            engines = frozenset[str](api.engines)
            found.append(
                ApiCall(api.name, api.family, act_of(api.name), engines, start, end, call.end, args, device)
            )  # fmt: skip
        return tuple(found)

    return file.memo("facts.api_calls", collect)


def act_of(name: str) -> Act:
    """What a function of that name does."""
    if _NOT_DATA.search(name):
        return "other"
    return next((act for act, pattern in _ACTS if pattern.search(name)), "other")


def signals(file: File) -> tuple[Signal, ...]:
    """Where signals are set, added to and waited for, in text order."""

    def collect() -> tuple[Signal, ...]:
        known = cpp.constants(file)
        found = []
        for call in api_calls(file):
            if call.act in ("signal", "put-signal"):
                index = next((i for i, a in enumerate(call.args) if "ACLSHMEM_SIGNAL_" in a), -1)
                if index >= 2:
                    how: Literal["set", "add"] = "add" if call.args[index].endswith("_ADD") else "set"
                    address, value = call.args[index - 2], call.args[index - 1]
                    found.append(Signal(how, address, value, "", cpp.evaluate(value, known), call))
            elif call.act == "wait" and len(call.args) > 2 and "ACLSHMEM_CMP_" in call.args[-2]:
                value, compare = call.args[-1], call.args[-2].rpartition("_")[2]
                found.append(Signal("wait", call.args[0], value, compare, cpp.evaluate(value, known), call))
        return tuple(found)

    return file.memo("facts.signals", collect)
