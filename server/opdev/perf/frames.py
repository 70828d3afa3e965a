"""Cycle-profile tables to frames: what each part of the kernel takes, and where one core is the tail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opdev.perf.model import Frame, Log

PHASES = ("copy_in", "remote_put_get", "signal_or_barrier_wait", "local_compute", "finalize")
"""What frames 0 to 4 are by the standard; others have no name."""
TAIL = 1.5
"""A slowest core this many times the mean needs a note."""


def frames_of(logs: Iterable[Log]) -> Iterator[Frame]:
    """The frames of every table: the mean over blocks, the slowest block, the largest count."""
    for log in logs:
        for line, rows in log.tables:
            by: dict[int, list[tuple[float, ...]]] = {}
            for row in rows:
                by.setdefault(int(row[1]), []).append(row)
            for frame, found in sorted(by.items()):
                times = [row[4] for row in found]
                yield Frame(
                    frame, sum(times) / len(times), max(times), int(max(row[3] for row in found)),
                    len({row[0] for row in found}), log.name, line, log.run,
                )  # fmt: skip


def phase_of(frame: int) -> str:
    """The standard's name of a frame; empty where it has none."""
    return PHASES[frame] if 0 <= frame < len(PHASES) else ""
