"""S and L: which scale a measurement is of, and how many elements make one.

Both are measured: a bandwidth that only large payloads reach hides the latency of small ones, and the other way round.
Where the case matrix has the case its scale counts, else that of the payload, the logical bytes of one PE.
"""

from __future__ import annotations

from opdev.design.derived import KB, MB, TOTAL_FLOOR, Collective, Tier, bytes_per_pe, tier

WANTED: tuple[Tier, ...] = ("S", "L")
_WHOLE = ("broadcast", "p2p", "scatter", "gather", "reduce")
_LIGHT = 8 * MB
_BYTES: dict[Tier, int] = {"S": 64 * KB, "L": 64 * MB}


def tier_of(payload_bytes: float) -> Tier:
    """The scale of a payload."""
    return tier(payload_bytes)


def shards(kind: Collective | None, n_pes: int) -> int:
    """How many times the elements asked for are in one PE's payload."""
    return 1 if kind is None or kind in _WHOLE else n_pes


def count_for(scale: Tier, dtype: str, n_pes: int) -> int:
    """The elements of a case of scale S or L on each PE: 64 KB, or 64 MB and no less than 256 MB over all PEs."""
    wanted = _BYTES[scale]
    if scale == "L":
        wanted = max(wanted, -(-TOTAL_FLOOR // n_pes))
    return -(-wanted // (bytes_per_pe("1", dtype) or 2))


def light_count_for(scale: Tier, dtype: str, n_pes: int, kind: Collective | None) -> int:
    """What is measured instead where there is no NPU: an L case takes minutes there and says nothing, so it is M."""
    if scale != "L":
        return count_for(scale, dtype, n_pes)
    return -(-_LIGHT // ((bytes_per_pe("1", dtype) or 2) * shards(kind, n_pes)))
