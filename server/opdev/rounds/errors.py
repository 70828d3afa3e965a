"""What of rounds cannot be done, or must not be."""

from __future__ import annotations


class Refused(Exception):  # noqa: N818 - it is an answer, told to the user as one
    """``key`` of ``texts`` with its values; nothing was changed."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.key, self.values = key, values
