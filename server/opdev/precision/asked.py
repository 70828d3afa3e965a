"""By what an operator's outputs are judged: what was asked for, else what its config.json, its cases and its design say.

The number of accumulations decides between two tolerances.  It is taken from where somebody wrote it; else it follows, for a
reduction, from PEs and elements as the standard defines it; else it is not known and the wider tolerance holds.  The report
always says which of these it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from opdev.design.derived import op_type, tolerance
from opdev.design.document import document_of
from opdev.design.dtypes import fold_dtype, is_integer, number
from opdev.design.scale import power
from opdev.facts.structured import root_of
from opdev.precision.files import NUMPY
from opdev.precision.judge import Ask, Pair
from opdev.precision.model import Both
from opdev.precision.standards import OP_TYPES
from opdev.precision.texts import PrecisionError, both
from opdev.project.operators import Operator
from opdev.project.places import Places

_REDUCES = re.compile(r"reduce(?!.*matmul)|combine", re.IGNORECASE)
_FUSED = re.compile(r"matmul|gemm|mm_", re.IGNORECASE)
_LISTS, _SHARED = ("cases", "case_matrix", "matrix"), ("defaults", "default", "common")
_INDICES = {"assist_info": "int32", "ep_recv_count": "int32", "expert_token_nums": "int32"}
"""Results of a MoE dispatch that are counts and indices whatever its data are."""


@dataclass(frozen=True)
class Basis:
    """``ask`` completed, what is to be told of it, and the dtypes of results by their names."""

    ask: Ask
    notes: tuple[Both, ...]
    dtypes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Design:
    op_kind: str = ""
    op_name: str = ""
    rtol: float | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)


def asked(root: str, config: Mapping[str, Any], ask: Ask) -> Basis:
    """What to judge by; ``config`` is a checked config.json.  PrecisionError where the files say what cannot be."""
    given = config.get("dtype")
    dtype = ask.judge_dtype or ask.dtype or (fold_dtype(given) if given is not None else None) or ""
    operator = Operator(root, Places())
    design = _design(operator, dtype)
    cases = list(_cases(operator, config))
    kept = _stored(config, dtype)
    elements = config.get("expected_elems")
    shape = config.get("shape")
    wanted = (
        None if elements is None else tuple(shape) if shape is not None and prod(shape) == elements else (elements,)
    )
    ask = replace(
        ask, dtype=ask.dtype or kept or None, judge_dtype=ask.judge_dtype or (dtype if kept and dtype != kept and not ask.dtype else None),
        expected=wanted, pes=ask.pes or config.get("n_pes"), op_kind=ask.op_kind or design.op_kind,
        op_name=ask.op_name or design.op_name or root.rsplit("/", 1)[-1],
    )  # fmt: skip
    notes: list[Both] = []
    if ask.standard == "pypto":
        return Basis(ask, (), design.outputs)
    if ask.op_type is None:
        kind, where = _said("op_type", config, cases, _op_type)
        if kind is not None:
            ask = replace(ask, op_type=kind)
            notes.append(both("n-op-type", op_type=kind, where=where))
    if not ask.op_kind and ask.op_type is None:
        notes.append(both("n-no-design"))
        ask = replace(ask, op_kind="collective")
    judged = ask.judge_dtype or ask.dtype or ""
    kind = ask.op_type or op_type(ask.op_kind, judged, ask.op_name)
    if ask.compute_times is None and kind == "COMPUTE_FLOAT" and not is_integer(judged):
        ask, note = _times(ask, config, cases)
        notes.append(note)
    if design.rtol is not None and ask.rtol is None:
        limit = tolerance(kind, judged, ask.compute_times)
        if limit is not None and design.rtol > limit:
            notes.append(both("n-design-loose", rtol=power(design.rtol), standard=power(limit)))
        elif limit is not None:
            ask = replace(ask, rtol=design.rtol)
            if design.rtol < limit:
                notes.append(both("n-design", rtol=power(design.rtol)))
    return Basis(ask, tuple(notes), design.outputs)


def typed(pairs: Sequence[Pair], config: Mapping[str, Any], basis: Basis) -> list[Pair]:
    """The pairs with what each is judged by.

    The only result is as config.json says it is; of several each needs a dtype of its own, by ``--dtype NAME=…``,
    config.json's ``outputs`` or the design.  PrecisionError names the file whose dtype nobody says.
    """
    names = {pair.which for pair in pairs}
    received = config.get("received")
    if len(names) == 1:
        own = next((d for n, d in basis.ask.dtypes.items() if n in names), None)
        out = [replace(pair, dtype=own) if own is not None else pair for pair in pairs]
        if received is None:
            return out
        return [replace(p, received=received[p.pe]) if p.pe is not None and p.pe < len(received) else p for p in out]
    listed = {one["name"]: one for one in config.get("outputs", ())}
    known = {name: _dtype(name, listed.get(name, {}), basis) for name in names}
    open_ = [name for name, dtype in known.items() if dtype is None]
    if len(open_) == 1:
        # All others are said to be something else: the run's own dtype is that of its data.
        known[open_[0]] = basis.ask.judge_dtype or basis.ask.dtype
    return [_typed(pair, known[pair.which], listed.get(pair.which, {})) for pair in pairs]


def _dtype(name: str, listed: Mapping[str, Any], basis: Basis) -> str | None:
    found = basis.ask.dtypes.get(name) or fold_dtype(listed.get("dtype", "")) or _INDICES.get(name)
    design = basis.dtypes.get(name)
    # The design's T is every confirmed dtype: the one this run was made for.
    return found or (fold_dtype(design) or basis.ask.dtype if design is not None else None)


def _typed(pair: Pair, dtype: str | None, listed: Mapping[str, Any]) -> Pair:
    if dtype is None and pair.output.endswith(".bin"):
        raise PrecisionError("which-dtype", path=pair.output, name=pair.which)
    size = listed.get("expected_elems")
    kept = fold_dtype(listed.get("numpy_dtype", "")) or dtype
    if kept == NUMPY["bfloat16"] and dtype == "bfloat16":
        kept = dtype
    return replace(
        pair, dtype=kept, judge_dtype=dtype if kept != dtype else None, expected=(size,) if size is not None else None
    )


def _stored(config: Mapping[str, Any], dtype: str) -> str:
    kept = fold_dtype(config.get("numpy_dtype", "")) or dtype
    return dtype if dtype == "bfloat16" and kept == NUMPY["bfloat16"] else kept


def _times(ask: Ask, config: Mapping[str, Any], cases: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[Ask, Both]:
    """``ask`` with the number of accumulations, and where it is from."""
    found, where = _said("compute_times", config, cases, _whole)
    if found is not None:
        return replace(ask, compute_times=found), both("n-times", times=found, where=where)
    pes, elements = config.get("n_pes"), config.get("expected_elems")
    if pes and elements and _REDUCES.search(ask.op_name) and not _FUSED.search(ask.op_name):
        times = pes * elements
        return replace(ask, compute_times=times), both("n-times-made", times=times, pes=pes, elements=elements)
    return ask, both("n-times-none")


def _said(
    key: str, config: Mapping[str, Any], cases: Sequence[tuple[str, Mapping[str, Any]]], read: Any
) -> tuple[Any, str]:
    """(value, where it stands) of config.json or of the cases this run can be; None where they do not say one thing."""
    if config.get(key) is not None:
        return read(config[key], "config.json"), "config.json"
    values = {case.get(key) is not None and read(case[key], where) for where, case in cases}
    if len(values) == 1 and (only := values.pop()) is not False:
        return only, cases[0][0]
    return None, ""


def _op_type(value: object, where: str) -> str:
    text = str(value).upper()
    if text not in OP_TYPES:
        raise PrecisionError("bad-op-type", path=where, op_type=value, known=", ".join(OP_TYPES))
    return text


def _whole(value: object, where: str) -> int:
    read = number(value)
    if isinstance(read, bool) or not isinstance(read, (int, float)) or read < 1 or read != int(read):
        raise PrecisionError("bad-times", path=where, times=value)
    return int(read)


def _cases(operator: Operator, config: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The cases of cases.json that this run can be of, with what they share; the run's data do not name its case."""
    for file in operator.files("cases"):
        node = root_of(file)
        top: Any = node.data() if node is not None else None
        if isinstance(top, list):
            top = {"cases": top}
        if not isinstance(top, dict):
            continue
        shared: dict[str, Any] = next((top[k] for k in _SHARED if isinstance(top.get(k), dict)), {})
        whole = {k: top[k] for k in ("op_type", "compute_times") if top.get(k) is not None}
        for case in next((top[k] for k in _LISTS if isinstance(top.get(k), list)), ()):
            if isinstance(case, dict) and _fits(one := {**whole, **shared, **case}, config):
                yield file.path.rpartition("/")[2], one


def _fits(case: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Whether PEs and dtype are those of the run, and its elements are the case's, on one PE or on all."""
    pes, made = config.get("n_pes"), config.get("expected_elems")
    if pes is not None and case.get("n_pes") not in (None, pes):
        return False
    dtype = case.get("dtype")
    if dtype is not None and config.get("dtype") is not None and fold_dtype(str(dtype)) != fold_dtype(config["dtype"]):
        return False
    shape = case.get("shape")
    if made is None or not isinstance(shape, list) or not all(isinstance(n, int) for n in shape):
        return True
    size = prod(shape)
    return made in (size, size * (pes or 1)) or size == made * (pes or 1)


def _design(operator: Operator, dtype: str) -> _Design:
    """What the operator's design says; empty where it does not."""
    for file in operator.files("design-doc"):
        document = document_of(file)
        node = document.get("correctness.tolerance.rtol")
        value: Any = node.data() if node is not None else None
        if isinstance(value, dict):
            value = next((v for k, v in value.items() if fold_dtype(str(k)) == dtype), None)
        read = number(value)
        rtol = float(read) if isinstance(read, (int, float)) and not isinstance(read, bool) and read >= 0 else None
        outputs = {}
        for one in document.items("interface.outputs"):
            name, kind = one.get("name"), one.get("dtype")
            if name is not None and kind is not None:
                outputs[name.said.strip()] = kind.said.strip()
        return _Design(document.text("meta.op_kind"), document.text("meta.op_name"), rtol, outputs)
    return _Design()
