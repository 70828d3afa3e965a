"""What a user asked for that cannot be."""

from __future__ import annotations


class UsageError(ValueError):
    """``key`` of ``texts`` with its values."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.key, self.values = key, values
