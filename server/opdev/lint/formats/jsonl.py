"""JSON lines: one finding a line, nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence

from opdev.lint.formats import Run
from opdev.lint.formats.json import item
from opdev.lint.record import Record, Texts


def write(records: Sequence[Record], texts: Texts, run: Run) -> str:  # noqa: ARG001 - one signature for all formats
    return "".join(json.dumps(item(r, texts), ensure_ascii=False) + "\n" for r in records)
