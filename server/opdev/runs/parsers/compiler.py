"""Diagnostics of gcc, clang and bisheng, of linkers, make and cmake: where, how bad, what.

Paths are made absolute: below the folder make said it entered, else below the folders of the step, the first in
which the file is.  A path that is nowhere stays as it was printed, with ``resolved`` false.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from opdev.runs.lines import text_of
from opdev.runs.parsers import Fields, Where

_SEVERITIES = {
    "error": "error", "fatal error": "error", "错误": "error", "致命错误": "error", "编译器内部错误": "error",
    "internal compiler error": "error", "warning": "warning", "警告": "warning",
    "note": "note", "附注": "note", "附註": "note", "备注": "note",
}  # fmt: skip
_WORDS = "|".join(sorted(_SEVERITIES, key=len, reverse=True))
_PLACED = re.compile(
    rf"^(?P<path>(?:[A-Za-z]:)?[^:\n<>]+?):(?P<line>\d{{1,9}})(?::(?P<column>\d{{1,9}}))?:\s*"
    rf"(?P<severity>{_WORDS})\s*[:：]\s*(?P<text>.*)$"
)
_FLAG = re.compile(r"\s*\[(-W[^\]\s]+)\]\s*$")
_BARE = re.compile(r"^(?P<tool>[\w./+-]*(?:bisheng|clang(?:\+\+)?|g\+\+|gcc|ld(?:\.lld)?|collect2|cc1plus|ninja)(?:-[\d.]+)?):\s*(?:(?:fatal )?error|错误|致命错误)\s*[:：]\s*(?P<text>.*)$")  # fmt: skip
_UNDEFINED = re.compile(r"^(?:.*?/)?(?:ld(?:\.\w+)?: )?(?P<path>[^:\n]+?):(?:(?P<line>\d{1,9})|\([^)]*\)): (?P<text>undefined reference to .*)$")  # fmt: skip
_CANNOT = re.compile(r"(?:^|/)ld(?:\.\w+)?: (?P<text>cannot find .*)$")
_REFERENCED = re.compile(r"^>>> referenced by (?P<path>[^\s:]+):(?P<line>\d{1,9})")
_ENTER = re.compile(r"^(?:g?make|ninja)(?:\[\d+\])?: (?P<way>Entering|Leaving) directory [`'‘](?P<path>.*)['’]$")
_ENTER_ZH = re.compile(r"^(?:g?make)(?:\[\d+\])?: (?P<way>进入|离开)目录[“\"](?P<path>.*)[”\"]$")
_MAKE = re.compile(r"^(?:g?make)(?:\[\d+\])?: \*\*\* (?P<text>.*)$")
_CMAKE = re.compile(r"^CMake (?P<severity>Error|Warning|Deprecation Warning)(?: \(dev\))?(?: at (?P<path>.+?):(?P<line>\d{1,9})(?: \([^)]*\))?)?:\s*(?P<text>.*)$")  # fmt: skip
_ANY = tuple(word.encode() for word in (
    "error", "Error", "warning", "note:", "undefined reference", "cannot find", "directory", "***", "CMake ", ">>> referenced", "fatal",
    "错误", "警告", "附注", "备注", "目录",
)) + tuple(word.encode("gbk") for word in ("错误", "警告", "附注", "备注", "目录"))  # fmt: skip
_MOST = 2000
_MOST_NOTES = 20
_MOST_TEXT = 2000


class Parser:
    """See the module.  After ``_MOST`` diagnostics the rest is counted, not told."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._entered: list[str] = []
        self._cmake: dict[str, dict[str, object]] = {}
        self._notes = 0
        self._count = 0
        self._seen: set[tuple[object, ...]] = set()
        self._linked: str | None = None

    def feed(self, lines: bytes, stream: str) -> Iterable[Fields]:
        if stream not in self._cmake and not any(word in lines for word in _ANY):
            return
        for raw in lines.split(b"\n"):
            if stream not in self._cmake and not any(word in raw for word in _ANY):
                continue
            for fields in self._line(text_of(raw), stream):
                key = tuple(fields.get(k) for k in ("path", "line", "column", "severity", "message"))
                if key in self._seen and fields["severity"] != "note":
                    continue
                self._seen.add(key)
                self._notes = self._notes + 1 if fields["severity"] == "note" else 0
                self._count += 1
                if self._count <= _MOST and self._notes <= _MOST_NOTES:
                    yield "diagnostic", fields

    def close(self) -> Iterable[Fields]:
        for stream in list(self._cmake):
            yield "diagnostic", self._cmake_done(stream)
        if self._count > _MOST:
            yield "diagnostic", {
                "severity": "note", "message": f"{self._count - _MOST} further diagnostics are in the log only",
                "tool": "opdev", "path": None, "line": None, "column": None, "resolved": False, "flag": None,
            }  # fmt: skip

    def _line(self, text: str, stream: str) -> Iterator[dict[str, object]]:
        if stream in self._cmake:
            if text.startswith("  ") or not text:
                if text:
                    self._cmake[stream]["message"] = f"{self._cmake[stream]['message']} {text.strip()}".strip()
                if text or not self._cmake[stream]["message"]:
                    return
            yield self._cmake_done(stream)
            if not text:
                return
        entered = _ENTER.match(text) or _ENTER_ZH.match(text)
        if entered:
            if entered["way"] in ("Entering", "进入"):
                self._entered.append(entered["path"])
            elif self._entered:
                self._entered.pop()
            return
        cmake = _CMAKE.match(text)
        if cmake:
            severity = "error" if cmake["severity"] == "Error" else "warning"
            self._cmake[stream] = self._fields(severity, cmake["text"], "cmake", cmake["path"], cmake["line"])
            return
        yield from self._tool(text)

    def _cmake_done(self, stream: str) -> dict[str, object]:
        fields = self._cmake.pop(stream)
        fields["message"] = str(fields["message"])[:_MOST_TEXT]
        return fields

    def _tool(self, text: str) -> Iterator[dict[str, object]]:
        found = _PLACED.match(text)
        if found:
            yield self._fields(_SEVERITIES[found["severity"]], found["text"], "compiler", found["path"], found["line"], found["column"])  # fmt: skip
            return
        referenced = _REFERENCED.match(text)
        if referenced and self._linked is not None:
            yield self._fields("note", f"referenced here: {self._linked}", "linker", referenced["path"], referenced["line"])  # fmt: skip
            return
        undefined = _UNDEFINED.match(text)
        if undefined:
            yield self._fields("error", undefined["text"], "linker", undefined["path"], undefined["line"])
            return
        cannot = _CANNOT.search(text)
        if cannot:
            yield self._fields("error", cannot["text"], "linker", None)
            return
        bare = _BARE.match(text)
        if bare:
            linker = "ld" in bare["tool"] or "collect2" in bare["tool"]
            self._linked = bare["text"] if linker else None
            yield self._fields("error", bare["text"], "linker" if linker else "compiler", None)
            return
        make = _MAKE.match(text)
        if make:
            yield self._fields("error", make["text"], "make", None)

    def _fields(
        self, severity: str, text: str, tool: str, path: str | None, line: str | None = None, column: str | None = None
    ) -> dict[str, object]:
        flag = _FLAG.search(text)
        where, resolved = self._resolve(path) if path else (None, False)
        return {
            "severity": severity,
            "message": (text[: flag.start()] if flag else text)[:_MOST_TEXT],
            "flag": flag[1] if flag else None,
            "tool": tool,
            "path": where,
            "resolved": resolved,
            "line": int(line) if line else None,
            "column": int(column) if column else None,
        }

    def _resolve(self, path: str) -> tuple[str, bool]:
        path = path.strip()
        if os.path.isabs(path):
            outward = self._where.outward(os.path.normpath(path))
            return outward, os.path.exists(outward)
        for folder in (*reversed(self._entered), self._where.cwd, *self._where.folders):
            full = self._where.outward(os.path.normpath(os.path.join(folder, path)))
            if os.path.exists(full):
                return full, True
        return path, False
