"""What the kernel does against what the design's schedule says: blocks, engines, synchronisation, cubes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from opdev.api.table import lookup
from opdev.checks.designed import design_for, design_of, said, shown, stated_engines
from opdev.design.cross_schedule import block_dim, engines
from opdev.design.derived import aivs_of
from opdev.design.document import DesignDocument
from opdev.design.nodes import Node
from opdev.facts.calls import ApiCall, act_of, api_calls
from opdev.facts.heap_calls import names_pe
from opdev.facts.kernels import Argument, host_calls, kernels, launchers, launches, number_at
from opdev.rules.context import Context, Project
from opdev.rules.model import Hit
from opdev.syntax.file import File

_TRANSFERS = frozenset({"put", "get", "put-signal", "atomic"})
_VECTOR = re.compile(rb"core_ratio\s*\(\s*0\s*,\s*1\s*\)|SHMEM_GLOBAL_VECTOR|__vector__|KERNEL_TYPE_AIV_ONLY")


@dataclass(frozen=True, slots=True)
class Blocks:
    """How many blocks a kernel is started with, where it is decided: the launch or the launcher's caller."""

    file: File
    dim: Argument
    value: int | None


def block_counts(files: list[File]) -> list[Blocks]:
    """The numbers of blocks of all launches, by way of the functions that launch."""
    found: list[Blocks] = []
    for file in files:
        for launch in launches(file):
            if launch.parameter is None:
                found.append(Blocks(file, launch.dim, launch.value))
        for starter in launchers(file):
            if starter.dim is None:
                continue
            for other in files:
                for call in host_calls(other, starter.name):
                    if len(call.args) == len(starter.params) and starter.dim < len(call.args):
                        dim = call.args[starter.dim]
                        found.append(Blocks(other, dim, number_at(other, dim.text, dim.start)))
    return found


def block_dim_mismatch(context: Context) -> Iterator[Hit]:
    """The kernel started with another number of blocks than the design divides the work by."""
    project, document = context.project, design_for(context)
    if project is None or document is None:
        return
    mine = [*project.files("kernel", "host", "torch-binding")]
    if project.name == "torch_binding":
        mine = [context.file, *_kernels_of(context, project)]
    if context.file.path not in {f.path for f in mine}:
        return
    counts = block_counts([context.file if f.path == context.file.path else f for f in mine])
    node, wanted = block_dim(document)
    if node is None or wanted is None or not counts or any(b.value is None for b in counts):
        return
    if any(b.value == wanted for b in counts):
        return
    for one in counts:
        if one.file.path == context.file.path and one.value is not None and one.value > 1:
            related = (shown(document, node, "设计的 block_dim", "the design's block_dim"),)
            args = {"value": one.value, "wanted": wanted, "name": one.dim.text}
            yield Hit(one.dim.start, one.dim.end, args=args, related=related)


def _kernels_of(context: Context, project: Project) -> list[File]:
    operator = context.file.path.rpartition("torch_bind_")[2].partition(".")[0]
    paths = (f"{operator}/src/{operator}_kernel.cpp", f"{operator}/{operator}_kernel.cpp")
    return [file for path in paths if (file := project.beside(path)) is not None]


def more_blocks_than_cores(context: Context) -> Iterator[Hit]:
    """A number of blocks in the code that no target SoC of the design has cores for."""
    project, document = context.project, design_for(context)
    if project is None or document is None:
        return
    socs = [n.text for n in document.items("meta.target_soc")]
    limit = aivs_of(socs) if socs else None
    target = document.get("meta.target_soc")
    if limit is None or target is None:
        return
    files = [*project.files("kernel", "host", "torch-binding")]
    entries = [(f, k) for f in files for k in kernels(f) if k.defined]
    if not entries:
        return
    _, designed = block_dim(document)
    # A MIX kernel's block is a cube core with its two vector cores.
    mixed = not all(_VECTOR.search(f.code, k.whole_start, k.whole_end) or k.macro for f, k in entries)
    for one in block_counts(files):
        if one.file.path == context.file.path and one.value is not None and one.value > limit and one.value != designed:
            related = (shown(document, target, "设计的目标 SoC", "the design's target SoC"),)
            args = {"value": one.value, "limit": limit, "soc": ", ".join(socs), "kind": "MIX" if mixed else "AIV"}
            yield Hit(one.dim.start, one.dim.end, args=args, related=related)


def _device_calls(project: Project) -> list[tuple[File, ApiCall]]:
    return [(f, c) for f in project.files("cpp") for c in api_calls(f) if c.device]


def engine_mismatch(context: Context) -> Iterator[Hit]:
    """Transfers over an engine the design does not speak of; none over the one it names."""
    project = context.project
    document = design_of(project)
    stated = stated_engines(document) if document is not None else None
    if project is None or document is None or stated is None:
        return
    names, node = stated
    related = (shown(document, node, "设计写的引擎", "the engine the design names"),)
    spoken = engines(document) | names
    every = [(f, c) for f, c in _device_calls(project) if c.act in _TRANSFERS and c.engines]
    seen: set[str] = set()
    for call in api_calls(context.file):
        engine = call.engine
        if not call.device or call.act not in _TRANSFERS or engine in ("", "any") or engine in seen:
            continue
        seen.add(engine)
        if engine not in spoken and engine != "MTE":
            args = {"call": call.name, "engine": engine, "stated": ", ".join(sorted(names))}
            yield Hit(call.start, call.end, args=args, related=related)
    used = {c.engine for _, c in every}
    if every and "any" not in used and not names & used and not used - spoken - {"MTE"}:
        # Told once, at the operator's first transfer.
        file, first = every[0]
        if file.path == context.file.path:
            args = {"call": first.name, "engine": first.engine, "stated": ", ".join(sorted(names))}
            yield Hit(first.start, first.end, "unused", args, related=related)


# What a design says of synchronisation, what does it in code, and what it is called.
_SYNC: tuple[tuple[str, re.Pattern[str], re.Pattern[bytes]], ...] = (
    ("signal-wait", re.compile(r"(?i)signal[ _-]?wait"), re.compile(rb"_signal|_wait_until|_wait\b|_(?:test\w*|p|g)\s*\(|dcci|CacheCleanAndInvalid")),
    ("barrier", re.compile(r"(?i)(?<![\w-])barrier(?![\w-])"), re.compile(rb"(?<!Pipe)[Bb]arrier|_sync(?:_all)?\s*\(|SyncAll")),
    ("quiet", re.compile(r"(?i)(?<![\w-])quiet(?![\w-])"), re.compile(rb"_quiet|_barrier|handle_wait")),
    (
        "cross-core flag", re.compile(r"(?i)cross[ _-]?core[ _-]?flag"),
        re.compile(rb"CrossCore\w*Flag|ffts_cross_core_sync|SetCrossCore|WaitEvent|\bset_flag"),
    ),
)  # fmt: skip
_DENIED = re.compile(
    r"(?i)(?:不用|不需要|无需|不做|没有|不靠|代替|替代|而非|不是|无|no|not|without|instead of|rather than)[^，。；;,.、]{0,12}\Z"
)


def undone_sync(context: Context) -> Iterator[Hit]:
    """A kind of synchronisation between the cores that the design relies on and no source has."""
    project = context.project
    document = design_of(project)
    node = said(document, "schedule.core_partition.sync_between_groups")
    if project is None or document is None or node is None:
        return
    sources = [*project.files("cpp")]
    entry = next(((f, k) for f in sources for k in kernels(f) if k.defined), None)
    if entry is None or entry[0].path != context.file.path or not _device_calls(project):
        return
    for name, words, code in _SYNC:
        match = words.search(node.said)
        if match is None or _DENIED.search(node.said[: match.start()]) or any(code.search(f.code) for f in sources):
            continue
        related = (shown(document, node, "设计依靠的同步", "the synchronisation the design relies on"),)
        args = {"sync": name, "kernel": entry[1].name}
        yield Hit(entry[1].start, entry[1].end, args=args, related=related)


_MATRIX = re.compile(r"(?i)mat_?mul|gemm|(?<![a-z])mm_|矩阵乘")
_CUBE = re.compile(
    rb"\bM[Mm]ad\w*\b|BlockMmad|\bMatmul\w*\b|\bIterateAll\b|ASCEND_IS_AIC|__cube__|__DAV_C220_CUBE__|KERNEL_TYPE_MIX|catlass|Catlass"
    rb"|\bmad\s*\(|aclnn\w*(?:Matmul|Mm)\w*|GLOBAL_CUBE|__DAV_CUBE__|LoadData\w*\s*\("
)


def matmul_without_cube(context: Context) -> Iterator[Hit]:
    """A fused operator that multiplies matrices and never touches the cube cores."""
    project = context.project
    document = design_of(project)
    kind = said(document, "meta.op_kind")
    if project is None or document is None or kind is None or kind.text != "fused_compute_comm":
        return
    where = next(
        (n for p in ("meta.op_name", "semantics.local_compute") if (n := said(document, p)) and _MATRIX.search(n.said)),
        None,
    )
    sources = [*project.files("cpp")]
    entry = next(((f, k) for f in sources for k in kernels(f) if k.defined), None)
    if where is None or entry is None or entry[0].path != context.file.path:
        return
    if any(_CUBE.search(f.data) for f in sources):
        return
    related = (shown(document, where, "设计要做矩阵乘", "the design multiplies matrices"),)
    yield Hit(entry[1].start, entry[1].end, args={"kernel": entry[1].name}, related=related)


_API_NAME = re.compile(r"(?<!\w)aclshmemx?_\w+")
_FLAGS = re.compile(r"(?i)flag|signal|sync")
_DIRECTION = {"put": "put", "put-signal": "put", "get": "get", "atomic": "atomic"}


def undesigned_transfer(context: Context) -> Iterator[Hit]:
    """Data pulled where the design only pushes it, or the reverse; atomics it does not list."""
    project = context.project
    document = design_of(project)
    plane = said(document, "schedule.core_partition.cross_pe_dataplane")
    if project is None or document is None or plane is None:
        return
    listed, spoken = _listed(document, plane), engines(document)
    if not listed:
        return
    seen: set[str] = set()
    for call in api_calls(context.file):
        direction = _DIRECTION.get(call.act)
        if not call.device or direction is None or direction in seen or direction in listed:
            continue
        if any(names_pe(argument) or _FLAGS.search(argument) for argument in call.args):
            continue  # within this PE, or a flag that is polled: no data plane
        if call.engine not in ("", "any") and call.engine not in spoken:
            continue  # engine-mismatch has the reason
        seen.add(direction)
        related = (shown(document, plane, "设计列出的接口", "the calls the design lists"),)
        args = {"call": call.name, "direction": direction, "listed": ", ".join(sorted(listed.values()))}
        yield Hit(call.start, call.end, args=args, related=related)


def _listed(document: DesignDocument, plane: Node) -> dict[str, str]:
    """Direction → a transfer call of it that the design names for the data between PEs."""
    nodes = [plane, *(n for g in document.items("schedule.core_partition.groups") if (n := g.get("data_interface")))]
    found: dict[str, str] = {}
    for node in nodes:
        for name in _API_NAME.findall(node.said):
            direction = _DIRECTION.get(act_of(name))
            if direction is not None and lookup(name) is not None:
                found.setdefault(direction, name)
    return found
