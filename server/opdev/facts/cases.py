"""The cases an operator is tested by: cases.json, the runner's literal list, or the design's case matrix.

All three become one ``CaseList``, so that rules and gates ask the same questions of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from opdev.design.derived import Tier, elements, tier
from opdev.design.document import document_of
from opdev.design.dtypes import SIZES, fold_dtype, number
from opdev.design.nodes import Node
from opdev.facts.structured import root_of
from opdev.syntax.file import File

Origin = Literal["design", "json", "runner"]
Place = tuple[int, int]

# The names a field goes by, ours first.
NAMES: dict[str, tuple[str, ...]] = {
    "id": ("case_id", "case", "id", "name", "case_name", "caseid"),
    "category": ("category", "cat"),
    "scale": ("scale", "tier"),
    "n_pes": ("n_pes", "pes", "pe_size", "npes", "world_size", "pe_count", "num_pes"),
    "dtype": ("dtype", "data_type", "numpy_dtype"),
    "shape": ("shape", "per_pe_shape", "shape_per_pe", "elements", "elems", "n_elements", "count", "base_count"),
    "special": ("special", "special_condition", "condition", "note"),
    "purpose": ("purpose", "desc", "description", "usage"),
    "repeat": ("repeat", "repeats", "repeat_count"),
    "rtol": ("rtol", "tolerance", "tol"),
    "atol": ("atol", "tolerance", "tol"),
}
# Every name, and which field it is at which rank; a tolerance is both rtol and atol.
_TARGETS: dict[str, list[tuple[str, int]]] = {}
for _field, _spellings in NAMES.items():
    for _rank, _spelling in enumerate(_spellings):
        _TARGETS.setdefault(_spelling, []).append((_field, _rank))
_NEEDED = {"id", "n_pes", "dtype", "shape"}
_SHARED = ("defaults", "default", "common")
_LISTS = ("cases", "case_matrix", "matrix")
_MOST = 2000
_REPEAT = re.compile(r"(?:repeat|重复|连续启动)\D{0,6}?(\d{1,6})|(\d{1,6})\s*(?:次|轮|rounds|times|x\b)", re.IGNORECASE)
_TIMES = re.compile(r"(?<=\d)\s*[x×]\s*(?=\d)")


class Moved(Mapping[str, Place]):
    """Places ``by`` bytes further on, worked out when asked for."""

    __slots__ = ("by", "places")

    def __init__(self, places: Mapping[str, Place], by: int) -> None:
        self.places: Mapping[str, Place] = places.places if isinstance(places, Moved) else places
        self.by: int = places.by + by if isinstance(places, Moved) else by

    def __getitem__(self, name: str) -> Place:
        start, end = self.places[name]
        return start + self.by, end + self.by

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, slots=True)
class Case:
    """One case.  ``places`` holds the range of each field's value as written, quotes included.

    ``shape`` is as written, on one PE; ``elements`` its product, None where a name in it has no value.
    ``dtype`` is as written, too.
    """

    id: str
    start: int
    end: int
    category: str | None = None
    scale: str | None = None
    n_pes: int | None = None
    dtype: str | None = None
    shape: str | None = None
    elements: int | None = None
    special: str | None = None
    purpose: str | None = None
    repeat: int | None = None
    rtol: float | None = None
    atol: float | None = None
    places: Mapping[str, Place] = field(default_factory=dict)

    @property
    def bytes_per_pe(self) -> int | None:
        """Bytes of the data of one PE; None where shape or dtype is not known."""
        size = SIZES.get(fold_dtype(self.dtype or "") or "")
        return None if size is None or self.elements is None else self.elements * size

    @property
    def tier(self) -> Tier | None:
        """The scale its bytes have, whatever its label says."""
        size = self.bytes_per_pe
        return None if size is None else tier(size)

    @property
    def rounds(self) -> int:
        """How often it is launched, by ``repeat`` or by what its special condition says; 1 without either."""
        if self.repeat is not None:
            return self.repeat
        found = _REPEAT.search((self.special or "")[:200])
        return int(found.group(1) or found.group(2)) if found else 1

    def place(self, *fields: str) -> Place:
        """Where the first of ``fields`` that is written stands; its id, else the whole case."""
        return next((self.places[f] for f in (*fields, "id") if f in self.places), (self.start, self.end))

    def moved(self, by: int) -> Case:
        """The same case ``by`` bytes further on."""
        places = Moved(self.places, by)
        return Case(
            self.id, self.start + by, self.end + by, self.category, self.scale, self.n_pes, self.dtype, self.shape, self.elements,
            self.special, self.purpose, self.repeat, self.rtol, self.atol, places,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class CaseList:
    """The cases of one file, in text order.  Not ``complete`` where part of the list is computed or unreadable."""

    cases: tuple[Case, ...]
    origin: Origin
    complete: bool
    start: int
    end: int
    path: str = ""


class _Project(Protocol):
    def files(self, *kinds: str) -> Iterable[File]: ...


def cases_of(file: File) -> CaseList | None:
    """The cases a file lists; None where it lists none."""
    names = file.kind.names

    def read() -> CaseList | None:
        if "cases" in names:
            return _of_json(file)
        if "case-runner" in names:
            from opdev.facts.case_runner import cases_in

            return cases_in(file)
        return _of_design(file) if "design-doc" in names else None

    return file.memo("facts.cases", read)


def matrix_of(project: _Project) -> CaseList | None:
    """The operator's case matrix: cases.json, else the runner's list; a design's may be short and is not asked."""
    for kind in ("cases", "case-runner"):
        files = sorted(
            project.files(kind), key=lambda f: (not f.path.endswith("/scripts/" + f.path.rpartition("/")[2]), f.path)
        )
        for file in files:
            found = cases_of(file)
            if found is not None:
                return found
    return None


@dataclass(slots=True)
class Value:
    """A field's value as text, with its place; ``plain`` is it as Python data where that is known."""

    text: str
    start: int
    end: int
    plain: object = None


def case_of(
    values: Mapping[str, Value], start: int, end: int, shared: Mapping[str, Value] | None = None
) -> Case | None:
    """A case of the values under its keys; None where nothing in it is a case's."""
    known: dict[str, Value] = {}
    ranks: dict[str, int] = {}
    for keys, handicap in ((shared or {}, 100), (values, 0)):
        for key, value in keys.items():
            for target, rank in _TARGETS.get(key.lower(), ()):
                rank += handicap
                if target not in ranks or rank < ranks[target]:
                    known[target], ranks[target] = value, rank
    own_fields = {f for f, rank in ranks.items() if rank < 100}
    if not own_fields & _NEEDED:
        return None
    text = {f: v.text.strip() for f, v in known.items()}
    n_pes = _integer(known.get("n_pes"))
    shape = text.get("shape")
    sizes = {"n_pes": float(n_pes)} if n_pes else {}
    return Case(
        id=text.get("id", ""),
        start=start,
        end=end,
        category=text.get("category") or None,
        scale=text.get("scale") or None,
        n_pes=n_pes,
        dtype=text.get("dtype") or None,
        shape=shape or None,
        elements=elements(_TIMES.sub(",", shape), sizes) if shape else None,
        special=text.get("special") or None,
        purpose=text.get("purpose") or None,
        repeat=_integer(known.get("repeat")),
        rtol=_float(known.get("rtol")),
        atol=_float(known.get("atol")),
        places={f: (known[f].start, known[f].end) for f in known if f in own_fields},
    )


def _integer(value: Value | None) -> int | None:
    if value is None:
        return None
    text = value.text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def _float(value: Value | None) -> float | None:
    if value is None:
        return None
    found = number(value.text.strip())
    if isinstance(found, str):
        return None
    return float(found) if isinstance(found, (int, float)) and abs(found) < 1e18 else None


def _of_json(file: File) -> CaseList | None:
    top = root_of(file)
    if top is None:
        return None
    listed, shared = top, {}
    if top.kind == "mapping":
        listed = next((n for name in _LISTS if (n := top.get(name)) is not None), top)
        shared = _values(top)
        for name in _SHARED:
            inner = top.get(name)
            if inner is not None and inner.kind == "mapping":
                shared |= _values(inner)
    if listed.kind != "sequence":
        return None
    return _listed(file, listed, "json", shared)


def _of_design(file: File) -> CaseList | None:
    document = document_of(file)
    node = document.get("correctness.case_matrix")
    if node is None or node.kind != "sequence":
        return None
    return _listed(file, node, "design", {})


def _listed(file: File, node: Node, origin: Origin, shared: Mapping[str, Value]) -> CaseList | None:
    found: list[Case] = []
    whole = len(node.children) <= _MOST
    for item in node.children[:_MOST]:
        case = (_kept(file, item) if origin == "design" else _case(item, shared)) if item.kind == "mapping" else None
        whole = whole and case is not None
        if case is not None:
            found.append(case)
    if not found and node.children:
        # A list of devices or ports is no list of cases.
        return None
    start, end = (node.key_start, node.key_end) if node.key_start >= 0 else (node.start, min(node.start + 1, node.end))
    return CaseList(tuple(found), origin, whole, start, end, file.path)


# Cases of designs by their text, where they stood last: a keystroke changes one of hundreds.
_known: dict[bytes, Case | None] = {}
_MOST_KNOWN = 4000


def _kept(file: File, item: Node) -> Case | None:
    text = file.data[item.start : item.end]
    if b"*" in text or b"&" in text or item.alias:
        return _case(item, {})
    if text in _known:
        found = _known[text]
        if found is not None and found.start != item.start:
            found = _known[text] = found.moved(item.start - found.start)
        return found
    case = _case(item, {})
    if len(_known) >= _MOST_KNOWN:
        for old in list(_known)[: _MOST_KNOWN // 2]:
            _known.pop(old, None)
    _known[text] = case
    return case


def _case(item: Node, shared: Mapping[str, Value]) -> Case | None:
    return case_of(_values(item), *_where(item), shared)


def _values(mapping: Node) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for child in mapping.children:
        if child.key and child.kind in ("scalar", "sequence") and child.key.lower() in _TARGETS:
            text = f"[{', '.join(n.text for n in child.children)}]" if child.kind == "sequence" else child.text
            found[child.key] = Value(text, *child.where)
    return found


def _where(node: Node) -> Place:
    return node.start, max(node.start, node.end)
