"""``opdev-lsp``."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Serve a client until it goes; the exit status is that of the protocol."""
    raise NotImplementedError(argv)
