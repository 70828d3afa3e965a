"""The DSL's JSON Schema and its skeleton, both made from the models."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.design.dsl import Design
from opdev.design.fields import PLACEHOLDER
from opdev.design.walk import FieldView, field, keys_of

_WORD = re.compile(r'"(?!replace_me|true|false|null|yes|no|on|off)[A-Za-z][\w/-]*"')

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, object]:
    """The JSON Schema of a design (draft 2020-12); titles and texts in English, Chinese as ``x-…-zh``."""
    made = Design.model_json_schema(mode="validation")
    made["properties"]["dsl_version"] = {"anyOf": [made["properties"]["dsl_version"], {"const": 0.3}]}
    return {"$schema": DIALECT, "title": "SHMEM Canonical DSL 0.3", **{k: v for k, v in made.items() if k != "title"}}


def skeleton(path: str = "", indent: int = 0) -> str:
    """The YAML a new design (or one section, or one item of ``interface.inputs[]``) starts with.

    Lines end in a newline and begin with ``indent`` blanks; optional keys are left out.
    """
    if path.endswith("[]"):
        view = field(path[:-2])
        lines = list(_mapping(keys_of(view.item, path), 0)) if view is not None and view.item is not None else []
        lines = [("- " if i == 0 else "  ") + line for i, line in enumerate(lines)]
    elif path:
        view = field(path)
        lines = list(_entry(view, 0)) if view is not None else []
    else:
        lines = []
        for view in keys_of(Design).values():
            if view.required:
                lines += [*([""] if lines else []), *_entry(view, 0)]
    return "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in lines)


def _mapping(keys: dict[str, FieldView], level: int, begun: bool = False) -> Iterator[str]:
    for view in keys.values():
        if view.required or view.key in ("docker_workdir", "references", "attrs", "shape_relations"):
            yield from _entry(view, level, begun)


def _entry(view: FieldView, level: int, begun: bool = False) -> Iterator[str]:
    """A key with its value; required lists have a first item where they are to be ``begun``."""
    blank = "  " * level
    if view.model is not None:
        yield f"{blank}{view.key}:"
        yield from _mapping(keys_of(view.model, view.path), level + 1, begun)
    elif begun and view.required and view.item is not None:
        yield f"{blank}{view.key}:"
        yield from (f"{blank}  {line}" for line in skeleton(f"{view.path}[]").splitlines())
    else:
        yield f"{blank}{view.key}: {template(view)}"


def value_text(path: str) -> str:
    """What a new design has behind the key at ``path``: one line, or lines indented below it.

    Lists that must not stay empty have a first item: what is put in would be told again otherwise.
    """
    view = field(path)
    if view is not None and view.item is not None:
        return skeleton(f"{view.path}[]", 2)
    text = "".join(f"{line}\n" for line in _entry(view, 0, begun=True)) if view is not None else ""
    head, _, rest = text.partition("\n")
    value = head.partition(":")[2].strip()
    # Quotes that say nothing are not typed by anybody.
    return rest or (value.strip('"') if _WORD.fullmatch(value) else value)


def template(view: FieldView) -> str:
    """The YAML text of a field's template value."""
    value = view.template
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(f'"{v}"' for v in value) + "]"
    if isinstance(value, str) and (value == PLACEHOLDER or not value.startswith('"')):
        return f'"{value}"'
    return str(value)
