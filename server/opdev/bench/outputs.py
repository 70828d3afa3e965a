"""Outputs against the reference's, in opdev's own process: files whose bytes match their digests, by the precision engine.

PyPTO's standard always holds; a relative and an absolute tolerance hold as well where they are asked for.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from opdev.bench.children import clean
from opdev.bench.evidence import Compared, Origin, Value
from opdev.bench.texts import both
from opdev.rules.model import Text

if TYPE_CHECKING:
    from opdev.precision.model import Result

_FILE = re.compile(r"\d{4}\.npy")
_BLOCK = 1 << 20
_MISMATCHES = 5
DEFAULT = 1e-3
"""What the field's own verifier takes for a tolerance that was not given, where the other one was."""
_ORIGINS: Mapping[str, Origin] = {name: name for name in ("kernel", "computed", "input", "alloc", "foreign")}


class TamperedError(ValueError):
    """What was handed over is not what its digests say, or no such thing at all."""


@dataclass(frozen=True, slots=True)
class Handed:
    """One output as a stage handed it over; ``path`` is empty for what has no file."""

    value: Value
    path: str
    origin: Origin | None = None
    origin_text: Text | None = None


def size(value: Value) -> int:
    """How many elements a value has."""
    shape: tuple[int, ...] = value.shape or ()
    return prod(shape)


def handed(raw: Any, folder: str, origins: Any = None) -> list[Handed]:
    """Outputs as they were handed over in ``folder``; TamperedError where files and digests differ."""
    try:
        found = [_one(one, folder) for one in raw]
        if origins is None:
            return found
        if len(origins) != len(found):
            raise TamperedError
        return [Handed(h.value, h.path, *_origin(o, h.value.name)) for h, o in zip(found, origins, strict=True)]
    except (KeyError, TypeError, AttributeError, ValueError, OSError) as error:
        raise TamperedError(str(error)) from error


def values(raw: Any) -> tuple[Value, ...]:
    """Descriptions without files."""
    try:
        return tuple(_value(one) for one in raw)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise TamperedError(str(error)) from error


def _value(raw: Mapping[str, Any]) -> Value:
    kind: Literal["tensor", "value"] = "tensor" if raw["kind"] == "tensor" else "value"
    shape = tuple(int(n) for n in raw["shape"]) if kind == "tensor" else None
    if not re.fullmatch(r"[0-9a-f]{64}", raw["sha256"]):
        raise TamperedError
    lost = raw.get("lost")
    return Value(
        clean(str(raw["name"])), kind, clean(str(raw["dtype"])) if kind == "tensor" else None, shape, raw["sha256"],
        clean(str(raw.get("text", ""))), None, lost if lost in ("dtype", "size") else None,
    )  # fmt: skip


def _one(raw: Mapping[str, Any], folder: str) -> Handed:
    value, name = _value(raw), raw.get("file")
    if name is None:
        if value.kind == "tensor" and value.lost is None and size(value):
            raise TamperedError
        return Handed(value, "")
    if not _FILE.fullmatch(name) or value.kind != "tensor":
        raise TamperedError
    path = f"{folder}/{name}"
    if os.path.islink(path) or _digest(path, value) != value.sha256:
        raise TamperedError
    return Handed(value, path)


def _digest(path: str, value: Value) -> str:
    """As ``inside.storing`` makes it, of the file's own bytes."""
    import numpy as np

    data = np.load(path, mmap_mode="r", allow_pickle=False)
    wanted = "uint16" if value.dtype == "bfloat16" else value.dtype
    if str(data.dtype) != wanted or tuple(data.shape) != value.shape:
        raise TamperedError
    found = hashlib.sha256(f"{value.dtype}{list(value.shape or ())}".encode())
    flat = data.reshape(-1).view(np.uint8)
    for at in range(0, flat.size, _BLOCK):
        found.update(np.ascontiguousarray(flat[at : at + _BLOCK]).data)
    return found.hexdigest()


def _origin(raw: Mapping[str, Any], name: str) -> tuple[Origin | None, Text | None]:
    origin = _ORIGINS.get(str(raw["origin"])) if raw["origin"] is not None else None
    if origin is None:
        return None, None
    if origin == "kernel":
        return origin, both("v-o-kernel")
    why = (
        raw["why"]
        if raw["why"] in ("computed", "copied", "after", "out", "partly", "left", "alloc", "input")
        else "foreign"
    )
    words = {
        key: clean(str(raw.get(key) or "?"))
        for key in ("operation", "path", "line", "kernel", "parameter", "covered", "all")
    }
    return origin, both(f"v-o-{why}", name=name, **words)


def compare(
    actual: Sequence[Handed], expected: Sequence[Handed], rtol: float | None, atol: float | None, backend: str
) -> tuple[Compared, ...]:
    """Every output of one forward; where their number or arrangement differs, one that says so."""
    if [h.value.name for h in actual] != [h.value.name for h in expected]:
        if len(actual) != len(expected):
            why = both("v-d-count", found=len(actual), expected=len(expected))
        else:
            names = [", ".join(h.value.name for h in side)[:200] for side in (actual, expected)]
            why = both("v-d-names", found=names[0], expected=names[1])
        first = actual[0].value if actual else None
        return (Compared("y", "fail", first, None, None, None, "count", why, None, None, ()),)
    results = _judged(actual, expected, backend)
    return tuple(
        _compared(a, e, results.get(at), rtol, atol) for at, (a, e) in enumerate(zip(actual, expected, strict=True))
    )


def _same_kind(a: Value, e: Value) -> bool:
    return a.kind == e.kind == "tensor" and a.dtype == e.dtype and a.shape == e.shape


def _judged(actual: Sequence[Handed], expected: Sequence[Handed], backend: str) -> dict[int, Result]:
    """The engine's results by the output's number."""
    from opdev.precision import Ask, Pair, judge_pairs

    groups: dict[str, list[int]] = {}
    for at, (a, e) in enumerate(zip(actual, expected, strict=True)):
        if _same_kind(a.value, e.value) and a.path and e.path:
            groups.setdefault(a.value.dtype or "", []).append(at)
    found: dict[int, Result] = {}
    for dtype, numbers in groups.items():
        pairs = [Pair(actual[at].value.name, actual[at].path, expected[at].path) for at in numbers]
        ask = Ask(standard="pypto", dtype=dtype, golden_dtype=dtype)
        report = judge_pairs(pairs, ask, backend="sim" if backend == "sim" else "npu")
        found.update(zip(numbers, report.results, strict=True))
    return found


def _compared(a: Handed, e: Handed, result: Result | None, rtol: float | None, atol: float | None) -> Compared:
    name, one, other = a.value.name, a.value, e.value

    def fail(problem: Any, message: Text, verdict: Any = "fail", **more: Any) -> Compared:
        return Compared(
            name, verdict, one, other, a.origin, a.origin_text, problem, message, more.get("metrics"), more.get("limits"),
            more.get("mismatches", ()), more.get("beyond"),
        )  # fmt: skip

    if one.kind != other.kind:
        return fail("kind", both("v-d-kind", name=name, found=one.kind, expected=other.kind))
    if one.kind == "value":
        if one.sha256 == other.sha256:
            return Compared(name, "pass", one, other, None, None, None, both("v-d-good"), None, None, ())
        return fail("value", both("v-d-value", name=name, found=one.text, expected=other.text))
    if one.shape != other.shape:
        return fail(
            "shape", both("v-d-shape", name=name, found=list(one.shape or ()), expected=list(other.shape or ()))
        )
    if one.dtype != other.dtype:
        return fail("dtype", both("v-d-dtype", name=name, found=one.dtype, expected=other.dtype))
    if not size(one):
        return Compared(name, "pass", one, other, a.origin, a.origin_text, None, both("v-d-empty"), None, None, ())
    if result is None:
        why = one.lost or other.lost or "?"
        return fail(
            "unjudged", both("v-d-lost", name=name, why=why if why != "dtype" else f"dtype {one.dtype}"), "error"
        )
    more: dict[str, Any] = {
        "metrics": asdict(result.metrics) if result.metrics is not None else None,
        "limits": asdict(result.limits) if result.limits is not None else None,
        "mismatches": tuple(asdict(m) for m in result.mismatches[:_MISMATCHES]),
        "beyond": _beyond(a, e, rtol, atol),
    }
    if result.verdict != "pass":
        return fail(*_why(name, result), **more)
    if more["beyond"]:
        tolerances = {"rtol": rtol if rtol is not None else DEFAULT, "atol": atol if atol is not None else DEFAULT}
        return fail("tolerance", both("v-d-tolerance", name=name, count=more["beyond"], **tolerances), **more)
    return Compared(
        name, "pass", one, other, a.origin, a.origin_text, None, both("v-d-good"), more["metrics"], more["limits"],
        more["mismatches"], more["beyond"],
    )  # fmt: skip


def _why(name: str, result: Result) -> tuple[Any, Text, Any]:
    """Problem, text and verdict of an output that does not hold."""
    from opdev.precision.model import place

    reason = result.reasons[0].text if result.reasons else None
    where: Mapping[str, str] = {"zh": "", "en": ""}
    if result.mismatches:
        first = result.mismatches[0]
        where = both("v-d-where", place=place(first.coordinates), actual=first.actual, expected=first.expected)
    zh, en = (reason.zh, reason.en) if reason is not None else ("", "")
    text = both("v-d-numbers", name=name, zh=zh, en=en, where_zh=where["zh"], where_en=where["en"])
    return ("numbers", text, "fail") if result.verdict == "fail" else ("unjudged", text, "error")


def _beyond(a: Handed, e: Handed, rtol: float | None, atol: float | None) -> int | None:
    """Elements with |a - e| > atol + rtol |e|, NaN where the other is none included; None where nothing was asked for."""
    if rtol is None and atol is None:
        return None
    import numpy as np

    from opdev.precision.files import decode

    relative, absolute = rtol if rtol is not None else DEFAULT, atol if atol is not None else DEFAULT
    left, right = (np.load(h.path, mmap_mode="r", allow_pickle=False).reshape(-1) for h in (a, e))
    dtype, count = a.value.dtype or "", 0
    for at in range(0, left.size, _BLOCK):
        one, other = (decode(np.asarray(side[at : at + _BLOCK]), dtype) for side in (left, right))
        with np.errstate(invalid="ignore", over="ignore"):
            near = (one == other) | (np.isnan(one) & np.isnan(other))
            near |= np.isfinite(other) & (np.abs(one - other) <= absolute + relative * np.abs(other))
        count += int(near.size - np.count_nonzero(near))
    return count
