"""Run ids: they sort by time as text and never meet, whoever starts runs at once."""

from __future__ import annotations

import re
import secrets
import time

PATTERN = re.compile(r"\d{8}-\d{6}-\d{6}-[0-9a-f]{6}\Z")


def new_id(now: float | None = None) -> str:
    """An id of the present moment (UTC, to the microsecond) with a random end: ``20260131-235959-123456-0fa3c1``."""
    moment = time.time() if now is None else now
    seconds = int(moment)
    micro = int((moment - seconds) * 1_000_000)
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(seconds))}-{micro:06d}-{secrets.token_hex(3)}"


def is_id(text: str) -> bool:
    return PATTERN.match(text) is not None
