"""The models seen by path: which keys a mapping has, what a value may be, what a field means.

Hover, completion, insertions and the validator's messages all ask here.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from opdev.design.dsl import Design

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

Kind = Literal["mapping", "list", "flag", "integer", "number", "text", "any"]
_STEP = re.compile(r"\.?([^.\[\]]+)|(\[\d*\])")


@dataclass(frozen=True, slots=True)
class FieldView:
    """A field of the DSL; ``path`` has ``[]`` for items, texts are keyed ``zh`` and ``en``."""

    path: str
    key: str
    kind: Kind
    required: bool
    title: Mapping[str, str]
    text: Mapping[str, str]
    values: tuple[str, ...]
    """The values it may have, or the usual ones where ``closed`` is false."""
    closed: bool
    examples: tuple[str, ...]
    template: object
    model: type[BaseModel] | None
    """The keys of the mapping it is."""
    item: type[BaseModel] | None
    """The keys of each item of the list it is."""


@cache
def keys_of(model: type[BaseModel], path: str = "") -> dict[str, FieldView]:
    """The keys of a mapping in their order."""
    before = f"{path}." if path else ""
    return {name: _view(f"{before}{name}", name, info) for name, info in model.model_fields.items()}


@cache
def field(path: str) -> FieldView | None:
    """The field at ``interface.inputs[0].dtype`` (any item will do); None for what the DSL has not."""
    model: type[BaseModel] | None = Design
    view: FieldView | None = None
    walked = ""
    for key, index in _STEP.findall(path):
        if index:
            if view is None or view.kind != "list":
                return None
            model, walked = view.item, f"{walked}[]"
            continue
        if model is None:
            return None
        view = keys_of(model, walked).get(key)
        if view is None:
            return None
        model, walked = view.model, view.path
    return view


def keys_at(path: str) -> dict[str, FieldView]:
    """The keys the mapping at ``path`` may have (empty: the top); empty for what is no mapping."""
    if not path:
        return keys_of(Design)
    base = re.sub(r"\[\d*\]", "[]", path)
    view = field(base)
    if view is None:
        return {}
    model = view.item if base.endswith("]") else view.model
    return keys_of(model, base) if model is not None else {}


def all_fields() -> list[FieldView]:
    """Every field, parents first, in the DSL's order."""
    found: list[FieldView] = []

    def below(model: type[BaseModel], path: str) -> None:
        for view in keys_of(model, path).values():
            found.append(view)
            if view.model is not None:
                below(view.model, view.path)
            if view.item is not None:
                below(view.item, f"{view.path}[]")

    below(Design, "")
    return found


def _view(path: str, key: str, info: FieldInfo) -> FieldView:
    extra: Mapping[str, Any] = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    kind, values, model, item = _shape(info.annotation)
    listed = tuple(extra.get("x-values", ()))
    return FieldView(
        path,
        key,
        kind,
        info.is_required(),
        {"zh": str(extra.get("x-title-zh", "")), "en": info.title or ""},
        {"zh": str(extra.get("x-description-zh", "")), "en": info.description or ""},
        values or listed,
        bool(values),
        tuple(map(str, info.examples or ())),
        extra.get("x-template", ""),
        model,
        item,
    )


def _shape(annotation: Any) -> tuple[Kind, tuple[str, ...], type[BaseModel] | None, type[BaseModel] | None]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _shape(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        inner = [a for a in get_args(annotation) if a is not type(None)]
        shapes = [_shape(a) for a in inner]
        return shapes[0]
    if origin is Literal:
        return "text", tuple(map(str, get_args(annotation))), None, None
    if origin is list:
        (of,) = get_args(annotation)
        return "list", (), None, _shape(of)[2]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "mapping", (), annotation, None
    kinds: dict[Any, Kind] = {bool: "flag", int: "integer", float: "number", str: "text"}
    return kinds.get(annotation, "any"), (), None, None
