"""What an editor shows beside the cases of cases.json and of the runner's literal list: their scale."""

from __future__ import annotations

from collections.abc import Iterator

from opdev.design.document import DesignDocument
from opdev.design.inlays import Inlay, only_dtype
from opdev.design.scale import scale_of
from opdev.facts.cases import cases_of
from opdev.syntax.file import File


def case_inlays(file: File, design: DesignDocument | None, start: int = 0, end: int | None = None) -> Iterator[Inlay]:
    """The hints of the cases a file lists, between two of its bytes; ``design`` says what the operator is."""
    stop = len(file.data) if end is None else end
    listed = cases_of(file)
    kind, name, dtype = "", "", ""
    if design is not None:
        kind, name, dtype = design.text("meta.op_kind"), design.text("meta.op_name"), only_dtype(design)
    for case in listed.cases if listed is not None else ():
        if start <= case.end <= stop and case.elements is not None:
            scale = scale_of(str(case.elements), case.dtype or dtype, case.n_pes, kind, name)
            if scale is not None:
                yield Inlay(case.end, scale.label, scale.explain)
