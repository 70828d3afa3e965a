"""What a kind of operator is: its design in words, and the expressions of its host program, from kind.yaml."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import opdev

_PACKAGE = Path(opdev.__file__).parent


def templates_folder() -> Path:
    """The folder of the shipped templates (installed or in a checkout); ``OPDEV_TEMPLATES`` overrides it."""
    given = os.environ.get("OPDEV_TEMPLATES")
    if given:
        return Path(given)
    inside = _PACKAGE / "_data" / "templates"
    return (inside if inside.is_dir() else _PACKAGE.parents[1] / "templates") / "operator"


def merged(common: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """``own`` over ``common``; mappings are merged key by key, anything else is replaced."""
    result = dict(common)
    for key, value in own.items():
        below = result.get(key)
        result[key] = merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return result


class Kind(NamedTuple):
    """What holds of a kind whatever the options: the dtypes it supports and the AIVs it is launched on."""

    dtypes: tuple[str, ...]
    block_dim: int


def kind_of(name: str) -> Kind:
    """The kind of that name, from kinds.yaml."""
    path = templates_folder() / "kinds" / "kinds.yaml"
    said = yaml.safe_load(path.read_text(encoding="utf-8"))["kinds"][name]
    return Kind(tuple(said["dtypes"]), said["block_dim"])
