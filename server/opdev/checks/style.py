"""House style that costs a reviewer's time when a machine could have said it.

These rules run on every file, so each is one pass over bytes; the tree is asked only where something
was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax.tree import ancestors

_HEAD_LINES = 20
_NOTICE = re.compile(rb"copyright|licen[cs]e|spdx|all rights reserved|\xe7\x89\x88\xe6\x9d\x83", re.IGNORECASE)
_GENERATED = re.compile(
    rb"generated\s+(?:by|from|file)|do not edit|@generated|\xe8\x87\xaa\xe5\x8a\xa8\xe7\x94\x9f\xe6\x88\x90",
    re.IGNORECASE,
)
_LICENCE_NAME = re.compile(rb"licen[cs]e|spdx", re.IGNORECASE)
_FOREIGN = ("3rdparty", "third_party", "thirdparty", "external", "vendor")
_YEAR = "2026"
_NOTICE_LINES = (
    f"Copyright (c) {_YEAR} Huawei Technologies Co., Ltd.",
    'Licensed under the CANN Open Software License Agreement Version 2.0 (the "License").',
    "You may not use this file except in compliance with the License.",
)
_PRELUDE = re.compile(rb"(?:#![^\n]*\n)?(?:#[^\n]*coding[:=][^\n]*\n)?")


def license_header(context: Context) -> Iterator[Hit]:
    """A source file whose first lines name no licence."""
    data = context.data
    if context.file.region is not None or not data.strip() or _foreign(context):
        return
    said = _notice_in(b"\n".join(data[:4000].split(b"\n", _HEAD_LINES)[:_HEAD_LINES]))
    if said is not None:
        if said:
            yield Hit(*said, "partial")
        return
    start = _first_text(data)
    end = data.find(b"\n", start)
    prelude = _PRELUDE.match(data) if context.file.language != "cpp" else None
    at = prelude.end() if prelude is not None else 0
    fix = Fix((Edit(at, at, _notice(context.file.language or "")),))
    yield Hit(start, len(data) if end < 0 else end, fix=fix)


@lru_cache(maxsize=256)
def _notice_in(head: bytes) -> tuple[int, int] | tuple[()] | None:
    """What a file's first lines say: nothing (None), enough, or a notice without a licence (its range)."""
    if _GENERATED.search(head):
        return ()
    if not _NOTICE.search(head):
        return None
    found = re.search(rb"[^\n]*huawei[^\n]*", head, re.IGNORECASE)
    if found is None or _LICENCE_NAME.search(head):
        return ()
    line = found.group()
    start = found.start() + len(line) - len(line.lstrip(b" *#/"))
    return start, start + len(line.strip(b" *#/\r"))


def _notice(language: str) -> str:
    if language == "cpp":
        return "/**\n" + "".join(f" * {line}\n" for line in _NOTICE_LINES) + " */\n\n"
    return "".join(f"# {line}\n" for line in _NOTICE_LINES) + "\n"


def _foreign(context: Context) -> bool:
    return any(part in _FOREIGN for part in context.file.path.split("/"))


def _by_others(context: Context) -> bool:
    """Whether nobody here writes a file: a machine did, or it was taken over from elsewhere."""
    stem = context.file.path.rsplit("/", 1)[-1].split(".", 1)[0]
    return _foreign(context) or stem.endswith("_generated") or _GENERATED.search(context.data, 0, 600) is not None


def _first_text(data: bytes) -> int:
    """Offset of the first line that is not blank."""
    return len(data) - len(data.lstrip(b" \t\r\n"))


_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(?P<word>\w+)[ \t]*(?P<rest>[^\n]*)", re.MULTILINE)
# Where SHMEM keeps headers; another checkout (PyPTO) has house rules of its own.
_GUARDED = ("include/", "examples/", "src/", "tests/")
_PRAGMA_ONCE = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+once\b[ \t]*", re.MULTILINE)


def header_guard(context: Context) -> Iterator[Hit]:
    """A header that can be included twice."""
    code = context.code
    if not code.strip() or (b"pragma" in code and _PRAGMA_ONCE.search(code)):
        return
    found = _DIRECTIVE.finditer(code)
    first, second = next(found, None), next(found, None)
    if first is not None and second is not None and second["word"] == b"define":
        rest = first["rest"]
        name = rest if first["word"] == b"ifndef" else re.sub(rb"!|defined|[()\s]", b"", rest)
        if name.strip() and second["rest"].split()[:1] == [name.split()[0]]:
            return
    at = len(code) - len(code.lstrip())
    end = context.data.find(b"\n", at)
    guard = guard_name(context.file.path)
    tail = "" if context.data.endswith(b"\n") else "\n"
    edits = (
        Edit(at, at, f"#ifndef {guard}\n#define {guard}\n\n"),
        Edit(len(context.data), len(context.data), f"{tail}\n#endif  // {guard}\n"),
    )
    yield Hit(at, len(context.data) if end < 0 else end, args={"guard": guard}, fix=Fix(edits))


def pragma_once(context: Context) -> Iterator[Hit]:
    """``#pragma once`` where the house rule is a macro guard."""
    match = _PRAGMA_ONCE.search(context.code)
    if match is None or (context.place.operator is None and not context.place.relative.startswith(_GUARDED)):
        return
    line = match.group()
    start = match.start() + len(line) - len(line.lstrip())
    guard = guard_name(context.file.path)
    end = match.start() + len(line.rstrip())
    tail = "" if context.data.endswith(b"\n") else "\n"
    edits = (
        Edit(start, end, f"#ifndef {guard}\n#define {guard}"),
        Edit(len(context.data), len(context.data), f"{tail}\n#endif  // {guard}\n"),
    )
    yield Hit(start, end, args={"guard": guard}, fix=Fix(edits))


def guard_name(path: str) -> str:
    """The guard macro of a header: its name in capitals."""
    name = re.sub(r"\W", "_", path.rsplit("/", 1)[-1]).upper()
    return f"H_{name}" if name[:1].isdigit() else name


_USING = re.compile(rb"\busing[ \t]+namespace[ \t]+(?P<name>[\w:]+)[ \t]*;")


def using_namespace(context: Context) -> Iterator[Hit]:
    """``using namespace`` that every includer gets."""
    if _by_others(context):
        return
    for match in _USING.finditer(context.code):
        node = context.node_at(match.start(), match.end())
        if node is not None and any(a.type == "compound_statement" for a in (node, *ancestors(node))):
            continue
        args = {"name": match["name"].decode("utf-8", "replace")}
        yield Hit(match.start(), match.end(), args=args)


_LEAD = re.compile(rb"[ \t]*")
_TEXT_NODES = {"string", "raw_string", "heredoc_body", "heredoc_content", "string_content", "ansi_c_string"}


def tab_indentation(context: Context) -> Iterator[Hit]:
    """Lines indented with tabs; said once a file, mended in all of it (half would break Python)."""
    data = context.data
    if b"\t" not in data or context.file.region is not None or _by_others(context):
        return
    code = context.code
    at = code.find(b"\t")
    edits: list[Edit] = []
    # Tabs inside strings and comments are blanked in ``code``; what stands before the tab must be blank in the file.
    while at >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        end = _LEAD.match(data, begin).end()  # type: ignore[union-attr]  # matches nothing
        if at < end and data[end : end + 1] not in (b"", b"\n", b"\r") and not _in_shell_text(context, end):
            edits.append(Edit(begin, end, data[begin:end].decode().expandtabs(4)))
        newline = code.find(b"\n", at)
        at = code.find(b"\t", newline) if newline >= 0 else -1
    if edits:
        newline = data.find(b"\n", edits[0].end)
        stop = len(data) if newline < 0 else newline
        yield Hit(edits[0].start, stop, args={"count": len(edits)}, fix=Fix(tuple(edits)))


def _in_shell_text(context: Context, at: int) -> bool:
    """Whether an offset of a shell script lies in a string of several lines or a here-document."""
    if context.file.language != "bash":
        return False
    node = context.node_at(at, at + 1)
    return node is None or any(
        a.type in _TEXT_NODES and (a.start_byte < at or a.type.startswith("heredoc")) for a in (node, *ancestors(node))
    )


_MARKER = re.compile(rb"^(?:<{7}|>{7}|\|{7}) [^\n]*|^={7}\r?$", re.MULTILINE)


def _has_marker(text: bytes) -> bool:
    return b"<<<<<<< " in text


def merge_marker(context: Context) -> Iterator[Hit]:
    """Conflict markers of an unfinished merge."""
    if not context.holds_in_lines(_has_marker):
        return
    if b">>>>>>> " not in context.data:
        return
    for match in _MARKER.finditer(context.data):
        yield Hit(match.start(), match.start() + len(match.group().rstrip()))


_FREE_NAMES = {"CMakeLists.txt", "Dockerfile", "Jenkinsfile"}


def file_name(context: Context) -> Iterator[Hit]:
    """A source or script whose name is not snake_case."""
    name = context.file.path.rsplit("/", 1)[-1]
    if context.file.region is not None or name in _FREE_NAMES or _foreign(context):
        return
    stem = name.rsplit(".", 1)[0]
    if not re.search(r"[A-Z-]", stem):
        return
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem).replace("-", "_").lower()
    start = _first_text(context.data)
    end = context.data.find(b"\n", start)
    args = {"name": name, "snake": f"{snake}.{name.rsplit('.', 1)[-1]}"}
    yield Hit(start, len(context.data) if end < 0 else end, args=args)


def long_line(context: Context) -> Iterator[Hit]:
    """Code lines beyond 120 columns, a Chinese character counting two."""
    if _by_others(context):
        return
    start = 0
    for chunk in context.file.chunks if context.file.typed else ():
        for hit in chunk.memo(_long_lines, lambda one: tuple(_long_lines(one.data))):
            if not _in_literal(context, start + hit.start):
                yield hit.moved(start)
        start += len(chunk.data)
    for hit in () if context.file.typed else _long_lines(context.data):
        if not _in_literal(context, hit.start):
            yield hit


def _in_literal(context: Context, at: int) -> bool:
    """Whether all of a line is inside a raw string: text, which cannot be broken."""
    start = context.data.rfind(b"\n", 0, at) + 1
    end = context.data.find(b"\n", at)
    end = len(context.data) if end < 0 else end
    return not context.code[start:end].strip() and bool(context.nocomment[start:end].strip())


def _long_lines(data: bytes) -> Iterator[Hit]:
    at = 0
    # 120 columns never take fewer bytes; and a line this long can only be found where it is one.
    for line in [line for line in data.split(b"\n") if len(line) > 120]:
        at = data.find(line, at)
        if (beyond := _beyond(line)) is not None:
            cut, end, columns = beyond
            yield Hit(at + cut, at + end, args={"columns": columns})
        at += len(line)


@lru_cache(maxsize=4096)
def _beyond(line: bytes) -> tuple[int, int, int] | None:
    """(first byte beyond 120 columns, end, columns) of a line; None for one that may be as it is."""
    if b"://" in line or b"|" in line[:4]:
        return None
    text = line.rstrip(b"\r").decode("utf-8", "surrogateescape")
    if text.endswith("\\"):
        text = text[:-1].rstrip()  # a macro's lines are padded up to their backslash
    columns = len(text) if text.isascii() else len(text) + sum([ch > "\u2e7f" for ch in text])
    if columns <= 120:
        return None
    cut = _column_end(text, 120)
    start, end = (len(part.encode("utf-8", "surrogateescape")) for part in (text[:cut], text))
    return start, end, columns


def _column_end(text: str, limit: int) -> int:
    """Index of the first character beyond ``limit`` columns."""
    used = 0
    for index, ch in enumerate(text):
        used += 2 if ch > "\u2e7f" else 1
        if used > limit:
            return index
    return len(text)


def english_test(context: Context) -> Iterator[Hit]:
    """A Torch test none of whose comments or printed lines is Chinese."""
    name = context.file.path.rsplit("/", 1)[-1]
    data = context.data
    if not name.startswith("torch_test_") or context.file.region is not None:
        return
    if b"#" not in data and b"print" not in data:
        return
    # The lead bytes of U+4E00..U+9FFF in UTF-8.
    if re.search(rb"[\xe4-\xe9][\x80-\xbf]{2}", data):
        return
    found = re.search(rb"^[ \t]*#(?!!)(?![^\n]*coding)(?![^\n]*opyright)[^\n]*|\bprint\b", data, re.MULTILINE)
    if found is not None:
        text = found.group()
        yield Hit(found.start() + len(text) - len(text.lstrip()), found.end())
