"""What a design says of the schedule: which cores do what, over which calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from opdev.api import table
from opdev.checks.design_problems import design, fix_of, gaps, problems, related, told
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit

if TYPE_CHECKING:
    from opdev.design.document import DesignDocument

_PARTITION = "schedule.core_partition"
_GROUP = '{name: replace_me, aiv_range: "[0, aiv_num)", role: replace_me, data_interface: aclshmemx_mte_put_nbi}'
_NAME = re.compile(rb"\baclshmemx?_[a-z0-9]\w*")
# Without the word's border it is found ten times as fast.
_ANY = re.compile(rb"aclshmemx?_[a-z0-9]\w*")
# "aclshmemx_mte_put/get_nbi", "aclshmem_put[_nbi]", "aclshmem_put_*": several names in one, or part of one.
_ABRIDGED = re.compile(rb"[*\[<{]|\(_|/(?!\s*aclshmem)\w|\xe2\x80\xa6|\.\.\.")


def order(context: Context) -> Iterator[Hit]:
    """core_partition, tiling and phases in another order."""
    wrong = [problem for problem in problems(context, "key-order") if problem.under("schedule")]
    fix = _sorted(context) if wrong else None
    for problem in wrong:
        yield Hit(problem.start, problem.end, args=problem.args, fix=fix)


def _sorted(context: Context) -> Fix | None:
    from opdev.design.changes import sort

    document = design(context)
    schedule = document.get("schedule")
    return fix_of(*sort(document, schedule, ("core_partition", "tiling", "phases"))) if schedule is not None else None


def partition(context: Context) -> Iterator[Hit]:
    """A key of core_partition or of a group is missing or empty."""
    yield from gaps(context, _PARTITION)


def mode(context: Context) -> Iterator[Hit]:
    """A mode there is not."""
    from opdev.design.changes import replace

    for problem in problems(context, "wrong-enum"):
        if problem.path == f"{_PARTITION}.mode":
            node, near = design(context).get(problem.path), problem.args.get("nearest")
            fix = fix_of(replace(node, str(near))) if node is not None and near else None
            yield Hit(problem.start, problem.end, "near" if near else "default", problem.args, fix)


def postponed(context: Context) -> Iterator[Hit]:
    """The work is not shared among cores, or not yet."""
    yield from told(context, "partition-avoided")


def role(context: Context) -> Iterator[Hit]:
    """A role without formula, peer or side."""
    yield from told(context, "role-vague")


def ranges(context: Context) -> Iterator[Hit]:
    """Groups that share cores, or cores that belong to no group."""
    for problem in problems(context, "aiv-overlap", "aiv-hole"):
        message = "default" if problem.code == "aiv-overlap" else "hole"
        other = related(problem, "另一组的范围", "the other group's range")
        yield Hit(problem.start, problem.end, message, problem.args, related=other)


def data_plane(context: Context) -> Iterator[Hit]:
    """A data plane that is no SHMEM call."""
    for problem in problems(context, "dataplane-not-shmem"):
        message = "compute" if problem.args["kind"] == "compute" else "default"
        yield Hit(problem.start, problem.end, message, problem.args)


def unknown_api(context: Context) -> Iterator[Hit]:
    """A SHMEM name that is in no public header."""
    unknown = {name for name in set(_ANY.findall(context.data)) if _unknown(name.decode())}
    if not unknown:
        return
    document = design(context)
    own = document.text("meta.op_name")
    for start, end in _named(document):
        name = document.data[start:end].decode()
        if name.encode() not in unknown or (own and own in name) or _ABRIDGED.match(document.data, end):
            continue
        guess = _nearest(name)
        if guess is None:
            yield Hit(start, end, args={"name": name}, severity="warning")
        else:
            yield Hit(start, end, "near", {"name": name, "guess": guess}, Fix((Edit(start, end, guess),)))


def _unknown(name: str) -> bool:
    return not name.endswith("_") and table.lookup(name) is None


def _named(document: DesignDocument) -> Iterator[tuple[int, int]]:
    """Where the schedule and the table of capabilities name something of SHMEM."""
    from opdev.design.cross_data import api_names

    yield from ((start, end) for _, start, end, _ in api_names(document))
    capabilities = document.heading("3")
    if capabilities is None:
        return
    for one in document.tables:
        if capabilities.start < one.start < capabilities.stop:
            for cell in (cell for row in one.rows for cell in row):
                yield from (match.span() for match in _NAME.finditer(document.data, cell.start, cell.end))


@lru_cache(512)
def _nearest(name: str) -> str | None:
    return table.nearest(name[:100])


def rationale(context: Context) -> Iterator[Hit]:
    """A rationale that leads nowhere."""
    yield from told(context, "rationale-unsourced")


def divisible(context: Context) -> Iterator[Hit]:
    """A number of cores the mode cannot divide among the PEs."""
    yield from told(context, "cores-not-divisible")


def too_many(context: Context) -> Iterator[Hit]:
    """More cores than the SoC has."""
    from opdev.design.changes import replace

    for problem in problems(context, "too-many-cores"):
        node = design(context).get(problem.path)
        # A range is the author's to cut: the groups share it.
        fix = fix_of(replace(node, str(problem.args["limit"]))) if node is not None and node.tag == "int" else None
        yield Hit(problem.start, problem.end, args=problem.args, fix=fix)


def single(context: Context) -> Iterator[Hit]:
    """One core, and no reason for it."""
    yield from told(context, "single-core")


def lanes(context: Context) -> Iterator[Hit]:
    """More cores than SDMA has channels."""
    yield from told(context, "sdma-lanes")


def fused(context: Context) -> Iterator[Hit]:
    """A fused operator whose AIC and AIV do not overlap."""
    yield from told(context, "fused-mode")
