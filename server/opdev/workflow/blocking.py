"""What keeps a move from being made: the failed checks of the gate it passes through."""

from __future__ import annotations

from typing import Any

from opdev.pypto.moves import Move


def blocking(root: str, move: Move, stage: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(checks that fail, checks that nothing proves) of the gate a move passes through."""
    del root, move, stage
    return [], []
