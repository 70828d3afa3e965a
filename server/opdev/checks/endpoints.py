"""What the text of an endpoint says: scheme, host, port, and which variable users know it by."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENDPOINT = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+]*://)?(?P<host>\[[0-9A-Za-z:.%]+\]|[A-Za-z0-9_.-]+):(?P<port>\d{1,6})"
)
_IPPORT_NAME = re.compile(r"ip_?ports?\d*$|^ip_?port|endpoint|^bootstrap_(?:addr|url)|rendezvous_url", re.IGNORECASE)
_SESSION_NAME = re.compile(r"session_?id$|uid_session|session_(?:addr|endpoint)", re.IGNORECASE)
_LOOPBACK = re.compile(r"127\.\d+\.\d+\.\d+|localhost|\[::1\]")
_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")

IPPORT = "IPPORT"
SESSION = "SHMEM_UID_SESSION_ID"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``scheme`` is ``tcp://``, ``tcp6://`` or empty; ``host`` keeps its brackets."""

    scheme: str
    host: str
    port: int

    @property
    def loopback(self) -> bool:
        return _LOOPBACK.fullmatch(self.host) is not None

    @property
    def numeric_host(self) -> bool:
        """Whether the host is an address, so that ``host:port`` can be nothing but an endpoint."""
        return self.host.startswith("[") or self.host == "localhost" or _IPV4.fullmatch(self.host) is not None


def parse(text: str) -> Endpoint | None:
    """The endpoint a text is, None for any other text."""
    match = _ENDPOINT.fullmatch(text.strip())
    return Endpoint(match["scheme"] or "", match["host"], int(match["port"])) if match else None


def variable_of(name: str) -> str | None:
    """Which of the two variables a name stands for: IPPORT, SHMEM_UID_SESSION_ID, or neither."""
    if _SESSION_NAME.search(name):
        return SESSION
    return IPPORT if _IPPORT_NAME.search(name) else None


def is_bootstrap_url(text: str) -> bool:
    """Whether a text is an endpoint of SHMEM's bootstrap, ``tcp://host:port`` with a real port."""
    found = parse(text)
    return found is not None and found.scheme in ("tcp://", "tcp6://") and found.port != 0
