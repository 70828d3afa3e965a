"""What the implementation's process handed over of its forwards, and what the run itself shows of cheating."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opdev.bench import deciding, isolating, outputs
from opdev.bench.children import clean
from opdev.bench.evidence import Computed, Launch
from opdev.bench.model import Check
from opdev.bench.outputs import TamperedError
from opdev.bench.texts import both

NAMED = 4
"""How many of a kind a text names."""


class Forward:
    """What the candidate handed over of one forward; TamperedError where it is no such thing."""

    def __init__(self, raw: Any, folder: str) -> None:
        try:
            self.outputs = outputs.handed(raw["outputs"], folder, raw["origins"])
            self.changed = tuple(str(name)[:80] for name in raw["changed"])
            self.launches = tuple(
                Launch(
                    str(o["kernel"]),
                    str(o["path"]),
                    int(o["line"]),
                    tuple(o["given"]),
                    tuple(o["written"]),
                    tuple(o["copied"]),
                )
                for o in raw["launches"]
            )
            self.unrepeated = tuple(clean(str(name)) for name in raw.get("unrepeated", ()))
            self.computed = tuple(
                Computed(str(o["operation"]), str(o["path"]), int(o["line"]), int(o["count"])) for o in raw["computed"]
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise TamperedError(str(error)) from error


def _runtime(forwards: Sequence[Forward]) -> Iterator[Check]:
    """Checks that only a run can make, of the first forward that fails each."""
    several = next((f for f in forwards if len(f.launches) > 1), None)
    if several is not None:
        names = ", ".join(f"{one.kernel} {one.path}:{one.line}" for one in several.launches[:NAMED])
        detail = both("v-c-runtime-multi", count=len(several.launches), names=names)
        yield Check("runtime_multi_kernel", "fail", "fatal", detail)
    if any(not f.launches for f in forwards):
        yield Check("runtime_no_kernel", "fail", "fatal", both("v-c-runtime-none"))
    for forward in forwards:
        wrong = [
            h
            for h in forward.outputs
            if h.value.kind == "tensor" and outputs.size(h.value) and h.origin not in ("kernel", None)
        ]
        if wrong:
            whose = wrong[0].origin_text or {"zh": wrong[0].value.name, "en": wrong[0].value.name}
            yield Check("runtime_output", "fail", "fatal", deciding.around("v-c-runtime-output", whose))
            break
    apart = next((f for f in forwards if f.unrepeated), None)
    if apart is not None:
        detail = both("v-c-runtime-apart", what=", ".join(apart.unrepeated[:NAMED]))
        yield Check("runtime_not_repeated", "fail", "fatal", detail)
    if forwards:
        done: dict[str, Computed] = {f"{c.operation} {c.path}:{c.line}": c for f in forwards for c in f.computed}
        what = ", ".join(list(done)[:NAMED])
        detail = both("v-c-runtime-compute-bad", what=what) if done else both("v-c-runtime-compute-good")
        yield Check("runtime_torch_compute", "fail" if done else "pass", "warn", detail)


def checks(result: Mapping[str, Any], forwards: Sequence[Forward], case_file: str) -> Iterator[Check]:
    """Every check that a run makes; ``result`` is what was handed over."""
    yield from _runtime(forwards)
    for name, check, key in (
        ("replaced", "runtime_replaced", "v-c-runtime-replaced"),
        ("reached", "runtime_caller_reached", "v-c-runtime-reached"),
    ):
        found = result.get(name)
        if isinstance(found, list) and found:
            what = ", ".join(clean(str(one)) for one in found[:NAMED])
            yield Check(check, "fail", "fatal", both(key, what=what))
    yield from _outside(result.get("outside"), case_file)


def _outside(raw: Any, case_file: str) -> Iterator[Check]:
    """What it read and started outside of itself."""
    try:
        seen = [(str(o["event"]), clean(str(o["what"])), clean(f"{o['path']}:{o['line']}")) for o in raw or ()]
    except (KeyError, TypeError):
        return
    read = [f"{what} ({at})" for event, what, at in seen if event == "open" and isolating.is_reference(what, case_file)]
    if read:
        yield Check("runtime_reference", "fail", "fatal", both("v-c-runtime-reference", what=", ".join(read[:NAMED])))
    if seen:
        what = ", ".join(f"{event} {name} ({at})" for event, name, at in seen[:NAMED])
        yield Check("runtime_outside", "fail", "warn", both("v-c-runtime-outside", what=what))
