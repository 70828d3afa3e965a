"""What is wrong with a design, as rules take it: a stable code, a path, a place, arguments."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from opdev.design.document import DesignDocument
from opdev.design.nodes import Node

PLACEHOLDER = "replace_me"

# Every code, and the args its messages may use.
CODES: dict[str, tuple[str, ...]] = {
    # The block itself.
    "no-dsl": (), "several-dsl": (), "not-a-mapping": (), "yaml": ("reason", "detail"), "duplicate-key": ("key",),
    "key-order": ("key", "before", "order"),
    # One field.
    "missing-key": ("key", "in", "zh", "en"), "empty-value": ("key",), "placeholder": ("value",),
    "unknown-key": ("key", "nearest", "allowed"), "wrong-enum": ("key", "value", "allowed", "nearest"),
    "wrong-type": ("key", "value", "expected"), "wrong-pattern": ("key", "value", "pattern", "nearest"),
    "out-of-range": ("key", "value", "limit", "bound"), "wrong-number": ("key", "value"), "unquoted-version": ("value",),
    # Run: name, place, phases, container, nodes.
    "op-root-mismatch": ("value", "expected"), "auto-optim-without-performance": (),
    "docker-exec-mismatch": ("expected", "container"), "docker-workdir-missing": ("key", "container"),
    "relative-path": ("key", "value"), "not-set-env": ("value",), "build-mode-mismatch": ("value", "expected"),
    "references-missing": ("key", "kind"), "scope-deployment-mismatch": ("scope", "value"),
    "inter-node-missing": ("key", "scope"), "soc-not-assumed": ("value",), "intake-mismatch": ("key", "value", "expected"),
    # Data: tensors, semantics, memory.
    "dtype-not-confirmed": ("dtype", "confirmed"), "relations-missing": ("key", "tensors"),
    "kind-contradicts": ("kind", "why", "word"), "no-symmetric-buffer": ("kind",), "dataplane-not-shmem": ("value", "kind"),
    "signal-without-buffer": ("value",), "signal-without-epoch": ("value",), "size-without-unit": ("value", "name"),
    "schedule-in-semantics": ("key", "word"), "not-chinese": ("key", "value"), "group-ungrounded": ("value",),
    "accumulation-unnamed": ("key",),
    # Schedule.
    "partition-avoided": ("word",), "role-vague": ("value",), "aiv-overlap": ("value", "other"),
    "aiv-hole": ("value", "first", "last"), "too-many-cores": ("cores", "limit", "soc"), "single-core": (),
    "sdma-lanes": ("cores", "limit"), "cores-not-divisible": ("cores", "pes", "mode"), "single-core-tail": ("word",),
    "size-split": ("word",), "engine-unstated": ("missing", "kind"), "engine-unknown": ("key", "value"), "rdma-placement": ("value",), "host-rma": ("word",),
    "fused-mode": ("value",), "rationale-unsourced": ("value",),
    # Results.
    "tolerance-not-zero": ("key", "value", "standard", "dtype", "kind"),
    "tolerance-loose": ("key", "value", "standard", "dtype", "kind"),
    "tolerance-for-all": ("key", "value", "standard", "dtype"), "tolerance-unequal": ("value", "expected"),
    "category-missing": ("category",), "no-medium-case": ("floor",), "metric-missing": ("missing",),
    "baseline-none": ("value",), "search-thin": ("missing",), "hccl-overlooked": ("api", "name"),
    "target-low": ("value", "floor"), "target-without-number": ("value",), "target-cases-missing": ("key",),
    "min-scale-low": ("value", "floor"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """``[start, end)`` is in bytes of the Markdown: the value, the key of an unknown one, or the key
    of the mapping that lacks one.  ``args`` fill a message in either language.
    """

    code: str
    path: str
    start: int
    end: int
    args: Mapping[str, object] = field(default_factory=dict)
    related: tuple[int, int] | None = None

    def under(self, *paths: str) -> bool:
        """Whether it is at one of ``paths`` or below; ``[]`` in a path stands for any item."""
        own = generic(self.path)
        return any(own == p or own.startswith((f"{p}.", f"{p}[")) for p in paths)


_INDEX = re.compile(r"\[\d+\]")


def generic(path: str) -> str:
    """A path with its item numbers taken out: ``interface.inputs[].dtype``."""
    return _INDEX.sub("[]", path)


def at(node: Node, code: str, *, related: Node | None = None, **args: object) -> Problem:
    """A problem with a value."""
    return Problem(code, node.path, *node.where, args, related.where if related is not None else None)


def at_key(node: Node, code: str, **args: object) -> Problem:
    """A problem with a key."""
    return Problem(code, node.path, *node.name_range, args)


def label(document: DesignDocument, node: Node | None) -> tuple[int, int]:
    """What to underline of a mapping that lacks something: its key, an item's first key, the fence's opening."""
    if node is None or node.parent is None:
        return document.dsl.opening if document.dsl else (0, 0)
    if node.key_start >= 0:
        return node.key_start, node.key_end
    if node.kind == "mapping" and node.children:
        return node.children[0].name_range
    return node.where


def missing(document: DesignDocument, parent: str, key: str, code: str, **args: object) -> Problem:
    """A problem with a key that is not there, shown at the mapping that lacks it."""
    node = document.get(parent) if parent else document.root
    path = f"{parent}.{key}" if parent else key
    return Problem(code, path, *label(document, node), {"key": key, **args})


def is_placeholder(text: str) -> bool:
    """Whether a text still is the template's."""
    return PLACEHOLDER in text


def said_text(document: DesignDocument, path: str) -> str:
    """The text at a path; empty where it is missing, broken, no text at all or still the template's."""
    node = document.get(path)
    if node is None or node.kind in ("broken", "mapping") or node.tag == "bool" or is_placeholder(node.text):
        return ""
    return node.text[:2000].strip()


def said_nodes(document: DesignDocument, *paths: str) -> Iterator[Node]:
    """The scalars at or below ``paths`` that say something."""
    for path in paths:
        yield from document.file.memo(("said-nodes", path), lambda path=path: _said_below(document.get(path)))  # type: ignore[misc]  # mypy takes the default for a parameter


def _said_below(top: Node | None) -> list[Node]:
    return [
        node
        for node in (top.walk() if top is not None else ())
        if node.kind == "scalar" and node.tag != "bool" and not node.empty and not is_placeholder(node.value)
    ]


def flag(document: DesignDocument, path: str) -> bool | None:
    """A true or false at a path; None for anything else."""
    node = document.get(path)
    value = node.data() if node is not None else None
    return value if isinstance(value, bool) else None


def integer(node: Node | None) -> int | None:
    """A whole number; None for anything else."""
    value = node.data() if node is not None and node.kind == "scalar" else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def short(text: str) -> str:
    """A value as a message cites it: its first line's worth, and that there is more."""
    return text if len(text) <= 60 else f"{text[:60]}…"


def nearest(word: str, allowed: Sequence[str]) -> str | None:
    """The allowed word somebody most likely meant (case, ``-``, ``_`` and blanks aside)."""
    folded = {_fold(a): a for a in reversed(allowed)}
    own = _fold(word[:80])
    if own in folded:
        return folded[own]
    close = difflib.get_close_matches(own, folded, 1, 0.6)
    return folded[close[0]] if close else None


def _fold(word: str) -> str:
    return re.sub(r"[-_\s]+", "", word.lower())
