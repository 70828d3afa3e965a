"""How interface, semantics and memory agree: dtypes, buffers, the data plane, the kind of operator."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.design.document import DesignDocument
from opdev.design.dtypes import GENERIC, fold_dtype, split_dtypes
from opdev.design.nodes import Node
from opdev.design.problems import Problem, at, is_placeholder, missing, said_nodes, said_text, short

_COMMUNICATING = ("transport", "collective", "fused_compute_comm")
# re.ASCII: a name between Chinese words is a word of its own.
_API = re.compile(r"\b(?:acl)?shmemx?_\w+|\baclshmemx?_\*?", re.ASCII)
_CUBE = re.compile(r"\b(?:AIC|cube|matmul|gemm|mmad|catlass)\b|矩阵乘|矩阵", re.IGNORECASE | re.ASCII)
_COLLECTIVE = re.compile(r"all_?gather|all_?reduce|reduce_?scatter|all_?to_?all|broadcast|集合通信", re.IGNORECASE)
_REDUCES = re.compile(r"reduce|累加|相加|求和|归约|规约|之和|\bsum\b", re.IGNORECASE | re.ASCII)
_ATOMIC = re.compile(r"SetAtomic\w*|atomic|原子|收齐|(?:固定|PE\s*号)\s*(?:次序|顺序)|fixed order", re.IGNORECASE)
_SIGNAL = re.compile(r"signal|信号|(?<!cross-core )\bflags?\b(?! ?[A-Z])|标志", re.IGNORECASE | re.ASCII)
_STATE = re.compile(r"flag|signal|state|sync|magic|信号|状态", re.IGNORECASE)
_EPOCH = re.compile(r"epoch|magic|轮次|轮|递增|generation|iter", re.IGNORECASE)
_UNIT = re.compile(
    r"sizeof\s*\(|\b\d+(?:\.\d+)?\s*(?:[KMG]i?B|[KMG]|B|bytes?)\b|\bbytes?\b|字节|_bytes\b", re.IGNORECASE | re.ASCII
)
_SCHEDULING = re.compile(
    r"\btile\b|\btile_(?:size|len)\b|\bchunk(?:[_ ]?(?:size|len|bytes)\b|\s*(?:大小|长度))|\bblock_dim\b|\baiv_num\b|\b\d+\s*(?:KB|MB|KiB|MiB)\b|\d+\s*(?:个\s*)?(?:核|AIV|AIC|cores?\b)",
    re.IGNORECASE | re.ASCII,
)
_CJK = re.compile(r"[\u3400-\u9fff]")
_BUFFER = re.compile(r"symmetric|local|signal|state|output")
_LETTER = re.compile(r"[A-Za-z]")
_ALL_PES = re.compile(
    r"所有\s*PE|全部\s*PE|每个\s*PE|各\s*PE|每对\s*PE|all PEs|every PE|each PE|全体|本\s*PE|下一个\s*PE", re.IGNORECASE
)
_NONE = re.compile(r"(?:none|n/?a|无|无需|不涉及)\W*\Z", re.IGNORECASE)


def confirmed_dtypes(document: DesignDocument) -> Iterator[Problem]:
    """Every dtype of the interface was confirmed."""
    node = document.get("source.user_confirmations.dtypes")
    if node is None or node.empty or node.kind == "broken":
        return
    words = [word for n in said_nodes(document, node.path) for word in split_dtypes(n.said)]
    confirmed = {folded for word in words if (folded := fold_dtype(word)) is not None}
    if not confirmed or any(GENERIC.match(n.text) for n in said_nodes(document, node.path)):
        return
    for tensor in tensors(document):
        dtype = tensor.get("dtype")
        for word in split_dtypes(dtype.text) if dtype is not None and dtype.kind == "scalar" else ():
            folded = fold_dtype(word)
            if dtype is not None and folded is not None and folded not in confirmed and not _is_metadata(tensor):
                names = ", ".join(sorted(confirmed))
                yield at(dtype, "dtype-not-confirmed", related=node, dtype=word, confirmed=names)


def _is_metadata(tensor: Node) -> bool:
    """An index or routing table has whole numbers whatever the data has."""
    name, role = (n.text if (n := tensor.get(key)) is not None else "" for key in ("name", "role"))
    dtype = fold_dtype(n.text if (n := tensor.get("dtype")) is not None else "") or ""
    words = r"ind(?:ex|ices)|idx|meta|plan|offset|count|route|table|len|size|索引|下标|元数据|长度|偏移|路由|表|计数"
    return dtype.startswith(("int", "uint")) and re.search(words, f"{name} {role}", re.IGNORECASE) is not None


def tensors(document: DesignDocument) -> list[Node]:
    """The inputs and outputs that are mappings."""
    return [
        n for path in ("interface.inputs", "interface.outputs") for n in document.items(path) if n.kind == "mapping"
    ]


def relations(document: DesignDocument) -> Iterator[Problem]:
    """More than one tensor: how do their shapes belong together?"""
    node, all_of = document.get("interface.shape_relations"), tensors(document)
    shapes = {n.text for tensor in all_of if (n := tensor.get("shape")) is not None}
    if len(all_of) < 2 or (len(all_of) == 2 and len(shapes) < 2) or (node is not None and not node.empty):
        return
    if node is not None and node.kind == "broken":
        return
    if node is None:
        yield missing(document, "interface", "shape_relations", "relations-missing", tensors=len(all_of))
    else:
        yield at(node, "relations-missing", key="shape_relations", tensors=len(all_of))


def kind(document: DesignDocument) -> Iterator[Problem]:
    """What op_kind promises is what the semantics say."""
    node, value = document.get("meta.op_kind"), said_text(document, "meta.op_kind")
    compute, communication = (said_text(document, f"semantics.{k}") for k in ("local_compute", "communication"))
    if node is None:
        return
    if value == "fused_compute_comm" and compute and not _CUBE.search(compute):
        yield at(
            node, "kind-contradicts", related=document.get("semantics.local_compute"), kind=value, why="no-compute"
        )
    if value == "compute" and _API.search(communication):
        yield at(
            node, "kind-contradicts", related=document.get("semantics.communication"), kind=value, why="communicates"
        )
    name = said_text(document, "meta.op_name")
    if value == "transport" and (found := _COLLECTIVE.search(f"{name} {said_text(document, 'source.summary')}")):
        yield at(node, "kind-contradicts", kind=value, why="collective", word=found.group())


def symmetric(document: DesignDocument) -> Iterator[Problem]:
    """Communication needs a symmetric buffer and a SHMEM call."""
    value = said_text(document, "meta.op_kind")
    buffers = document.get("memory.buffers")
    types = [t.text.lower() if (t := b.get("type")) is not None else "" for b in document.items("memory.buffers")]
    # A type that is missing, misspelt or still open is told itself, and may be the one that is looked for.
    known = all(_BUFFER.search(t) for t in types)
    if value in _COMMUNICATING and buffers is not None and types and known and not any("symmetric" in t for t in types):
        yield Problem("no-symmetric-buffer", buffers.path, *buffers.name_range, {"kind": value})
    plane = document.get("schedule.core_partition.cross_pe_dataplane")
    text = said_text(document, "schedule.core_partition.cross_pe_dataplane")
    if plane is None or not text:
        return
    nothing = _NONE.match(text) is not None
    if not _API.search(text) and (value in _COMMUNICATING or (value == "compute" and not nothing)):
        yield at(plane, "dataplane-not-shmem", value=short(text), kind=value)


def signals(document: DesignDocument) -> Iterator[Problem]:
    """Signals need memory, and a way to tell one round from the next."""
    spoken = [
        n
        for n in said_nodes(document, "schedule.core_partition.sync_between_groups", "schedule.phases")
        if _SIGNAL.search(n.said)
    ]
    if not spoken:
        return
    named = " ".join(n.said for n in said_nodes(document, "memory.buffers", "memory.state"))
    state = document.get("memory.state")
    if document.get("memory.buffers") is not None and not _STATE.search(named) and (state is None or state.empty):
        yield at(spoken[0], "signal-without-buffer", value=short(spoken[0].said))
    dsl = document.dsl
    text = document.source.text(dsl.start, dsl.end) if dsl is not None else ""
    if dsl is not None and not _EPOCH.search(text):
        yield at(spoken[0], "signal-without-epoch", value=short(spoken[0].said))


def sizes(document: DesignDocument) -> Iterator[Problem]:
    """A size in elements is read as bytes by somebody."""
    for buffer in document.items("memory.buffers"):
        size = buffer.get("size")
        if size is None or not size.said.strip() or is_placeholder(size.said):
            continue
        if not _UNIT.search(size.said):
            name = buffer.get("name")
            yield at(size, "size-without-unit", value=size.said, name=name.text if name is not None else "")


def prose(document: DesignDocument) -> Iterator[Problem]:
    """Semantics say what, not how; and they are in Chinese, for those who review them."""
    for node in said_nodes(document, "semantics"):
        found = _SCHEDULING.search(node.said)
        if found:
            yield at(node, "schedule-in-semantics", key=node.key, word=found.group())
    semantics = document.get("semantics")
    described = [] if semantics is None or semantics.kind != "mapping" else [*semantics.children]
    described += [n for p in document.items("schedule.phases") if (n := p.get("action")) is not None]
    described += [n for i in document.items("correctness.invariants") if (n := i.get("invariant")) is not None]
    for node in described:
        # A mapping and true are wrong types, and a number nobody's language.
        text = "" if node.kind in ("mapping", "broken") or node.tag == "bool" else node.text
        if _LETTER.search(text) and not _CJK.search(text) and not _NONE.match(text) and not is_placeholder(text):
            yield at(node, "not-chinese", key=node.key, value=short(text))


def group(document: DesignDocument) -> Iterator[Problem]:
    """all_pes is a claim: the summary or an assumption must carry it."""
    node = document.get("topology.group")
    if node is None or node.text.strip() != "all_pes":
        return
    first = document.heading("1")
    ground = document.source.text(first.start, first.stop) if first is not None else ""
    ground += said_text(document, "source.summary") + "".join(n.said for n in said_nodes(document, "semantics"))
    if not _ALL_PES.search(ground):
        yield at(node, "group-ungrounded", value="all_pes")


def reduces(document: DesignDocument) -> bool:
    """Whether the operator adds up what several PEs have, by its name and its result."""
    said = " ".join([said_text(document, "meta.op_name"), said_text(document, "semantics.result")])
    return _REDUCES.search(said) is not None


def accumulation(document: DesignDocument) -> Iterator[Problem]:
    """Several sources, one destination: who adds?"""
    if said_text(document, "meta.op_kind") != "collective" or not reduces(document):
        return
    node = document.get("semantics.local_compute")
    if node is None or node.empty or node.kind == "broken":
        return
    if not any(_ATOMIC.search(n.said) for n in said_nodes(document, "semantics", "schedule")):
        yield at(node, "accumulation-unnamed", key="local_compute")


def api_names(document: DesignDocument) -> Iterator[tuple[str, int, int, str]]:
    """(name, start, end, path) of each SHMEM call the DSL names, for checks that know the API table."""
    for node in said_nodes(document, "schedule"):
        raw = document.data[node.start : node.end]
        if node.alias:
            continue
        for match in re.finditer(rb"\b(?:acl)?shmemx?_\w+(?!\w|\*)", raw):
            yield match.group().decode(), node.start + match.start(), node.start + match.end(), node.path


CHECKS = (confirmed_dtypes, relations, kind, symmetric, signals, sizes, prose, group, accumulation)
