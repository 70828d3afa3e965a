"""JSON of a report, and its JSON Schema, made from the types of ``model``."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from typing import Any

from opdev.precision import model
from opdev.precision.model import Report

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def to_json(report: Report) -> str:
    """A report as JSON text; every number in it is one JSON has."""
    return json.dumps(asdict(report), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def from_json(document: dict[str, Any]) -> Report:
    """A report from what ``to_json`` made of it; ValueError for what is none."""
    from pydantic import TypeAdapter

    return TypeAdapter(Report).validate_python(document)


def schema() -> dict[str, Any]:
    """The schema of ``--format json``: what panels draw from."""
    from pydantic import ConfigDict, TypeAdapter

    config = ConfigDict(use_attribute_docstrings=True)
    for value in vars(model).values():
        if is_dataclass(value):
            setattr(value, "__pydantic_config__", config)  # noqa: B010 - pydantic's protocol, which no type declares
    made = TypeAdapter(Report).json_schema(mode="serialization")
    return {"$schema": _DIALECT, **made, "title": "opdev precision"}
