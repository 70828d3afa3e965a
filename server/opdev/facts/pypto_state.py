"""How far a PyPTO operator has come, as its state file says.

The workflow keeps ``.orchestrator_state.json`` beside the operator.  Real ones leave keys out and
have statuses of their own, so everything may be missing here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from opdev.design.nodes import Node
from opdev.facts.structured import root_of
from opdev.syntax.file import File


class Files(Protocol):
    """What an operator has to offer to be asked for its state."""

    def files(self, *kinds: str) -> Iterable[File]: ...


def state_of(project: Files | None) -> Node | None:
    """The state as a tree with places; None where there is none or it cannot be read."""
    file = next(iter(project.files("pypto-state")), None) if project is not None else None
    root = root_of(file) if file is not None else None
    return root if root is not None and root.kind == "mapping" else None


def stage_of(project: Files | None) -> int | None:
    """The stage an operator is in (1 to 7); None where no state says it."""
    state = state_of(project)
    node = state.get("current_stage") if state is not None else None
    value = node.data() if node is not None else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def operator_name(project: Files | None) -> str:
    """The operator's name in the state file; empty where there is none."""
    state = state_of(project)
    node = state.get("operator_name") if state is not None else None
    return node.value.strip() if node is not None and node.kind == "scalar" and node.tag == "str" else ""
