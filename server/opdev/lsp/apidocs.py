"""How a name of the ACLSHMEM API is shown."""

from __future__ import annotations

from collections.abc import Iterable

from opdev.api.table import Api, Variant, lookup
from opdev.lsp.client import Lang
from opdev.lsp.cursor import Side

_SIDES = {
    "device": {"zh": "设备侧（AICore）", "en": "device (AICore)"},
    "host": {"zh": "主机侧", "en": "host"},
    "simt": {"zh": "设备侧（SIMT）", "en": "device (SIMT)"},
}
_WORDS = {
    "declared": {"zh": "声明于", "en": "Declared in"},
    "engines": {"zh": "可用引擎", "en": "Engines"},
    "deprecated": {"zh": "已弃用，改用", "en": "Deprecated: use"},
    "alias": {"zh": "旧写法，现名", "en": "Old spelling of"},
    "aliases": {"zh": "旧写法", "en": "Old spellings"},
    "platform": {"zh": "仅", "en": "Only on"},
    "member": {"zh": "枚举", "en": "Member of"},
    "values": {"zh": "取值", "en": "Values"},
    "more": {"zh": "另有 {n} 个重载", "en": "{n} more overloads"},
}
_MOST_SIGNATURES = 3


def said(key: str, lang: Lang) -> str:
    """A word of these pages."""
    return _WORDS[key][lang]


def documentation(api: Api, lang: Lang, side: Side | None, written: str = "") -> str:
    """A name's page in Markdown, the side the code runs on first; ``written`` is what the code says."""
    parts: list[str] = []
    if written and written != api.name:
        parts.append(f"{said('alias', lang)} `{api.name}`")
    if api.replacement is not None:
        parts.append(f"**{said('deprecated', lang)} `{api.replacement}`**" if api.replacement else "")
    parts += [_variant(variant, lang) for variant in ordered(api.variants, side)]
    facts = []
    if api.engines:
        facts.append(f"{said('engines', lang)}: {', '.join(sorted(api.engines))}")
    if api.member_of:
        facts.append(f"{said('member', lang)} `{api.member_of}`")
    if api.aliases:
        facts.append(f"{said('aliases', lang)}: {', '.join(f'`{a}`' for a in api.aliases[:4])}")
    if facts:
        parts.append("  \n".join(facts))
    return "\n\n".join(part for part in parts if part)


def ordered(variants: Iterable[Variant], side: Side | None) -> list[Variant]:
    """The declarations for a side, then the others."""
    return sorted(variants, key=lambda v: side is not None and v.scope != side)


def _variant(variant: Variant, lang: Lang) -> str:
    shown = [s.text for s in variant.signatures[:_MOST_SIGNATURES]]
    text = "```cpp\n" + "\n".join(shown) + "\n```"
    more = len(variant.signatures) - len(shown)
    lines = []
    if more > 0:
        lines.append(f"*{said('more', lang).format(n=more)}*")
    lines.append(summary(variant, lang))
    if variant.note:
        lines.append(variant.note)
    where = f"`{variant.headers[0]}{f':{variant.line}' if variant.line else ''}`" if variant.headers else ""
    facts = [_SIDES[variant.scope][lang] if variant.scope else "", f"{said('declared', lang)} {where}" if where else ""]
    if variant.platform:
        facts.append(f"{said('platform', lang)} {variant.platform}")
    lines.append(" · ".join(f for f in facts if f))
    if variant.values:
        listed = ", ".join(f"`{name}` = {value}" for name, value in variant.values.items())
        lines.append(f"{said('values', lang)}: {listed}")
    return text + "\n" + "\n\n".join(line for line in lines if line)


def summary(variant: Variant, lang: Lang) -> str:
    """What a declaration does, in one sentence."""
    return variant.summary.get(lang) or variant.summary.get("en", "")


def find(word: str) -> Api | None:
    """The API a word of the code names."""
    return lookup(word) if len(word) > 3 else None
