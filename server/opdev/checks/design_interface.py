"""What a design says of the operator's tensors and arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.design_fields import lacking
from opdev.checks.design_meta import nearest_fix
from opdev.checks.design_problems import design, fix_of, problems, related
from opdev.rules.context import Context
from opdev.rules.model import Hit

if TYPE_CHECKING:
    from opdev.design.changes import Change
    from opdev.design.document import DesignDocument
    from opdev.design.nodes import Node

_INPUTS, _OUTPUTS, _ATTRS = "interface.inputs", "interface.outputs", "interface.attrs"


def tensors(context: Context) -> Iterator[Hit]:
    """No input, no output, or one of them without what it needs."""
    document = design(context)
    values = _values(document)
    for hit in lacking(context, _INPUTS, _OUTPUTS, values=lambda _: values):
        where = str(hit.args["in"])
        yield (
            hit
            if where != "interface"
            else Hit(hit.start, hit.end, "none", hit.args, hit.fix, hit.severity, hit.related)
        )
    for problem in problems(context, "empty-value"):
        if problem.path in (_INPUTS, _OUTPUTS):
            if not _followed(document, problem.end):
                fix = fix_of(*_first(document, problem.path, values), title="fill")
                yield Hit(problem.start, problem.end, "none", {"keys": problem.path}, fix)
        elif problem.under(_INPUTS, _OUTPUTS):
            yield Hit(problem.start, problem.end, "empty", {"key": problem.path})


def _values(document: DesignDocument) -> dict[str, str]:
    """What a tensor gets that says nothing: the one confirmed dtype, and no claim about shape or visibility."""
    unknown = '"replace_me"'
    confirmed = [node.text for node in document.items("source.user_confirmations.dtypes") if node.kind == "scalar"]
    return {
        "name": unknown,
        "dtype": confirmed[0] if len(confirmed) == 1 else "T",
        "shape": unknown,
        "visibility": unknown,
        "role": unknown,
    }


def _first(document: DesignDocument, path: str, values: dict[str, str]) -> Iterator[Change | None]:
    from opdev.design.changes import fill

    node = document.get(path)
    keys = ("name", "dtype", "shape", "role" if path == _INPUTS else "visibility")
    if node is not None:
        yield fill(document, node, f"  - {{{', '.join(f'{key}: {values[key]}' for key in keys)}}}\n")


def _followed(document: DesignDocument, end: int) -> bool:
    """Whether what is wrong with the YAML begins right behind: items below a ``[]``."""
    return any(f.start >= end and not document.data[end : f.start].strip(b" \t\r\n>-") for f in document.faults)


def attrs(context: Context) -> Iterator[Hit]:
    """An argument without name, type or default."""
    yield from lacking(context, _ATTRS, values=lambda _: {"name": '"replace_me"', "default": '"replace_me"'})
    for problem in problems(context, "empty-value"):
        if problem.under(_ATTRS) and problem.path != _ATTRS:
            yield Hit(problem.start, problem.end, "empty", {"key": problem.path})


def visibility(context: Context) -> Iterator[Hit]:
    """An output that is visible in a way there is not."""
    for problem in problems(context, "wrong-enum"):
        if problem.under(f"{_OUTPUTS}[].visibility"):
            fix = nearest_fix(context, problem)
            yield Hit(problem.start, problem.end, args={**problem.args, "near": problem.args["nearest"]}, fix=fix)


def dtype(context: Context) -> Iterator[Hit]:
    """A dtype nobody knows, wherever a design names one of the interface."""
    for problem in problems(context, "wrong-enum"):
        if problem.under(f"{_INPUTS}[].dtype", f"{_OUTPUTS}[].dtype", "source.user_confirmations.dtypes"):
            fix = nearest_fix(context, problem)
            yield Hit(problem.start, problem.end, args={**problem.args, "near": problem.args["nearest"]}, fix=fix)


def confirmed(context: Context) -> Iterator[Hit]:
    """A dtype of the interface that the user did not confirm."""
    from opdev.design.changes import append

    document = design(context)
    for problem in problems(context, "dtype-not-confirmed"):
        node = document.get("source.user_confirmations.dtypes")
        # One that is misspelt there may be the one that is used here.
        if node is None or node.kind != "sequence" or not all(map(_known, node.children)):
            continue
        fix = fix_of(append(document, node, str(problem.args["dtype"])))
        other = related(problem, "已确认的 dtype", "the confirmed dtypes")
        yield Hit(problem.start, problem.end, args=problem.args, fix=fix, related=other)


def _known(node: Node) -> bool:
    from opdev.design.dtypes import fold_dtype, split_dtypes

    return all(fold_dtype(word) for word in split_dtypes(node.said)) and not node.empty
