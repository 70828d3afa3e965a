"""What a batch leaves for its reader: folders, records, the summary; and, for a dry run, what it would do."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opdev.atomic import write_bytes
from opdev.bench import generating, records, summary
from opdev.bench.casework import folders as folders_of
from opdev.bench.model import Case, CaseSpec, Outcome, Settings, Slot
from opdev.bench.page import html
from opdev.bench.report import markdown
from opdev.rules.model import Text

_SHOWN = 60


def folders(root: str) -> None:
    """Everything a batch writes into; OSError where that cannot be."""
    for name in ("state", "report", "logs", ".opdev"):
        os.makedirs(f"{root}/{name}", exist_ok=True)


def age(state: Mapping[str, Any]) -> float:
    """Seconds since a state was written last, as far as it says."""
    try:
        return time.time() - time.mktime(time.strptime(str(state["updated_at"]), "%Y-%m-%d %H:%M:%S"))
    except (KeyError, ValueError, OverflowError):
        return float("inf")


def record(outcome: Outcome) -> None:
    """Write a case's record; OSError where that cannot be."""
    records.write(outcome, outcome.report)


def message_of(outcome: Outcome) -> Text:
    """Why a case ended as it did, in one text."""
    found = outcome.verified
    return (found.message if found is not None and found.message else outcome.generated.message) or {}


def summed_up(root: str) -> dict[str, Any]:
    """Write the summary in all its forms; what it says."""
    made = summary.build(root)
    forms = {
        "summary.json": json.dumps(made, ensure_ascii=False, indent=1) + "\n",
        "summary.md": markdown(made, "zh"),
        "summary.html": html(made, "zh"),
    }
    for name, text in forms.items():
        write_bytes(f"{root}/report/{name}", text.encode("utf-8", "replace"))
    return made


def planned(
    settings: Settings, cases: Sequence[Case], slots: Sequence[Slot], watch: Callable[[dict[str, Any]], None]
) -> None:
    """Tell what a batch would do; nothing is written and nothing is run."""
    where = folders_of(settings, cases)
    watch({"event": "plan", "root": settings.root, "slots": [slot.label for slot in slots], "cases": len(cases)})
    for number, case in enumerate(cases):
        slot = slots[number % len(slots)]
        words: list[str] = []
        if settings.generator.command and not settings.generator.skip:
            words = generating.words(settings.generator, case, CaseSpec(case, ""), where[case.key], slot)
        shown = [word if len(word) <= _SHOWN else f"{word[:_SHOWN].splitlines()[0]}…" for word in words]
        watch({"event": "planned", "case": case.key, "op": case.op, "folder": where[case.key], "command": shown})
