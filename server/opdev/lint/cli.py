"""``opdev-lint``."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Lint paths; the exit status is 0 clean, 1 findings, 2 usage or configuration, 3 internal."""
    raise NotImplementedError(argv)
