"""How correctness and performance agree with the operator: tolerance, cases, metrics, baseline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from opdev.design.derived import HCCL_OF, MB, TOTAL_FLOOR, bytes_per_pe, collective_of, expected_tolerance
from opdev.design.document import DesignDocument
from opdev.design.dtypes import fold_dtype, number, split_dtypes
from opdev.design.nodes import Node
from opdev.design.problems import Problem, at, flag, is_placeholder, said_nodes, said_text, short

_TOLERANCE = "correctness.tolerance"
_MUST = ("kernel_bus_bandwidth_GBps", "e2e_latency_us", "kernel_latency_us")
_UNMET = re.compile(r"未满足|不满足|暂不|unmet|not met|无法|受.{0,12}?限", re.IGNORECASE)
_BIG = re.compile(r"(\d+(?:\.\d+)?)\s*(KB|MB|GB|KiB|MiB|GiB)\b", re.IGNORECASE)
_HIDDEN = re.compile(r"hidden\w*\D{0,12}?(\d{3,})|(\d{4,})\D{0,8}hidden", re.IGNORECASE)
_PERCENT = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)\s*%")
_REASON = re.compile(r"因为|由于|原因|受.{0,12}?限|because|due to|reason", re.IGNORECASE)
_NO_BASELINE = re.compile(r"(?:none|null|n/?a|no baseline|无|没有)\W*\Z", re.IGNORECASE)
_UNITS = {"k": 1 / 1024, "m": 1.0, "g": 1024.0}


def _values(node: Node | None) -> dict[str, tuple[Node, float]]:
    """Tolerances by dtype ("" for one value for all) that are numbers."""
    found: dict[str, tuple[Node, float]] = {}
    for one in [] if node is None else node.children if node.kind == "mapping" else [node]:
        value = number(one.data())
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found[fold_dtype(one.key or "") or one.key or "" if one is not node else ""] = (one, float(value))
    return found


def _dtypes(document: DesignDocument) -> list[str]:
    words = [w for n in said_nodes(document, "source.user_confirmations.dtypes") for w in split_dtypes(n.said)]
    return [folded for w in words if (folded := fold_dtype(w)) is not None]


def tolerances(document: DesignDocument) -> Iterator[Problem]:
    """No looser than the standard, and both alike."""
    kind, name = said_text(document, "meta.op_kind"), said_text(document, "meta.op_name")
    both = [_values(document.get(f"{_TOLERANCE}.{key}")) for key in ("rtol", "atol")]
    for values, key in zip(both, ("rtol", "atol"), strict=True):
        for dtype, (node, value) in values.items():
            judged = [dtype] if dtype else _dtypes(document)
            limits = {d: limit for d in judged if kind and (limit := expected_tolerance(kind, d, name)) is not None}
            if not limits:
                continue
            # One value for all dtypes has to be wide enough for the widest: only that is certain.
            widest = max(limits, key=lambda d: limits[d])
            if value > limits[widest] * (1 + 1e-6):
                code = "tolerance-not-zero" if limits[widest] == 0 else "tolerance-loose"
                yield at(node, code, key=key, value=node.text, standard=_shown(limits[widest]), dtype=widest, kind=kind)
            elif not dtype and value > 0 and min(limits.values()) < value:
                strict = min(limits, key=lambda d: limits[d])
                yield at(
                    node, "tolerance-for-all", key=key, value=node.text, standard=_shown(limits[strict]), dtype=strict
                )
    for dtype, (node, value) in both[1].items():
        rtol = both[0].get(dtype)
        if rtol is not None and rtol[1] != value:
            yield at(node, "tolerance-unequal", related=rtol[0], value=node.text, expected=rtol[0].text)


def _shown(value: float) -> str:
    return "0" if value == 0 else f"{value:.14f}".rstrip("0")


def categories(document: DesignDocument) -> Iterator[Problem]:
    """At least one functional and one stress case."""
    node = document.get("correctness.case_matrix")
    cases = document.items("correctness.case_matrix")
    if node is None or not cases or any(c.kind != "mapping" for c in cases):
        return  # One that is no case may be the one that is looked for.
    there = {str(case.get("category")).strip() for case in _plain(node)}
    for wanted in ("functional", "stress"):
        if wanted not in there:
            yield Problem("category-missing", node.path, *node.name_range, {"category": wanted})


def medium(document: DesignDocument) -> Iterator[Problem]:
    """A case big enough to say something about bandwidth."""
    node = document.get("correctness.case_matrix")
    if node is None or not document.items("correctness.case_matrix"):
        return
    fused = said_text(document, "meta.op_kind") in ("fused_compute_comm", "compute")
    around = [n.said for n in said_nodes(document, "performance.target_cases", "performance.min_scale")]
    within = (t[:2000] for case in _plain(node) for t in case.values() if isinstance(t, str) and not is_placeholder(t))
    if any(big_enough(t, fused) for t in chain(around, within)):
        return
    known = _dtypes(document)
    if any(_total_bytes(case, known[0] if known else "") >= TOTAL_FLOOR for case in _plain(node)):
        return
    yield Problem(
        "no-medium-case", node.path, *node.name_range, {"floor": "hidden size >= 1000" if fused else "256 MB"}
    )


def _plain(matrix: Node) -> list[dict[str, object]]:
    """The cases that are mappings, as plain data: a long matrix is looked through at every keystroke."""
    data = matrix.data()
    return [case for case in data if isinstance(case, dict)] if isinstance(data, list) else []


@lru_cache(4096)
def big_enough(text: str, fused: bool) -> bool:
    """Whether a text names a medium scale, or says why there is none."""
    return bool(_UNMET.search(text)) or megabytes(text) >= 256 or (fused and hidden(text) >= 1000)


def _total_bytes(case: dict[str, object], main: str) -> int:
    """Bytes over all PEs of a case that says its shape, dtype and PEs in numbers; else 0."""
    shape, dtype, pes = case.get("shape"), case.get("dtype"), case.get("n_pes")
    count = pes if isinstance(pes, int) and pes > 0 else 1
    if not isinstance(shape, (str, int)):
        return 0
    return (_bytes(str(shape), dtype if isinstance(dtype, str) else main, count) or 0) * count


@lru_cache(4096)
def _bytes(shape: str, dtype: str, pes: int) -> int | None:
    return bytes_per_pe(shape, dtype, {"n_pes": float(pes)})


def megabytes(text: str) -> float:
    """The biggest size a text names, in MB."""
    return max((float(n) * _UNITS[unit[0].lower()] for n, unit in _BIG.findall(text[:500])), default=0.0)


def hidden(text: str) -> int:
    """The hidden size a text names; 0 without one."""
    found = [int(a or b) for a, b in _HIDDEN.findall(text[:500]) if len(a or b) < 12]
    return max(found, default=0)


def metrics(document: DesignDocument) -> Iterator[Problem]:
    """The metric that decides, and both latencies."""
    node = document.get("performance.metric")
    there = {n.said for n in said_nodes(document, "performance.metric")}
    if node is None or node.empty or node.kind == "broken":
        return
    lacking = [m for m in _MUST if m not in there]
    if lacking:
        yield at(node, "metric-missing", missing=", ".join(lacking))


def baseline(document: DesignDocument) -> Iterator[Problem]:
    """A baseline, or a record of having looked for one."""
    node, text = document.get("performance.baseline"), said_text(document, "performance.baseline")
    if node is not None and node.kind == "scalar" and _NO_BASELINE.match(text):
        yield at(node, "baseline-none", value=text)
    if node is None or text != "metric_only":
        return
    search = said_text(document, "performance.baseline_search")
    lacking = [word for word in ("HCCL", "aclnn") if word.lower() not in search.lower()]
    record = document.get("performance.baseline_search")
    if record is not None and search and lacking:
        yield at(record, "search-thin", missing=", ".join(lacking))
    name = said_text(document, "meta.op_name")
    same = collective_of(name)
    api = HCCL_OF.get(same) if same is not None and said_text(document, "meta.op_kind") == "collective" else None
    if api is not None and same == "all-to-all" and re.search(r"v(?:_|$)", name):
        api = "HcclAlltoAllV"
    if api is not None and api.lower() not in search.lower():
        yield at(node, "hccl-overlooked", api=api, name=name)


def targets(document: DesignDocument) -> Iterator[Problem]:
    """Targets no lower than the default, scales no smaller than the floor."""
    node, text = document.get("performance.baseline_target"), said_text(document, "performance.baseline_target")
    alone = said_text(document, "performance.baseline") == "metric_only"
    floor = 20.0 if alone else 80.0
    found = _PERCENT.search(text)
    if node is not None and found and float(found.group(1)) < floor:
        yield at(node, "target-low", value=found.group(), floor=f"{floor:.0f}%")
    cases = document.get("performance.target_cases")
    if cases is not None and cases.empty and flag(document, "meta.performance_required"):
        yield Problem("target-cases-missing", cases.path, *cases.name_range, {"key": "target_cases"})
    node, text = document.get("performance.min_scale"), said_text(document, "performance.min_scale")
    if node is None or not text or _REASON.search(text) or _UNMET.search(text):
        return
    kind = said_text(document, "meta.op_kind")
    size, width = megabytes(text), hidden(text)
    if kind == "collective" and 0 < size < TOTAL_FLOOR / MB:
        yield at(node, "min-scale-low", value=short(text), floor="256 MB")
    elif kind in ("compute", "fused_compute_comm") and 0 < width < 1000 and not size:
        yield at(node, "min-scale-low", value=short(text), floor="hidden size 1000")


def bare_target(document: DesignDocument) -> Iterator[Problem]:
    """A metric-only target without its number cannot be judged."""
    node, text = document.get("performance.baseline_target"), said_text(document, "performance.baseline_target")
    if node is not None and text == "metric_only":
        yield at(node, "target-without-number", value=text)


CHECKS = (tolerances, categories, medium, metrics, baseline, targets, bare_target)
