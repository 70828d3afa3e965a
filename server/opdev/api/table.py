"""One lookup for checks, hover, completion and signature help.

The linter asks only what a name is and where it may stand, so that part (``index.json``, about
1 ms to load) is apart from signatures and summaries (``aclshmem.json``), which are read when
somebody first looks at them.  Old spellings (``shmem_*``) resolve to the name they stand for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal

Scope = Literal["device", "host", "simt"]
Engine = Literal["MTE", "SDMA", "RDMA", "UDMA"]
NameKind = Literal["function", "type", "enum", "enumerator", "constant", "macro"]

_HERE = Path(__file__).parent
_SCOPES: tuple[Scope, ...] = ("device", "host", "simt")
_ENGINES: tuple[Engine, ...] = ("MTE", "SDMA", "RDMA", "UDMA")

# Names that never existed, or no longer do, and what their writers meant.
RENAMED: Mapping[str, str] = {
    "aclshmem_put_nbi": "aclshmem_putmem_nbi",
    "aclshmem_get_nbi": "aclshmem_getmem_nbi",
    "aclshmem_put": "aclshmem_putmem",
    "aclshmem_get": "aclshmem_getmem",
    "aclshmem_put_signal": "aclshmem_putmem_signal",
    "aclshmem_put_signal_nbi": "aclshmem_putmem_signal_nbi",
    "aclshmem_team_sync": "aclshmem_sync",
    "aclshmem_signal_op": "aclshmemx_signal_op",
    "aclshmem_doubl_put_signal": "aclshmem_double_put_signal",
    "aclshmemx_mte_set_ub_params": "aclshmemx_set_mte_config",
    "aclshmemx_mte_config": "aclshmemx_set_mte_config",
    "aclshmemx_rdma_config": "aclshmemx_set_rdma_config",
    "aclshmemx_sdma_config": "aclshmemx_set_sdma_config",
    "aclshmemx_udma_config": "aclshmemx_set_udma_config",
    "aclshmemx_sdma_put": "aclshmemx_sdma_put_nbi",
    "aclshmemx_sdma_get": "aclshmemx_sdma_get_nbi",
    "aclshmemx_set_ffts": "util_set_ffts_config",
    "aclshmemx_set_ffts_config": "util_set_ffts_config",
    "aclshmemx_get_ffts_config": "util_get_ffts_config",
}
_RDMA = re.compile(r"aclshmemx_rdma_(?=\w)")
_ENGINE_WORD = re.compile(r"_(?:mte|sdma|roce|udma|simt)_")
_CALLBACK = re.compile(r"\(\s*\*\s*(\w+)\s*\)")


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter: type and name as declared, default value or empty."""

    type: str
    name: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """One overload as declared, on one line."""

    text: str

    @property
    def template(self) -> str:
        """``template <…>`` as declared, empty for a plain function."""
        return self.text[: _template_end(self.text)].strip()

    @property
    def returns(self) -> str:
        """The return type (of a function's signature)."""
        at = _template_end(self.text)
        return self.text[at : self.text.find("(", at)].rstrip().rpartition(" ")[0].strip()

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters in order; empty for ``()`` and ``(void)``."""
        at = self.text.find("(", _template_end(self.text))
        inside = self.text[at + 1 : self.text.rfind(")")] if at >= 0 else ""
        return tuple(_param(part) for part in split_top(inside) if part.strip() not in ("", "void"))

    def param_spans(self) -> tuple[tuple[int, int], ...]:
        """Character ranges of the parameters in ``text``, for signature help."""
        at = self.text.find("(", _template_end(self.text)) + 1
        spans = []
        for part in split_top(self.text[at : self.text.rfind(")")]):
            lead = len(part) - len(part.lstrip())
            if part.strip() not in ("", "void"):
                spans.append((at + lead, at + len(part.rstrip())))
            at += len(part) + 1
        return tuple(spans)


@dataclass(frozen=True, slots=True)
class Variant:
    """The name on one side: device (AICore), host, or SIMT; types and macros have no side."""

    scope: Scope | None
    signatures: tuple[Signature, ...]
    headers: tuple[str, ...]
    """Paths below the SHMEM repository, the first is where ``line`` points."""
    line: int
    """1-based line in the header; 0 where unknown."""
    summary: Mapping[str, str]
    platform: str = ""
    note: str = ""
    values: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Api:
    """A public name.  Everything but ``variants`` comes from the index and is cheap."""

    name: str
    kind: NameKind
    scopes: frozenset[Scope] = frozenset()
    """Where a function is declared; empty for types, enumerators, macros."""
    engines: frozenset[Engine] = frozenset()
    """Engines that may carry the call; empty where the call is tied to none."""
    family: str = ""
    """The name with its type folded: ``aclshmem_<T>_put``."""
    type_arg: str = ""
    """What ``<T>`` or ``<BITS>`` is in this name: ``float``, ``32``."""
    types: tuple[str, ...] = ()
    """Short names of the element types a template accepts, where it is choosy."""
    replacement: str | None = None
    """What to use instead; None unless deprecated."""
    member_of: str = ""
    """The enum an enumerator belongs to."""

    @property
    def deprecated(self) -> bool:
        return self.replacement is not None

    @property
    def aliases(self) -> tuple[str, ...]:
        """Old spellings of this name."""
        return _aliases_of().get(self.name, ())

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Declarations with their documentation, AICore first (loads the documentation)."""
        return _variants(self.name)

    @property
    def on_device(self) -> bool:
        """Whether device code may call it (AICore or SIMT)."""
        return "device" in self.scopes or "simt" in self.scopes

    @property
    def namespace(self) -> str:
        """``simt`` for names that exist only there."""
        return "simt" if self.scopes == {"simt"} else ""


def lookup(name: str) -> Api | None:
    """What ``name`` is; an old spelling answers with the name it stands for."""
    api = _table().get(name)
    if api is not None:
        return api
    targets = _index()["aliases"].get(name)
    return _table().get(targets[0]) if targets else None


def names() -> frozenset[str]:
    """Every public name, old spellings left out."""
    return frozenset(_table())


def aliases() -> Mapping[str, tuple[str, ...]]:
    """Old spelling → names it stands for (several where host and device disagree)."""
    return _alias_map()


def nearest(name: str) -> str | None:
    """The public name most likely meant by an unknown one; None where nothing is close."""
    known = _table()
    meant = RENAMED.get(name) or _RDMA.sub("aclshmemx_roce_", name)
    if meant in known:
        return meant
    # One wrong prefix letter is the commonest slip; then the type inside the name.
    for swapped in (name.replace("aclshmem_", "aclshmemx_", 1), name.replace("aclshmemx_", "aclshmem_", 1)):
        if swapped in known:
            return swapped
    # Another engine's call is never what was meant.
    engine = _ENGINE_WORD.search(name)
    words = [n for n in known if not engine or engine.group() in n]
    close = get_close_matches(name, words, n=1, cutoff=0.86)
    return close[0] if close else None


def split_top(text: str) -> list[str]:
    """``text`` cut at commas outside ``()``, ``<>``, ``[]`` and ``{}``."""
    parts: list[str] = []
    depth, start = 0, 0
    for at, char in enumerate(text):
        if char in "(<[{":
            depth += 1
        elif char in ")>]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return parts


def _template_end(text: str) -> int:
    if not text.startswith("template"):
        return 0
    depth = 0
    for at, char in enumerate(text):
        if char == "<":
            depth += 1
        elif char == ">":
            depth -= 1
            if depth == 0:
                return at + 1
    return 0


def _param(text: str) -> Param:
    declared, _, default = text.strip().partition("=")
    callback = _CALLBACK.search(declared)
    if callback is not None:
        return Param(declared.strip(), callback[1], default.strip())
    match = re.fullmatch(r"(?s)(.*?[\s*&>])\s*([A-Za-z_]\w*)\s*(\[[^\]]*\])?\s*", declared)
    if match is None:
        return Param(declared.strip(), "", default.strip())
    return Param(match[1].strip() + (match[3] or ""), match[2], default.strip())


@cache
def _index() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((_HERE / "index.json").read_bytes())
    return data


@cache
def _table() -> dict[str, Api]:
    index = _index()
    families, gone = index["families"], index["deprecated"]
    found: dict[str, Api] = {}
    scopes = [frozenset(s for bit, s in enumerate(_SCOPES) if mask >> bit & 1) for mask in range(8)]
    engines = [frozenset(e for bit, e in enumerate(_ENGINES) if mask >> bit & 1) for mask in range(16)]
    for name, (scope, engine, family, type_arg, *types) in index["functions"].items():
        found[name] = Api(
            name, "function", scopes[scope], engines[engine], families[family], type_arg,
            tuple(types[0]) if types else (), gone.get(name),
        )  # fmt: skip
    for name, (kind, member_of) in index["names"].items():
        found[name] = Api(name, kind, replacement=gone.get(name), member_of=member_of)
    return found


@cache
def _alias_map() -> dict[str, tuple[str, ...]]:
    return {old: tuple(new) for old, new in _index()["aliases"].items()}


@cache
def _aliases_of() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for old, new in _alias_map().items():
        for name in new:
            found.setdefault(name, []).append(old)
    return {name: tuple(sorted(old)) for name, old in found.items()}


@cache
def _docs() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((_HERE / "aclshmem.json").read_bytes())
    return data


@cache
def _variants(name: str) -> tuple[Variant, ...]:
    docs = _docs()
    headers, texts = docs["headers"], docs["texts"]
    found = []
    for raw in docs["names"].get(name, ()):
        zh, en = texts[raw["text"]]
        found.append(
            Variant(
                raw["scope"] or None,
                tuple(Signature(text) for text in raw["sig"]),
                tuple(headers[h] for h in raw["in"]),
                raw.get("line", 0),
                {"zh": zh, "en": en},
                raw.get("platform", ""),
                raw.get("note", ""),
                raw.get("values"),
            )
        )
    return tuple(sorted(found, key=lambda v: _SCOPES.index(v.scope) if v.scope else -1))
