"""The dtypes a design promises against those that code, scripts and cases deal with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.designed import all_dtypes, design_for, dispatched_dtypes, shown
from opdev.design.document import DesignDocument
from opdev.design.dtypes import GENERIC, fold_dtype, split_dtypes
from opdev.facts.cases import cases_of, matrix_of
from opdev.facts.dispatch import Dispatch, dispatches
from opdev.facts.kernels import launchers
from opdev.facts.scripts import dtype_cases
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related

_OF_DATA = re.compile(r"(?i)(?:^|[.>])(?:data_?|elem(?:ent)?_?)?d?type_?(?:str|name)?(?:\(\))?$")
_OF_TENSOR = re.compile(r"(?:^|\.)(?P<tensor>\w+)(?:\.|->)(?:scalar_type|dtype)\(\)$")


def missing_dtype_branch(context: Context) -> Iterator[Hit]:
    """A choice by dtype that leaves out what the design supports."""
    document = design_for(context)
    wanted = dispatched_dtypes(document) if document is not None else None
    if document is None or wanted is None or len(wanted) < 2:
        return
    if context.file.language == "bash":
        for case in dtype_cases(context.file):
            missing = [d for d in wanted.nodes if d not in case.dtypes]
            if case.closed and missing and any(d in wanted for d in case.dtypes):
                args = {"dtypes": ", ".join(missing), "has": ", ".join(sorted(case.dtypes))}
                yield Hit(case.start, case.end, "script", args, related=_asked(document, missing))
        return
    starting = {one.name for one in launchers(context.file)}
    for dispatch in dispatches(context.file):
        known = dispatch.dtypes
        missing = [d for d in wanted.nodes if d not in known]
        if not missing or not any(d in wanted for d in known) or not _is_of_data(document, dispatch):
            continue
        if dispatch.closed and (dispatch.refuses or dispatch.function in starting):
            args = {"dtypes": ", ".join(missing), "has": ", ".join(sorted(known)), "function": dispatch.function}
            key = "refused" if dispatch.refuses else "default"
            yield Hit(dispatch.start, dispatch.end, key, args, related=_asked(document, missing))


def _asked(document: DesignDocument, missing: list[str]) -> tuple[Related, ...]:
    wanted = dispatched_dtypes(document)
    nodes = {wanted.nodes[d] for d in missing} if wanted is not None else set()
    return tuple(
        shown(document, node, "设计在这里要求支持", "the design asks for it here")
        for node in sorted(nodes, key=lambda n: n.start)
    )


def _is_of_data(document: DesignDocument, dispatch: Dispatch) -> bool:
    """Whether the choice is by the dtype of the data, not of an index or a scale."""
    tensor = _OF_TENSOR.search(dispatch.subject)
    if tensor is None:
        return _OF_DATA.search(dispatch.subject) is not None
    for item in (*document.items("interface.inputs"), *document.items("interface.outputs")):
        name, dtype = item.get("name"), item.get("dtype")
        if name is not None and dtype is not None and name.text == tensor["tensor"]:
            words = split_dtypes(dtype.text)
            return len(words) > 1 or any(GENERIC.match(word) for word in words)
    return False


def case_dtype_mismatch(context: Context) -> Iterator[Hit]:
    """A case of a dtype the design does not have; a dtype of the design without a case."""
    project, document = context.project, design_for(context)
    cases = cases_of(context.file)
    if project is None or document is None or cases is None or cases.origin == "design":
        return
    matrix = matrix_of(project)
    if matrix is None or matrix.path != context.file.path:
        return
    known = all_dtypes(document)
    if known is None:
        return
    tested: set[str] = set()
    for case in cases.cases:
        dtype = fold_dtype(case.dtype or "")
        if dtype is None:
            if case.dtype:
                return  # a spelling nobody here reads: which dtypes are tested is not known
            continue
        tested.add(dtype)
        place = case.places.get("dtype")
        if dtype not in known and place is not None:
            first = next(iter(known.values()))
            related = (shown(document, first, "设计里的 dtype 从这里起", "the design's dtypes begin here"),)
            args = {"case": case.id, "dtype": dtype, "known": ", ".join(known)}
            yield Hit(*place, args=args, related=related)
    wanted = dispatched_dtypes(document)
    missing = [d for d in wanted.nodes if d not in tested] if wanted is not None and tested and cases.complete else []
    if missing:
        asked = _asked(document, missing)
        args = {"dtypes": ", ".join(missing), "has": ", ".join(sorted(tested))}
        first_case = cases.cases[0]
        place = first_case.places.get("dtype", (first_case.start, first_case.start + 1))
        yield Hit(*place, "untested", args, related=asked)
