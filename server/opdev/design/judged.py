"""Sections and cases that were found sound before, as the models that said so.

pydantic takes an instance as it is, so what a keystroke did not touch is not judged again.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from opdev.design.dsl import Design
from opdev.design.nodes import Node

_MOST = 4000
_sound: dict[tuple[type[BaseModel], bytes], tuple[object, BaseModel]] = {}


def forget() -> None:
    """Judge everything anew, for tests that count."""
    _sound.clear()


def judged(root: Node, text: bytes) -> object:
    """``root.data()`` with every section that holds as its model; the rest is as plain as it was."""
    if root.kind != "mapping":
        return root.data()
    return {child.key or "": _section(child, text) for child in root.children}


def _section(node: Node, text: bytes) -> object:
    model = _models(Design).get(node.key or "")
    if model is None or isinstance(model, tuple) or node.kind != "mapping":
        return node.data()
    value = node.data()
    found = _known(model, node, text, value)
    if found is not None:
        return found
    plain: dict[str, Any] = {}
    for child in node.children:
        item = _models(model).get(child.key or "")
        if isinstance(item, tuple) and child.kind == "sequence":
            plain[child.key or ""] = [_judge(item[0], one, text, one.data()) for one in child.children]
        else:
            plain[child.key or ""] = child.data()
    return _judge(model, node, text, value, plain)


def _known(model: type[BaseModel], node: Node, text: bytes, value: object) -> BaseModel | None:
    kept = _sound.get((model, text[node.start : node.end]))
    # An alias brings in what the text does not say.
    return kept[1] if kept is not None and kept[0] == value else None


def _judge(model: type[BaseModel], node: Node, text: bytes, value: object, plain: object = None) -> object:
    if not isinstance(value, dict):
        return value
    found = _known(model, node, text, value)
    if found is not None:
        return found
    try:
        made = model.model_validate(value if plain is None else plain)
    except ValidationError:
        return value if plain is None else plain
    if len(_sound) >= _MOST:
        for old in list(_sound)[: _MOST // 2]:
            _sound.pop(old, None)
    _sound[model, text[node.start : node.end]] = (value, made)
    return made


@cache
def _models(model: type[BaseModel]) -> dict[str, type[BaseModel] | tuple[type[BaseModel]]]:
    """The fields that are sections, and in a tuple those that are lists of them."""
    found: dict[str, type[BaseModel] | tuple[type[BaseModel]]] = {}
    for name, field in model.model_fields.items():
        annotation = field.annotation
        inner = get_args(annotation)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            found[name] = annotation
        elif len(inner) == 1 and isinstance(inner[0], type) and issubclass(inner[0], BaseModel):
            found[name] = (inner[0],)
    return found
