"""What an editor shows beside a design's text without anybody having typed it.

Scale, bytes and bus factor of each case, the standard's tolerance beside the design's own, the peak that
the links add up to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from opdev.design.derived import collective_of, expected_tolerance, op_type, telling_name
from opdev.design.document import DesignDocument
from opdev.design.dtypes import fold_dtype, number, split_dtypes
from opdev.design.nodes import Node
from opdev.design.problems import integer, said_text
from opdev.design.scale import Lang, Scale, factor_formula, power, scale_of


@dataclass(frozen=True, slots=True)
class Inlay:
    """A text behind the byte ``at``, and what explains it in a language (Markdown), made when it is looked at."""

    at: int
    label: Mapping[str, str]
    tip: Callable[[Lang], str]


def inlays(document: DesignDocument, start: int = 0, end: int | None = None) -> Iterator[Inlay]:
    """The hints of a design between two bytes of the Markdown, by section."""
    stop = len(document.data) if end is None else end
    if document.root is None:
        return
    for make in (_cases, _tolerances, _metric, _links):
        for hint in make(document, start, stop):
            if start <= hint.at <= stop:
                yield hint


def case_scale(document: DesignDocument, case: Node) -> Scale | None:
    """The scale of one item of ``correctness.case_matrix``."""
    if case.kind != "mapping":
        return None
    shape, dtype = case.get("shape"), case.get("dtype")
    name = dtype.text if dtype is not None and dtype.kind == "scalar" and not dtype.empty else only_dtype(document)
    if shape is None or shape.kind == "broken" or not name:
        return None
    text = ", ".join(c.text for c in shape.children) if shape.kind == "sequence" else shape.text
    return scale_of(
        text,
        name,
        integer(case.get("n_pes")),
        document.text("meta.op_kind"),
        telling_name(document.text("meta.op_name"), document.text("performance.baseline")),
    )


def only_dtype(document: DesignDocument) -> str:
    """The confirmed dtype where there is just one: then a case need not say it."""
    known = confirmed(document)
    return known[0] if len(known) == 1 else ""


def confirmed(document: DesignDocument) -> list[str]:
    """The confirmed dtypes, by their full names, each once."""
    node = document.get("source.user_confirmations.dtypes")
    words = [w for n in node.walk() if n.kind == "scalar" for w in split_dtypes(n.said)] if node is not None else []
    return list(dict.fromkeys(folded for w in words if (folded := fold_dtype(w)) is not None))


def _cases(document: DesignDocument, start: int, stop: int) -> Iterator[Inlay]:
    for case in document.items("correctness.case_matrix"):
        if case.alias or case.end < start or case.start > stop or case.kind != "mapping":
            continue
        said = case_scale(document, case)
        if said is not None:
            first = case.children[0]
            yield Inlay(case.end if case.style == "flow" else max(first.end, first.key_end), said.label, said.explain)


def _tolerances(document: DesignDocument, _: int, __: int) -> Iterator[Inlay]:
    kind, name = said_text(document, "meta.op_kind"), said_text(document, "meta.op_name")
    if not kind:
        return
    for key in ("rtol", "atol"):
        node = document.get(f"correctness.tolerance.{key}")
        if node is None or node.alias:
            continue
        for one in node.children if node.kind == "mapping" else [node]:
            if one.kind != "scalar" or one.alias:
                continue
            dtypes = [one.key or ""] if one is not node else confirmed(document)
            limits = {d: limit for d in dtypes if (limit := expected_tolerance(kind, d, name)) is not None}
            if not limits:
                continue
            shown = list(dict.fromkeys(power(v) for v in limits.values()))
            said = shown[0] if len(shown) == 1 else ", ".join(f"{d} {power(v)}" for d, v in limits.items())
            sign = "" if not any(limits.values()) else "≤ "
            classes = ", ".join(f"{d}: {op_type(kind, d, name)}" for d in limits)
            yield Inlay(
                max(one.end, one.key_end),
                {"zh": f"标准 {sign}{said}", "en": f"standard {sign}{said}"},
                _tip(
                    f"精度标准给出的 rtol（atol 与它相等）。{classes}。累加次数少于 2048 的浮点计算取其一半。",
                    f"The rtol of the precision standard; atol equals it. {classes}. Floating point with fewer than "
                    "2048 accumulations takes half of it.",
                ),
            )


def _tip(zh: str, en: str) -> Callable[[Lang], str]:
    return lambda lang: zh if lang == "zh" else en


def _metric(document: DesignDocument, _: int, __: int) -> Iterator[Inlay]:
    node, name = document.get("performance.metric"), document.text("meta.op_name")
    name = telling_name(name, document.text("performance.baseline"))
    kind = collective_of(name) if document.text("meta.op_kind") in ("collective", "transport") else None
    if node is None or kind is None or node.alias or node.key_end < 0:
        return
    formula = factor_formula(kind)
    yield Inlay(node.key_end + 1 if document.data[node.key_end : node.key_end + 1] == b":" else node.key_end,
        {"zh": f"bus = algo × {formula}", "en": f"bus = algo × {formula}"},
        _tip(f"{kind} 的 bus factor；达标只看 kernel_bus_bandwidth_GBps。", f"The bus factor of {kind}; kernel_bus_bandwidth_GBps decides."))  # fmt: skip


def _links(document: DesignDocument, _: int, __: int) -> Iterator[Inlay]:
    node = document.get("topology.intra_node_links_per_npu")
    width = document.get("topology.intra_node_link_bandwidth_gbps")
    links, one = integer(node), number(width.data()) if width is not None else None
    if node is None or node.alias or links is None or isinstance(one, bool) or not isinstance(one, (int, float)):
        return
    peak = f"{links * one:.6g} GB/s"
    yield Inlay(node.end, {"zh": f"峰值 {peak}", "en": f"peak {peak}"}, _tip(f"{links} 条链路 × {one:g} GB/s，单向；点对点只有一条链路：{one:g} GB/s。", f"{links} links × {one:g} GB/s, one way; point to point there is one link: {one:g} GB/s."))  # fmt: skip
