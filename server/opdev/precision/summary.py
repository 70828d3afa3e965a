"""``python -m opdev.precision.summary ROOT SINCE``: an operator's last outputs judged, for the events of the run that wrote them.

It is a process of its own, so a runner loads no numpy and can end it.  It prints one JSON object: ``document`` as
``opdev precision --format json`` has it, or null and ``why`` in both languages.  Outputs from before SINCE (seconds since
1970) are another run's, and are not told as this one's.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from opdev.precision.model import Both, Report, Result
from opdev.precision.texts import PrecisionError, both

_SLACK = 1.0
"""Seconds by which clocks of files and of this machine may differ."""
_LONGEST = 200_000
"""Characters of a document with heat maps; a longer one goes without."""


def summary(root: str, since: float) -> dict[str, Any]:
    """``document`` and ``why``; one of them is null."""
    return told(root, since)


def told(
    root: str, since: float = 0.0, *, data: str | None = None, output: str | None = None, backend: str | None = None,
    whole: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """The same of the outputs in ``output`` for the data in ``data``; without ``whole`` no heat map of what passes."""
    try:
        from opdev.precision.operator import judge_operator
    except ImportError as error:
        return _none(both("no-numpy", why=error))
    try:
        report = judge_operator(root, data=data, output=output, backend=backend)
    except PrecisionError as error:
        return _none(error.text)
    older = next((r.output for r in report.results if _older(r.output, since)), None)
    if older is not None:
        return _none(both("s-older", path=older))
    if not whole:
        report = replace(report, results=tuple(_plain(r) if r.verdict == "pass" else r for r in report.results))
    return {"document": asdict(_bounded(report)), "why": None}


def _older(path: str, since: float) -> bool:
    try:
        return os.path.getmtime(path) < since - _SLACK
    except OSError:
        return False  # A missing one is told by its result.


def _bounded(report: Report) -> Report:
    if len(json.dumps(asdict(report))) <= _LONGEST:
        return report
    return replace(report, results=tuple(map(_plain, report.results)))


def _plain(result: Result) -> Result:
    return replace(result, heat=None, worst_tiles=())


def _none(why: Both) -> dict[str, Any]:
    return {"document": None, "why": asdict(why)}


def main(argv: Sequence[str]) -> int:
    """Print the summary of ROOT."""
    root, since = argv
    sys.stdout.write(json.dumps(summary(root, float(since)), ensure_ascii=True, allow_nan=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
