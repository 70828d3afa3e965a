"""How the fields of a design must agree; each check looks at nodes, so a half-written design is no obstacle."""

from __future__ import annotations

from collections.abc import Iterator

from opdev.design.cross_data import CHECKS as DATA
from opdev.design.cross_results import CHECKS as RESULTS
from opdev.design.cross_run import CHECKS as RUN
from opdev.design.cross_schedule import CHECKS as SCHEDULE
from opdev.design.document import DesignDocument
from opdev.design.problems import Problem

CHECKS = (*RUN, *DATA, *SCHEDULE, *RESULTS)


def check(document: DesignDocument) -> Iterator[Problem]:
    """Every disagreement between fields."""
    for one in CHECKS:
        yield from one(document)
