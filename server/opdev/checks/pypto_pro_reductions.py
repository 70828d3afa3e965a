"""Reductions of tiles in PyPTO-Pro kernels: the shape and layout of what they are written to, and what may take that."""

from __future__ import annotations

from collections.abc import Iterator

from opdev.checks.pypto_pro_sync import tile_names
from opdev.facts.pypto_pro import Traced, items, pro_kernels, type_of
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax import py
from opdev.syntax.py_values import constants, evaluate
from opdev.syntax.tree import span

_BY_DIM = ("sum", "argmax", "argmin", "maximum", "minimum")
_ONLY_WITH_DIM = ("maximum", "minimum")
_ELEMENTWISE = (
    "add", "sub", "mul", "div", "maximum", "minimum", "exp", "log", "sqrt", "rsqrt", "recip", "neg", "abs", "relu", "axpy",
)  # fmt: skip
_OTHER_LAYOUTS = ("ND", "NZ", "ZN", "ZZ", "NN")
_ROWS = ("row_sum", "row_max", "row_min")
_COLUMNS = ("col_sum", "col_max", "col_min")


def misshaped_result(context: Context) -> Iterator[Hit]:
    """A reduction by rows into anything but ``[rows, 1]`` in DN, one by columns into anything but ``[1, columns]``."""
    for kernel in pro_kernels(context):
        for call in kernel.calls(*_BY_DIM, *_ROWS, *_COLUMNS):
            axis = _axis(call, context)
            names = tile_names(kernel, call.args[:1]) if axis is not None and call.args else set()
            for made in (_type(kernel, name) for name in sorted(names)):
                if made is not None:
                    yield from _judged(context, call, made, axis == 0)
                    break


def column_element_by_element(context: Context) -> Iterator[Hit]:
    """An operation element by element on a column of numbers in DN, which the vector unit cannot address."""
    for kernel in pro_kernels(context):
        for call in kernel.calls(*_ELEMENTWISE):
            if "dim" in call.keywords:
                continue
            for argument in call.args:
                made = [one for n in sorted(tile_names(kernel, [argument])) if (one := _type(kernel, n)) is not None]
                if made and all(_is_column(context, one) for one in made):
                    note = {"zh": "它的类型在这里", "en": "its type is here"}
                    related = (Related(made[0].start, made[0].end, note),)
                    args = {"call": call.dotted, "name": context.text(argument)}
                    yield Hit(*span(argument), "default", args, None, None, related)
                    break


def _is_column(context: Context, made: py.Call) -> bool:
    """Whether a type is ``[rows, 1]`` in DN."""
    written, shape = made.keywords.get("layout"), made.keywords.get("shape") or (made.args[0] if made.args else None)
    dims = items(shape) if shape is not None and shape.type in ("list", "tuple") else []
    is_dn = written is not None and context.text(written).rpartition(".")[2] == "DN"
    return is_dn and len(dims) == 2 and evaluate(context.text(dims[1]), constants(context.file)) == 1


def _axis(call: py.Call, context: Context) -> int | None:
    """0 for a reduction of each row, 1 of each column; None for what reduces nothing or cannot be told."""
    if call.name in _ROWS:
        return 0
    if call.name in _COLUMNS:
        return 1
    given = call.keywords.get("dim")
    if given is None:
        return None if call.name in _ONLY_WITH_DIM else 0
    value = evaluate(context.text(given), constants(context.file))
    return value if value in (0, 1) else None


def _type(kernel: Traced, source: str) -> py.Call | None:
    group = kernel.tiles.groups.get(source)
    return type_of(kernel, group.call if group is not None else kernel.tiles.single[source])


def _judged(context: Context, call: py.Call, made: py.Call, by_rows: bool) -> Iterator[Hit]:
    shape = made.keywords.get("shape") or (made.args[0] if made.args else None)
    dims = items(shape) if shape is not None and shape.type in ("list", "tuple") else []
    if shape is None or len(dims) != 2 or any(one.type == "list_splat" for one in dims):
        return
    sizes = [evaluate(context.text(one), constants(context.file)) for one in dims]
    written = made.keywords.get("layout")
    layout = context.text(written).rpartition(".")[2] if written is not None else ""
    note = {"zh": "结果 tile 的类型在这里", "en": "the result's type is here"}
    related = (Related(made.start, made.end, note),)
    args = {"call": call.dotted, "name": context.text(call.args[0]), "shape": context.text(shape)}
    at = span(call.args[0])
    if by_rows and sizes[1] is not None and sizes[1] != 1:
        yield Hit(*at, "rows", args, None, None, related)
    elif not by_rows and sizes[0] is not None and sizes[0] != 1:
        yield Hit(*at, "columns", args, None, None, related)
    elif by_rows and sizes[1] == 1 and layout in _OTHER_LAYOUTS:
        # Without any, [rows, 1] is kept as DN.
        yield Hit(*at, "layout", {**args, "layout": layout}, None, None, related)
