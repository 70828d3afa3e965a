"""Free ports for a step's bootstrap: never a constant, never the same for two steps at once.

A port counts as free when nobody listens on it and no other run of this user holds it.  It is held (a locked file)
until the step has ended, because the program that will bind it comes later.
"""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_RANGE = (20000, 32000)
"""Below the range the kernel gives to outgoing connections."""
_TRIES = 500


@contextmanager
def endpoints() -> Iterator[Mapping[str, str]]:
    """The environment of a step: IPPORT and SHMEM_UID_SESSION_ID on this host; OSError where no port is free."""
    first, second = _held(), _held()
    try:
        yield {"IPPORT": f"tcp://127.0.0.1:{first[0]}", "SHMEM_UID_SESSION_ID": f"127.0.0.1:{second[0]}"}
    finally:
        for _, handle in (first, second):
            os.close(handle)


def _held() -> tuple[int, int]:
    folder = f"{tempfile.gettempdir()}/opdev-ports-{os.getuid()}"
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for _ in range(_TRIES):
        port = random.randint(*_RANGE)  # noqa: S311 - not a secret
        handle = os.open(f"{folder}/{port}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _free(port):
                return port, handle
        except OSError:
            pass
        os.close(handle)
    raise OSError(f"no free port between {_RANGE[0]} and {_RANGE[1]}")


def _free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - only to see whether anybody has it
        except OSError:
            return False
    return True
