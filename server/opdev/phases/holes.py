"""What a template left for a person, and is still there: a gate stays closed for it.

A file that was begun from a template marks what nobody but its author can write with ``HOLE``.  A program that runs
despite of it, or a report that reads well around it, is not done.
"""

from __future__ import annotations

from collections.abc import Iterator

from opdev.phases.evidence import Evidence
from opdev.phases.model import Check, Spot, Title, both

HOLE = "[待填]"
SUMMARY = "docs/delivery_summary.md"
_HOLES = Title("template-holes", "模板里的待填项都填了", "what the template left open is filled in")
_WHERE = {
    "2": ("scripts/",),
    "3": ("src/", "CMakeLists.txt", "README.md"),
    "5": ("docs/review-report.md", "docs/review_report.md"),
    "5.5": ("scripts/torch_test_", "../torch_binding/src/torch_bind_"),
    "7": ("docs/review-report.md", "docs/review_report.md", SUMMARY),
}
_MOST = 200_000


def checks(evidence: Evidence, phase: str) -> Iterator[Check]:
    """A failed check for the holes that are left in a phase's files; nothing where there are none."""
    found = list(holes(evidence, phase))
    if not found:
        return
    spot, text = found[0]
    more = len(found) - 1
    yield _HOLES.failed(
        both(f"{text}（另有 {more} 处）" if more else text, f"{text} (and {more} more)" if more else text),
        both(f"填好并删掉 {HOLE} 标记", f"fill it in, and take the mark {HOLE} away"),
        spot,
    )


def holes(evidence: Evidence, phase: str) -> Iterator[tuple[Spot, str]]:
    """Every hole in a phase's files: its place, and what its line says."""
    prefixes = _WHERE.get(phase, ())
    names = [r for r in evidence.files if r.startswith(prefixes)] if prefixes else []
    if phase == "2":
        names = [name for name in names if not name.startswith("scripts/torch_test_")]
    names += [n for n in prefixes if n not in names and n.endswith(".md")]
    names += [f"../torch_binding/src/torch_bind_{evidence.name}.cpp"] if phase == "5.5" else []
    mark = HOLE.encode()
    for name in dict.fromkeys(names):
        for number, line in enumerate(_bytes(evidence, name).split(b"\n"), 1):
            at = line.find(mark)
            if at >= 0:
                column = len(line[:at].decode("utf-8", "replace")) + 1
                yield Spot(evidence.path(name), number, column), _said(line.decode("utf-8", "replace"))


def _said(line: str) -> str:
    """What a line with a hole is about: its words without the marks around them."""
    words = [word.strip(" -*\"'()#") for word in line.split("|") if word.strip(" -")]
    return " ".join(word for word in words if word).strip()[:160]


def _bytes(evidence: Evidence, relative: str) -> bytes:
    file = evidence.file(relative)
    if file is not None:
        return bytes(file.data)
    try:
        with open(evidence.path(relative), "rb") as stream:
            return stream.read(_MOST)
    except OSError:
        return b""
