"""Where a finding of a run is shown: the tool's own line, the case's line, or the first line of what was run.

A line of a file that was written after the tool spoke means nothing any more, and is not shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.lsp.running.findings import Found, Place, Spot
from opdev.lsp.running.texts import both
from opdev.project.operators import read_disk
from opdev.rules.model import Text

if TYPE_CHECKING:
    from opdev.facts.cases import Case
    from opdev.lsp.operators import LiveOperator

_WORD = re.compile(rb"\w+")
_LARGEST = 4_000_000
_TAIL = 64 * 1024
_MOST_ACTUAL = 4
_MISMATCH = re.compile(rb"^[ \t]*first mismatch .*$|^PE \d{1,6}: FAIL \((?!\d+ elements\)).*$", re.M)
_HOMES = {
    "smoke": ("scripts/run.sh", "run.sh"),
    "matrix": ("scripts/cases.json", "scripts/run_case_matrix.py", "scripts/run.sh"),
    "perf": ("scripts/perf.sh",),
    "baseline": ("baseline/scripts/run_baseline.sh",),
    "generator": ("scripts/gen_data.py",),
}
_FALLBACK = ("CMakeLists.txt", "scripts/run.sh", "docs/design.md", "README.md")


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding with its place and its message of now; ``notes`` are other places with what is said of them."""

    found: Found
    place: Place
    text: Text
    notes: tuple[tuple[Place, str], ...] = ()

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def data(self) -> bytes:
        return self.place.data

    @property
    def line(self) -> int:
        return self.place.line

    @property
    def start(self) -> int:
        return self.place.start

    @property
    def end(self) -> int:
        return self.place.end


class Placer:
    """Places the findings of one operator.  Files are read once a pass."""

    def __init__(self, operator: LiveOperator) -> None:
        self._operator = operator
        self._root = operator.root
        self._texts: dict[str, tuple[bytes, float] | None] = {}
        self._cases: dict[str, tuple[str, bytes, Case]] | None = None

    def place(self, founds: Iterable[Found]) -> list[Placed]:
        """Those that have a place."""
        placed: list[Placed] = []
        for found in founds:
            if not found.looked:
                found.looked, found.place = True, self._look(found)
            if found.place is not None and not found.gone:
                notes = [(at, said) for spot, said in found.notes if (at := self._spot(spot, found.time)) is not None]
                placed.append(Placed(found, found.place, _told(found), tuple(notes)))
        return placed

    def _look(self, found: Found) -> Place | None:
        if found.case is not None:
            at = self._case(found.case)
            if at is not None:
                path, data, case = at
                where = _lines_of(data, *case.places.get("id", (case.start, case.end)))
                return Place(path, data, *where, self._expected(found, case))
        if found.spot is not None:
            return self._spot(found.spot, found.time)
        for home in (*_HOMES.get(found.step, ()), *_FALLBACK):
            path = f"{self._root}/{home}"
            read = self._read(path)
            if read is not None:
                return Place(path, read[0], 0, 0, len(read[0].split(b"\n", 1)[0].rstrip(b"\r")))
        return None

    def _spot(self, spot: Spot, time: float) -> Place | None:
        path = spot.path.replace("\\", "/")
        read = self._read(path)
        if read is None or read[1] > time:
            return None
        lines = read[0].split(b"\n")
        number = min(max(spot.line, 1), len(lines)) - 1
        return Place(path, read[0], number, *_columns(lines[number].rstrip(b"\r"), spot.column))

    def _read(self, path: str) -> tuple[bytes, float] | None:
        if path not in self._texts:
            found: tuple[bytes, float] | None = None
            try:
                stat = os.stat(path)
                raw = read_disk(path) if stat.st_size <= _LARGEST else None
                found = (raw, stat.st_mtime) if raw is not None else None
            except OSError:
                pass
            self._texts[path] = found
        return self._texts[path]

    def _case(self, name: str) -> tuple[str, bytes, Case] | None:
        if self._cases is None:
            from opdev.facts.cases import cases_of

            self._cases = {}
            for kind in ("design-doc", "case-runner", "cases"):
                for file in self._operator.files(kind):
                    listed = cases_of(file)
                    for case in listed.cases if listed is not None else ():
                        self._cases[case.id] = (file.path, file.data, case)
        return self._cases.get(name)

    def _expected(self, found: Found, case: Case) -> Text:
        actual = self._actual(found.log)
        expected = case.rtol is not None or case.atol is not None
        out: dict[str, str] = {}
        for lang in ("zh", "en"):
            parts = []
            if expected:
                rtol, atol = (f"{v:g}" if v is not None else "-" for v in (case.rtol, case.atol))
                parts.append(both("expected", rtol=rtol, atol=atol)[lang])
            if actual:
                parts.append(both("actual", text="; ".join(actual))[lang])
            out[lang] = "\n".join(parts)
        return out

    def _actual(self, log: str | None) -> list[str]:
        """What the case's own log says of elements that differ."""
        if not log:
            return []
        path = os.path.realpath(os.path.join(self._root, log))
        if not path.startswith(os.path.realpath(self._root) + "/"):
            return []
        try:
            with open(path, "rb") as stream:
                stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL))
                tail = stream.read(_TAIL)
        except OSError:
            return []
        found = [match[0].decode("utf-8", "replace").strip()[:200] for match in _MISMATCH.finditer(tail)]
        return found[:_MOST_ACTUAL]


def _told(found: Found) -> Text:
    parts = [found.text, found.place.more if found.place is not None else None, found.why]
    if found.sim and found.spot is None:
        parts.append(both("simulated"))
    return {lang: "\n".join(part[lang] for part in parts if part is not None and part[lang]) for lang in ("zh", "en")}


def _columns(line: bytes, column: int | None) -> tuple[int, int]:
    """The word at a column; the line's text where the tool counts columns otherwise than in bytes."""
    whole = len(line) - len(line.lstrip()), len(line.rstrip())
    if column is None or b"\t" in line or not line.isascii() or not 1 <= column <= len(line):
        return whole if whole[0] < whole[1] else (0, len(line))
    start = column - 1
    word = _WORD.match(line, start)
    return start, word.end() if word is not None else start + 1


def _lines_of(data: bytes, start: int, end: int) -> tuple[int, int, int]:
    """(line, first byte in it, last byte in it) of a byte range, as far as it lies on its first line."""
    begin = data.rfind(b"\n", 0, start) + 1
    stop = data.find(b"\n", start)
    stop = len(data) if stop < 0 else stop
    return data.count(b"\n", 0, start), start - begin, min(end, stop) - begin
