"""The JSON Schemas of what `opdev gate` and `opdev status` print with ``--format json``.

``--print-schema`` prints them.  Fields are never taken away or given another meaning; new ones may come.
"""

from __future__ import annotations

from typing import Any, get_args

from opdev.phases.graph import ORDER
from opdev.phases.model import STATES, GateState

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _object(required: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": required, **more}


_TEXT = _object({"zh": {"type": "string"}, "en": {"type": "string"}}, description="A text in both languages")
_PLACE = {
    "anyOf": [
        _object(
            {
                "path": {"type": "string", "description": "Relative to the working directory, forward slashes"},
                "line": {"type": "integer", "minimum": 1},
                "column": {"type": "integer", "minimum": 1, "description": "In Unicode code points"},
            },
            description="A place; line 1 of a file that is missing",
        ),
        {"type": "null"},
    ]
}
_PHASE = {"enum": list(ORDER), "description": "The phase; `regression` is the Torch regression after 6.5"}
_CHECK = _object(
    {
        "id": {"type": "string", "description": "Stable; `rule:NAME` for a rule of the linter"},
        "title": {"$ref": "#/$defs/text"},
        "state": {
            "enum": list(STATES),
            "description": "`unknown`: nothing on disk shows it; keeps the gate closed as `failed` does",
        },
        "detail": {"$ref": "#/$defs/text"},
        "opens": {"$ref": "#/$defs/text", "description": "What opens it; empty where nothing has to be done"},
        "place": {"$ref": "#/$defs/place"},
        "simulated": {
            "type": "boolean",
            "description": "It holds by what the CPU stand-in showed, and no hardware did",
        },
    }
)
_GATE: dict[str, Any] = {
    "phase": {"$ref": "#/$defs/phase"},
    "title": {"$ref": "#/$defs/text"},
    "state": {"enum": list(get_args(GateState))},
    "simulated": {"type": "boolean", "description": "Open only by what the CPU stand-in showed; never so for Phase 6"},
    "why": {"$ref": "#/$defs/text", "description": "Why it is skipped; empty otherwise"},
    "checks": {"type": "array", "items": {"$ref": "#/$defs/check"}},
}
_NAMED: dict[str, Any] = {
    "operator": {"type": "string", "description": "The operator's name"},
    "root": {"type": "string", "description": "Its folder, relative to the working directory"},
    "workflow": {
        "enum": ["shmem", "pypto-classic", "pypto-pro", "pypto-pro-4"],
        "description": "Whose phases they are; PyPTO's are the stages 1 to 7 (classic), 1 to 5, or 1 to 4",
    },
}
_DEFS = {"text": _TEXT, "place": _PLACE, "phase": _PHASE, "check": _CHECK, "gate": _object(_GATE)}


def gate() -> dict[str, Any]:
    """The schema of `opdev gate --format json`."""
    return {"$schema": _DIALECT, "title": "opdev gate", "$defs": _DEFS, **_object({**_NAMED, **_GATE})}


def status() -> dict[str, Any]:
    """The schema of `opdev status --format json`."""
    one = _object(
        {
            **_NAMED,
            "phase": {"$ref": "#/$defs/phase"},
            "title": {"$ref": "#/$defs/text"},
            "row": {
                "anyOf": [{"type": "integer", "minimum": 1, "maximum": 14}, {"type": "null"}],
                "description": "Row of the recovery matrix; null where none fits: delivery, or done",
            },
            "complete": {"type": "boolean"},
            "why": {"$ref": "#/$defs/text"},
            "next": {"$ref": "#/$defs/text"},
            "worker": {"type": "string", "description": "The skills that do it; — for the user"},
            "back": {
                "anyOf": [{"$ref": "#/$defs/phase"}, {"type": "null"}],
                "description": "The phase that the last failure leads back to; null where none is on record for the present code",
            },
            "place": {"$ref": "#/$defs/place"},
            "round": {
                "anyOf": [{"$ref": "#/$defs/text"}, {"type": "null"}],
                "description": "What is unfinished about optimisation rounds, and what to do",
            },
            "skipped": {
                "type": "array",
                "items": _object({"phase": {"$ref": "#/$defs/phase"}, "why": {"$ref": "#/$defs/text"}}),
            },
            "gates": {
                "type": "array",
                "items": {"$ref": "#/$defs/gate"},
                "description": "The gates up to the open phase",
            },
        }
    )
    return {
        "$schema": _DIALECT,
        "title": "opdev status",
        "$defs": _DEFS,
        **_object({"operators": {"type": "array", "items": one}}),
    }
