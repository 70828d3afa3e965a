"""What a design says of data: shapes, semantics, links between PEs, memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from opdev.checks.design_problems import design, fix_of, gaps, missing, problems, told
from opdev.rules.context import Context
from opdev.rules.model import Fix, Hit

if TYPE_CHECKING:
    from opdev.design.document import DesignDocument
    from opdev.design.problems import Problem

_SEMANTICS = ("local_compute", "communication", "finalize", "result")
_TOPOLOGY = (
    "group", "peer_model", "addressing", "deployment", "intra_node_topology", "intra_node_link_bandwidth_gbps",
    "intra_node_links_per_npu",
)  # fmt: skip
_MEMORY = ("buffers", "symmetric_layout", "output_ownership")
# One cache line a flag, as upstream's kernels have it.
_FLAGS = '{name: flags, type: signal/state, size: "n_pes * aiv_num * 16 * sizeof(int32_t)"}'
_STAGING = '{name: staging, type: symmetric, size: "replace_me"}'


def shape_relations(context: Context) -> Iterator[Hit]:
    """Several tensors, and nothing says how their shapes belong together."""
    yield from told(context, "relations-missing")


def semantics(context: Context) -> Iterator[Hit]:
    """A part of the semantics is missing or empty."""
    yield from gaps(context, *(f"semantics.{key}" for key in _SEMANTICS))


def schedule_in_semantics(context: Context) -> Iterator[Hit]:
    """Tile sizes and core counts where the meaning is described."""
    yield from told(context, "schedule-in-semantics")


def english(context: Context) -> Iterator[Hit]:
    """A description without a Chinese word."""
    yield from told(context, "not-chinese")


def topology(context: Context) -> Iterator[Hit]:
    """A key of the topology is missing or empty."""
    values = _links(design(context))
    for hit in gaps(context, *(f"topology.{key}" for key in _TOPOLOGY), values=values):
        yield _as(hit, "core", [f"topology.{key}" for key in _TOPOLOGY[:3]])


def _as(hit: Hit, message: str, keys: list[str]) -> Hit:
    """A gap with what it does to these keys, where it is of them alone: ``message``, or ``message-empty``."""
    own = (
        [str(hit.args["key"])]
        if hit.message == "empty"
        else [f"{hit.args['in']}.{k}" for k in str(hit.args["keys"]).split(", ")]
    )
    if not all(key in keys for key in own):
        return hit
    message = f"{message}-empty" if hit.message == "empty" else message
    return Hit(hit.start, hit.end, message, hit.args, hit.fix, hit.severity, hit.related)


def _links(document: DesignDocument) -> Mapping[str, str]:
    """What else the design says of its links: 28 GB/s and seven links are an 8-card 910B's."""
    scope = document.text("meta.scope")
    values = {"deployment": "inter_node" if scope == "inter_node" else "intra_node"}
    if "910c" in document.text("meta.target_soc").lower():
        unknown = '"replace_me"'
        values["intra_node_topology"] = "switch"
        values |= dict.fromkeys(("intra_node_link_bandwidth_gbps", "intra_node_links_per_npu"), unknown)
    return values


def inter_node(context: Context) -> Iterator[Hit]:
    """Nodes talk to each other over links nobody described."""
    yield from missing(context, "topology", code="inter-node-missing")


def topology_values(context: Context) -> Iterator[Hit]:
    """A value of the topology that is none of its own."""
    for problem in problems(context, "wrong-enum", "wrong-type", "wrong-number", "out-of-range"):
        if problem.under("topology") and problem.path != "topology":
            expected = str(problem.args.get("expected", ""))
            message = "default" if problem.code == "wrong-enum" else "text" if expected == "text" else "number"
            yield Hit(problem.start, problem.end, message, problem.args, _nearest(context, problem))


def _nearest(context: Context, problem: Problem) -> Fix | None:
    """The allowed value that was meant: surely so where only case and dashes differ."""
    from opdev.design.changes import replace

    allowed = str(problem.args.get("allowed", "")).split(", ")
    near = problem.args.get("nearest") or (allowed[0] if len(allowed) == 1 and allowed[0] else None)
    node = design(context).get(problem.path)
    if near is None or node is None:
        return None
    fix = fix_of(replace(node, str(near)))
    same = _letters(str(near)) == _letters(str(problem.args.get("value", "")))
    return fix and Fix(fix.edits, fix.title, "safe" if same else "suggestion")


def _letters(word: str) -> str:
    return "".join(char for char in word.lower() if char.isalnum())


def group(context: Context) -> Iterator[Hit]:
    """all_pes, and nothing above says that all of them take part."""
    yield from told(context, "group-ungrounded")


def memory(context: Context) -> Iterator[Hit]:
    """A key of the memory section or of a buffer is missing or empty."""
    for hit in gaps(context, *(f"memory.{key}" for key in _MEMORY)):
        yield _as(hit, "owner", ["memory.output_ownership"])


def buffer_type(context: Context) -> Iterator[Hit]:
    """A buffer of a type there is not."""
    for problem in problems(context, "wrong-enum"):
        if problem.under("memory.buffers[].type"):
            yield Hit(problem.start, problem.end, args=problem.args, fix=_nearest(context, problem))


def symmetric(context: Context) -> Iterator[Hit]:
    """Communication without a buffer others can reach."""
    for problem in problems(context, "no-symmetric-buffer"):
        yield Hit(problem.start, problem.end, args=problem.args, fix=_appended(context, _STAGING))


def state(context: Context) -> Iterator[Hit]:
    """Signals without memory for them."""
    for problem in problems(context, "signal-without-buffer"):
        yield Hit(problem.start, problem.end, args=problem.args, fix=_appended(context, _FLAGS))


def _appended(context: Context, item: str) -> Fix | None:
    from opdev.design.changes import append

    buffers = design(context).get("memory.buffers")
    return fix_of(append(design(context), buffers, item)) if buffers is not None else None


def epoch(context: Context) -> Iterator[Hit]:
    """Signals, and nothing tells one round from the next."""
    yield from told(context, "signal-without-epoch")


def size_unit(context: Context) -> Iterator[Hit]:
    """A size that is not in bytes."""
    yield from told(context, "size-without-unit")


def accumulation(context: Context) -> Iterator[Hit]:
    """Several sources reduce into one place, and nothing says who adds."""
    yield from told(context, "accumulation-unnamed")
