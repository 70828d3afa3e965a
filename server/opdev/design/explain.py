"""What a place in a design means: its field in both languages, the formula of its section, its own numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from opdev.design.complete import complete, describe
from opdev.design.document import DesignDocument
from opdev.design.formulas import formula
from opdev.design.inlays import case_scale
from opdev.design.nodes import Node
from opdev.design.scale import Lang
from opdev.design.walk import FieldView

_WORDS = {
    "required": {"zh": "必填", "en": "required"},
    "optional": {"zh": "可选", "en": "optional"},
    "values": {"zh": "取值", "en": "Values"},
    "usual": {"zh": "常用值", "en": "Usual values"},
    "here": {"zh": "本用例", "en": "This case"},
}
_CASE = re.compile(r"correctness\.case_matrix\[\d+\]")


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanation of the bytes ``[start, end)`` of the Markdown; ``text`` is Markdown."""

    path: str
    text: str
    start: int
    end: int


def explain(document: DesignDocument, offset: int, lang: Lang) -> Explained | None:
    """What the key or value at a byte of the Markdown means; None outside the DSL and on what it does not know."""
    node = document.at(offset)
    if node is not None and node is not document.root:
        span = _span(node, offset)
        path = re.sub(r"\[\d+\]\Z", "", node.path) if node.key_start < 0 and node.kind == "scalar" else node.path
        # Keys of a map by dtype belong to the field that holds them.
        view = describe(path) or (describe(node.parent.path) if node.parent is not None else None)
        if span is not None and view is not None:
            return Explained(node.path, _text(document, node, view, lang), *span)
        return None
    return _unread(document, offset, lang)


def of_field(view: FieldView, lang: Lang) -> str:
    """A field's title and meaning in Markdown, the reader's language first."""
    other: Lang = "en" if lang == "zh" else "zh"
    need = _WORDS["required" if view.required else "optional"][lang]
    parts = [f"**{view.title[lang]}** · {view.title[other]}", f"`{view.path}` · {need}", view.text[lang]]
    if view.values:
        key = "values" if view.closed else "usual"
        parts.append(f"{_WORDS[key][lang]}: {', '.join(f'`{v}`' for v in view.values)}")
    elif view.examples:
        parts.append(f"{_WORDS['usual'][lang]}: {', '.join(f'`{v}`' for v in view.examples)}")
    parts.append(f"*{view.text[other]}*")
    return "\n\n".join(part for part in parts if part)


def _text(document: DesignDocument, node: Node, view: FieldView, lang: Lang) -> str:
    parts = [of_field(view, lang), formula(view.path, lang, node.said)]
    found = _CASE.match(node.path)
    case = document.get(found.group()) if found else None
    scale = case_scale(document, case) if case is not None else None
    if scale is not None:
        parts.append(f"{_WORDS['here'][lang]}: {scale.label[lang]}\n\n{scale.explain(lang)}")
    return "\n\n".join(part for part in parts if part)


def _span(node: Node, offset: int) -> tuple[int, int] | None:
    """The key, or a scalar's value, that is at the offset."""
    if 0 <= node.key_start <= offset <= node.key_end:
        return node.key_start, node.key_end
    if node.kind in ("scalar", "broken") and node.start <= offset <= node.end and node.end > node.start:
        return node.start, node.end
    return None


def _unread(document: DesignDocument, offset: int, lang: Lang) -> Explained | None:
    """A key in text that does not parse: by lines and columns."""
    data = document.data
    start, end = offset, offset
    while start > 0 and (data[start - 1 : start].isalnum() or data[start - 1 : start] == b"_"):
        start -= 1
    while end < len(data) and (data[end : end + 1].isalnum() or data[end : end + 1] == b"_"):
        end += 1
    word = document.source.text(start, end)
    place = complete(document, start) if word else None
    if place is None or data[end : end + 1] != b":":
        return None
    view = describe(f"{place.path}.{word}" if place.path else word)
    return Explained(view.path, of_field(view, lang), start, end) if view is not None else None
