"""Makes ``protocol.schema.json`` of the shapes in ``messages``: ``python -m opdev.lsp.running.schema`` writes it anew.

The file is shipped; a test holds it against the shapes, and what goes over the wire against it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

PATH = f"{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}/protocol.schema.json"


def made() -> dict[str, Any]:
    """The schema by the shapes: ``messages`` names the definition of each message's params and result."""
    from pydantic import TypeAdapter

    from opdev.lsp.running.messages import MESSAGES

    listed = []
    for params, result in MESSAGES.values():
        listed += [(kind, "serialization", TypeAdapter(kind)) for kind in (params, result) if kind is not None]
    _, schema = TypeAdapter.json_schemas(listed, ref_template="#/$defs/{model}")
    named = {
        name: {"params": {"$ref": f"#/$defs/{params.__name__}"}, **({"result": {"$ref": f"#/$defs/{result.__name__}"}} if result else {})}
        for name, (params, result) in MESSAGES.items()
    }  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Messages of opdev-lsp about phases and runs; see PROTOCOL.md",
        "messages": named,
        "$defs": {name: _closed(shape) for name, shape in sorted(schema["$defs"].items())},
    }


def _closed(shape: dict[str, Any]) -> dict[str, Any]:
    """What is not described is not said, and not understood."""
    return {**shape, "additionalProperties": False} if "properties" in shape else shape


def text() -> str:
    """The file's text."""
    return json.dumps(made(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    with open(PATH, "w", encoding="utf-8") as stream:
        stream.write(text())
    sys.stdout.write(PATH + "\n")
