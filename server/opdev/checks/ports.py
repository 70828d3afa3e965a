"""Endpoints: where the PEs of a job meet."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash

_ENDPOINT = re.compile(r"(?:tcp6?://)?[\w.\[\]:-]+:\d{2,5}")


def hardcoded_endpoint(context: Context) -> Iterator[Hit]:
    """IPPORT or SHMEM_UID_SESSION_ID given a literal endpoint in shell."""
    for assigned in bash.assignments(context):
        node = assigned.value_node
        if assigned.name not in ("IPPORT", "SHMEM_UID_SESSION_ID") or node is None or assigned.value is None:
            continue
        if _ENDPOINT.fullmatch(assigned.value):
            fix = Fix((Edit(node.start_byte, node.end_byte, f'"${{{assigned.name}:-{assigned.value}}}"'),))
            args = {"name": assigned.name, "value": assigned.value}
            yield Hit(node.start_byte, node.end_byte, args=args, fix=fix)
