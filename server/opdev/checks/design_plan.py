"""The plan a design makes: what kind of operator it is, its tiles, phases, engine and data path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.design_fields import begun, lacking, narrowed, overwrite, settled, wrong
from opdev.checks.design_problems import additions, below, design, fix_of, problems, related
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related, Severity

if TYPE_CHECKING:
    from opdev.design.document import DesignDocument
    from opdev.design.nodes import Node

_VALUES = ("empty-value", "wrong-type")
_LOOP = re.compile(
    r"\bfor\s+(?:each\s+|every\s+)?(?:remote_)?(?:peer|pe|rank|src)\w*\b|逐[个一]\s*(?:peer|PE|对端|rank)"
    r"|(?:依次|串行|顺序)[^，。；,;]{0,6}(?:从|遍历|访问|读|拉)[^，。；,;]{0,8}(?:peer|PE|对端|rank)",
    re.IGNORECASE,
)
_READS = re.compile(r"\bget\b|_get(?:mem)?(?:_|\b)|拉取|读取|读回|读远端|读对端", re.IGNORECASE)
_AT_ONCE = re.compile(r"并行|并发|流水|双缓冲|重叠|pipelin|overlap|parallel|ping|异步|nbi", re.IGNORECASE)
_EACH_STEP = re.compile(r"每[步次轮][^，。；,;]{0,12}(?:quiet|等待|等|wait)|wait\w* (?:for|after) each", re.IGNORECASE)
_DECLARED = re.compile(
    r"串行|逐[个一]|依次|serial|one by one|\bfor\s+(?:each\s+)?(?:peer|pe|rank)|peer\s*(?:循环|loop)", re.IGNORECASE
)
_LETTER = re.compile(rb"(?:placement|\xe8\xae\xa1\xe6\x97\xb6\xe4\xbd\x8d\xe7\xbd\xae|\xe6\x94\xbe\xe7\xbd\xae)\W{0,3}?(A)\b", re.IGNORECASE)  # fmt: skip


def op_kind(context: Context) -> Iterator[Hit]:
    """What op_kind promises is not what the semantics say."""
    for problem in problems(context, "kind-contradicts"):
        more = related(problem, "依据在这里", "this is what tells")
        yield Hit(problem.start, problem.end, message=str(problem.args["why"]), args=problem.args, related=more)


def tiling(context: Context) -> Iterator[Hit]:
    """tile, chunk or tail is not said."""
    yield from lacking(context, "schedule.tiling")
    yield from (hit for _, hit in wrong(context, "schedule.tiling", codes=_VALUES))


def tail(context: Context) -> Iterator[Hit]:
    """The tail falls back to one core."""
    for problem in problems(context, "single-core-tail"):
        yield Hit(*narrowed(context, problem, str(problem.args["word"])), args=problem.args)


def phase_keys(context: Context) -> Iterator[Hit]:
    """A phase says more than its name and action."""
    from opdev.design.problems import nearest

    document = design(context)
    for problem in below(context, ["schedule.phases[]"], "unknown-key"):
        node = document.get(problem.path)
        there = {c.key for c in node.parent.children} if node is not None and node.parent is not None else set()
        meant = nearest(str(problem.args["key"]), [key for key in ("name", "action") if key not in there])
        if meant:
            fix: Fix | None = Fix((Edit(problem.start, problem.end, meant),), "rename", "safe")
            severity: Severity | None = "error" if problem.args.get("misspelt") else None
            yield Hit(problem.start, problem.end, "near", {**problem.args, "nearest": meant}, fix, severity)
        else:
            yield Hit(problem.start, problem.end, args=problem.args, fix=_dropped(document, node))


def _dropped(document: DesignDocument, node: Node | None) -> Fix | None:
    """The entry taken out: its lines, or from the comma before it in braces."""
    from opdev.design.changes import remove

    if node is None or node.parent is None or node.alias:
        return None
    if node.parent.style != "flow":
        return fix_of(remove(document, node))
    siblings = node.parent.children
    index = next(i for i, one in enumerate(siblings) if one is node)
    if not index or siblings[index - 1].alias:
        return None
    return Fix((Edit(siblings[index - 1].where[1], node.where[1], ""),))


def phases(context: Context) -> Iterator[Hit]:
    """No phase, or one without its name or action."""
    yield from lacking(context, "schedule.phases")
    for problem, hit in wrong(context, "schedule.phases", codes=_VALUES):
        if problem.code == "empty-value" and problem.path == "schedule.phases":
            yield Hit(hit.start, hit.end, "none", fix=begun(design(context), problem.path))
        else:
            yield hit


def size_split(context: Context) -> Iterator[Hit]:
    """Two paths by size without a measured gain."""
    for problem in problems(context, "size-split"):
        yield Hit(*narrowed(context, problem, str(problem.args["word"])), args=problem.args)


def engine(context: Context) -> Iterator[Hit]:
    """Which engine moves the data, and from where the time is taken, is not said."""
    document = design(context)
    yield from (hit for _, hit in wrong(context, "schedule.engine", "schedule.placement", codes=("wrong-type",)))
    if not settled(document):
        return
    for problem in problems(context, "engine-unstated"):
        fix = _engine_fix(document)
        yield Hit(problem.start, problem.end, message=str(problem.args["missing"]), args=problem.args, fix=fix)
    for problem in problems(context, "engine-unknown"):
        yield Hit(problem.start, problem.end, f"unknown-{problem.args['key']}", problem.args)


def _engine_fix(document: DesignDocument) -> Fix | None:
    from opdev.design.cross_schedule import engines, placement

    used = engines(document)
    remote = document.text("topology.deployment") == "inter_node"
    values: dict[str, str] = {}
    if not used:
        values["engine"] = "RDMA" if remote else "MTE"
    if not placement(document)[1]:
        values["placement"] = "B" if "RDMA" in (used or {values["engine"]}) else "A"
    edits: list[Edit] = []
    for key in list(values):
        node = document.get(f"schedule.{key}")
        if node is not None:
            filled = overwrite(node, values.pop(key)) if node.empty else None
            if filled is None:
                return None
            edits += filled.edits
    added = fix_of(*additions(document, "schedule", values, values)) if values else None
    if values and added is None:
        return None
    return Fix((*edits, *(added.edits if added is not None else ())))


def rdma_placement(context: Context) -> Iterator[Hit]:
    """RDMA with placement A."""
    for problem in problems(context, "rdma-placement"):
        node = design(context).get(problem.path)
        if node is not None and problem.under("schedule.placement"):
            fix = overwrite(node, "B") if node.text.strip().upper() == "A" else None
            yield Hit(problem.start, problem.end, args=problem.args, fix=fix)
            continue
        found = list(_LETTER.finditer(context.data, problem.start, problem.end))
        if node is None or node.alias or len(found) != 1:
            yield Hit(problem.start, problem.end, args=problem.args)
        else:
            start, end = found[0].span(1)
            yield Hit(start, end, args=problem.args, fix=Fix((Edit(start, end, "B"),)))


def host_rma(context: Context) -> Iterator[Hit]:
    """The host moves the data."""
    for problem in problems(context, "host-rma"):
        yield Hit(*narrowed(context, problem, str(problem.args["word"])), args=problem.args)


def serial_peers(context: Context) -> Iterator[Hit]:
    """A core reads peer after peer, and the review does not say that this is what it costs."""
    document = design(context)
    review = document.heading("5")
    if review is None or not settled(document) or re.match(r"\s*(?:模式\s*)?B(?![A-Za-z])", _mode(document)):
        return
    spoken = [found for node in _told(document) if (found := _serial(node)) is not None]
    if not spoken or _DECLARED.search(document.source.text(review.start, review.stop)):
        return
    note = {"zh": "评审里没有提到这个瓶颈", "en": "the review does not name it"}
    for node, word in spoken:
        start, end = node.where
        written = context.data[start:end]
        if written.count(word.encode()) == 1:
            start += written.index(word.encode())
            end = start + len(word.encode())
        yield Hit(start, end, args={"word": word}, related=(Related(review.start, review.end, note),))


def _mode(document: DesignDocument) -> str:
    return document.text("schedule.core_partition.mode")


def _told(document: DesignDocument) -> Iterator[Node]:
    """The roles and actions of a schedule."""
    for path, key in (("schedule.core_partition.groups", "role"), ("schedule.phases", "action")):
        for item in document.items(path):
            node = item.get(key)
            if node is not None and node.kind == "scalar" and not node.alias:
                yield node


def _serial(node: Node) -> tuple[Node, str] | None:
    """A node with the words for a loop that reads from one peer after the other."""
    loop = _LOOP.search(node.said)
    if loop is None or not _READS.search(node.said):
        return None
    if _AT_ONCE.search(node.said) and not _EACH_STEP.search(node.said):
        return None
    return node, loop.group()
