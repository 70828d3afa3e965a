"""What a key or a value of a contract means: the text of a hover, and of a completion that is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from opdev.contracts.fields import Contract, Field, Pair, Step, at
from opdev.contracts.parts import node_at, open_at, steps_of
from opdev.rules.model import Lang
from opdev.syntax.file import File

_KINDS: dict[str, Pair] = {
    "text": ("文字", "text"), "integer": ("整数", "integer"), "number": ("数", "number"), "flag": ("true 或 false", "true or false"),
    "list": ("列表", "list"), "object": ("对象", "object"), "any": ("任意", "anything"),
}  # fmt: skip
_REQUIRED: Pair = ("必填", "required")
_OPTIONAL: Pair = ("可选", "optional")
_VALUES: Pair = ("取值", "Values")
_USUAL: Pair = ("常用值", "Usual values")
_KEYS: Pair = ("键", "Keys")
_SOURCE: Pair = ("出处", "Source")


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanation, in Markdown, of the bytes ``[start, end)``."""

    text: str
    start: int
    end: int


def explained(file: File, offset: int, lang: Lang) -> Explained | None:
    """What the key or value at a byte means; None where no contract says anything."""
    part = open_at(file, offset)
    found = node_at(part, offset) if part is not None else None
    if part is None or found is None:
        return None
    node, start, end = found
    steps = steps_of(node)
    field = at(part.contract.top, steps)
    if field is None or field is part.contract.top:
        return None
    is_key = node.key_start + part.start == start
    value = "" if is_key else node.value
    return Explained(of_field(part.contract, field, steps, lang, value), start, end)


def of_field(contract: Contract, field: Field, steps: list[Step], lang: Lang, value: str = "") -> str:
    """A key's meaning in Markdown, the reader's language first; of a value of few what that means."""
    own, other = (0, 1) if lang == "zh" else (1, 0)
    path = "".join("[]" if isinstance(s, int) else f".{s}" for s in steps).lstrip(".")
    colon = "：" if lang == "zh" else ": "
    head = f"**{field.title[own]}**" + (f" · {field.title[other]}" if field.title[other] != field.title[own] else "")
    need = _REQUIRED if field.required else _OPTIONAL
    parts = [head, f"`{path}` · {need[own]} · {_KINDS[field.kind][own]}"]
    meaning = field.values.get(value, ("", ""))[own]
    if meaning:
        parts.append(f"`{value}`{colon}{meaning}")
    parts.append(field.about[own])
    if field.values:
        parts.append(f"{(_USUAL if field.usual else _VALUES)[own]}{colon}" + ", ".join(f"`{v}`" for v in field.values))
    elif field.fields:
        keys = ", ".join(f"`{f.key}`" for f in field.fields)
        parts.append(f"{_KEYS[own]}{colon}{keys}")
    parts.append(f"*{field.about[other]}*" if field.about[other] else "")
    parts.append(f"{_SOURCE[own]}{colon}{contract.source[own]}")
    return "\n\n".join(p for p in parts if p)
