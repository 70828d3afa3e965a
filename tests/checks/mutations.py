"""Text as editing leaves it, at random: lines moved, pieces put anywhere, either line end."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st


def mutants(text: str, pieces: Sequence[str], most: int = 4) -> st.SearchStrategy[bytes]:
    """``text`` with up to four cuts, each with a piece in its place, and up to two moves of ``most`` lines."""
    lines = text.splitlines(keepends=True)
    cuts = st.tuples(st.integers(0, len(text)), st.integers(0, 30), st.sampled_from(pieces))
    moves = st.tuples(st.integers(0, len(lines) - 1), st.integers(0, most), st.integers(0, len(lines) - 1))

    def mutated(cut: list[tuple[int, int, str]], moved: list[tuple[int, int, int]], crlf: bool) -> bytes:
        left = list(lines)
        for start, count, to in moved:
            taken = left[start : start + count]
            del left[start : start + count]
            left[to:to] = taken
        changed = "".join(left)
        for at, drop, piece in cut:
            changed = changed[:at] + piece + changed[at + drop :]
        return (changed.replace("\n", "\r\n") if crlf else changed).encode()

    return st.builds(mutated, st.lists(cuts, max_size=4), st.lists(moves, max_size=2), st.booleans())
