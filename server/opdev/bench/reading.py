"""What a case asks for: what its source says (``contract``), and what running it once shows (``probing``)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from opdev.bench.contract import OPTIONAL, Contract, contract_of, shapes_of
from opdev.bench.model import Case, CaseSpec, Slot, Tensor
from opdev.bench.probing import Probed, probe
from opdev.bench.texts import both
from opdev.rules.model import Text
from opdev.runs.execute import Stop

HALF = frozenset({"float16", "bfloat16"})
"""Dtypes whose results may differ by more."""


def spec_of(case: Case, python: str, slot: Slot | None = None, stop: Stop | None = None) -> CaseSpec:
    """A case read and, best effort, run once by ``python``: on a slot, or without any device.

    BenchError where the file is no case (file, line and column are named); what running it does not show is left out
    and told in ``warnings``: without P0 shapes the inputs are not known.
    """
    found = contract_of(case)
    if found.framework != "torch":
        return _made(case, found, Probed(warnings=[both("c-not-torch", where=case.path, framework=found.framework)]))
    return _made(case, found, probe(case.path, python, slot, stop))


def read(case: Case) -> CaseSpec:
    """A case by its source alone; BenchError as ``spec_of``."""
    return _made(case, contract_of(case), None)


def tolerance_of(dtypes: tuple[str, ...]) -> float:
    """What relative and absolute errors may be."""
    return 4e-3 if HALF & set(dtypes) else 1e-3


def _made(case: Case, found: Contract, probed: Probed | None) -> CaseSpec:
    inputs = probed.inputs if probed is not None else None
    said = [] if probed is None else list(probed.warnings)
    values = _globals(found, probed)
    spec = CaseSpec(
        case, found.source, found.init_source, found.forward_source,
        init_args=probed.init_args if probed is not None else "",
        inputs=inputs or (), outputs=(probed.outputs if probed is not None else None) or (), framework=found.framework,
    )  # fmt: skip
    if inputs is not None:
        dtypes = tuple(dict.fromkeys(one.dtype for one in inputs)) or spec.dtypes
        spec = replace(spec, dtypes=dtypes, tolerance=tolerance_of(dtypes), p0_shapes=(_shapes(inputs),))
    formula, wrong = _formula(values, case)
    said += wrong
    axes, wrong = _axes(values, case)
    said += wrong
    shapes, wrong = _cases(values, case, None if inputs is None else len(inputs))
    said += wrong
    said += [both("c-computed", where=case.path, name=name) for name in found.computed if name not in values and probed]
    return replace(spec, formula=formula, dynamic_axis=axes, p1_shapes=shapes, warnings=tuple(said))


def _shapes(inputs: tuple[Tensor, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(one.shape for one in inputs)


def _globals(found: Contract, probed: Probed | None) -> dict[str, Any]:
    """The optional globals: as they are written, else as they are once the case has run."""
    shown = probed.globals if probed is not None else {}
    return {n: found.texts.get(n, shown.get(n)) for n in OPTIONAL if n in found.texts or n in shown}


def _formula(values: dict[str, Any], case: Case) -> tuple[str, list[Text]]:
    value = values.get("FORMULA", "")
    if isinstance(value, str):
        return value.strip(), []
    return "", [both("c-formula", where=case.path)]


def _axes(values: dict[str, Any], case: Case) -> tuple[tuple[str, ...], list[Text]]:
    value = values.get("DYNAMIC_AXIS", ())
    if isinstance(value, (list, tuple)) and all(isinstance(one, str) and one.strip() for one in value):
        return tuple(one.strip() for one in value), []
    return (), [both("c-axes", where=case.path)]


def _cases(values: dict[str, Any], case: Case, inputs: int | None) -> tuple[Any, list[Text]]:
    if "CASES" not in values:
        return (), []
    shapes, wrong = shapes_of(values["CASES"], inputs)
    if wrong is None:
        return shapes, []
    key, more = wrong
    return (), [both(key, where=case.path, **more)]
