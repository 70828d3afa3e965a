"""Names that SHMEM's public headers give to everybody who includes them.

Only ``include/**`` of SHMEM itself is public; an operator's own ``include`` folder is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.rules.context import Context
from opdev.rules.model import Hit

_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(?P<name>[A-Za-z_]\w*)(?P<rest>[^\n]*)", re.MULTILINE)
_TYPE = re.compile(
    rb"(?P<typedef>\btypedef\s+)?\b(?P<kind>enum(?:\s+class)?|struct|union)\b\s*(?P<name>[A-Za-z_]\w*)?\s*(?::[^{};()<>]*)?\{"
)
_USING = re.compile(rb"^using[ \t]+(?P<name>\w+)[ \t]*=[ \t]*(?P<value>[^;\n]+);", re.MULTILINE)
_VALUE = re.compile(rb"[{,]\s*(?P<name>[A-Za-z_]\w*)\s*(?=[=,}])")
_GUARD = re.compile(rb".*_H(?:PP|H)?_*$")


def unprefixed_public_name(context: Context) -> Iterator[Hit]:
    """Macros, types and enum values of public headers that do not say whose they are."""
    place = context.place
    if place.shmem_repo is None or place.root is not None or not place.relative.startswith("include/"):
        return
    if b"aclshmem" not in context.data.lower():
        # Older versions say shmem where today's say aclshmem.
        hits = (*_macros(context), *_types(context))
        yield from (hit for hit in hits if not context.data[hit.start : hit.end].lower().startswith(b"shmem"))
        return
    yield from _macros(context)
    yield from _types(context)


def _macros(context: Context) -> Iterator[Hit]:
    gone = set(re.findall(rb"#[ \t]*undef[ \t]+(\w+)", context.code))
    for match in _MACRO.finditer(context.code):
        name = match["name"]
        args = {"name": name.decode()}
        if _kept_for_old_code(context, match.start()):
            continue
        if name.startswith((b"ACLSHMEMI_", b"aclshmemi_")):
            yield Hit(*match.span("name"), "internal", args)
            continue
        if not re.fullmatch(rb"[A-Z_][A-Z0-9_]*", name) or name.startswith((b"ACLSHMEM_", b"ACLSHMEMX_")):
            continue
        # Guards, aliases of old names, and helpers that are gone at the end of the header.
        alias = name.startswith(b"SHMEM") and b"ACLSHMEM" in match["rest"]
        if not (_GUARD.match(name) or alias or name in gone):
            yield Hit(*match.span("name"), args=args)


def _kept_for_old_code(context: Context, at: int) -> bool:
    """Whether the line above calls the name deprecated: it is there for those who use it already."""
    begin = context.data.rfind(b"\n", 0, at) + 1
    above = context.data[context.data.rfind(b"\n", 0, max(begin - 1, 0)) + 1 : begin]
    return re.search(rb"(?i)deprecated|\xe5\xba\x9f\xe5\xbc\x83", above) is not None


def _types(context: Context) -> Iterator[Hit]:
    code = context.code
    for match in _TYPE.finditer(code):
        end = _closing(code, match.end() - 1)
        name, span = match["name"], match.span("name")
        if match["typedef"]:
            after = re.compile(rb"\}\s*(?P<name>[A-Za-z_]\w*)\s*;").match(code, end)
            name, span = (after["name"], after.span("name")) if after is not None else (None, (0, 0))
        # With the prefix and without _t a name is off the convention and still clashes with nobody's.
        if name and not re.fullmatch(rb"aclshmemx?_[a-z0-9_]+", name):
            yield Hit(*span, "type", {"name": name.decode()})
        if match["kind"] == b"enum":
            for value in _VALUE.finditer(code, match.end() - 1, end + 1):
                if not value["name"].startswith((b"ACLSHMEM_", b"ACLSHMEMX_")):
                    yield Hit(*value.span("name"), "value", {"name": value["name"].decode()})
                    break
    for match in _USING.finditer(code):
        if not re.match(rb"aclshmem|ACLSHMEM", match["value"]) and not re.fullmatch(
            rb"aclshmemx?_[a-z0-9_]+_t", match["name"]
        ):
            yield Hit(*match.span("name"), "type", {"name": match["name"].decode()})


def _closing(code: bytes, at: int) -> int:
    """The brace that closes the one at ``at``."""
    depth = 0
    for match in re.compile(rb"[{}]").finditer(code, at):
        depth += 1 if match.group() == b"{" else -1
        if not depth:
            return match.start()
    return len(code)
