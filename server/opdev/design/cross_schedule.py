"""How the schedule holds together: cores, groups, engine, tails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from opdev.design.arithmetic import evaluate
from opdev.design.derived import SDMA_CHANNELS, aivs_of
from opdev.design.document import DesignDocument
from opdev.design.nodes import Node
from opdev.design.problems import Problem, at, integer, is_placeholder, said_nodes, said_text, short

_PARTITION = "schedule.core_partition"
_AVOIDED = re.compile(r"host\s*侧执行|后续优化再并行|先单核|later optimi[sz]ation|暂不分核|暂不并行", re.IGNORECASE)
_VAGUE = re.compile(
    r"[/%*+]|\boffset|\blen\b|aiv_idx|aiv_id|pe_idx|\bpeer|对端|属主|本端|远端|本地|remote|\bself\b|for\s+\w+|配对|轮转|余数",
    re.ASCII,
)
_SINGLE = re.compile(r"单核|single[-_ ]core|one core|一个核", re.IGNORECASE)
_NEGATED = re.compile(
    r"(?:不|无需|避免|禁止|never|not?|without)\W{0,2}(?:能|得|会|要|退化|回退|落|用|靠|成|为|到|由|于|in|on|to|a|fall|back|\s)*\Z",
    re.IGNORECASE,
)
# "不在 Host 侧执行", "not … on the host": the opposite, said right before.
_DENIED = re.compile(r"(?:不|无需|避免|禁止|没有|never|not|without)[^，。；,.;\n]*\Z", re.IGNORECASE)
_ONE_MODE = re.compile(r"(?<![A-Za-z0-9])(?:A|B[123]?|C[123]|CoC)(?![A-Za-z0-9])")
_CUBE_GROUP = re.compile(r"\bAIC\b|\bcube\b|matmul|gemm", re.IGNORECASE | re.ASCII)
_SPLIT = re.compile(r"small[_/ ]?data|big[_/ ]?data|\bsmall\s*/\s*large\b|小数据|大数据", re.IGNORECASE | re.ASCII)
_GAIN = re.compile(r"(?<![\d.])(?:[5-9]|\d{2,})(?:\.\d+)?\s*%")
_ENGINE = re.compile(
    r"(?<![A-Za-z])(MTE|SDMA|UDMA|RDMA|RoCE)(?![A-Za-z])|aclshmemx?_(?P<call>mte|sdma|udma|rdma|roce)_", re.IGNORECASE
)
_PLACEMENT = re.compile(r"placement\W{0,3}([AB])\b|计时位置\W{0,3}([AB])\b|放置\W{0,3}([AB])\b", re.IGNORECASE)
_HOST_RMA = re.compile(r"host\s*(?:侧|端|-?side)?\s*(?:RMA|put|get)\b", re.IGNORECASE | re.ASCII)
_SOURCE = re.compile(
    r"core-allocation|examples/|不适用|not applicable|模式\s*(?:A|B|C|CoC)|mode\s+(?:A|B|C)", re.IGNORECASE
)
_RANGE = re.compile(
    r"\s*(?P<open>[\[(])?\s*(?P<low>[^,.\])]+?)\s*(?:,|\.\.\.?|-(?=\s*\d+\s*\Z)|~|到)\s*(?P<high>[^\])]+?)\s*(?P<close>[\])])?\s*\Z"
)


def avoided(document: DesignDocument) -> Iterator[Problem]:
    """Partition is not put off."""
    for node in said_nodes(document, _PARTITION):
        found = next(
            (m for m in _AVOIDED.finditer(node.said) if not _DENIED.search(node.said[: m.start()][-12:])), None
        )
        if found:
            yield at(node, "partition-avoided", word=found.group())


def roles(document: DesignDocument) -> Iterator[Problem]:
    """A role is a formula, not a wish."""
    for group in document.items(f"{_PARTITION}.groups"):
        role = group.get("role")
        text = role.said if role is not None else ""
        if role is not None and text.strip() and not is_placeholder(text) and not _VAGUE.search(text):
            yield at(role, "role-vague", value=short(role.said))


def ranges(document: DesignDocument) -> list[tuple[Node, float, float]]:
    """(node, first, last + 1) of each aiv_range whose numbers are known; AICs are counted apart."""
    names = {"aiv_num": float(count)} if (count := block_dim(document)[1]) else {}
    found: list[tuple[Node, float, float]] = []
    for group in document.items(f"{_PARTITION}.groups"):
        node = group.get("aiv_range")
        match = _RANGE.match(node.text) if node is not None and node.kind == "scalar" and len(node.text) < 100 else None
        said = " ".join(n.said for key in ("name", "role") if (n := group.get(key)) is not None)
        if node is None or match is None or _CUBE_GROUP.search(said):
            continue
        low, high = evaluate(match.group("low"), names), evaluate(match.group("high"), names)
        if low is not None and high is not None:
            closed = match.group("close") != ")"
            found.append((node, low, high + 1 if closed else high))
    return found


def block_dim(document: DesignDocument) -> tuple[Node | None, int | None]:
    """The default block_dim where it is a plain number, else (node, None)."""
    for attr in document.items("interface.attrs"):
        name, default = attr.get("name"), attr.get("default")
        if name is not None and name.text in ("block_dim", "aiv_num", "block_num") and default is not None:
            return default, integer(default)
    return None, None


def overlaps(document: DesignDocument) -> Iterator[Problem]:
    """Groups neither share cores nor leave some idle, unless modes follow each other."""
    if len(_ONE_MODE.findall(said_text(document, f"{_PARTITION}.mode"))) > 1:
        return
    found = sorted(ranges(document), key=lambda r: (r[1], r[2]))
    for (before, _, stop), (node, low, _) in pairwise(found):
        if low < stop:
            yield at(node, "aiv-overlap", related=before, value=node.text, other=before.text)
        elif low > stop:
            yield at(node, "aiv-hole", related=before, value=node.text, first=int(stop), last=int(low) - 1)


def cores(document: DesignDocument) -> Iterator[Problem]:
    """No more cores than the SoC has, more than one, and a number the mode can divide."""
    node, count = block_dim(document)
    spans = ranges(document)
    if count is None and spans:
        node, count = max(((n, int(stop)) for n, _, stop in spans), key=lambda pair: pair[1])
    if node is None or count is None:
        return
    socs = [n.text for n in document.items("meta.target_soc")]
    limit = aivs_of(socs)
    if limit is not None and count > limit:
        yield at(node, "too-many-cores", cores=count, limit=limit, soc=", ".join(socs))
    if count == 1 and not any(single_core(n.said) for n in said_nodes(document, "schedule")):
        yield at(node, "single-core")
    lanes = _sdma_cores(document, spans, count)
    if lanes > SDMA_CHANNELS:
        yield at(node, "sdma-lanes", cores=lanes, limit=SDMA_CHANNELS)
    yield from _divisible(document, node, count)


def _sdma_cores(document: DesignDocument, spans: list[tuple[Node, float, float]], count: int) -> int:
    """The cores of the groups that move data by SDMA; all of them where a range is not known."""
    sizes = {id(node): int(stop - low) for node, low, stop in spans}
    groups = [
        g
        for g in document.items(f"{_PARTITION}.groups")
        if (n := g.get("data_interface")) is not None and "sdma" in n.text.lower()
    ]
    return min(count, sum(sizes.get(id(g.get("aiv_range")), count) for g in groups))


def _divisible(document: DesignDocument, node: Node, count: int) -> Iterator[Problem]:
    mode = re.sub(r"^模式\s*", "", said_text(document, f"{_PARTITION}.mode"))
    for pes in sorted(pe_counts(document)):
        if re.match(r"B(?![A-Za-z0-9])", mode) and (count < pes or count % pes):
            yield at(node, "cores-not-divisible", cores=count, pes=pes, mode=mode)
            return
        if re.match(r"C1(?![A-Za-z0-9])", mode) and (count % 2 or count // 2 < pes or count // 2 % pes):
            yield at(node, "cores-not-divisible", cores=count, pes=pes, mode=mode)
            return


def pe_counts(document: DesignDocument) -> set[int]:
    """The PE counts the case matrix names as numbers."""
    node = document.get("correctness.case_matrix")
    cases = node.data() if node is not None and node.kind == "sequence" else None
    counts = [case.get("n_pes") for case in cases if isinstance(case, dict)] if isinstance(cases, list) else []
    return {count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count > 0}


def single_core(text: str) -> str | None:
    """The words by which a text asks for one core; None where it does not, or says "not on one"."""
    for found in _SINGLE.finditer(text):
        if not _NEGATED.search(text[max(found.start() - 40, 0) : found.start()]):
            return found.group()
    return None


def tails(document: DesignDocument) -> Iterator[Problem]:
    """A tail on one core is the slowest part of the kernel."""
    node = document.get("schedule.tiling.tail")
    word = single_core(said_text(document, "schedule.tiling.tail"))
    if node is not None and word:
        yield at(node, "single-core-tail", word=word)


def size_paths(document: DesignDocument) -> Iterator[Problem]:
    """Two paths by size need a measured gain."""
    spoken = [n for n in said_nodes(document, "schedule") if _SPLIT.search(n.said)]
    if spoken and not any(_GAIN.search(n.said) for n in said_nodes(document, "schedule")):
        found = _SPLIT.search(spoken[0].said)
        yield at(spoken[0], "size-split", word=found.group() if found else "")


def engines(document: DesignDocument) -> set[str]:
    """The transfer engines the schedule names: MTE, SDMA, UDMA, RDMA."""
    found: set[str] = set()
    for node in said_nodes(document, "schedule"):
        for match in _ENGINE.finditer(node.said):
            name = (match.group(1) or match.group("call")).upper()
            found.add("RDMA" if name == "ROCE" else name)
    return found


def placement(document: DesignDocument) -> tuple[Node | None, str]:
    """Where placement A or B is said."""
    node = document.get("schedule.placement")
    text = said_text(document, "schedule.placement")
    if node is not None and text[:1].upper() in ("A", "B"):
        return node, text[:1].upper()
    for node in said_nodes(document, "schedule"):
        match = _PLACEMENT.search(node.said)
        if match:
            return node, next(g for g in match.groups() if g).upper()
    return None, ""


def transport(document: DesignDocument) -> Iterator[Problem]:
    """The engine decides what may be measured, and RDMA cannot read the user's GM."""
    schedule, kind = document.get("schedule"), said_text(document, "meta.op_kind")
    used, (node, where) = engines(document), placement(document)
    if schedule is not None and schedule.kind == "mapping" and kind and kind != "compute":
        yield from _unstated(document, schedule, kind, used, where)
    if node is not None and where == "A" and "RDMA" in used:
        yield at(node, "rdma-placement", value=short(node.text))
    for spoken in said_nodes(document, f"{_PARTITION}.cross_pe_dataplane", "schedule.phases"):
        if found := _HOST_RMA.search(spoken.said):
            yield at(spoken, "host-rma", word=found.group())


def _unstated(document: DesignDocument, schedule: Node, kind: str, used: set[str], where: str) -> Iterator[Problem]:
    """What is not said of engine and placement, or said in words that are neither."""
    wanted = "" if used and where else "engine" if not used else "placement"
    for key, known in (("engine", _ENGINE.search(said_text(document, "schedule.engine"))), ("placement", where)):
        node, text = schedule.get(key), said_text(document, f"schedule.{key}")
        if node is not None and text and not known:
            yield at(node, "engine-unknown", key=key, value=short(text))
        elif key == wanted and (node is None or node.empty):
            yield Problem("engine-unstated", "schedule", *schedule.name_range, {"missing": key, "kind": kind})


def fused(document: DesignDocument) -> Iterator[Problem]:
    """A fused operator pipelines AIC and AIV."""
    node, mode = document.get(f"{_PARTITION}.mode"), said_text(document, f"{_PARTITION}.mode")
    known = _ONE_MODE.search(mode) is not None and "CoC" not in mode
    if node is not None and known and said_text(document, "meta.op_kind") == "fused_compute_comm":
        yield at(node, "fused-mode", value=mode)


def rationale(document: DesignDocument) -> Iterator[Problem]:
    """A rationale leads to its source."""
    node, text = document.get(f"{_PARTITION}.rationale"), said_text(document, f"{_PARTITION}.rationale")
    if node is not None and text and not _SOURCE.search(text):
        yield at(node, "rationale-unsourced", value=short(text))


CHECKS = (avoided, roles, overlaps, cores, tails, size_paths, transport, fused, rationale)
