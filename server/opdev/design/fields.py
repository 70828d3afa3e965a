"""How a field of the DSL is written down once: type, allowed values, both languages, template text.

The models are what validates, what completes, what hover shows and what the JSON Schema says, so
everything known of a field stands at the field.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from opdev.design.dtypes import DTYPES, GENERIC, fold_dtype, number, split_dtypes

PLACEHOLDER = "replace_me"

_make: Any = Field


class Section(BaseModel):
    """A mapping of the DSL: no keys but its own; a number may stand where a text is wanted."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True, frozen=True, defer_build=True)


def said(
    title_zh: str,
    title_en: str,
    zh: str,
    en: str,
    *,
    template: object = PLACEHOLDER,
    values: Sequence[str] = (),
    examples: Sequence[str] = (),
    **rules: object,
) -> Any:
    """A field's texts in both languages and its constraints (``rules`` are pydantic's).

    ``template`` is what a new design starts with, ``values`` closed or open sets that a type does
    not say, ``examples`` what is often written.
    """
    extra: dict[str, object] = {"x-title-zh": title_zh, "x-description-zh": zh, "x-template": template}
    if values:
        extra["x-values"] = list(values)
    if examples:
        rules["examples"] = list(examples)
    return _make(title=title_en, description=en, json_schema_extra=extra, **rules)


def choice(values: Sequence[str], *, pattern: str | None = None) -> Any:
    """Values outside of which a text is wrong, where more spellings than a fixed few are right."""
    wanted = re.compile(pattern or "|".join(f"{re.escape(v)}\\Z" for v in values))

    def check(value: str) -> str:
        if value and not wanted.match(value):
            raise PydanticCustomError("wrong_enum", "not one of {allowed}", {"allowed": ", ".join(values)})
        return value

    return AfterValidator(check)


def _null_is_empty(value: object) -> object:
    return [] if value is None else value


def _null_is_none_text(value: object) -> object:
    return "" if value is None else value


def _texts(value: object) -> object:
    return "\n".join(map(str, value)) if isinstance(value, list) and all(map(_plain, value)) else value


def _plain(value: object) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


T = TypeVar("T")
Items = Annotated[list[T], BeforeValidator(_null_is_empty)]
"""A list; nothing behind the colon is an empty one."""
Text = Annotated[str, BeforeValidator(_texts), Field(min_length=1, pattern=r"\S")]
"""Prose that must be there; a list of lines will do."""
MaybeText = Annotated[str, BeforeValidator(_null_is_none_text), BeforeValidator(_texts)]
"""Text that may be empty."""


def _check_dtype(value: str) -> str:
    if any(fold_dtype(word) is None and not GENERIC.match(word) for word in split_dtypes(value)):
        raise PydanticCustomError("wrong_enum", "not a dtype: {allowed}", {"allowed": ", ".join(DTYPES)})
    return value


Dtype = Annotated[Text, AfterValidator(_check_dtype)]
"""A dtype by any of its names, several of them, or the kernel's type parameter."""


def _tolerance(value: object) -> object:
    if isinstance(value, dict):
        for key, one in value.items():
            read = number(one)
            if isinstance(read, bool) or not isinstance(read, (int, float)):
                raise PydanticCustomError("wrong_number", "not a number", {"key": str(key)})
        return {str(key): number(one) for key, one in value.items()}
    read = number(value)
    if isinstance(read, bool) or (read is not None and not isinstance(read, (int, float))):
        raise PydanticCustomError("wrong_number", "not a number", {})
    return read


Tolerance = Annotated[float | dict[str, float], BeforeValidator(_tolerance)]
"""A number, ``2^-k``, or one of them for each dtype."""
