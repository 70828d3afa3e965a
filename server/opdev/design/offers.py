"""Values that follow from the rest of a design: case ids, confirmed dtypes, names of tensors, free AIVs.

What a field may be by itself is in ``complete``; what the code has to offer is in ``facts.offers``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opdev.design.document import DesignDocument
from opdev.design.inlays import confirmed
from opdev.design.nodes import Node
from opdev.design.problems import integer

_SPAN = re.compile(r"\s*\[?\s*(\d+)\s*(?:\.\.|,|-|~)\s*(\d+)\s*[\])]?\s*\Z")


@dataclass(frozen=True, slots=True)
class Offer:
    """A value, and where it comes from in both languages."""

    text: str
    why: Mapping[str, str]


def offers(document: DesignDocument, path: str) -> Iterator[Offer]:
    """Values for the field at ``path`` (``[]`` for items), the likeliest first."""
    make = _OF.get(re.sub(r"\[\d+\]", "[]", path))
    if make is not None:
        yield from make(document)


def _named(document: DesignDocument, path: str, key: str) -> Iterator[Node]:
    for item in document.items(path):
        name = item.get(key)
        if name is not None and name.kind == "scalar" and name.said.strip() and not name.alias:
            yield name


def _case_ids(document: DesignDocument) -> Iterator[Offer]:
    seen = set()
    for node in _named(document, "correctness.case_matrix", "case"):
        if node.said not in seen:
            seen.add(node.said)
            yield Offer(node.said, {"zh": "用例矩阵中的用例", "en": "a case of the matrix"})


def _invariant_cases(document: DesignDocument) -> Iterator[Offer]:
    yield from _case_ids(document)
    yield Offer("all cases", {"zh": "全部用例", "en": "all cases"})


def _dtypes(document: DesignDocument) -> Iterator[Offer]:
    for dtype in confirmed(document):
        yield Offer(dtype, {"zh": "已确认的 dtype", "en": "a confirmed dtype"})


def _tensor_dtypes(document: DesignDocument) -> Iterator[Offer]:
    yield from _dtypes(document)
    if len(confirmed(document)) > 1:
        yield Offer("T", {"zh": "全部已确认的 dtype", "en": "every confirmed dtype"})


def _shapes(document: DesignDocument) -> Iterator[Offer]:
    for path in ("interface.inputs", "interface.outputs"):
        for node in _named(document, path, "shape"):
            yield Offer(f'"{node.said}"', {"zh": f"{path} 中的形状", "en": f"a shape of {path}"})


def _tensors(document: DesignDocument) -> Iterator[Offer]:
    taken = {n.said for n in _named(document, "memory.buffers", "name")}
    for path, zh, en in (("interface.outputs", "输出张量", "an output"), ("interface.inputs", "输入张量", "an input")):
        for node in _named(document, path, "name"):
            if node.said not in taken:
                yield Offer(node.said, {"zh": zh, "en": en})


def _sizes(document: DesignDocument) -> Iterator[Offer]:
    for path in ("interface.outputs", "interface.inputs"):
        for node in _named(document, path, "shape"):
            product = " * ".join(p.strip() for p in node.said.strip("[]() ").split(",") if p.strip())
            if product:
                yield Offer(
                    f'"{product} * sizeof(T)"',
                    {"zh": f"{path} 的形状乘以元素大小", "en": f"a shape of {path} times an element's size"},
                )


def _aivs(document: DesignDocument) -> Iterator[Offer]:
    last = -1
    for node in _named(document, "schedule.core_partition.groups", "aiv_range"):
        found = _SPAN.match(node.said)
        last = max(last, int(found[2][:6])) if found else last
    total = block_dim(document)
    if total is not None and last + 1 < total:
        yield Offer(
            f'"{last + 1}..{total - 1}"',
            {
                "zh": f"还没有分出去的 AIV（block_dim 为 {total}）",
                "en": f"the AIVs no group has yet (block_dim is {total})",
            },
        )
    yield Offer('"[0, aiv_num)"', {"zh": "全部 AIV", "en": "all AIVs"})


def block_dim(document: DesignDocument) -> int | None:
    """The default of the argument block_dim; None where it is no number."""
    for item in document.items("interface.attrs"):
        name = item.get("name")
        if name is not None and name.said == "block_dim":
            return integer(item.get("default"))
    return None


def _root(document: DesignDocument) -> Iterator[Offer]:
    name = document.text("meta.op_name").strip()
    folder = "examples" if document.text("meta.build_mode") == "in_tree_example" else "custom-ops"
    if name:
        yield Offer(
            f"{folder}/{name}", {"zh": "由 build_mode 与 op_name 决定", "en": "follows from build_mode and op_name"}
        )


def _deployment(document: DesignDocument) -> Iterator[Offer]:
    scope = document.text("meta.scope").strip()
    if scope in ("intra_node", "inter_node"):
        yield Offer(scope, {"zh": "与 meta.scope 一致", "en": "as meta.scope says"})


def _build_mode(document: DesignDocument) -> Iterator[Offer]:
    mode = document.text("meta.build_mode").strip()
    if mode:
        yield Offer(mode, {"zh": "与 meta.build_mode 一致", "en": "as meta.build_mode says"})


_OF = {
    "correctness.invariants[].case": _invariant_cases,
    "performance.target_cases": _case_ids,
    "interface.inputs[].dtype": _tensor_dtypes,
    "interface.outputs[].dtype": _tensor_dtypes,
    "correctness.case_matrix[].dtype": _dtypes,
    "correctness.case_matrix[].shape": _shapes,
    "memory.buffers[].name": _tensors,
    "memory.buffers[].size": _sizes,
    "schedule.core_partition.groups[].aiv_range": _aivs,
    "meta.op_root": _root,
    "topology.deployment": _deployment,
    "compile.build_mode": _build_mode,
}
